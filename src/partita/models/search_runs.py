"""The runs of a search for the largest ICL and their agreement, and the greedy merges of what it found."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from partita._support.hints import plural
from partita._support.optional import data_frame
from partita._support.shown import Shown, ShownAsText
from partita._support.validate import check_count, check_positive
from partita.partitions.labels import HasClusters, canonical


@dataclass(frozen=True, eq=False, repr=False)
class MergePath(ShownAsText):
    """Greedy merges from the fitted partition down to one cluster (Côme & Latouche 2015, Appendix C).

    Step t merges cluster `absorbed[t]` into `kept[t]` (labels of the fit) and leaves the ICL at `icl[t + 1]`;
    `icl[0]` is the fit's own.
    """

    labels: NDArray[Any]
    kept: NDArray[np.uint32]
    absorbed: NDArray[np.uint32]
    icl: NDArray[np.float64]

    @property
    def n_clusters(self) -> NDArray[np.int64]:
        """Clusters before the first merge and after each."""
        return np.arange(len(self.icl), 0, -1)

    def cut(self, k: int) -> NDArray[np.int64]:
        """The partition with k clusters, canonical labels."""
        if not 1 <= k <= len(self.icl):
            raise ValueError(f"k must be from 1 to {len(self.icl)}, the fit's number of clusters, but it is {k}")
        target = np.arange(len(self.icl))
        for kept, absorbed in zip(self.kept[: len(self.icl) - k], self.absorbed, strict=False):
            target[target == absorbed] = kept
        return canonical(target[self.labels])

    def __repr__(self) -> str:
        return f"MergePath({len(self.icl)} to 1 clusters, ICL {self.icl[0]:.2f} to {self.icl[-1]:.2f})"


def greedy_merges(
    native: Any, labels: NDArray[np.int64], icl: float
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.float64]]:
    """The core's merges from a partition with this ICL: clusters kept, clusters absorbed, ICL before and after each."""
    kept, absorbed, change = native.merge_path(labels.astype(np.uint32))
    return kept, absorbed, icl + np.concatenate([[0.0], np.cumsum(change)])


def merge_path(native: Any, labels: NDArray[np.int64], icl: float) -> MergePath:
    """The merges from a partition of one set of items."""
    return MergePath(labels, *greedy_merges(native, labels, icl))


SAME = 1e-6  # difference of ICL between two descriptions of one partition


@dataclass(frozen=True)
class SearchRun:
    """One run: how it started ("given", "spectral", "periphery", "k-means", "communities", "annealed" or "random"; of
    mixtures "given", "seeds" or "annealed") and the ICL that it reached by itself, before any crossing with others."""

    start: str
    icl: float


