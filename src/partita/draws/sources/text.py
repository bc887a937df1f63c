"""Draws in text, one line per draw, read in pieces, so that the file need not fit in memory."""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from partita import _core
from partita._support.errors import ArgumentError, Setting
from partita._support.names import default_names
from partita._support.text.cells import ParsedCells
from partita._support.text.content import decode, refuse_workbook
from partita._support.text.header import HEAD_ROWS
from partita._support.text.separator import SPACE, single_spaces, without_last_separators
from partita._support.text.table import LONGEST_LINE
from partita.draws.sources.columns import Columns, check_draws_differ, choose_columns
from partita.draws.sources.layout import (
    Layout,
    check_not_coda,
    check_not_coda_index,
    check_not_json,
    check_not_one_partition,
    counts_rows,
    find_layout,
)
from partita.draws.sources.long import LongColumns, LongRows, Names, find_long, long_source
from partita.draws.sources.source import Block, Source

BYTES_PER_PIECE = 1 << 22
FIRST_LINES = 8  # at least this many in the first piece, to detect the layout
HEAD_BYTES = 1 << 16  # of the first lines that show the layout, after two of them


@dataclass(frozen=True)
class Piece:
    """Some whole lines; `first_line` counts from 1."""

    first_line: int
    text: bytes


@dataclass(frozen=True)
class Rows:
    """Parsed lines: (rows, columns) cells and the number of each row's line."""

    cells: NDArray[Any]
    lines: NDArray[np.int64]


def text_source(
    stream: BinaryIO,
    name: str,
    variable: str | None = None,
    header: bool | None = None,
    index: bool | None = None,
    long: Names | None = None,
) -> Source:
    """The draws of an open file; `name` is what messages call it."""
    pieces = _pieces(stream, name)
    try:
        first = next(pieces)
    except StopIteration:
        raise ValueError(f"{name} is empty") from None
    layout, first = _take_head(first, True if long is not None else header, index, name)
    reader = _RowReader(name, layout.separator, layout.ends_in_separator)
    rows = (reader.read(piece) for piece in chain([first], pieces))
    rows = (some for some in rows if len(some.cells))
    first_rows = next(rows, None)
    if first_rows is None:
        hint = (", only a header (", Setting("header", False), " reads it as a draw)")
        raise ArgumentError(f"{name} has no draws", *(() if layout.header is None else hint))
    width = first_rows.cells.shape[1]
    if layout.header is not None:
        names = ["", *layout.header] if len(layout.header) + 1 == width else layout.header
        if found := find_long(names, long, name, variable):
            _check_width(names, first_rows, name)
            return long_source(_long_rows(chain([first_rows], rows), found, name), found, variable, name)
    columns, count_from = _columns(layout, first_rows, variable, name)
    if len(columns.items) == 1 and variable is None:
        check_not_one_partition(first_rows.cells[:, columns.items], name)
    blocks = _blocks(chain([first_rows], rows), columns, count_from, name)
    return Source(len(columns.items), blocks, columns.names)


def _pieces(stream: BinaryIO, name: str) -> Iterator[Piece]:
    """Whole lines, joined once: the beginning of a long line is not scanned again."""
    read: list[bytes] = []
    line, breaks = 1, 0
    length = 0  # of the unfinished line
    while data := _read(stream, name):
        if line == 1 and not read:
            refuse_workbook(data, name)
            data = data.removeprefix(b"\xef\xbb\xbf")
        _check_no_null(Piece(line + breaks, data), name)
        end = data.rfind(b"\n") + 1
        length = len(data) - end if end else length + len(data)
        breaks += data.count(b"\n")
        read.append(data)
        if length > LONGEST_LINE:
            raise ValueError(f"{name}, line {line + breaks} is longer than {LONGEST_LINE >> 20} MiB: is it a csv file?")
        if breaks >= (FIRST_LINES if line == 1 else 1):
            text = b"".join(read)
            end = text.rfind(b"\n") + 1
            yield Piece(line, text[:end])
            line, read, breaks = line + breaks, [text[end:]], 0
    if rest := b"".join(read):
        yield Piece(line, rest)


def _check_no_null(piece: Piece, name: str) -> None:
    """Raises an error for null bytes: text has none, and an endless device may consist of them."""
    at = piece.text.find(b"\0")
    if at >= 0:
        line = piece.first_line + piece.text.count(b"\n", 0, at)
        raise ValueError(f"{name}, line {line}: not text (UTF-8), but byte 0x00")


