"""The posterior similarity matrix, and the criteria of the papers that are computed from it."""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from partita import _core
from partita._support.names import row_names
from partita._support.tolerance import SINGLE_PRECISION
from partita._support.validate import check_n_jobs, check_positive, check_probability
from partita.draws.sample import PartitionSample, as_sample
from partita.losses.problem import core_sample
from partita.pairs.losses import adjusted_index
from partita.pairs.probabilities import Similarity, symmetric_rows
from partita.pairs.sources.matrices import check_dense_symmetric
from partita.partitions.checks import check_partition_of
from partita.partitions.labels import pairs_together

Floats = NDArray[np.floating[Any]]


@overload
def similarity(
    draws: Any,
    items: Any = ...,
    *,
    dtype: DTypeLike = ...,
    n_jobs: int = ...,
    sparse: Literal[False] = ...,
    above: float = ...,
) -> Floats: ...
@overload
def similarity(
    draws: Any,
    items: Any = ...,
    *,
    dtype: DTypeLike = ...,
    n_jobs: int = ...,
    sparse: Literal[True],
    above: float = ...,
) -> Similarity: ...
def similarity(
    draws: Any,
    items: Any = None,
    *,
    dtype: DTypeLike = np.float64,
    n_jobs: int = -1,
    sparse: bool = False,
    above: float = 0.0,
) -> Floats | Similarity:
    """Posterior probability that two items share a cluster, for all pairs or for a block of them.

    π_ij = Σ_t w_t 1{x_ti = x_tj}, among the draws that label both items.

    Parameters
    ----------
    draws : anything that `as_sample` takes
        Posterior draws: labels in any form, one row per draw.
    items : (m,) integer array_like, or a pair (rows, columns) of such, optional
        The items of a block, so that a large matrix can be computed piece by piece.
    dtype : float32 or float64
        Type of the matrix.
    n_jobs : int
        Threads; -1 uses all cores.
    sparse : bool
        List only the pairs that some draw has together, without any n × n matrix: for many small clusters. The time is
        that of all pairs of all clusters of all draws.
    above : float
        With ``sparse``, leave out the pairs whose probability is not above this.

    Returns
    -------
    (n, n) array, or the block; a `Similarity` with ``sparse=True``

    Examples
    --------
    >>> similarity([[0, 0, 1], [0, 1, 1]])
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0.5],
           [0. , 0.5, 1. ]])
    >>> similarity([[0, 0, 1], [0, 1, 1]], sparse=True)
    Similarity: 3 items, 2 pairs
    """
    sample = as_sample(draws)
    if sparse:
        if items is not None:
            raise ValueError("items is for a block of the dense matrix: sparse=True lists the pairs of all items")
        return _listed(sample, check_probability(above, "above"), check_n_jobs(n_jobs))
    if above:
        raise ValueError("above is for sparse=True: a dense matrix has all pairs")
    rows, columns = _block(items, sample.n_items)
    kind = _float_type(dtype)
    out = np.empty((rows.size, columns.size), kind)
    _core.similarity(core_sample(sample), rows, columns, out, check_n_jobs(n_jobs))
    return out


def _listed(sample: PartitionSample, above: float, threads: int) -> Similarity:
    left, right, probability, interrupted = _core.pairs_of(core_sample(sample), above, threads)
    if interrupted:
        raise KeyboardInterrupt
    triples = (left.astype(np.int64), right.astype(np.int64), probability)
    return symmetric_rows(sample.n_items, triples, sample.names)


def vi_lower_bound(partition: ArrayLike, psm: ArrayLike) -> float:
    """Wade & Ghahramani's lower bound on the part of the expected VI that depends on the estimate, in bits.

    (1/n) Σ_i [log |C_i| - 2 log Σ_j π_ij 1{c_j = c_i}]

    Equation 4 of the paper, over n. Adding E[Σ_i log |T_i|] / n, with T_i the cluster of i in a draw, gives a lower
    bound on the expected VI itself (Jensen's inequality).

    Parameters
    ----------
    partition : (n,) array_like
        Labels of a partition.
    psm : (n, n) array_like
        Posterior similarity matrix.

    Examples
    --------
    >>> draws = [[0, 0, 1], [0, 1, 1]]
    >>> round(vi_lower_bound([0, 0, 0], similarity(draws)), 4)
    0.1383
    """
    labels, matrix = _partition_and_psm(partition, psm)
    apart = np.flatnonzero(np.diagonal(matrix) <= 0)
    if apart.size:
        raise ValueError(f"psm[{apart[0]}, {apart[0]}] is {matrix[apart[0], apart[0]]}, but an item is with itself")
    within = sums_within(labels, matrix)
    sizes = np.bincount(labels)[labels]
    return float(np.mean(np.log2(sizes) - 2 * np.log2(within)))


