"""The order in which a matrix shows the items: by cluster, and within a cluster by similarity."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._validate import check_partition

Order = NDArray[np.int64]
Floats = NDArray[np.floating[Any]]


def display_order(labels: ArrayLike, psm: ArrayLike) -> Order:
    """Items ordered by cluster and within it by optimal leaf ordering, so that neighbours are alike.

    The clusters follow the same rule: those whose items are often together stand side by side.

    Parameters
    ----------
    labels : (n,) array_like
        The clusters.
    psm : (n, n) array_like
        Similarities between 0 and 1; NaN, of items that no draw labels both, counts as 0.

    Returns
    -------
    (n,) integer array
        The items in the order to show them.

    Examples
    --------
    >>> psm = np.array([[1, 0, .9, 0], [0, 1, 0, .9], [.9, 0, 1, 0], [0, .9, 0, 1]])
    >>> display_order([0, 1, 0, 1], psm).tolist()
    [0, 2, 1, 3]
    """
    clusters, matrix = check_partition(labels, "labels"), np.nan_to_num(check_psm(psm))
    if len(matrix) != clusters.size:
        raise ValueError(f"psm has {len(matrix)} rows but labels has {clusters.size} items")
    members = [np.flatnonzero(clusters == k) for k in range(clusters.max() + 1)]
    between = np.array([matrix[rows].mean(axis=0) for rows in members])
    between = np.array([[between[k, rows].mean() for rows in members] for k in range(len(members))])
    ordered = [members[k][leaf_order(matrix[np.ix_(members[k], members[k])])] for k in leaf_order(between)]
    return np.concatenate(ordered)


def leaf_order(similarity: Floats) -> Order:
    """Optimal leaf ordering of an average-linkage tree; the end with the smaller index comes first."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    n = len(similarity)
    if n < 3:
        return np.arange(n)
    apart = 1 - np.clip(np.nan_to_num(similarity + similarity.T) / 2, 0, 1)
    np.fill_diagonal(apart, 0)
    order: Order = leaves_list(linkage(squareform(apart, checks=False), "average", optimal_ordering=True))
    return order if order[0] < order[-1] else order[::-1]


def check_psm(psm: ArrayLike) -> Floats:
    """A square matrix of numbers between 0 and 1, or NaN where nothing is known."""
    matrix: Floats = np.asarray(psm, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"psm must be a square matrix, but its shape is {matrix.shape}")
    bad = np.argwhere((matrix < -1e-9) | (matrix > 1 + 1e-9))
    if bad.size:
        i, j = bad[0]
        raise ValueError(f"psm[{i}, {j}] is {matrix[i, j]}: similarities must lie between 0 and 1")
    return matrix
