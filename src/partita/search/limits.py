"""The bound on the number of clusters that a search obeys."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from partita.sample import PartitionSample

if TYPE_CHECKING:
    from partita.estimate import Search


def cluster_limit(sample: PartitionSample, search: Search) -> int:
    """The bound that is given, by default the most clusters of any draw; infinity is the number of items."""
    if search.max_clusters is None:
        return int(sample.n_clusters.max())
    return int(min(search.max_clusters, sample.n_items))


def given_limit(sample: PartitionSample, search: Search) -> int:
    """The bound that is given, and none by default: for methods that prove what they find."""
    return sample.n_items if search.max_clusters is None else cluster_limit(sample, search)


def within_limit(sample: PartitionSample, search: Search) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which distinct draws label every item and obey the bound; an error if none does."""
    whole = complete(sample)
    if not whole.any():
        raise ValueError("no draw labels every item, so that none can be the estimate")
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
