"""Groups of options that several commands share."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import partita as pt
from partita.cli.given import refuse, was_typed
from partita.cli.option import arg, opt
from partita.cli.steps import step

DRAWS = (
    "Draws: csv, tsv, txt, npy, npz, parquet, feather, rds, RData, zarr, nc; several files are chains; - is standard "
    "input."
)
SEARCH_OPTIONS = ("method", "runs", "seconds", "max_clusters", "seed", "max_draws")
Json = Annotated[bool, "Print JSON instead of text."]
LossName = Annotated[str, "binder, vi, nvi, id, nid, omari or zero-one."]
Burn = Annotated[int, "Number of draws to drop at the start of each chain."]
Seed = Annotated[int | None, "Random seed; the same seed gives the same answer."]
Jobs = Annotated[int, "Threads; -1 for all cores."]
Restarts = Annotated[int, "Number of runs of the search."]
Seconds = Annotated[float | None, "Time limit in seconds."]
Quiet = Annotated[bool, opt("No progress.", "--quiet", "-q")]
Silent = Annotated[bool, opt("Print nothing.", "--quiet", "-q")]
NoiseLabels = Annotated[list[str] | None, "Label of items in no cluster, such as the -1 of HDBSCAN; may be repeated."]
MissingCells = Annotated[list[str] | None, "Marker of missing cells, such as ? or -9, beside NA; may be repeated."]
AsDraws = Annotated[bool, "Read the file as draws even if it looks like a table of data."]


def read_sample(
    files: Sequence[str],
    *,
    as_draws: bool,
    burn: int = 0,
    thin: int = 1,
    missing: Sequence[str] | None = None,
    noise: Sequence[str] | None = None,
    **text: Any,
) -> pt.PartitionSample:
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

    draws: Annotated[list[str], arg(DRAWS)]
    burn: Burn = 0
    thin: Annotated[int, "Keep every n-th draw of each chain."] = 1
    missing: Annotated[list[str] | None, "Marker of missing labels, such as -1 or NA; may be repeated."] = None
    noise: NoiseLabels = None
    variable: Annotated[str | None, "The variable of an ArviZ, Stan or JAGS file that holds the labels."] = None
    long: Annotated[
        str | None, "Columns of the draw, the item and its label, as in draw,item,label: one row per draw and item."
    ] = None
    header: Annotated[
        bool | None, opt("Whether a csv file has a header.", "--header/--no-header", shown="detected")
    ] = None
    index: Annotated[
        bool | None,
        opt("Whether the first column of a csv file numbers the draws.", "--index/--no-index", shown="detected"),
    ] = None
    as_draws: AsDraws = False

    def sample(self) -> pt.PartitionSample:
        """The draws that the options specify."""
        how = vars(self) | {"long": None if self.long is None else [name.strip() for name in self.long.split(",")]}
        files = how.pop("draws")
        with step(f"read {', '.join(files)}") as found:
            sample = read_sample(files, **how)
            found += [f"{sample.n_draws:,} draws of {sample.n_items:,} items in {sample.n_chains} chains"]
            found += [f"{sample.n_unique:,} distinct"]
        return sample


@dataclass(frozen=True)
class OptionalDrawsOptions(DrawsOptions):
    """Where the draws come from, in a command that may do without."""

    draws: Annotated[list[str] | None, arg(DRAWS)] = None  # type: ignore[assignment]

    def sample(self) -> pt.PartitionSample:
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
        opt("Cost of splitting (binder, vi): less gives more clusters. --b stays 1; salso's is 2 - a.", shown="1"),
    ] = None
    b: Annotated[float | None, opt("Cost of joining (binder, vi).", shown="1")] = None

    def chosen_loss(self) -> pt.Loss:
        """The loss with its weights."""
        from partita.losses.losses import as_loss

        return self._with_weights(as_loss(self.loss), "vi")

    def _with_weights(self, loss: Any, other: str) -> pt.Loss:
        """The loss with the weights that were given; binder and another one have weights."""
        weights = {name: value for name, value in (("a", self.a), ("b", self.b)) if value is not None}
        if weights and not loss.weights:
            raise ValueError(f"--{next(iter(weights))} is for the losses binder and {other}, not for {self.loss}")
        return type(loss)(**weights) if weights else loss  # type: ignore[no-any-return]


Runs = Annotated[
    int | None,
    opt("Number of runs of the search.", shown="16, fewer if the first agree, 48 if they disagree under binder"),
]
MaxClusters = Annotated[
    float | None,
    opt("Maximum number of clusters; inf for no limit.", shown="as in the draws; none for many small clusters"),
]
ClusterLimit = Annotated[int | None, opt("Maximum number of clusters.", shown="no limit")]


@dataclass(frozen=True)
class SearchOptions(LossOptions):
    """Which estimate to compute, and with how much effort."""

    method: Annotated[
        str, "search, salso, greedy, hasse, lower-bound, draws, map, medv, pear, laugreen, mpmms, exact, enumerate."
    ] = "search"
    runs: Runs = None
    seconds: Seconds = None
    max_clusters: MaxClusters = None
    seed: Seed = None
    jobs: Jobs = -1
    max_draws: Annotated[int | None, "Search on at most this many random draws and evaluate on the others."] = None
    quiet: Annotated[bool, opt("No progress and no notes; warnings are printed.", "--quiet", "-q")] = False

    def estimate(self, sample: pt.PartitionSample, constraints: pt.Constraints | None = None) -> pt.Estimate:
        """The estimate that the options specify."""
        self.refuse_unused()
        with step(f"searched ({self.method})", has_progress=True) as found:
            best = pt.estimate(sample, constraints=constraints, **self.how())
            found.append(f"{best.n_runs} runs, {len(best.runs)} partitions compared, seed {best.seed}")
        return best

    def how(self) -> dict[str, Any]:
        """What `estimate` takes beside the draws."""
        return {"loss": self.chosen_loss(), "method": self.method, "search": self.settings(), "rng": self.seed}

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

    def pair_loss(self) -> pt.Loss:
        """The loss of pair probabilities with its weights; Binder's unless another is named."""
        from partita.pairs.losses import as_pair_loss

        return self._with_weights(as_pair_loss(self.loss if was_typed("loss") else "binder"), "vi-lower-bound")

    def settings(self) -> pt.Search:
        """The settings of the search; progress is shown on a terminal only."""
        return pt.Search(
            runs=self.runs,
            seconds=self.seconds,
            max_clusters=whole_limit(self.max_clusters),
            n_jobs=self.jobs,
            progress=sys.stderr.isatty() and not self.quiet,
            max_draws=self.max_draws,
        )


