"""The display order of the items of a matrix: by cluster, and within a cluster by similarity."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._support.names import PartitionLike, as_named, row_names
from partita._support.tolerance import TIE
from partita.pairs.similarity import linkage_tree
from partita.partitions.checks import check_partition_of

Order = NDArray[np.int64]
Floats = NDArray[np.floating[Any]]


def display_order(labels: ArrayLike, psm: ArrayLike) -> Order:
    """Items ordered by cluster, and within a cluster by optimal leaf ordering, so that neighbours are similar.

    The clusters are ordered in the same way: clusters whose items are often together are adjacent.

    Parameters
    ----------
    labels : (n,) array_like
        The clusters.
    psm : (n, n) array_like
        Similarities between 0 and 1; NaN, for items that no draw labels together, counts as 0.

    Returns
    -------
    (n,) integer array
        The items in display order.

    Examples
    --------
    >>> psm = np.array([[1, 0, .9, 0], [0, 1, 0, .9], [.9, 0, 1, 0], [0, .9, 0, 1]])
    >>> display_order([0, 1, 0, 1], psm).tolist()
    [0, 2, 1, 3]
    """
    matrix = np.nan_to_num(check_psm(psm))
    clusters = labels_of_rows(labels, psm)
    members = [np.flatnonzero(clusters == k) for k in range(clusters.max() + 1)]
    between = np.array([matrix[rows].mean(axis=0) for rows in members])
    between = np.array([[between[k, rows].mean() for rows in members] for k in range(len(members))])
    ordered = [members[k][leaf_order(matrix[np.ix_(members[k], members[k])])] for k in leaf_order(between)]
    return np.concatenate(ordered)


def leaf_order(similarity: Floats) -> Order:
    """Optimal leaf ordering of an average-linkage tree; the end with the smaller index comes first."""
    from scipy.cluster.hierarchy import leaves_list

    n = len(similarity)
    if n < 3:
        return np.arange(n)
    order: Order = leaves_list(linkage_tree(np.clip(np.nan_to_num(similarity), 0, 1), ordered=True))
    return order if order[0] < order[-1] else order[::-1]


def labels_of_rows(labels: PartitionLike, psm: ArrayLike) -> NDArray[np.int64]:
    """Canonical labels of the rows of a similarity matrix, matched by name if both have names."""
    names, given, rows = row_names(psm), as_named(labels, "labels"), np.shape(psm)[0]
    if len(given.values) != rows and (names is None or given.names is None):
        raise ValueError(f"psm has {rows} rows but labels has {len(given.values)} items")
    return check_partition_of(labels, names, rows, "labels", "psm")


def check_psm(psm: ArrayLike) -> Floats:
    """A square matrix of numbers between 0 and 1, or NaN if unknown."""
    matrix: Floats = np.asarray(psm, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"psm must be a square matrix, but its shape is {matrix.shape}")
    bad = np.argwhere((matrix < -TIE) | (matrix > 1 + TIE))
    if bad.size:
        i, j = bad[0]
        raise ValueError(f"psm[{i}, {j}] is {matrix[i, j]}: similarities must lie between 0 and 1")
    return matrix
