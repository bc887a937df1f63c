"""The small data sets of the examples, and draws made to order."""

from partita.datasets._load import (
    Dataset,
    load_galaxies,
    load_house_votes,
    load_karate,
    load_leiden_runs,
    load_old_faithful,
    make_draws,
)

__all__ = [
    "Dataset",
    "load_galaxies",
    "load_house_votes",
    "load_karate",
    "load_leiden_runs",
    "load_old_faithful",
    "make_draws",
]
