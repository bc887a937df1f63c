"""Agreement of two partitions: adjusted Rand index, normalised mutual information, F1."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._validate import check_partition, check_same_items
from partita.losses import NID, OneMinusARI, partition_loss


def adjusted_rand(x: ArrayLike, y: ArrayLike) -> float:
    """Adjusted Rand index of Hubert & Arabie; 1 for the same partition.

    Examples
    --------
    >>> adjusted_rand([0, 0, 1, 1], [0, 0, 1, 2])
    0.5714285714285714
    """
    return 1.0 - partition_loss(x, y, OneMinusARI())


def nmi(x: ArrayLike, y: ArrayLike) -> float:
    """Mutual information over the larger entropy, as Côme & Latouche use it; 1 if both have one cluster.

    Examples
    --------
    >>> nmi([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    return 1.0 - partition_loss(x, y, NID())


def f1(estimate: ArrayLike, truth: ArrayLike) -> float:
    """F1 of the NBCE paper: the harmonic mean of the average precision and the average recall.

    P = mean_i max_j |A_i ∩ B_j| / |A_i|,  R = mean_i max_j |A_i ∩ B_j| / |B_j|,  F1 = 2 P R / (P + R)

    with A_i the clusters of the estimate and B_j the true ones. The paper's formula mixes its indices (a sum to
    k divided by h); this is the evident reading, averages over the clusters of the first partition, the estimate.
    It is not symmetric.

    Examples
    --------
    >>> f1([0, 0, 1, 1], [0, 0, 0, 0])
    0.6666666666666666

    References
    ----------
    Wang, Domeniconi & Laskey (2010), Section 6.
    """
    left, right = check_partition(estimate, "estimate"), check_partition(truth, "truth")
    check_same_items(left, right, "estimate", "truth")
    overlap = contingency_table(left, right)
    precision = (overlap / overlap.sum(1, keepdims=True)).max(axis=1).mean()
    recall = (overlap / overlap.sum(0, keepdims=True)).max(axis=1).mean()
    return float(2 * precision * recall / (precision + recall))


def contingency_table(x: NDArray[np.int64], y: NDArray[np.int64]) -> NDArray[np.int64]:
    """Joint counts of two canonical label vectors: rows are clusters of x, columns clusters of y."""
    table = np.zeros((x.max() + 1, y.max() + 1), np.int64)
    np.add.at(table, (x, y), 1)
    return table