@dataclass(frozen=True)
class PairSearchOptions(SearchOptions):
    """The search for a partition from pair probabilities alone: nothing that only draws have a use for."""

    loss: Annotated[str, "binder, vi-lower-bound or pear."] = "binder"
    method: Annotated[str, "search or exact."] = "search"
    max_clusters: ClassVar[None] = None  # type: ignore[misc]
    max_draws: ClassVar[None] = None  # type: ignore[misc]


@dataclass(frozen=True)
class DaskOptions:
    """The Dask cluster to search on, if any."""

    dask: Annotated[str | None, "Search on the Dask cluster of this scheduler, such as tcp://host:8786."] = None
    workers: Annotated[int | None, "Search on this many Dask workers of this machine."] = None
    shards: Annotated[int | None, "Split the draws over the workers into this many parts."] = None

    def estimate(
        self, searching: SearchOptions, sample: pt.PartitionSample, constraints: pt.Constraints | None = None
    ) -> pt.Estimate:
        """The estimate, computed on a cluster if the options name one."""
        if self.dask is None and self.workers is None:
            if self.shards is not None:
                raise ValueError("--shards needs workers: --dask or --workers")
            return searching.estimate(sample, constraints)
        refuse(["together", "apart", "one_per"], "is for a search on this machine, not on Dask workers")
        searching.refuse_unused()
        if self.dask is not None and self.workers is not None:
            raise ValueError("--dask already has workers: --workers is for a cluster on this machine")
        where: dict[str, Any] = {"client": self.dask, "workers": self.workers, "shards": self.shards}
        return pt.distributed.estimate(sample, **searching.how(), **where)


@dataclass(frozen=True)
class OutputOptions:
    """Where the results go."""

    json: Json = False
    out: Annotated[Path | None, "Folder for all results; it appears only when it is complete."] = None
    force: Annotated[bool, "Replace existing results."] = False

    def refuse_unused(self, *others: str) -> None:
        """Without --out nothing is written: refuses --force and the other options, which would be ignored."""
        if self.out is None:
            refuse(("force", *others), "is for the results that --out writes; give --out too")


BoundSeconds = Annotated[float | None, "Seconds to spend on a proven lower bound of the expected loss."]
Level = Annotated[float, "Posterior probability contained in the credible ball."]
DataFile = Annotated[str | None, "The data behind the draws, one row per item (csv, npy), to be plotted."]
DataColumns = Annotated[str | None, opt("Columns of the data to use, as in x,y.", shown="all")]
TruthFile = Annotated[str | None, "True labels to compare with; file.csv:column selects a column."]
LabelsFile = Annotated[str | None, "Use these labels as the estimate; file.csv:column selects a column."]


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
