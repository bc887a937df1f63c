"""The limit on the number of clusters that a search obeys."""

from __future__ import annotations

import numpy as np

from partita._support.hints import plural
from partita.draws.sample import PartitionSample, has_weight
from partita.search.settings import Search


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