def lau_green(partition: ArrayLike, psm: ArrayLike, a: float = 1.0, b: float = 1.0) -> float:
    """Lau & Green's form of Binder's loss, to be maximised: Σ_{i<j} 1{c_i = c_j} (π_ij - b / (a + b)).

    Parameters
    ----------
    partition : (n,) array_like
        Labels.
    psm : (n, n) array_like
        Similarity matrix, as `similarity` returns it.
    a, b : float
        Costs of splitting and of joining.

    Examples
    --------
    >>> lau_green([0, 0, 1], similarity([[0, 0, 1], [0, 0, 1]]))
    0.5
    """
    a, b = check_positive(a, "a"), check_positive(b, "b")
    labels, matrix = _partition_and_psm(partition, psm)
    excess = sums_within(labels, matrix).sum() - np.trace(matrix)
    pairs = pairs_together(labels)
    return float(excess / 2 - pairs * ((b / 2) / (a / 2 + b / 2)))  # halves, so that no sum overflows


def pear(partition: ArrayLike, psm: ArrayLike) -> float:
    """Posterior expected adjusted Rand index in the approximation of Fritsch & Ickstadt, equation 6 of the SALSO paper.

    With P = Σ_{i<j} π_ij, Q = Σ_{i<j} 1{c_i = c_j}, R = Σ_{i<j} 1{c_i = c_j} π_ij and N pairs:
    (R - P Q / N) / ((P + Q) / 2 - P Q / N); 1 where this is 0/0.

    Parameters
    ----------
    partition : (n,) array_like
        Labels.
    psm : (n, n) array_like
        Similarity matrix, as `similarity` returns it.

    Examples
    --------
    >>> round(pear([0, 0, 1, 1], similarity([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 1]])), 4)
    0.64
    """
    labels, matrix = _partition_and_psm(partition, psm)
    posterior = (matrix.sum() - np.trace(matrix)) / 2
    both = (sums_within(labels, matrix).sum() - np.trace(matrix)) / 2
    return adjusted_index(both, posterior, pairs_together(labels), labels.size)


def _float_type(dtype: DTypeLike) -> np.dtype[Any]:
    try:
        kind = np.dtype(dtype)
    except TypeError:
        raise TypeError(f"dtype must be float32 or float64, not {dtype!r}") from None
    if kind not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise ValueError(f"dtype must be float32 or float64, not {kind}")
    return kind


def _block(items: Any, n_items: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if items is None:
        everything = np.arange(n_items)
        return everything, everything
    rows, columns = items if isinstance(items, tuple) else (items, items)
    return _item_indices(rows, n_items), _item_indices(columns, n_items)


def _item_indices(items: Any, n_items: int) -> NDArray[np.int64]:
    indices = np.asarray(items)
    if indices.ndim != 1 or indices.dtype.kind not in "iu":
        raise ValueError(f"items must be a one-dimensional array of integers, not {items!r}")
    outside = np.flatnonzero((indices < 0) | (indices >= n_items))
    if outside.size:
        place = int(outside[0])
        raise ValueError(f"items[{place}] is {indices[place]}, but there are items 0..{n_items - 1}")
    return np.ascontiguousarray(indices, dtype=np.int64)


def _partition_and_psm(partition: ArrayLike, psm: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    matrix = np.asarray(psm, dtype=np.float64)
    labels = check_partition_of(partition, row_names(psm), len(matrix), "partition", "psm")
    if matrix.shape != (labels.size, labels.size):
        raise ValueError(f"psm has shape {matrix.shape} but the partition has {labels.size} items")
    valid = (matrix >= -SINGLE_PRECISION) & (matrix <= 1 + SINGLE_PRECISION)
    if not valid.all():
        row, column = np.argwhere(~valid)[0]
        value = matrix[row, column]
        raise ValueError(f"psm[{row}, {column}] is {value}, but every pair needs a probability")
    check_dense_symmetric(matrix, "psm")
    return labels, matrix


def complete_similarity(sample: PartitionSample) -> NDArray[np.float64]:
    """The similarity matrix, for methods that need every pair: pairs that no draw labels together are an error."""
    psm: NDArray[np.float64] = similarity(sample).astype(np.float64, copy=False)
    unknown = np.argwhere(np.isnan(psm))
    if unknown.size:
        raise ValueError(f"no draw labels items {unknown[0][0]} and {unknown[0][1]} together")
    return psm


def sums_within(labels: NDArray[np.int64], matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each item, the sum of its similarities to the items of its own cluster, itself included."""
    by_cluster = np.zeros((labels.size, labels.max() + 1))
    order = np.argsort(labels, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(labels))[:-1]])
    by_cluster = np.add.reduceat(matrix[:, order], starts, axis=1)
    return by_cluster[np.arange(labels.size), labels]


def linkage_tree(psm: NDArray[np.floating[Any]], method: str = "average", *, ordered: bool = False) -> NDArray[Any]:
    """The tree of a linkage, as SciPy has it, where 1 - π is the distance of two items."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    distance = np.maximum(1 - (psm + psm.T) / 2, 0)
    np.fill_diagonal(distance, 0)
    return np.asarray(linkage(squareform(distance, checks=False), method, optimal_ordering=ordered))
