"""Agreement of two partitions: adjusted Rand index, normalised mutual information, F1, and all of them with the losses.

Items are matched by name if both partitions have names (a pandas Series, an estimate), otherwise by position.
"""

from __future__ import annotations

import numpy as np

from partita._support.names import PartitionLike
from partita.losses.expected import partition_loss
from partita.losses.losses import LOSSES, NID, OneMinusARI
from partita.partitions.checks import check_partitions
from partita.partitions.labels import overlaps


def adjusted_rand(x: PartitionLike, y: PartitionLike) -> float:
    """Adjusted Rand index of Hubert & Arabie; 1 for the same partition.

    Parameters
    ----------
    x, y : (n,) array_like
        Labels of two partitions of the same items.

    Examples
    --------
    >>> adjusted_rand([0, 0, 1, 1], [0, 0, 1, 2])
    0.5714285714285714
    """
    return 1.0 - partition_loss(x, y, OneMinusARI())


def nmi(x: PartitionLike, y: PartitionLike) -> float:
    """Mutual information over the larger entropy, as in Côme & Latouche; 1 if both have one cluster.

    Other programs divide by another mean of the entropies: scikit-learn's default is the arithmetic one.

    Parameters
    ----------
    x, y : (n,) array_like
        Labels of two partitions of the same items.

    Examples
    --------
    >>> nmi([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    return 1.0 - partition_loss(x, y, NID())


def f1(estimate: PartitionLike, truth: PartitionLike) -> float:
    """F1 of the NBCE paper: the harmonic mean of the average precision and the average recall.

    P = mean_i max_j |A_i ∩ B_j| / |A_i|,  R = mean_i max_j |A_i ∩ B_j| / |B_j|,  F1 = 2 P R / (P + R)

    with A_i the clusters of the estimate and B_j the true ones. The paper's formula mixes its indices (a sum to
    k divided by h); we read it as averages over the clusters of the first partition, the estimate.
    It is not symmetric.

    Parameters
    ----------
    estimate, truth : (n,) array_like
        Labels of two partitions of the same items.

    Examples
    --------
    >>> f1([0, 0, 1, 1], [0, 0, 0, 0])
    0.6666666666666666

    References
    ----------
    Wang, Domeniconi & Laskey (2010), Section 6.
    """
    left, right = check_partitions(estimate, truth, "estimate", "truth")
    rows, columns, counts = overlaps(left, right)
    first = np.searchsorted(rows, np.arange(rows[-1] + 1))  # cells come row by row
    precision = np.maximum.reduceat(counts / np.bincount(left)[rows], first).mean()
    recall = np.maximum.reduceat(counts / np.bincount(right)[columns], first).mean()
    return float(2 * precision * recall / (precision + recall))


def pairwise_agreement(estimate: PartitionLike, truth: PartitionLike) -> dict[str, float]:
    """Precision, recall and F1 over pairs of items, as record linkage has them.

    P = |pairs together in both| / |pairs together in the estimate|, R = |...| / |pairs together in the truth|, and F1
    is their harmonic mean. Where no pair is together, none is wrong or missed: P or R is 1.

    >>> pairwise_agreement([0, 0, 0, 1], [0, 0, 1, 1])
    {'precision': 0.3333333333333333, 'recall': 0.5, 'pairwise_f1': 0.4}
    """
    left, right = check_partitions(estimate, truth, "estimate", "truth")
    both, found, true = (
        float((sizes * (sizes - 1.0)).sum() / 2)
        for sizes in (overlaps(left, right)[2], np.bincount(left), np.bincount(right))
    )
    precision, recall = both / found if found else 1.0, both / true if true else 1.0
    return {"precision": precision, "recall": recall, "pairwise_f1": 2 * both / (found + true) if found + true else 1.0}


def compare_partitions(truth: PartitionLike, estimate: PartitionLike) -> dict[str, float]:
    """Every loss with its default weights, then the adjusted Rand index, NMI and F1.

    Parameters
    ----------
    truth, estimate : (n,) array_like, or Estimate
        Items are matched by name if both have names: a Series by its index, an Estimate by the names of its draws.

    Examples
    --------
    >>> compare_partitions([0, 0, 1, 1], [0, 0, 1, 2])["vi"]
    0.5
    """
    losses = {name: partition_loss(truth, estimate, name) for name in LOSSES}
    measures = {"ari": adjusted_rand(truth, estimate), "nmi": nmi(truth, estimate), "f1": f1(estimate, truth)}
    return losses | measures
