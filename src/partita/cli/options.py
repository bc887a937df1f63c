"""Options that several commands share, in groups."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from partita.estimate import Estimate, Search
    from partita.losses import Loss
    from partita.sample import PartitionSample

DRAWS = "Draws: csv, csv.gz, npy, npz, parquet, zarr, nc; several files are chains; - is standard input."
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


@dataclass(frozen=True)
class Reading:
    """Where the draws come from."""

    draws: Annotated[list[str], typer.Argument(help=DRAWS, metavar="DRAWS...", show_default=False)]
    burn: Annotated[int, typer.Option(help="Draws to drop at the start of each chain.")] = 0
    thin: Annotated[int, typer.Option(help="Keep every so-many-th draw of each chain.")] = 1
    missing: Annotated[
        list[str] | None,
        typer.Option(help="A label that marks a gap, such as -1 or NA; may be repeated.", show_default=False),
    ] = None
    variable: Annotated[str | None, typer.Option(help="The variable of an ArviZ or Stan file.", show_default=False)] = (
        None
    )

    def sample(self) -> PartitionSample:
        """The draws that the options name."""
        from partita.io import read_draws

        return read_draws(
            list(self.draws), burn=self.burn, thin=self.thin, missing=self.missing, variable=self.variable
        )


@dataclass(frozen=True)
class Searching:
    """Which estimate is wanted, and how hard to look for it."""

    loss: Annotated[str, typer.Option(help="binder, vi, nvi, id, nid, omari or zero-one.")] = "vi"
    a: Annotated[
        float | None,
        typer.Option(help="Cost of splitting (binder, vi): less gives more clusters.", show_default="1"),
    ] = None
    b: Annotated[float | None, typer.Option(help="Cost of joining (binder, vi).", show_default="1")] = None
    method: Annotated[
        str,
        typer.Option(help="search, salso, greedy, hasse, draws, map, medv, pear, laugreen, exact or enumerate."),
    ] = "search"
    runs: Annotated[int, typer.Option(help="Runs of the search.")] = 16
    seconds: Annotated[float | None, typer.Option(help="Stop the search after this time.", show_default=False)] = None
    max_clusters: Annotated[
        float | None,
        typer.Option(help="Most clusters allowed; inf for no limit.", show_default="as in the draws"),
    ] = None
    seed: Annotated[int | None, typer.Option(help="Seed, for the same answer again.", show_default=False)] = None
    jobs: Annotated[int, typer.Option(help="Threads; -1 for all cores.")] = -1
    max_draws: Annotated[
        int | None,
        typer.Option(help="Search on so many draws, picked at random, and test on the others.", show_default=False),
    ] = None
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no remarks.")] = False

    def estimate(self, sample: PartitionSample) -> Estimate:
        """The estimate that the options ask for."""
        import partita

        return partita.estimate(
            sample, loss=self.chosen_loss(), method=self.method, search=self.settings(), rng=self.seed
        )

    def chosen_loss(self) -> Loss:
        """The loss with its weights."""
        from partita.losses import as_loss

        loss: Any = as_loss(self.loss)
        weights = {name: value for name, value in (("a", self.a), ("b", self.b)) if value is not None}
        if weights and not hasattr(loss, "a"):
            raise ValueError(f"--{next(iter(weights))} is for the losses binder and vi, not for {self.loss}")
        return type(loss)(**weights) if weights else loss  # type: ignore[no-any-return]

    def settings(self) -> Search:
        """The settings of the search; progress is shown on a terminal only."""
        from partita.estimate import Search

        return Search(
            runs=self.runs,
            seconds=self.seconds,
            max_clusters=_whole(self.max_clusters),
            n_jobs=self.jobs,
            progress=sys.stderr.isatty() and not self.quiet,
            max_draws=self.max_draws,
        )


@dataclass(frozen=True)
class Spreading:
    """Which Dask cluster searches, if one does."""

    dask: Annotated[
        str | None,
        typer.Option(help="Search on the Dask cluster of this scheduler, such as tcp://host:8786.", show_default=False),
    ] = None
    workers: Annotated[
        int | None, typer.Option(help="Search on so many Dask workers of this machine.", show_default=False)
    ] = None
    shards: Annotated[
        int | None,
        typer.Option(help="Split the draws over the workers in so many parts.", show_default=False),
    ] = None

    def estimate(self, searching: Searching, sample: PartitionSample) -> Estimate:
        """The estimate, from a cluster if the options name one."""
        if self.dask is None and self.workers is None:
            if self.shards is not None:
                raise ValueError("--shards needs workers: --dask or --workers")
            return searching.estimate(sample)
        from partita import distributed

        if self.dask is not None and self.workers is not None:
            raise ValueError("--dask has workers already: --workers is for a cluster of this machine")
        return distributed.estimate(
            sample,
            loss=searching.chosen_loss(),
            method=searching.method,
            search=searching.settings(),
            rng=searching.seed,
            client=self.dask,
            workers=self.workers,
            shards=self.shards,
        )


@dataclass(frozen=True)
class Writing:
    """Where the results go."""

    json: Json = False
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for all results, written whole or not at all.", show_default=False),
    ] = None
    force: Annotated[bool, typer.Option("--force", help="Replace earlier results.")] = False


BoundSeconds = Annotated[
    float | None,
    typer.Option("--bound", help="Seconds to spend on proving how good the estimate is.", show_default=False),
]
Level = Annotated[float, typer.Option(help="Probability that the credible ball holds.")]
DataFile = Annotated[
    str | None,
    typer.Option("--data", help="The items themselves, a row each (csv, npy), to be drawn.", show_default=False),
]
TruthFile = Annotated[
    str | None,
    typer.Option(
        "--truth",
        help="Labels to compare with; file.csv:column picks one.",
        show_default=False,
    ),
]
LabelsFile = Annotated[
    str | None,
    typer.Option(
        "--labels",
        help="Take these labels as the estimate; file.csv:column picks a column.",
        show_default=False,
    ),
]


def _whole(limit: float | None) -> float | int | None:
    if limit is None or limit == math.inf:
        return limit
    if limit != int(limit):
        raise ValueError(f"--max-clusters must be a whole number or inf, but it is {limit:g}")
    return int(limit)
