"""Groups of options that several commands share."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from partita.cli.given import refuse, was_typed
from partita.cli.steps import step

if TYPE_CHECKING:
    from partita.draws.sample import PartitionSample
    from partita.estimation.result import Estimate
    from partita.losses.base import Loss
    from partita.search.constraints import Constraints
    from partita.search.settings import Search

DRAWS = (
    "Draws: csv, tsv, txt, npy, npz, parquet, feather, rds, RData, zarr, nc; several files are chains; - is standard "
    "input."
)
SEARCH_OPTIONS = ("method", "runs", "seconds", "max_clusters", "seed", "max_draws")
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
LossName = Annotated[str, typer.Option(help="binder, vi, nvi, id, nid, omari or zero-one.")]
Burn = Annotated[int, typer.Option(help="Number of draws to drop at the start of each chain.")]
Seed = Annotated[int | None, typer.Option(help="Random seed; the same seed gives the same answer.", show_default=False)]
Jobs = Annotated[int, typer.Option(help="Threads; -1 for all cores.")]
Restarts = Annotated[int, typer.Option(help="Number of runs of the search.")]
Seconds = Annotated[float | None, typer.Option(help="Time limit in seconds.", show_default=False)]
AsDraws = Annotated[
    bool, typer.Option("--as-draws", help="Read the file as draws even if it looks like a table of data.")
]


def read_sample(
    files: Sequence[str],
    *,
    as_draws: bool,
    burn: int = 0,
    thin: int = 1,
    missing: Sequence[str] | None = None,
    noise: Sequence[str] | None = None,
    **text: Any,
) -> PartitionSample:
    """The draws of files that a user names; `text` are options for text files. A table of data is refused."""
    from partita.cli.mistaken import checked_draws
    from partita.draws.io import draws_source, missing_in_text
    from partita.draws.sample import build_sample

    with ExitStack() as opened:
        source = draws_source(list(files), opened, **text)
        source = source if as_draws else checked_draws(source, files)
        markers = (missing_in_text(missing), missing_in_text(noise))
        return build_sample(source, None, *markers, burn=burn, thin=thin)


@dataclass(frozen=True)
class DrawsOptions:
    """Where the draws come from."""

    draws: Annotated[list[str], typer.Argument(help=DRAWS, metavar="DRAWS", show_default=False)]
    burn: Burn = 0
    thin: Annotated[int, typer.Option(help="Keep every n-th draw of each chain.")] = 1
    missing: Annotated[
        list[str] | None,
        typer.Option(help="Marker of missing labels, such as -1 or NA; may be repeated.", show_default=False),
    ] = None
    noise: Annotated[
        list[str] | None,
        typer.Option(
            help="Label of items in no cluster, such as the -1 of HDBSCAN; may be repeated.", show_default=False
        ),
    ] = None
    variable: Annotated[
        str | None,
        typer.Option(help="The variable of an ArviZ, Stan or JAGS file that holds the labels.", show_default=False),
    ] = None
    long: Annotated[
        str | None,
        typer.Option(
            help="Columns of the draw, the item and its label, as in draw,item,label: one row per draw and item.",
            show_default=False,
        ),
    ] = None
    header: Annotated[
        bool | None,
        typer.Option("--header/--no-header", help="Whether a csv file has a header.", show_default="detected"),
    ] = None
    index: Annotated[
        bool | None,
        typer.Option(
            "--index/--no-index",
            help="Whether the first column of a csv file numbers the draws.",
            show_default="detected",
        ),
    ] = None
    as_draws: AsDraws = False

    def sample(self) -> PartitionSample:
        """The draws that the options specify."""
        long = None if self.long is None else [name.strip() for name in self.long.split(",")]
        with step(f"read {', '.join(self.draws)}") as found:
            sample = read_sample(
                self.draws,
                as_draws=self.as_draws,
                burn=self.burn,
                thin=self.thin,
                missing=self.missing,
                noise=self.noise,
                variable=self.variable,
                long=long,
                header=self.header,
                index=self.index,
            )
            found += [f"{sample.n_draws:,} draws of {sample.n_items:,} items in {sample.n_chains} chains"]
            found += [f"{sample.n_unique:,} distinct"]
        return sample


@dataclass(frozen=True)
class OptionalDrawsOptions(DrawsOptions):
    """Where the draws come from, in a command that may do without."""

    draws: Annotated[list[str] | None, typer.Argument(help=DRAWS, metavar="DRAWS", show_default=False)] = None  # type: ignore[assignment]

    def sample(self) -> PartitionSample:
        """The draws that the options name."""
        if not self.draws:
            raise ValueError("there are no draws: name their files, or give --pairs or --similarity")
        return super().sample()


@dataclass(frozen=True)
class LossOptions:
    """The loss, and its weights."""

    loss: LossName = "vi"
    a: Annotated[
        float | None,
        typer.Option(
            help="Cost of splitting (binder, vi): a smaller cost gives more clusters. --b stays 1; salso's is 2 - a.",
            show_default="1",
        ),
    ] = None
    b: Annotated[float | None, typer.Option(help="Cost of joining (binder, vi).", show_default="1")] = None

    def chosen_loss(self) -> Loss:
        """The loss with its weights."""
        from partita.losses.losses import as_loss

        return self._with_weights(as_loss(self.loss), "vi")

    def _with_weights(self, loss: Any, other: str) -> Loss:
        """The loss with the weights that were given; binder and another one have weights."""
        weights = {name: value for name, value in (("a", self.a), ("b", self.b)) if value is not None}
        if weights and not loss.weights:
            raise ValueError(f"--{next(iter(weights))} is for the losses binder and {other}, not for {self.loss}")
        return type(loss)(**weights) if weights else loss  # type: ignore[no-any-return]


Runs = Annotated[
    int | None,
    typer.Option(
        help="Number of runs of the search.",
        show_default="16, fewer if the first agree, 48 if they disagree under binder",
    ),
]
MaxClusters = Annotated[
    float | None,
    typer.Option(
        help="Maximum number of clusters; inf for no limit.",
        show_default="as in the draws; none where clusters are many and small",
    ),
]
ClusterLimit = Annotated[int | None, typer.Option(help="Maximum number of clusters.", show_default="no limit")]


@dataclass(frozen=True)
class SearchOptions(LossOptions):
    """Which estimate to compute, and with how much effort."""

    method: Annotated[
        str,
        typer.Option(
            help="search, salso, greedy, hasse, lower-bound, draws, map, medv, pear, laugreen, mpmms, exact, enumerate."
        ),
    ] = "search"
    runs: Runs = None
    seconds: Seconds = None
    max_clusters: MaxClusters = None
    seed: Seed = None
    jobs: Jobs = -1
    max_draws: Annotated[
        int | None,
        typer.Option(help="Search on at most this many random draws and evaluate on the others.", show_default=False),
    ] = None
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Suppress progress output and notes.")] = False

    def estimate(self, sample: PartitionSample, constraints: Constraints | None = None) -> Estimate:
        """The estimate that the options specify."""
        import partita

        self.refuse_unused()
        with step(f"searched ({self.method})", has_progress=True) as found:
            best = partita.estimate(
                sample,
                loss=self.chosen_loss(),
                method=self.method,
                search=self.settings(),
                rng=self.seed,
                constraints=constraints,
            )
            found.append(f"{best.n_runs} runs, {len(best.runs)} partitions compared, seed {best.seed}")
        return best

    def refuse_unused(self) -> None:
        """Runs are of methods that search; the zero-one loss has its least value at the most frequent draw."""
        from partita.search import METHODS, as_method

        if not as_method(self.method).repeats:
            names = ", ".join(name for name, method in METHODS.items() if method.repeats)
            refuse(["runs"], f"is for the methods {names}, not for {self.method}")
        if self.loss == "zero-one":
            refuse(["runs"], "is for losses that need a search; the zero-one loss is least at the most frequent draw")

    def refuse_search(self, why: str) -> None:
        """Raises an error for any option that only applies to a search."""
        refuse(SEARCH_OPTIONS, why)

    def pair_loss(self) -> Loss:
        """The loss of pair probabilities with its weights; Binder's unless another is named."""
        from partita.pairs.losses import as_pair_loss

        return self._with_weights(as_pair_loss(self.loss if was_typed("loss") else "binder"), "vi-lower-bound")

    def settings(self) -> Search:
        """The settings of the search; progress is shown on a terminal only."""
        from partita.search.settings import Search

        return Search(
            runs=self.runs,
            seconds=self.seconds,
            max_clusters=whole_limit(self.max_clusters),
            n_jobs=self.jobs,
            progress=sys.stderr.isatty() and not self.quiet,
            max_draws=self.max_draws,
        )