@dataclass(frozen=True)
class Runs:
    """The runs of a search, `group_icl` the best of each group of runs (empty if all runs agreed, or if none were
    crossed), `best` the ICL in the end."""

    rows: tuple[SearchRun, ...]
    group_icl: tuple[float, ...]
    best: float
    interrupted: bool
    stopped: bool

    @classmethod
    def of(cls, kinds: Sequence[str], found: tuple[Any, ...]) -> Runs:
        """The runs of these kinds, from what the core returns; those before which a stop came are left out."""
        _, best, run_icl, group_icl, _, interrupted, stopped = found
        rows = (SearchRun(kind, icl) for kind, icl in zip(kinds, run_icl.tolist(), strict=True))
        made = tuple(row for row in rows if math.isfinite(row.icl))
        return cls(made, tuple(group_icl.tolist()), best, interrupted, stopped)

    def plus(self, constant: float) -> Runs:
        """With a constant added to every ICL."""
        rows = tuple(replace(row, icl=row.icl + constant) for row in self.rows)
        groups = tuple(icl + constant for icl in self.group_icl)
        return replace(self, rows=rows, group_icl=groups, best=self.best + constant)

    @property
    def ends(self) -> tuple[float, ...]:
        """The ICL of each separate search: of each group of runs, or of each run if there are no two groups."""
        return self.group_icl if self.grouped else tuple(row.icl for row in self.rows)

    @property
    def grouped(self) -> bool:
        """Whether runs were crossed in groups apart."""
        return len(self.group_icl) > 1

    @property
    def times_reached(self) -> int:
        """How many of the separate searches ended at the best ICL."""
        return sum(icl > self.best - SAME for icl in self.ends)

    def in_words(self) -> str:
        """The agreement between separate searches, which is no proof: they have starts of the same kinds.

        >>> Runs((SearchRun("random", -7.5), SearchRun("spectral", -7.0)), (), -7.0, False, False).in_words()
        'the best was reached by 1 of 2 runs; the others ended up to 0.50 below it'
        """
        what = f"groups of runs ({len(self.rows)} runs)" if self.grouped else "runs"
        reached, count, below = self.times_reached, len(self.ends), self.best - min(self.ends)
        combined = " before their partitions were combined" if self.group_icl and reached < count else ""
        which = f"{reached} of {count}" if reached else f"none of {count}"
        others = f"; {'the others' if reached else 'they'} ended up to {below:.2f} below it" if reached < count else ""
        no_proof = "; another seed may still find a better one" if reached == count else ""
        return f"the best was reached by {which} {what}{combined}{others}{no_proof}"

    def cautions(self) -> tuple[str, ...]:
        """Advice, if separate searches do not agree."""
        found: tuple[str, ...] = ()
        if self.stopped:
            found = ("The search was stopped early: a longer one may find a better partition.",)
        if len(self.ends) > 1 and self.times_reached < 2:
            words = self.in_words()
            advice = f"a better partition may exist, which more restarts may find (for example {4 * len(self.rows)})."
            found += (f"{words[0].upper()}{words[1:]}: {advice}",)
        return found


def check_max_clusters(k_max: Any, n_items: int) -> int:
    """The most clusters that a search may end with; None is no limit."""
    return n_items if k_max is None else min(check_count(k_max, "k_max", minimum=1), n_items)


def check_time_limit(seconds: Any) -> float:
    """A time limit in seconds; None is no limit."""
    return math.inf if seconds is None else check_positive(seconds, "seconds")


class WithRuns(Shown):
    """Properties of the search that led to a fit; `found` holds its runs."""

    found: Runs

    @property
    def runs(self) -> tuple[SearchRun, ...]:
        """The runs of the search, one row each: how it started and the ICL that it reached by itself."""
        return self.found.rows

    @property
    def run_icl(self) -> NDArray[np.float64]:
        """The ICL of each run, before any crossing."""
        return np.array([run.icl for run in self.runs])

    @property
    def group_icl(self) -> NDArray[np.float64]:
        """The ICL of each group of runs, after crossings within the group; empty if the runs agreed."""
        return np.array(self.found.group_icl)

    @property
    def times_reached(self) -> int:
        """How many separate searches (groups of runs, or runs if there are no groups) ended at the best ICL.

        Their starts are of the same kinds: agreement is a good sign, not a proof.
        """
        return self.found.times_reached

    def runs_to_pandas(self) -> Any:
        """The runs as a pandas DataFrame, one row per run, best first."""
        rows = [{"start": run.start, "icl": run.icl} for run in self.runs]
        return data_frame(rows, columns=["start", "icl"]).sort_values("icl", ascending=False, ignore_index=True)

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the search early."""
        return self.found.interrupted

    def _state(self) -> str:
        return ", stopped early" if self.found.stopped else ""


@dataclass(frozen=True, eq=False, repr=False)
class IclFit(HasClusters, WithRuns):
    """A partition of largest exact ICL that was found, the merges of its clusters, and the runs of the search."""

    item: ClassVar[str] = "item"

    labels: NDArray[np.int64]
    icl: float
    path: MergePath
    found: Runs

    def __repr__(self) -> str:
        words = f"{plural(len(self.labels), self.item)} in {plural(self.n_clusters, 'cluster')}, ICL {self.icl:.3f}"
        return f"{type(self).__name__}({words}; {self.found.in_words()}{self._state()})"
