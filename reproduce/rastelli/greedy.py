"""What the analyses of Section 7 share: length of the chains, greedy runs, and panels of Figures 5, 8 and 9."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

import frame
import partita as pt
from partita import plots

FASTER = "Another machine and program."
OTHER_DRAWS = "A matter of the draws at hand: near-ties make local optima, and the paper's draws are not public."


@dataclass(frozen=True)
class Length:
    """Sweeps before the first draw, sweeps from draw to draw, and draws, in all chains together; greedy runs."""

    warmup: int
    thin: int
    draws: int
    runs: int
    chains: int = 4

    def plan(self) -> dict[str, int]:
        """Arguments of `sample`."""
        each = {"draws": self.draws // self.chains, "warmup": self.warmup // self.chains}
        return {**each, "thin": self.thin, "chains": self.chains, "rng": 1}

    @property
    def chains_in_words(self) -> str:
        sweeps = (self.warmup + self.thin * self.draws) // self.chains
        chains = "one chain" if self.chains == 1 else f"{self.chains} chains"
        return f"{chains} of {sweeps:,} sweeps, {self.draws:,} draws in all"

    def __str__(self) -> str:
        paper = "(the paper: 2 million sweeps of one chain, 10,000 draws)"
        return f"{self.chains_in_words} {paper}; {self.runs} greedy runs"


@dataclass(frozen=True)
class Draws:
    """Partitions by chain (chains, draws, items), log densities, CPU seconds, and partitions of columns if any."""

    labels: NDArray[np.unsignedinteger]
    log_density: NDArray[np.float64]
    seconds: float
    columns: NDArray[np.unsignedinteger] | None = None

    @property
    def parts(self) -> list[NDArray[np.unsignedinteger]]:
        """Parts whose differences show the Monte Carlo error: the chains, or the quarters of a single one."""
        return list(self.labels) if len(self.labels) > 1 else np.array_split(self.labels[0], 4)


@dataclass(frozen=True)
class Theirs:
    """The paper's numbers: groups by VI, share of runs that reach the best, mode of K, minutes and seconds."""

    groups: int
    share: float
    mode: int
    minutes: float
    seconds: float


@dataclass(frozen=True)
class Greedy:
    """The best of the greedy runs, our own search beside it, and the CPU seconds of a greedy run."""

    best: pt.Estimate
    ours: pt.Estimate
    seconds: float

    @property
    def share(self) -> float:
        """Share of the greedy runs that end at the lowest loss of any of them."""
        return self.best.times_reached / len(self.best.runs)

    @property
    def share_error(self) -> float:
        return float(np.sqrt(max(self.share * (1 - self.share), 1 / len(self.best.runs)) / len(self.best.runs)))


@dataclass(frozen=True)
class Reading:
    """A model as the paper may be read: the name its draws are kept by, and why its numbers differ from the paper's."""

    name: str
    model: Any
    differs: str


@dataclass(frozen=True)
class Analysis:
    """A reading's draws, and the greedy runs on them."""

    draws: Draws
    greedy: Greedy
    differs: str


def analyse(options: frame.Options, reading: Reading, data: Any, length: Length, k_up: int) -> Analysis:
    draws = draw_chain(options, reading.name, lambda: reading.model.sample(data, **length.plan()))
    return Analysis(draws, run_greedy(draws, k_up, length.runs), reading.differs)


def draw_chain(options: frame.Options, name: str, sample: Any) -> Draws:
    """What `sample()`, a Chain, holds; kept where --keep says so."""

    def make() -> dict[str, np.ndarray]:
        began = time.process_time()
        chain = sample()
        seconds = np.array(time.process_time() - began)
        columns = getattr(chain, "columns", None)
        more = {} if columns is None else {"columns": columns}
        return {"labels": chain.labels, "log_density": chain.log_density, "seconds": seconds, **more}

    found = frame.kept(options, name, make)
    return Draws(found["labels"], found["log_density"], float(found["seconds"]), found.get("columns"))


def run_greedy(draws: Draws, k_up: int, runs: int) -> Greedy:
    sample = pt.as_sample(draws.labels)
    began = time.process_time()
    best = pt.estimate(sample, "vi", method="greedy", search=pt.Search(runs=runs, max_clusters=k_up), rng=1)
    seconds = (time.process_time() - began) / runs
    return Greedy(best, pt.estimate(sample, "vi", rng=1), seconds)


