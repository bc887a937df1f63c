"""Exact similarity between groups of items, without a matrix over all pairs of items."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from partita._support.arrays import Floats, Labels
from partita.draws.sample import PartitionSample

CELLS_PER_CHUNK = 8_000_000
#: Tables of counts with more cells than this for each item are kept by those that are not empty.
SPARSE_CELLS = 16


def block_means(groups: Labels, sample: PartitionSample) -> Floats:
    """Mean posterior similarity between the items of each pair of groups.

    M_gh = Σ_t w_t Σ_k N_t[g, k] N_t[h, k] / Σ_t w_t n_t[g] n_t[h]

    N_t[g, k] counts the items of group g in cluster k of draw t, and n_t[g] those that the draw labels.
    Pairs of an item with itself are included.

    Parameters
    ----------
    groups : (n,) integer array
        Group of each item, 0..G-1.
    sample : PartitionSample

    Returns
    -------
    (G, G) array
    """
    n_groups = int(groups.max()) + 1
    if n_groups * int(sample.n_clusters.max()) > SPARSE_CELLS * groups.size:
        return _sparse_block_means(groups, n_groups, sample)
    together = np.zeros((n_groups, n_groups), np.float32)
    both = np.zeros_like(together)
    for counts, labelled in _scaled_counts(groups, n_groups, sample):
        together += counts @ counts.T
        both += labelled @ labelled.T
    return np.divide(together, both, out=np.zeros(together.shape), where=both > 0)


def _sparse_block_means(groups: Labels, n_groups: int, sample: PartitionSample) -> Floats:
    """The same where draws have many clusters and tables of counts would be nearly empty."""
    together, labelled = np.zeros((n_groups, n_groups)), np.zeros((sample.n_unique, n_groups))
    for t in range(sample.n_unique):
        counts = _sparse_counts(groups, n_groups, sample, t)
        together += sample.weights[t] * (counts @ counts.T).toarray()
        labelled[t] = counts.sum(axis=1)
    both = labelled.T @ (sample.weights[:, None] * labelled)
    return np.divide(together, both, out=np.zeros(together.shape), where=both > 0)


def _sparse_counts(groups: Labels, n_groups: int, sample: PartitionSample, t: int) -> csr_array:
    """The contingency table of `_counts` by its cells that are not empty."""
    known = sample.labels[t] >= 0 if sample.has_gaps else slice(None)
    group, cluster = groups[known], sample.labels[t][known].astype(np.int64)
    cells = coo_array((np.ones(group.size), (group, cluster)), shape=(n_groups, int(sample.n_clusters[t])))
    return cells.tocsr()


def _scaled_counts(
    groups: Labels, n_groups: int, sample: PartitionSample
) -> Iterator[tuple[NDArray[np.float32], NDArray[np.float32]]]:
    """Counts of many draws side by side, times the square roots of their weights, so that one product sums them all."""
    columns = int(sample.n_clusters.max())
    step = max(1, CELLS_PER_CHUNK // (n_groups * columns))
    for start in range(0, sample.n_unique, step):
        rows = range(start, min(start + step, sample.n_unique))
        tables = [_counts(groups, n_groups, sample, t) * np.sqrt(sample.weights[t]) for t in rows]
        labelled = np.stack([table.sum(axis=1) for table in tables], axis=1)
        yield np.hstack(tables).astype(np.float32), labelled.astype(np.float32)


def _counts(groups: Labels, n_groups: int, sample: PartitionSample, t: int) -> NDArray[Any]:
    """Contingency table of the groups and one draw, without missing labels."""
    draw = sample.labels[t]
    width = int(sample.n_clusters[t])
    cells = groups * width + draw
    if sample.has_gaps:
        cells = cells[draw >= 0]
    return np.bincount(cells, minlength=n_groups * width).reshape(n_groups, width)


def next_clusters(labels: Labels, sample: PartitionSample, items: Labels) -> tuple[Labels, Floats]:
    """For some items, the other cluster with the highest mean similarity, and that similarity.

    Parameters
    ----------
    labels : (n,) integer array
        The estimate, with at least two clusters.
    sample : PartitionSample
    items : (m,) integer array

    Returns
    -------
    (m,) integer array, (m,) array
        The cluster, and the mean posterior similarity of the item to its members; where no draw has the item with any
        item of another cluster, some other cluster and 0.
    """
    n_clusters, own = int(labels.max()) + 1, labels[items]
    together = csr_array((items.size, n_clusters))
    for t in range(sample.n_unique):
        draw = sample.labels[t][items].astype(np.int64)
        seen = np.flatnonzero(draw >= 0)
        shape = (items.size, int(sample.n_clusters[t]))
        in_draw = coo_array((np.ones(seen.size), (seen, draw[seen])), shape=shape).tocsr()
        together = together + sample.weights[t] * (in_draw @ _sparse_counts(labels, n_clusters, sample, t).T)
    item, cluster = together.tocoo().coords
    mean = together.tocoo().data / _labelled_both(items[item], cluster, labels, sample)
    others = cluster != own[item]
    item, cluster, mean = item[others], cluster[others], mean[others]
    order = np.lexsort((cluster, -mean, item))
    first = order[np.unique(item[order], return_index=True)[1]]
    best, probability = np.where(own == 0, 1, 0), np.zeros(items.size)
    best[item[first]], probability[item[first]] = cluster[first], mean[first]
    return best, probability


def _labelled_both(items: Labels, clusters: Labels, labels: Labels, sample: PartitionSample) -> Floats:
    """For pairs of an item and a cluster, the mean number of the cluster's items that a draw labels beside the item."""
    sizes = np.bincount(labels)
    if not sample.has_gaps:
        return sizes[clusters].astype(np.float64)
    both = np.zeros(items.size)
    for t in range(sample.n_unique):
        known = sample.labels[t] >= 0
        labelled = np.bincount(labels[known], minlength=sizes.size)
        both += sample.weights[t] * known[items] * labelled[clusters]
    return both
