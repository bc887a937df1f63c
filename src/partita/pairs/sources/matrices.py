"""Matrices of pair probabilities, dense or sparse, as lists of pairs, and checks of the arrays that the core reads."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.tolerance import SINGLE_PRECISION

Triples = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]


def is_sparse(x: Any) -> bool:
    """Whether this is a sparse matrix or array of SciPy."""
    return hasattr(x, "tocoo") and hasattr(x, "nnz")


def dense_pairs(x: Any) -> tuple[int, Triples]:
    """The number of items and the pairs i < j of a dense matrix whose probability is not 0."""
    try:
        matrix = np.asarray(x, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"similarity must be a matrix of numbers or a table of pairs: {error}") from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"similarity must be a square matrix, but its shape is {matrix.shape}")
    diagonal = np.diagonal(matrix)
    _check_diagonal(np.arange(len(matrix)), diagonal)
    check_dense_symmetric(matrix, "similarity")
    left, right = np.nonzero(np.triu(matrix, 1))
    values = matrix[left, right]
    check_probabilities(values, lambda row: f"similarity[{left[row]}, {right[row]}]")
    return len(matrix), (left.astype(np.int64), right.astype(np.int64), np.clip(values, 0, 1))


def sparse_pairs(x: Any) -> tuple[int, Triples]:
    """The same of a sparse matrix: symmetric, or one triangle of it; what is stored is listed, zeros too."""
    if len(x.shape) != 2 or x.shape[0] != x.shape[1]:
        raise ValueError(f"similarity must be a square matrix, but its shape is {x.shape}")
    entries = _checked(x).tocoo()
    row, column = (np.asarray(place, np.int64) for place in (entries.row, entries.col))
    values = np.asarray(entries.data, np.float64)
    check_probabilities(values, lambda place: f"similarity[{row[place]}, {column[place]}]")
    own = row == column
    _check_diagonal(row[own], values[own])
    upper, lower = row < column, row > column
    if not upper.any() or not lower.any():
        low, high = np.minimum(row, column)[~own], np.maximum(row, column)[~own]
        return x.shape[0], (low, high, np.clip(values[~own], 0, 1))
    _check_symmetric(x.shape[0], (row[upper], column[upper], values[upper]), (column[lower], row[lower], values[lower]))
    return x.shape[0], (row[upper], column[upper], np.clip(values[upper], 0, 1))


def _checked(x: Any) -> Any:
    """Raises an error for compressed rows or columns whose indices lead outside: SciPy would follow them.

    SciPy's own check takes a negative end of the last row for a matrix without entries.
    """
    if hasattr(x, "indptr") and ((np.diff(x.indptr) < 0).any() or x.indptr[-1] > len(x.indices)):
        raise ValueError("similarity is not a sound sparse matrix: its index pointers do not rise to its entries")
    if hasattr(x, "check_format"):
        try:
            x.check_format(full_check=True)
        except ValueError as error:
            raise ValueError(f"similarity is not a sound sparse matrix: {error}") from None
    return x


def check_dense_symmetric(matrix: NDArray[np.float64], name: str) -> None:
    """Both triangles are equal, up to the rounding of 32-bit floats; NaN is equal to NaN."""
    different = ~(np.abs(matrix - matrix.T) <= SINGLE_PRECISION) & ~(np.isnan(matrix) & np.isnan(matrix.T))
    if different.any():
        i, j = (int(place) for place in np.argwhere(different)[0])
        raise ValueError(_asymmetric(i, j, matrix[i, j], matrix[j, i], name))


def check_probabilities(values: NDArray[np.float64], place: Any) -> None:
    """Every value is a probability, up to the rounding of 32-bit floats."""
    bad = np.flatnonzero(~((values >= -SINGLE_PRECISION) & (values <= 1 + SINGLE_PRECISION)))
    if bad.size:
        first = int(bad[0])
        raise ValueError(f"{place(first)} is {values[first]}, but a probability is from 0 to 1")


def _check_diagonal(items: NDArray[Any], values: NDArray[Any]) -> None:
    bad = np.flatnonzero(~((np.abs(values - 1) <= SINGLE_PRECISION) | (values == 0)))
    if bad.size:
        item = int(items[bad[0]])
        raise ValueError(
            f"similarity[{item}, {item}] is {values[bad[0]]}, but diagonal entries must all be 1 (or all 0)"
        )


def _check_symmetric(n: int, upper: Triples, lower: Triples) -> None:
    order = [np.argsort(left * n + right, kind="stable") for left, right, _ in (upper, lower)]
    above, below = (
        (left[o], right[o], values[o]) for o, (left, right, values) in zip(order, (upper, lower), strict=True)
    )
    keys = [left * n + right for left, right, _ in (above, below)]
    if not np.array_equal(keys[0], keys[1]):
        only = np.setxor1d(keys[0], keys[1])[0]
        i, j = (int(place) for place in divmod(only, n))
        is_above = bool(np.isin(only, keys[0]))
        raise ValueError(
            f"similarity[{i}, {j}] is {'' if is_above else 'not '}stored, but similarity[{j}, {i}] is"
            f"{' not' if is_above else ''}: a matrix is symmetric, or one triangle of it"
        )
    different = np.flatnonzero(np.abs(above[2] - below[2]) > SINGLE_PRECISION)
    if different.size:
        first = int(different[0])
        raise ValueError(_asymmetric(int(above[0][first]), int(above[1][first]), above[2][first], below[2][first]))


def _asymmetric(i: int, j: int, value: float, other: float, name: str = "similarity") -> str:
    return f"{name}[{i}, {j}] is {value}, but {name}[{j}, {i}] is {other}: the matrix must be symmetric"


def check_rows(offsets: Any, neighbors: Any, probabilities: Any) -> None:
    """Symmetric rows: whole, in order, without pairs of an item with itself, with probabilities from 0 to 1."""
    _check_array(offsets, np.int64, "offsets")
    _check_array(neighbors, np.uint32, "neighbors")
    _check_array(probabilities, np.float64, "probabilities")
    if len(offsets) < 2:
        raise ValueError("similarity has no items")
    if offsets[0] != 0 or (np.diff(offsets) < 0).any() or offsets[-1] != len(neighbors):
        raise ValueError(f"offsets must rise from 0 to the number of neighbours, {len(neighbors)}")
    if len(probabilities) != len(neighbors):
        raise ValueError(f"there are {len(neighbors)} neighbours, but {len(probabilities)} probabilities")
    _check_neighbors(offsets, neighbors)
    bad = np.flatnonzero(~((probabilities >= 0) & (probabilities <= 1)))
    if bad.size:
        raise ValueError(f"probabilities[{bad[0]}] is {probabilities[bad[0]]}, but a probability is from 0 to 1")
    _check_symmetric_rows(offsets, neighbors, probabilities)


def _check_array(array: Any, dtype: Any, name: str) -> None:
    if not (isinstance(array, np.ndarray) and array.ndim == 1 and array.dtype == dtype and array.flags.c_contiguous):
        found = f"{array.dtype} of shape {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
        raise TypeError(f"{name} must be a one-dimensional {np.dtype(dtype)} array, not {found}; use as_similarity")


def _check_neighbors(offsets: NDArray[np.int64], neighbors: NDArray[np.uint32]) -> None:
    n_items = len(offsets) - 1
    beyond = np.flatnonzero(neighbors >= n_items)
    if beyond.size:
        raise ValueError(f"neighbors[{beyond[0]}] is {neighbors[beyond[0]]}, but there are {n_items} items")
    item = np.repeat(np.arange(n_items), np.diff(offsets))
    own = np.flatnonzero(neighbors == item)
    if own.size:
        raise ValueError(f"neighbors[{own[0]}] is the item itself, {neighbors[own[0]]}")
    falls = np.flatnonzero((neighbors[1:] <= neighbors[:-1]) & (item[1:] == item[:-1]))
    if falls.size:
        raise ValueError(f"the neighbours of item {item[falls[0]]} are not in increasing order")


def _check_symmetric_rows(
    offsets: NDArray[np.int64], neighbors: NDArray[np.uint32], probabilities: NDArray[np.float64]
) -> None:
    from scipy.sparse import csr_array

    n_items = len(offsets) - 1
    rows = csr_array((probabilities, neighbors.astype(np.int64), offsets), shape=(n_items, n_items))
    columns = rows.T.tocsr()
    same = np.array_equal(columns.indptr, offsets) and np.array_equal(columns.indices, neighbors)
    if not same or not np.array_equal(columns.data, probabilities):
        raise ValueError("the rows are not symmetric: each pair must be in the rows of both of its items")
