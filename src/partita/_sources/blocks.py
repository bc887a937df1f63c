"""A source of draws: blocks of rows that are read one after the other, so that none needs all in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._labels import as_cells
from partita._sources.chunks import chunk_starts, read_rows, row_slices

__all__ = ["Block", "Source", "array_source", "joined", "row_slices"]


@dataclass(frozen=True)
class Block:
    """Some draws: (rows, items) cells, how a message names a cell, each row's chain and weight if known."""

    cells: NDArray[Any]
    place: Callable[[int, int], str]
    chains: NDArray[np.int64] | None = None
    weights: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class Source:
    """Where draws come from; `blocks` can be read once."""

    n_items: int
    blocks: Iterator[Block]
    names: tuple[str, ...] | None = None


def array_source(array: Any, names: Sequence[str] | None = None) -> Source:
    """(draws, items) or (chains, draws, items), in memory or read as it is sliced."""
    array = array if _is_sliceable(array) else as_cells(array, "draws")
    n_dims = len(array.shape)
    if n_dims not in (2, 3):
        raise ValueError(
            f"draws must have 2 dimensions (draws, items) or 3 (chains, draws, items), but it has {n_dims}"
        )
    blocks = _rows_of(array) if n_dims == 2 else _rows_of_chains(array)
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
    """Several sources as the chains of one; a source that has chains of its own brings them all."""
    first = sources[0]
    for i, source in enumerate(sources):
        if source.n_items != first.n_items:
            raise ValueError(f"chain {i} has {source.n_items} items, but chain 0 has {first.n_items}")
        if source.names != first.names:
            raise ValueError(f"chain {i} has other item names than chain 0")
    return replace(first, blocks=_renumbered(sources))


def _renumbered(sources: Sequence[Source]) -> Iterator[Block]:
    next_chain = 0
    for source in sources:
        base = next_chain
        for block in source.blocks:
            own = np.zeros(len(block.cells), np.int64) if block.chains is None else block.chains
            next_chain = max(next_chain, base + 1 + int(own.max(initial=0)))
            yield replace(block, chains=base + own)
