"""Tables that people have: the votes of the House with their gaps, from a csv file to clusters."""

from importlib.resources import files

import numpy as np
import pytest

import partita as pt

VOTES = files("partita.datasets") / "house_votes_84.csv"


@pytest.mark.filterwarnings("ignore:1 rows have no observed cell, the first in row 248")  # who never voted
def test_the_votes_of_the_house():
    """Two parties, and gaps that no longer have to be filled: absent votes say nothing."""
    rows = [line.split(",") for line in VOTES.read_text(encoding="utf-8").split()]
    columns = dict(zip(rows[0], np.array(rows[1:]).T, strict=True))
    party = columns.pop("party")
    votes = {name: [None if vote == "?" else vote for vote in column] for name, column in columns.items()}
    chain = pt.models.MixtureDPM(components=pt.models.FiniteMixture()).sample(
        votes, draws=60, warmup=100, chains=2, rng=1
    )
    best = pt.estimate(chain, "binder", rng=1)
    largest = np.argsort(-np.bincount(best.labels))[:2]
    shares = [(party[best.labels == k] == "democrat").mean() for k in largest]
    assert min(shares) < 0.15
    assert max(shares) > 0.85
    told = pt.profiles(best, votes, rng=1)
    assert max(told.columns, key=lambda own: own.information).information > 0.4
    assert chain.impute(draws=20, rng=1).n_cells == sum(vote is None for column in votes.values() for vote in column)