def _read(stream: BinaryIO, name: str) -> bytes:
    try:
        data = stream.read(BYTES_PER_PIECE)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{name} is damaged or truncated: {error}") from None
    return data.encode() if isinstance(data, str) else data


def _take_head(piece: Piece, header: bool | None, index: bool | None, name: str) -> tuple[Layout, Piece]:
    """The layout, and the piece without the header and the comments around it."""
    starts = list(_head_starts(piece.text))
    if not starts:
        raise ValueError(f"{name} is empty")
    first_lines = [_line_at(piece, start) for start in starts]
    lines = [_decode(line, name).rstrip("\r") for line in first_lines]
    check_not_json(lines, name)
    layout = find_layout(lines, [line.first_line for line in first_lines], header, index, name)
    return layout, _from(piece, [*starts, len(piece.text)][layout.header is not None])


def _head_starts(text: bytes) -> Iterator[int]:
    """Where the first lines begin: at least two, and no more than can be read quickly."""
    for count, start in enumerate(islice(_content(text), HEAD_ROWS)):
        if count >= 2 and start > HEAD_BYTES:
            return
        yield start


def _line_at(piece: Piece, start: int) -> Piece:
    """The line that begins there, alone."""
    end = piece.text.find(b"\n", start)
    return Piece(piece.first_line + piece.text.count(b"\n", 0, start), piece.text[start : end if end >= 0 else None])


def _from(piece: Piece, start: int) -> Piece:
    return Piece(piece.first_line + piece.text.count(b"\n", 0, start), piece.text[start:])


def _content(text: bytes) -> Iterator[int]:
    """Where lines begin that are neither empty nor comments."""
    start = 0
    while start < len(text):
        end = text.find(b"\n", start) + 1 or len(text)
        if text[start:end].strip() and not text.startswith(b"#", start):
            yield start
        start = end


def _decode(piece: Piece, name: str) -> str:
    try:
        text = decode(piece.text, name)
        bad = text.find("\0")
    except UnicodeDecodeError as error:
        text, bad = "", error.start
    if bad >= 0:
        line = piece.first_line + piece.text.count(b"\n", 0, bad)
        raise ValueError(f"{name}, line {line}: not text (UTF-8), but byte {piece.text[bad]:#04x}")
    return text


class _RowReader:
    """Turns pieces into rows of equal width; its only state is what must be consistent between pieces."""

    def __init__(self, name: str, separator: str, ends_in_separator: bool) -> None:
        self._name, self._separator, self._ends_in_separator = name, separator, ends_in_separator
        self._width: tuple[int, int] | None = None  # the number of cells, and the line that set it
        self._empty_line: int | None = None

    def read(self, piece: Piece) -> Rows:
        if not piece.text:
            return Rows(np.empty((0, 0)), np.empty(0, np.int64))
        if self._separator == SPACE:
            piece = Piece(piece.first_line, single_spaces(_decode(piece, self._name)).encode())
        if self._ends_in_separator:
            shorter = without_last_separators(_decode(piece, self._name), self._separator)
            piece = Piece(piece.first_line, shorter.encode())
        table = _core.read_integers(piece.text, self._separator)
        if table is None:
            return self._read_carefully(piece)
        self._check_row(table.shape[1], piece.first_line)
        return Rows(table, piece.first_line + np.arange(len(table)))

    def _read_carefully(self, piece: Piece) -> Rows:
        text = _decode(piece, self._name).removesuffix("\n")
        reader = csv.reader(text.split("\n"), delimiter=self._separator, strict=True)
        rows: list[list[Any]] = []
        lines: list[int] = []
        parsed = ParsedCells(decimal_commas=self._separator != ",")
        try:
            for row in reader:
                line = piece.first_line + reader.line_num - 1
                if row and row[0].startswith("#"):
                    continue
                if not row:
                    self._empty_line = self._empty_line or line
                    continue
                self._check_row(len(row), line)
                rows.append([parsed[text] for text in row])
                lines.append(line)
        except csv.Error as error:
            raise ValueError(f"{self._name}, line {piece.first_line + reader.line_num - 1}: {error}") from None
        width = self._width[0] if self._width else 0
        return Rows(np.array(rows, dtype=object).reshape(len(rows), width), np.array(lines, np.int64))

    def _check_row(self, width: int, line: int) -> None:
        """Allows empty lines only at the end of a file; elsewhere they would be draws without items."""
        if self._empty_line is not None:
            raise ValueError(f"{self._name}, line {self._empty_line} is empty")
        self._width = self._width or (width, line)
        if width != self._width[0]:
            expected, first_line = self._width
            raise ValueError(f"{self._name}, line {line} has {width} cells, but line {first_line} has {expected}")


