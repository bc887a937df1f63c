"""Texts and rows of a table in little memory: the cells of a column lie one behind the other in long strings."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple, overload


class Row(NamedTuple):
    """The stripped cells of a row, and the number of its line."""

    line: int
    cells: list[str]


class Texts(Sequence[str]):
    """Texts, many at a time as one string with their ends; a Python string of its own takes fifty bytes more."""

    def __init__(self, blocks: Iterable[Sequence[str]] = ()) -> None:
        self._blocks: list[tuple[str, array[int]]] = []
        self._starts, self._length = array("q"), 0
        for block in blocks:
            self.append_block(block)

    def append_block(self, texts: Sequence[str]) -> None:
        """Adds texts that are stored together."""
        self._blocks.append(("".join(texts), array("I", accumulate(map(len, texts)))))
        self._starts.append(self._length)
        self._length += len(texts)

    def blocks(self) -> Iterator[list[str]]:
        """The texts as they are stored together."""
        for text, ends in self._blocks:
            yield [text[begin:end] for begin, end in pairwise([0, *ends])]

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[str]:
        for block in self.blocks():
            yield from block

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            return [self[place] for place in range(*at.indices(self._length))]
        place = range(self._length)[at]
        block = bisect_right(self._starts, place) - 1
        text, ends = self._blocks[block]
        within = place - self._starts[block]
        return text[ends[within - 1] if within else 0 : ends[within]]


class Rows(Sequence[Row]):
    """The rows of packed columns, made as they are asked for."""

    def __init__(self, lines: Sequence[int], columns: Sequence[Texts]) -> None:
        self._lines, self._columns = lines, columns

    def __len__(self) -> int:
        return len(self._lines)

    def __iter__(self) -> Iterator[Row]:
        for line, *cells in zip(self._lines, *self._columns, strict=True):
            yield Row(line, cells)

    @overload
    def __getitem__(self, at: int) -> Row: ...
    @overload
    def __getitem__(self, at: slice) -> list[Row]: ...
    def __getitem__(self, at: int | slice) -> Row | list[Row]:
        if isinstance(at, slice):
            return [self[place] for place in range(*at.indices(len(self)))]
        return Row(self._lines[at], [column[at] for column in self._columns])
