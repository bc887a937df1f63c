"""What the arrays of pair probabilities must be before the core reads them: anyone can make a `Similarity`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


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
    _check_symmetric(offsets, neighbors, probabilities)


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


def _check_symmetric(
    offsets: NDArray[np.int64], neighbors: NDArray[np.uint32], probabilities: NDArray[np.float64]
) -> None:
    from scipy.sparse import csr_array

    n_items = len(offsets) - 1
    rows = csr_array((probabilities, neighbors.astype(np.int64), offsets), shape=(n_items, n_items))
    columns = rows.T.tocsr()
    same = np.array_equal(columns.indptr, offsets) and np.array_equal(columns.indices, neighbors)
    if not same or not np.array_equal(columns.data, probabilities):
        raise ValueError("the rows are not symmetric: each pair must be in the rows of both of its items")
