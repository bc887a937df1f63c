"""Csv files that are read as a whole: edges, nodes, partitions, data. `draws.sources.text` reads draws in pieces."""

from __future__ import annotations

import csv
import os
import re
import sys
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, islice, pairwise
from pathlib import Path
from typing import IO, AnyStr, NamedTuple, overload

from partita._support.hints import listed, plural
from partita._support.memory import check_fits
from partita._support.text.cells import has_decimal_point, with_decimal_point
from partita._support.text.content import DAMAGED, decode, open_bytes, refuse_workbook
from partita._support.text.header import HEAD_ROWS, HeadRow, Kind, has_header
from partita._support.text.separator import SPACE, all_end_in, find_separator, single_spaces, without_last_separators


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


STDIN = "-"
NAMELESS = ("", "Unnamed: 0")  # above row names, as R and pandas write them, and as pandas writes them after reading
SIZE_OF_PIECE, LARGEST = 1 << 22, 1 << 32
LONGEST_LINE = 1 << 28  # a draw of some thirty million items
ROWS_PER_BLOCK = 1024
_LEAST_COPIES = 3  # of a text while it is read: bytes, text and cells
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")


@dataclass(frozen=True)
class Table:
    """The rows of a file below its header, all of one width; `columns` are their stripped cells, column by column.

    Without a header the `names` are column 1, column 2, ... `row_names` is the first column if it has no name, as R and
    pandas write row names; it is not among the columns.
    """

    path: str
    names: list[str]
    columns: list[Texts]
    lines: Sequence[int]
    has_header: bool
    row_names: Texts | None = None

    @property
    def rows(self) -> Rows:
        """The cells row by row; those of one column are in `columns`."""
        return Rows(self.lines, self.columns)

    def column(self, name: str) -> int:
        """The position of the column of this name."""
        if self.names.count(name) > 1:
            raise ValueError(f"{self.path} has {self.names.count(name)} columns named {name!r}")
        if name not in self.names:
            raise ValueError(f"{self.path} has no column {name!r}; its columns are {listed(self.names)}")
        return self.names.index(name)

    def require_names(self) -> None:
        """Raises an error for columns without names, since they usually number the rows."""
        if "" in self.names:
            place = self.names.index("") + 1 + (self.row_names is not None)
            raise ValueError(
                f"{self.path}: column {place} has no name; give it one, or remove the column if it numbers the rows"
            )


def read_table(path: str | Path, kind: Kind, columns: Sequence[str] = ()) -> Table:
    """The table of a file; - is standard input.

    `columns` are names given by the user: a first line that contains them all is a header in any case.
    """
    where = str(path)
    text = _read_text(path)
    first_lines = list(islice((line.rstrip("\r\n") for line in _lines(text) if line.strip()), HEAD_ROWS)) or [""]
    separator = find_separator(first_lines, where)
    if all_end_in(first_lines, separator):
        text = without_last_separators(text, separator)
    found = _read_rows(text, separator, where)
    first = found.head[0]
    headed = (len(columns) > 0 and set(columns) <= set(first.cells)) or has_header(found.head, kind, where)
    names = first.cells if headed else [f"column {j + 1}" for j in range(len(first.cells))]
    if headed and not found.lines:
        raise ValueError(f"{path} has only a header, {listed(names)}")
    below = found if headed else found.with_first()
    width = len(below.columns)
    if below.other_width is not None:
        line, cells = below.other_width
        raise ValueError(f"{path}, line {line}: {plural(cells, 'cell')}, but line {below.lines[0]} has {width}")
    table = Table(where, names, below.columns, below.lines, headed)
    if headed and len(names) == width - 1:
        return _split_row_names(replace(table, names=["", *names]))
    if len(names) != width:
        raise ValueError(
            f"{path}, line {below.lines[0]}: {plural(width, 'cell')}, but line {first.line} has {len(names)}"
        )
    if headed and names[0] in NAMELESS and width > 1:
        return _split_row_names(table)
    if not headed and width > 1 and below.only_first_quoted:
        return _split_row_names(table)
    return table


def split_column(source: str) -> tuple[str, str | None]:
    """The file and the column of `file.csv:column`; if a file of that whole name exists, it is meant."""
    if source == STDIN or ":" not in source or Path(source).exists():
        return source, None
    path, column = source.rsplit(":", 1)
    return path, column


def _split_row_names(table: Table) -> Table:
    return replace(table, names=table.names[1:], columns=table.columns[1:], row_names=table.columns[0])


def _only_first_is_quoted(line: str) -> bool:
    """Whether these are row names as R writes them above rows of numbers."""
    return line.startswith('"') and line.count('"') == 2


def _read_text(path: str | Path) -> str:
    if path == STDIN:
        return "".join(_pieces(sys.stdin, "\0\n\r", "standard input")).removeprefix("\ufeff")
    try:
        check_fits(_LEAST_COPIES * os.path.getsize(path), f"the cells of {path}")
        with open_bytes(path) as stream:
            data = b"".join(_pieces(stream, b"\0\n\r", str(path)))
    except DAMAGED as error:
        raise ValueError(f"{path} is damaged or truncated: {error}") from None
    try:
        return decode(data.removeprefix(b"\xef\xbb\xbf"), str(path))
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not a csv file: {error}") from None


