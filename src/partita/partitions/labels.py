"""Labels of partitions: canonical form, clusters, sizes, overlaps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._support.arrays import CoreLabels, Labels
from partita.partitions.checks import check_partition

#: A contingency table with at most this many cells is counted as a full table.
DENSE_CELLS = 1 << 22


def canonical(x: ArrayLike) -> Labels:
    """Labels from 0 in order of first appearance.

    Parameters
    ----------
    x : (n,) array_like
        Integers, strings, booleans or categories.

    Examples
    --------
    >>> canonical(["b", "a", "b", "c"])
    array([0, 1, 0, 2])
    """
    return check_partition(x, "x")


def gapless(labels: NDArray[Any]) -> CoreLabels:
    """The same partition with labels 0..K-1, all of them in use, in their order.

    >>> gapless(np.array([2, 5, 2])).tolist()
    [0, 1, 0]
    """
    return np.unique(labels, return_inverse=True)[1].astype(np.uint32)


def labels_to_clusters(x: ArrayLike) -> list[NDArray[np.int64]]:
    """The items of each cluster, with clusters in canonical order.

    >>> labels_to_clusters([5, 7, 5])
    [array([0, 2]), array([1])]
    """
    labels = canonical(x)
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.cumsum(np.bincount(labels))[:-1])


def clusters_to_labels(clusters: Iterable[Iterable[int]]) -> Labels:
    """Canonical labels of a list of clusters, which must contain each of 0..n-1 exactly once.

    >>> clusters_to_labels([[0, 2], [1]])
    array([0, 1, 0])
    """
    members = [np.asarray(list(cluster), dtype=np.int64) for cluster in clusters]
    empty = [k for k, cluster in enumerate(members) if cluster.size == 0]
    if empty:
        raise ValueError(f"clusters[{empty[0]}] is empty")
    items = np.concatenate(members) if members else np.empty(0, np.int64)
    if items.size == 0 or not np.array_equal(np.sort(items), np.arange(items.size)):
        raise ValueError(f"clusters must contain each of the items 0..n-1 exactly once, not {items.tolist()}")
    labels = np.empty(items.size, np.int64)
    labels[items] = np.repeat(np.arange(len(members)), [len(m) for m in members])
    return canonical(labels)


def cluster_sizes(x: ArrayLike) -> NDArray[np.int64]:
    """Number of items of each cluster, in canonical order.

    >>> cluster_sizes([3, 3, 1])
    array([2, 1])
    """
    return np.bincount(canonical(x))


def count_cells(cells: Labels, n_cells: int) -> tuple[Labels, Labels, Labels]:
    """The distinct values among `cells`, which lie in 0..n_cells - 1, their counts, and the count of each entry's cell.

    A contingency table of two partitions has at most as many occupied cells as items, however many clusters there are.
    A small table is counted in place, otherwise the entries are sorted: memory of O(entries).

    >>> [found.tolist() for found in count_cells(np.array([3, 0, 3]), 4)]
    [[0, 3], [1, 2], [2, 1, 2]]
    """
    if n_cells <= max(DENSE_CELLS, 4 * cells.size):
        table = np.bincount(cells, minlength=n_cells)
        occupied = np.flatnonzero(table)
        return occupied, table[occupied], table[cells]
    occupied, place, counts = np.unique(cells, return_inverse=True, return_counts=True)
    return occupied, counts, counts[place]


def overlaps(x: Labels, y: Labels) -> tuple[Labels, Labels, Labels]:
    """The occupied cells of the contingency table of canonical labels: clusters of x, of y, and their joint counts.

    >>> [found.tolist() for found in overlaps(np.array([0, 0, 1]), np.array([0, 1, 1]))]
    [[0, 0, 1], [0, 1, 1], [1, 1, 1]]
    """
    rows, columns = int(x.max()) + 1, int(y.max()) + 1
    occupied, counts, _ = count_cells(x * columns + y, rows * columns)
    return occupied // columns, occupied % columns, counts


def pairs_together(labels: NDArray[Any]) -> float:
    """The number of pairs of items that are in one cluster.

    >>> pairs_together(np.array([0, 0, 1, 1, 1]))
    4.0
    """
    sizes = np.bincount(labels).astype(np.float64)
    return float((sizes * (sizes - 1)).sum() / 2)


def contingency(x: NDArray[Any], y: NDArray[Any], shape: tuple[int, int]) -> NDArray[np.float64]:
    """The contingency table of labels below the sides of the shape.

    >>> contingency(np.array([0, 0, 1]), np.array([0, 1, 1]), (2, 3)).tolist()
    [[1.0, 1.0, 0.0], [0.0, 1.0, 0.0]]
    """
    cells = np.asarray(x, np.int64) * shape[1] + y
    return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64)


def n_clusters(x: ArrayLike) -> int:
    """Number of clusters of a partition.

    >>> n_clusters(["a", "b", "a"])
    2
    """
    return int(canonical(x).max()) + 1


def each_alone(labels: NDArray[np.int64], which: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
    """Labels in which every item without a cluster (-1), or every one of `which`, is a cluster of its own.

    >>> each_alone(np.array([0, -1, 1, -1])).tolist()
    [0, 2, 1, 3]
    """
    without = labels < 0 if which is None else (labels < 0) & which
    if not without.any():
        return labels
    return np.where(without, labels.max() + np.cumsum(without), labels)


class HasClusters:
    """A result with canonical `labels`; -1 is an item in no cluster."""

    labels: NDArray[np.int64]

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.labels.max()) + 1

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of items in each cluster."""
        return np.bincount(self.labels[self.labels >= 0])
