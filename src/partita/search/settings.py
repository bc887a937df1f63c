"""The settings of every search method, and the limit on the number of clusters that a search obeys."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from partita._support.hints import hinted_init, plural
from partita._support.validate import check_count, check_n_jobs, check_positive, check_probability
from partita.draws.sample import PartitionSample, has_weight

DEFAULT_RUNS = 16


@hinted_init
@dataclass(frozen=True)
class Search:
    """Settings of the search.

    Parameters
    ----------
    runs : int, optional
        Number of runs, each from a different start. None: 16, but with many small clusters "search" makes four runs and
        goes on only where they differ (docs/many_clusters.md), and under Binder's loss with up to 2,048 items, where
        runs are cheap, it makes 48 if the first 16 disagree. ``n_runs`` of the estimate is the number made.
    seconds : float, optional
        Time limit in seconds for the whole call. When it is reached, the best partition so far is returned, and
        ``timed_out`` of the estimate is set.
    max_clusters : int or math.inf, optional
        Limit on the number of clusters; ``math.inf``: no limit. None: the largest number in any draw, but "search" has
        no limit where clusters are many and small (docs/many_clusters.md); ``search`` of the estimate then says so.
    zealous : int
        Number of attempts to dissolve a cluster and reallocate its items. A run of "salso" makes exactly this many; a
        run of "search" ends after this many consecutive failures.
    p_sequential : float
        Probability that a run of "salso" starts by sequential allocation instead of at random.
    n_jobs : int
        Threads; -1 uses all cores. The answer does not depend on it.
    progress : bool or callable
        Show a progress bar, or call ``progress(loss, clusters)`` at the end of each run.
    max_draws : int, optional
        Search on at most this many draws, chosen at random; ``held_out`` of the estimate is then its expected loss on
        the other draws.

    Examples
    --------
    >>> Search(runs=4, seconds=10)
    Search(runs=4, seconds=10, max_clusters=None, zealous=10, p_sequential=0.5, n_jobs=-1, progress=False, \
max_draws=None)
    """

    runs: int | None = None
    seconds: float | None = None
    max_clusters: float | None = None
    zealous: int = 10
    p_sequential: float = 0.5
    n_jobs: int = -1
    progress: bool | Callable[[float, int], None] = False
    max_draws: int | None = None

    def __post_init__(self) -> None:
        if self.runs is not None:
            check_count(self.runs, "runs", minimum=1)
        check_count(self.zealous, "zealous")
        check_probability(self.p_sequential, "p_sequential")
        check_n_jobs(self.n_jobs)
        if self.max_draws is not None:
            check_count(self.max_draws, "max_draws", minimum=1)
        if self.seconds is not None:
            check_positive(self.seconds, "seconds")
        if self.max_clusters is not None and self.max_clusters != math.inf:
            check_count(self.max_clusters, "max_clusters", minimum=1)

    @property
    def most_runs(self) -> int:
        """The number of runs to make, which a search that adapts may not need."""
        return DEFAULT_RUNS if self.runs is None else self.runs


def cluster_limit(sample: PartitionSample, search: Search) -> int:
    """The limit that is set; by default the largest number in any draw of positive weight; for infinity, n_items.

    If a label means noise, there is no limit by default: items that are alone would use it up.
    """
    if search.max_clusters is None and sample.noise is not None:
        return sample.n_items
    if search.max_clusters is None:
        return int(sample.n_clusters[has_weight(sample)].max())
    return int(min(search.max_clusters, sample.n_items))


def given_limit(sample: PartitionSample, search: Search) -> int:
    """The limit that is set, and no limit by default: for methods that prove optimality."""
    return sample.n_items if search.max_clusters is None else cluster_limit(sample, search)


def explicit_limit(sample: PartitionSample, search: Search) -> int | None:
    """The limit that is set, if it excludes any partition; otherwise None."""
    limit = given_limit(sample, search)
    return limit if limit < sample.n_items else None


def into_at_most(limit: int | None) -> str:
    """Words that follow "partition", or none if there is no limit.

    >>> into_at_most(5), into_at_most(1), into_at_most(None)
    (' into at most 5 clusters', ' into at most 1 cluster', '')
    """
    return "" if limit is None else f" into at most {plural(limit, 'cluster')}"


def within_limit(sample: PartitionSample, search: Search) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which distinct draws label every item and obey the limit; an error if none does."""
    whole = complete(sample)
    if not whole.any():
        raise ValueError("no draw labels every item, so none of them can be the estimate")
    allowed = whole & (sample.n_clusters <= cluster_limit(sample, search))
    if not allowed.any():
        raise ValueError(
            f"max_clusters={search.max_clusters} leaves no draw: each has at least {sample.n_clusters[whole].min()}"
        )
    return allowed


def complete(sample: PartitionSample) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which distinct draws label every item."""
    if not sample.has_gaps:
        return np.ones(sample.n_unique, np.bool_)
    return np.asarray((sample.labels >= 0).all(axis=1), np.bool_)