def _pieces(stream: IO[AnyStr], marks: AnyStr, where: str) -> Iterator[AnyStr]:
    """The content of a stream, which may be an endless device: null bytes, endless lines and too much raise an error.

    `marks` are a null byte and the ends of lines.
    """
    null, feed, carriage = marks[:1], marks[1:2], marks[2:]
    size = length = 0  # of all, and of the unfinished line
    while piece := stream.read(SIZE_OF_PIECE):
        if size == 0 and isinstance(piece, bytes):
            refuse_workbook(piece, where)
        size += len(piece)
        end = max(piece.rfind(feed), piece.rfind(carriage))
        length = len(piece) - end - 1 if end >= 0 else length + len(piece)
        if null in piece:
            raise ValueError(f"{where} is not a csv file: it has a null byte")
        if size > LARGEST:
            raise ValueError(
                f"{where} is larger than {LARGEST >> 30} GiB, which is too large for a table that is read as a whole"
            )
        if length > LONGEST_LINE:
            raise ValueError(f"{where} has a line longer than {LONGEST_LINE >> 20} MiB: is it a csv file?")
        check_fits((_LEAST_COPIES - 1) * size, f"the other copies of the cells of {where}")
        yield piece


def _lines(text: str) -> Iterator[str]:
    """The lines as a csv reader numbers them, with their ends: line feeds and carriage returns."""
    return (line[0] for line in _LINE.finditer(text))


@dataclass
class _Found:
    """The rows of a text. The first may be a header: `columns`, `lines` and so on are those of the rows below it.

    `head` has the first rows, to recognise a header by; `other_width` the line and the number of cells of the first row
    that is not as wide as the one below the first; with `only_first_quoted` only the first cell of every line is in
    quotes, as R writes row names.
    """

    head: list[HeadRow]
    columns: list[Texts]
    lines: array[int]
    other_width: tuple[int, int] | None
    only_first_quoted: bool
    first_quoted: bool

    def with_first(self) -> _Found:
        """The same with the first row, if it is no header, among the rows."""
        first, other = self.head[0], self.other_width
        if self.lines and len(self.columns) != len(first.cells):
            other = self.lines[0], len(self.columns)
        columns = [Texts([[cell]]) for cell in first.cells]
        for column, rest in zip(columns, self.columns, strict=False):
            for block in rest.blocks():
                column.append_block(block)
        only_first = self.first_quoted and self.only_first_quoted
        lines = array("q", [first.line]) + self.lines
        return replace(self, columns=columns, lines=lines, other_width=other, only_first_quoted=only_first)


def _read_rows(text: str, separator: str, where: str) -> _Found:
    """Every row, read once and packed."""
    rows = _csv_rows(text, separator, where)
    first = next(rows, None)
    if first is None:
        raise ValueError(f"{where} is empty")
    head, quoted = [HeadRow.of(*first)], _only_first_is_quoted(first[2])
    columns: list[Texts] = []
    found = _Found(head, columns, array("q"), None, True, quoted)
    points = separator == "," or any(map(has_decimal_point, first[1]))
    while block := list(islice(rows, ROWS_PER_BLOCK)):
        head += [HeadRow.of(*row) for row in block[: HEAD_ROWS + 1 - len(head)]]
        columns = columns or [Texts() for _ in block[0][1]]
        found.other_width = found.other_width or _other_width(block, len(columns))
        points = points or any(has_decimal_point(cell) for _, cells, _ in block for cell in cells)
        found.only_first_quoted = found.only_first_quoted and all(_only_first_is_quoted(row[2]) for row in block)
        if found.other_width is None:
            found.lines.extend(line for line, _, _ in block)
            for column, cells in zip(columns, zip(*(cells for _, cells, _ in block), strict=True), strict=True):
                column.append_block(cells)
        elif not found.lines:
            found.lines.append(block[0][0])
    found.columns = columns
    return found if points else _with_decimal_points(found)


def _other_width(block: Sequence[tuple[int, list[str], str]], width: int) -> tuple[int, int] | None:
    return next(((line, len(cells)) for line, cells, _ in block if len(cells) != width), None)


def _csv_rows(text: str, separator: str, where: str) -> Iterator[tuple[int, list[str], str]]:
    """The number of the line, the stripped cells and the written line of each row that is not empty."""
    lines = list(_lines(text)) if separator == SPACE else []  # as they were written
    last = [""]

    def given() -> Iterator[str]:
        for last[0] in _lines(single_spaces(text) if separator == SPACE else text):
            yield last[0]

    reader = csv.reader(given(), delimiter=separator)
    try:
        for cells in reader:
            if cells:
                written = lines[reader.line_num - 1] if lines else last[0]
                yield reader.line_num, [cell.strip() for cell in cells], written.rstrip("\r\n")
    except csv.Error as error:
        raise ValueError(f"{where} is not a csv file: {error}") from None


def _with_decimal_points(found: _Found) -> _Found:
    """Decimal commas as points, in a file without decimal points."""
    head = [replace(row, cells=list(map(with_decimal_point, row.cells))) for row in found.head]
    columns = [Texts(list(map(with_decimal_point, block)) for block in column.blocks()) for column in found.columns]
    return replace(found, head=head, columns=columns)
