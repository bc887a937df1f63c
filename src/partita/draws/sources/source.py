"""A source of draws: blocks of rows that are read one after the other, so that they need not all be in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.arrays import slices
from partita._support.names import order_by_name
from partita.partitions.codes import as_cells

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


__all__ = ["Block", "Source", "array_source", "joined", "row_slices"]


@dataclass(frozen=True)
class Block:
    """Some draws: (rows, items) cells, how messages name a cell, and each row's chain and weight if known.

    In text (`is_text`), a missing label is an empty cell, NA or the like.
    """

    cells: NDArray[Any]
    place: Callable[[int, int], str]
    chains: NDArray[np.int64] | None = None
    weights: NDArray[np.float64] | None = None
    is_text: bool = False


@dataclass(frozen=True)
class Source:
    """Where draws come from; `blocks` can be read once.

    `noise` is the share of the draws that call each item noise, if the draws were read before; `alone_is_noise`: an
    item that is alone in a draw is noise.
    """

    n_items: int
    blocks: Iterator[Block]
    names: tuple[str, ...] | None = None
    noise: NDArray[np.float64] | None = None
    alone_is_noise: bool = False


def array_source(array: Any, names: Sequence[str] | None = None) -> Source:
    """(draws, items) or (chains, draws, items), in memory or read as it is sliced."""
    array = array if _is_sliceable(array) else as_cells(array, "draws")
    n_dims = len(array.shape)
    if n_dims not in (2, 3):
        raise ValueError(
            f"draws must have 2 dimensions (draws, items) or 3 (chains, draws, items), but it has {n_dims}"
        )
    blocks = _rows_of(array) if n_dims == 2 else _rows_of_chains(array)
    if 0 in array.shape:  # there may be very many chains without draws
        blocks = iter(())
    return Source(int(array.shape[-1]), blocks, None if names is None else tuple(map(str, names)))


def _is_sliceable(array: Any) -> bool:
    return hasattr(array, "shape") and hasattr(array, "dtype") and hasattr(array, "__getitem__")


def _rows_of(array: Any) -> Iterator[Block]:
    for start, cells in read_rows(array, chunk_starts(array, 0)):
        yield Block(cells, _place_in_array("", start))


def _rows_of_chains(array: Any) -> Iterator[Block]:
    starts = chunk_starts(array, 1)
    for chain in range(array.shape[0]):
        for start, cells in read_rows(array[chain], starts):
            yield Block(cells, _place_in_array(f"{chain}, ", start), np.full(len(cells), chain, np.int64))


def _place_in_array(prefix: str, start: int) -> Callable[[int, int], str]:
    return lambda row, column: f"draws[{prefix}{start + row}, {column}]"


def joined(sources: Sequence[Source]) -> Source:
    """Several sources as the chains of one; a source that has several chains contributes all of them."""
    if not sources:
        raise ValueError("draws is empty: there are no chains")
    first = sources[0]
    same = [in_order_of(first, source, f"chain {i}", "chain 0") for i, source in enumerate(sources)]
    return replace(first, blocks=_chains_in_turn(same))


def in_order_of(first: Source, source: Source, what: str, whose: str) -> Source:
    """A source with its items in the order of another, by name; names on one side only are an error."""
    if first.names is None or source.names is None:
        if source.n_items != first.n_items:
            raise ValueError(f"{what} has {source.n_items} items, but {whose} has {first.n_items}")
        if source.names != first.names:
            raise ValueError(f"{what} and {whose} have different item names")
        return source
    order = order_by_name(source.names, first.names, what, whose)
    if order is None and source.names != first.names:
        raise ValueError(f"{what} and {whose} have different item names")
    return source if order is None else Source(source.n_items, _reordered(source.blocks, order), first.names)


def _reordered(blocks: Iterator[Block], order: NDArray[np.intp]) -> Iterator[Block]:
    for block in blocks:
        yield replace(block, cells=block.cells[:, order], place=_place_before(block, order))


def _place_before(block: Block, order: NDArray[np.intp]) -> Callable[[int, int], str]:
    return lambda row, column: block.place(row, int(order[column]))


def _chains_in_turn(sources: Sequence[Source]) -> Iterator[Block]:
    next_chain = 0
    for source in sources:
        base = next_chain
        for block in source.blocks:
            own = np.zeros(len(block.cells), np.int64) if block.chains is None else block.chains
            next_chain = max(next_chain, base + 1 + int(own.max(initial=0)))
            yield replace(block, chains=base + own)