def _columns(layout: Layout, rows: Rows, variable: str | None, name: str) -> tuple[Columns, int | None]:
    """The columns to read, and the first number of a column that was recognised because it numbers the draws."""
    width = rows.cells.shape[1]
    if layout.header is None and layout.index:
        check_not_coda_index(rows.cells, name)
    if layout.index is None and width == 2:
        check_not_coda(rows.cells[:, 0], name)
    counted = layout.index is None and width > 1 and counts_rows(rows.cells[:, 0])
    has_index = bool(layout.index) or counted
    names = layout.header if layout.header is not None else list(default_names(width - has_index))
    if has_index:
        names = ["", *names[-(width - 1) :]]
    _check_width(names, rows, name)
    return choose_columns([n.strip() for n in names], variable, name), int(rows.cells[0, 0]) if counted else None


def _check_width(names: list[str], rows: Rows, name: str) -> None:
    width = rows.cells.shape[1]
    if len(names) != width:
        raise ValueError(f"{name}, line {rows.lines[0]} has {width} cells, but the header has {len(names)}")


def _long_rows(all_rows: Iterator[Rows], long: LongColumns, name: str) -> LongRows:
    columns: dict[int, list[Any]] = {position: [] for position in long.used}
    lines: list[NDArray[np.int64]] = []
    for rows in all_rows:
        for position, values in columns.items():
            values += rows.cells[:, position].tolist()
        lines.append(rows.lines)
    numbers = np.concatenate(lines)
    return LongRows(columns, lambda row: f"{name}, line {numbers[row]}")


def _blocks(all_rows: Iterator[Rows], columns: Columns, count_from: int | None, name: str) -> Iterator[Block]:
    chain_numbers: dict[Any, int] = {}
    n_read = 0
    for rows in all_rows:
        if count_from is not None:
            _check_counts(rows, count_from + n_read, name)
        if n_read == 0 and columns.counters:
            kept = [j for j in (columns.chain, *columns.counters) if j is not None]
            check_draws_differ(list(zip(*(rows.cells[:, j].tolist() for j in kept), strict=True)), name)
        n_read += len(rows.cells)
        chains = weights = None
        if columns.chain is not None:
            keys = rows.cells[:, columns.chain].tolist()
            chains = np.array([chain_numbers.setdefault(key, len(chain_numbers)) for key in keys], np.int64)
        if columns.weight is not None:
            weights = _weights(rows, columns.weight, name)
        yield Block(_items(rows.cells, columns.items), _place(name, rows, columns), chains, weights, is_text=True)


def _check_counts(rows: Rows, expected: int, name: str) -> None:
    wrong = np.flatnonzero(rows.cells[:, 0] != expected + np.arange(len(rows.cells)))
    if wrong.size:
        problem = "column 1 counts the draws up to here and then stops; specify whether it does with "
        ways = (Setting("index", True), " or ", Setting("index", False))
        raise ArgumentError(f"{name}, line {rows.lines[wrong[0]]}: {problem}", *ways)


def _items(cells: NDArray[Any], items: tuple[int, ...]) -> NDArray[Any]:
    """Adjacent columns need no copy."""
    adjacent = items == tuple(range(items[0], items[0] + len(items))) if items else True
    return cells[:, items[0] : items[0] + len(items)] if adjacent and items else cells[:, list(items)]


def _weights(rows: Rows, column: int, name: str) -> NDArray[np.float64]:
    try:
        return rows.cells[:, column].astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name}, lines {rows.lines[0]} to {rows.lines[-1]}: a weight is not a number") from None


def _place(name: str, rows: Rows, columns: Columns) -> Any:
    return lambda row, column: f"{name}, line {rows.lines[row]}, column {columns.items[column] + 1},"
