"""The rows of an array in memory or in chunks elsewhere: each chunk of Dask, Zarr or HDF5 is fetched once."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.arrays import slices

CELLS_PER_BLOCK = 1 << 21
#: A chunk of more cells than this is fetched in pieces, where the array can do that.
MAX_CELLS_AT_ONCE = 1 << 24


def row_slices(n_rows: int, n_items: int) -> Iterator[slice]:
    """Consecutive slices of rows, about two million cells each."""
    return slices(n_rows, max(1, CELLS_PER_BLOCK // max(n_items, 1)))


def chunk_starts(array: Any, axis: int) -> list[int]:
    """Where fetches of rows begin and end: at chunk borders, with enough chunks together to fill a block."""
    n_rows, n_items = array.shape[axis], array.shape[-1]
    chunks = getattr(array, "chunks", None)
    if chunks is None:
        return [*(rows.start for rows in row_slices(n_rows, n_items)), n_rows]
    if not isinstance(chunks[axis], int):  # Dask: the length of every chunk; it computes whole chunks
        return _joined([0, *np.cumsum(chunks[axis]).tolist()], n_items)
    length = (getattr(array, "shards", None) or chunks)[axis]
    length = min(length, max(1, MAX_CELLS_AT_ONCE // n_items))
    return _joined([*range(0, n_rows, length), n_rows], n_items)


def _joined(starts: list[int], n_items: int) -> list[int]:
    """Small chunks together, up to a block."""
    kept = [starts[0]]
    for start, end in pairwise(starts[1:] + starts[-1:]):
        if (end - kept[-1]) * n_items > CELLS_PER_BLOCK or end == start:
            kept.append(start)
    return kept


def read_rows(array: Any, starts: list[int]) -> Iterator[tuple[int, NDArray[Any]]]:
    """The rows in order, one block at a time, each with the number of its first row."""
    for begin, end in pairwise(starts):
        fetched = _fetched(array, begin, end)
        for rows in row_slices(len(fetched), fetched.shape[1]):
            yield begin + rows.start, fetched[rows]


def _fetched(array: Any, begin: int, end: int) -> NDArray[Any]:
    if isinstance(array, np.ndarray):
        rows: NDArray[Any] = array[begin:end]
        return rows
    try:
        cells: NDArray[Any] = np.asanyarray(array[begin:end])
    except (MemoryError, KeyboardInterrupt):
        raise
    except Exception as error:  # a store or a task may raise anything
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(f"the chunk of draws {begin} to {end - 1} cannot be read: {reason}") from error
    if cells.shape != (end - begin, array.shape[-1]):
        raise ValueError(
            f"the chunk of draws {begin} to {end - 1} has shape {cells.shape}, not {(end - begin, array.shape[-1])}"
        )
    return cells