@dataclass(frozen=True)
class DaskOptions:
    """The Dask cluster to search on, if any."""

    dask: Annotated[
        str | None,
        typer.Option(help="Search on the Dask cluster of this scheduler, such as tcp://host:8786.", show_default=False),
    ] = None
    workers: Annotated[
        int | None, typer.Option(help="Search on this many Dask workers of this machine.", show_default=False)
    ] = None
    shards: Annotated[
        int | None,
        typer.Option(help="Split the draws over the workers into this many parts.", show_default=False),
    ] = None

    def estimate(
        self, searching: SearchOptions, sample: PartitionSample, constraints: Constraints | None = None
    ) -> Estimate:
        """The estimate, computed on a cluster if the options name one."""
        if self.dask is None and self.workers is None:
            if self.shards is not None:
                raise ValueError("--shards needs workers: --dask or --workers")
            return searching.estimate(sample, constraints)
        from partita import distributed

        refuse(["together", "apart", "one_per"], "is for a search on this machine, not on Dask workers")
        searching.refuse_unused()
        if self.dask is not None and self.workers is not None:
            raise ValueError("--dask already has workers: --workers is for a cluster on this machine")
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
class OutputOptions:
    """Where the results go."""

    json: Json = False
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for all results; it appears only when it is complete.", show_default=False),
    ] = None
    force: Annotated[bool, typer.Option("--force", help="Replace existing results.")] = False

    def refuse_unused(self, *others: str) -> None:
        """Without --out nothing is written: refuses --force and the other options, which would be ignored."""
        if self.out is None:
            refuse(("force", *others), "is for the results that --out writes; give --out too")