def expected_error(draws: Draws, labels: NDArray[np.int64]) -> float:
    """Monte Carlo error of the expected VI: standard error over the parts' means."""
    means = [pt.distances(labels, part, "vi").mean() for part in draws.parts]
    return float(np.std(means, ddof=1) / np.sqrt(len(means)))


def greedy_rows(page: frame.Page, analysis: Analysis, theirs: Theirs, column: str = "") -> None:
    """Groups, share of runs that reach the best, posterior of K, expected loss and times, beside the paper's."""
    draws, greedy = analysis.draws, analysis.greedy
    row = partial(page.row, column=column)
    why = {"differs": analysis.differs}
    row("groups of the VI estimate, greedy", greedy.best.n_clusters, theirs.groups, **why)
    row("groups of the VI estimate, our search", greedy.ours.n_clusters, theirs.groups, **why)
    share, error = greedy.share, greedy.share_error
    row("share of greedy runs that reach their best", share, theirs.share, error, differs=OTHER_DRAWS)
    by_part = [pt.as_sample(part) for part in draws.parts]
    posterior = np.mean([np.bincount(one.n_clusters, one.weights, minlength=100) for one in by_part], axis=0)
    row("posterior mode of the number of groups", int(posterior.argmax()), theirs.mode, **why)
    for k in sorted({int(posterior.argmax()), theirs.mode}):
        chances = [float(one.weights[one.n_clusters == k].sum()) for one in by_part]
        mean, error = frame.mean_and_error(chances)
        row(f"posterior probability of {k} groups", mean, None, error)
    for name, found in {"greedy": greedy.best, "our search": greedy.ours}.items():
        row(f"expected VI, {name}", found.expected_loss, None, expected_error(draws, found.labels))
    row("minutes of the sampler, CPU", draws.seconds / 60, theirs.minutes, differs=FASTER)
    row("seconds of a greedy run, CPU", greedy.seconds, theirs.seconds, differs=FASTER)


def draw_runs(analysis: Analysis, trace: Any, counts: Any) -> None:
    """On two axes the expected VI as the greedy runs go on, and the posterior of the number of groups."""
    plots.run_trace([run.trace for run in analysis.greedy.best.runs], ax=trace)
    trace.set_title("greedy runs")
    plots.cluster_counts(analysis.draws.labels, estimate=analysis.greedy.best.labels, ax=counts)
    counts.set_title("number of groups")


def confusion(truth: NDArray[Any], labels: NDArray[np.int64]) -> tuple[list[str], NDArray[np.int64]]:
    """Names of the classes in order, and the counts (classes, clusters)."""
    names, codes = np.unique(truth, return_inverse=True)
    table = np.zeros((len(names), labels.max() + 1), np.int64)
    np.add.at(table, (codes, labels), 1)
    return list(names), table


def partitions_of(table: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Two partitions with this table of counts, for the measures that need no more."""
    rows, columns = np.nonzero(table)
    times = table[rows, columns]
    return np.repeat(rows, times), np.repeat(columns, times)


def agreement_rows(
    page: frame.Page, column: str, ours: NDArray[np.int64], theirs: NDArray[np.int64], differs: str
) -> None:
    """NMI and adjusted Rand index with the parties, ours and of the paper's own table, and how far the tables are."""
    for measure, function in {"NMI": pt.nmi, "adjusted Rand index": pt.adjusted_rand}.items():
        value, paper = function(*partitions_of(ours)), function(*partitions_of(theirs))
        page.row(f"{measure} with the parties", value, paper, column=column, differs=differs)
    page.row("items in other groups than in the paper's table, at least", moved(ours, theirs), column=column)


def moved(ours: NDArray[np.int64], theirs: NDArray[np.int64]) -> int:
    """The fewest items that must change group for one table (classes, clusters) to become the other.

    A cluster of ours goes with at most one of theirs; the two can share no more than the smaller count of each class.
    """
    shared = np.minimum(ours[:, :, None], theirs[:, None, :]).sum(axis=0)
    return int(ours.sum() - shared[linear_sum_assignment(shared, maximize=True)].sum())


def confusion_markdown(names: list[str], table: NDArray[np.int64]) -> str:
    order = np.lexsort((-table.max(axis=0), table.argmax(axis=0)))
    lines = [[name, *map(str, row)] for name, row in zip(names, table[:, order], strict=True)]
    return frame.table(["", *(str(k + 1) for k in range(table.shape[1]))], lines)
