"""`partita estimate --pairs` and `--similarity`: the partition to report, from pair probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import partita as pt
from partita.cli.answer import ExtraOptions
from partita.cli.constraints import ConstraintOptions
from partita.cli.given import refuse
from partita.cli.inputs import in_order, read_data, split_names
from partita.cli.option import opt
from partita.cli.options import SearchOptions
from partita.cli.steps import step

if TYPE_CHECKING:
    from collections.abc import Callable

    from partita._support.names import Named

ITEMS = "the file of pairs"
#: What only draws have a use for.
OF_DRAWS = (
    *("burn", "thin", "missing", "noise", "variable", "long", "header", "index"),
    *("dask", "workers", "shards", "level", "data", "max_clusters", "max_draws"),
)
Unlisted = Annotated[float | None, opt("Probability of pairs that are not listed.", shown="0")]


@dataclass(frozen=True)
class PairOptions:
    """Pair probabilities in place of draws."""

    pairs: Annotated[
        str | None,
        "Pairs instead of draws: csv, csv.gz, parquet; three columns, those of Splink, or those of --columns.",
    ] = None
    similarity: Annotated[str | None, "A matrix of pair probabilities instead of draws: npy, npz, csv."] = None
    default: Unlisted = None

    @property
    def is_given(self) -> bool:
        """Whether there are pair probabilities."""
        return self.pairs is not None or self.similarity is not None

    def read(self, columns: str | None) -> pt.Similarity:
        """The pair probabilities of the file; `columns` names those of the two items and of the probability."""
        unlisted = 0.0 if self.default is None else self.default
        if self.pairs is not None and self.similarity is not None:
            raise ValueError("--pairs and --similarity are two ways to give the same: give one of them")
        if self.pairs is not None:
            return pt.as_similarity(self.pairs, default=unlisted, columns=split_names(columns) or None)
        refuse(["columns"], "names the columns of --pairs, and a matrix has none")
        source = str(self.similarity)
        if source.endswith((".npy", ".npz")):
            return pt.as_similarity(source, default=unlisted)
        matrix = read_data(source)
        return pt.as_similarity(matrix.values, names=matrix.distinct_names(), default=unlisted)


def pair_estimate(
    pair_options: PairOptions, constraining: ConstraintOptions, searching: SearchOptions, extras: ExtraOptions
) -> tuple[dict[str, Named], pt.PairEstimate]:
    """The truth, if it is given, and the estimate from pair probabilities."""
    refuse(["draws"], "and pair probabilities are two ways to give the data: give one of them")
    refuse(OF_DRAWS, "is for draws, not for pair probabilities")
    return searched_pairs(lambda: pair_options.read(extras.columns), ITEMS, constraining, searching, extras)


def searched_pairs(
    read: Callable[[], pt.Similarity],
    whose: str,
    constraining: ConstraintOptions,
    searching: SearchOptions,
    extras: ExtraOptions,
) -> tuple[dict[str, Named], pt.PairEstimate]:
    """The truth, if it is given, and the estimate from the pairs that are read; `whose` says what the items are of."""
    files = extras.read(with_data=False)
    with step("read pairs"):
        pairs = read()
    files = in_order(files, pairs.names, pairs.n_items, whose)
    with step(f"searched ({searching.method})", seconds=searching.seconds):
        best = pt.estimate(
            pairs,
            searching.pair_loss(),
            searching.method,
            searching.settings(),
            rng=searching.seed,
            constraints=constraining.constraints(pairs.names, pairs.n_items, whose),
        )
    return files, best