BoundSeconds = Annotated[
    float | None,
    typer.Option("--bound", help="Seconds to spend on a proven lower bound of the expected loss.", show_default=False),
]
Level = Annotated[float, typer.Option(help="Posterior probability contained in the credible ball.")]
DataFile = Annotated[
    str | None,
    typer.Option(
        "--data", help="The data behind the draws, one row per item (csv, npy), to be plotted.", show_default=False
    ),
]
DataColumns = Annotated[
    str | None,
    typer.Option("--columns", help="Columns of the data to use, as in x,y.", show_default="all"),
]
TruthFile = Annotated[
    str | None,
    typer.Option(
        "--truth",
        help="True labels to compare with; file.csv:column selects a column.",
        show_default=False,
    ),
]
LabelsFile = Annotated[
    str | None,
    typer.Option(
        "--labels",
        help="Use these labels as the estimate; file.csv:column selects a column.",
        show_default=False,
    ),
]


def checked_limit(limit: int | None) -> int | None:
    """--max-clusters of a search for the largest ICL."""
    if limit is not None and limit < 1:
        raise ValueError(f"--max-clusters must be at least 1, but it is {limit}")
    return limit


def whole_limit(limit: float | None) -> float | int | None:
    """--max-clusters as a whole number or inf."""
    if limit is None or limit == math.inf:
        return limit
    if limit != int(limit):
        raise ValueError(f"--max-clusters must be a whole number or inf, but it is {limit:g}")
    return int(limit)
