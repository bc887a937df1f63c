"""Method "mpmms": records that share their most probable cluster, the usual estimate of Bayesian record linkage."""

from __future__ import annotations

import numpy as np

from partita._support.arrays import Labels
from partita._support.errors import ArgumentError, Setting
from partita.draws.sample import PartitionSample
from partita.losses.base import Loss
from partita.partitions.labels import canonical
from partita.search.result import SearchResult
from partita.search.settings import Search


def find_mpmms(sample: PartitionSample, loss: Loss, search: Search, rng: np.random.Generator) -> SearchResult:
    """Shared most probable maximal matching sets (Steorts, Hall & Fienberg 2016, section 3).

    The maximal matching set of an item in a draw is its cluster; the most probable one is the set that is its cluster
    in draws of most weight, the first to appear among equals. Items with the same most probable set are a cluster. No
    loss is minimised. Draws that do not label an item do not count for it.
    """
    if search.max_clusters is not None and np.isfinite(search.max_clusters):
        raise ArgumentError(
            "method 'mpmms' has no limit on clusters, but ", Setting("max_clusters", search.max_clusters)
        )
    sets = _cluster_numbers(sample)
    n_items = sample.n_items
    n_sets = int(sets.max()) + 1
    key = (np.arange(n_items)[None, :] * n_sets + sets).ravel()
    pairs, first, group = np.unique(key, return_index=True, return_inverse=True)
    weight = np.bincount(group, (sample.weights[:, None] * (sets > 0)).ravel())
    item = pairs // n_sets
    order = np.lexsort((first, -np.round(weight, 12), item))
    chosen = order[np.searchsorted(item[order], np.arange(n_items))]
    return SearchResult(canonical(pairs[chosen] % n_sets), criterion=float(weight[chosen].mean()))


def _cluster_numbers(sample: PartitionSample) -> Labels:
    """(draws, items): a number for the cluster of each item, the same for the same set of items in any draw.

    Where a draw does not label an item, the number is 0. Sets are compared by the sum of random 64-bit numbers of their
    items: two different ones are taken for the same, or one for none, with probability 2^-64.
    """
    numbers = np.random.default_rng(0).integers(2**63, size=sample.n_items, dtype=np.uint64) * np.uint64(2)
    numbers += np.uint64(1)
    sums = np.zeros((sample.n_unique + 1, sample.n_items), np.uint64)  # the last row gives 0 the first number
    for row, labels in enumerate(sample.labels):
        known = np.flatnonzero(labels.astype(np.int64) >= 0)
        own = labels[known].astype(np.int64)
        order = np.argsort(own, kind="stable")
        begins = np.flatnonzero(np.diff(own[order], prepend=-1))
        sums[row, known] = np.add.reduceat(numbers[known[order]], begins)[own]
    return np.unique(sums, return_inverse=True)[1].reshape(sums.shape)[:-1]
