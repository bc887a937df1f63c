"""Csv files that are read as a whole: edges, nodes, partitions, data. `_draws.sources.text` reads draws in pieces."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, AnyStr, NamedTuple

from partita._text.cells import has_decimal_point, with_decimal_point
from partita._text.compressed import DAMAGED, open_bytes
from partita._text.encoding import decode
from partita._text.header import HEAD_ROWS, HeadRow, Kind, has_header, is_quoted
from partita._text.separator import SPACE, all_end_in, find_separator, single_spaces, without_last_separators

STDIN = "-"
NAMELESS = ("", "Unnamed: 0")  # above row names, as R and pandas write them, and as pandas writes them after reading
SIZE_OF_PIECE, LARGEST = 1 << 22, 1 << 32
UTF16 = (b"\xff\xfe", b"\xfe\xff")  # how text begins that Excel calls Unicode


class Row(NamedTuple):
    """The stripped cells of a row, and the number of its line."""

    line: int
    cells: list[str]


@dataclass(frozen=True)
class Table:
    """The rows of a file below its header, all of one width.

    Attributes
    ----------
    names : the names of the columns: column 1, column 2, ... if the file has no header.
    row_names : the first column if it has no name, as R and pandas write row names; it is not among the columns.
    """

    path: str
    names: list[str]
    rows: list[Row]
    has_header: bool
    row_names: list[str] | None = None

    def column(self, name: str) -> int:
        """The position of the column of this name."""
        if self.names.count(name) > 1:
            raise ValueError(f"{self.path} has {self.names.count(name)} columns named {name!r}")
        if name not in self.names:
            raise ValueError(f"{self.path} has no column {name!r}; its columns are {listed(self.names)}")
        return self.names.index(name)

    def require_names(self) -> None:
        """Refuses columns without names, since they usually number the rows."""
        if "" in self.names:
            place = self.names.index("") + 1 + (self.row_names is not None)
            raise ValueError(
                f"{self.path}: column {place} has no name; give it one, or remove the column if it numbers the rows"
            )


def listed(names: Sequence[str]) -> str:
    """Names as listed in a message."""
    return ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")


def read_table(path: str | Path, kind: Kind, columns: Sequence[str] = ()) -> Table:
    """The table of a file; - is standard input.

    `columns` are names given by the user: a first line that contains them all is a header in any case.
    """
    where = str(path)
    text = _read_text(path)
    lines = _lines(text)
    first_lines = [line for line in lines if line.strip()][:HEAD_ROWS] or [""]
    separator = find_separator(first_lines, where)
    if all_end_in(first_lines, separator):
        text = without_last_separators(text, separator)
        lines = _lines(text)
    rows = _rows(single_spaces(text) if separator == SPACE else text, separator, where)
    if separator != ",":
        rows = _with_decimal_points(rows)
    head = [HeadRow(n, cells, is_quoted(lines[n - 1], len(cells))) for n, cells in rows[: HEAD_ROWS + 1]]
    headed = (len(columns) > 0 and set(columns) <= set(rows[0].cells)) or has_header(head, kind, where)
    below = rows[1:] if headed else rows
    names = rows[0].cells if headed else [f"column {j + 1}" for j in range(len(rows[0].cells))]
    if headed and not below:
        raise ValueError(f"{path} has only a header, {listed(names)}")
    width = len(below[0].cells)
    for line, cells in below:
        if len(cells) != width:
            raise ValueError(f"{path}, line {line}: {len(cells)} cells, but line {below[0].line} has {width}")
    if headed and len(names) == width - 1:
        return _split_row_names(where, ["", *names], below)
    if len(names) != width:
        raise ValueError(f"{path}, line {below[0].line}: {width} cells, but line {rows[0].line} has {len(names)}")
    if headed and names[0] in NAMELESS and width > 1:
        return _split_row_names(where, names, below)
    if not headed and width > 1 and all(_only_first_is_quoted(lines[row.line - 1]) for row in below):
        return replace(_split_row_names(where, names, below), has_header=False)
    return Table(where, names, below, headed)


def split_column(source: str) -> tuple[str, str | None]:
    """The file and the column of `file.csv:column`; if a file of that whole name exists, it is meant."""
    if source == STDIN or ":" not in source or Path(source).exists():
        return source, None
    path, column = source.rsplit(":", 1)
    return path, column


def _split_row_names(where: str, names: list[str], rows: list[Row]) -> Table:
    below = [Row(line, cells[1:]) for line, cells in rows]
    return Table(where, names[1:], below, True, [cells[0] for _, cells in rows])


def _only_first_is_quoted(line: str) -> bool:
    """Whether these are row names as R writes them above rows of numbers."""
    return line.startswith('"') and line.count('"') == 2


def _read_text(path: str | Path) -> str:
    if path == STDIN:
        return "".join(_pieces(sys.stdin, "\0", "standard input")).removeprefix("\ufeff")
    try:
        with open_bytes(path) as stream:
            data = b"".join(_pieces(stream, b"\0", str(path)))
    except DAMAGED as error:
        raise ValueError(f"{path} is damaged or truncated: {error}") from None
    if data.startswith(UTF16):
        raise ValueError(f"{path} is UTF-16 text; save it as CSV UTF-8")
    try:
        return decode(data.removeprefix(b"\xef\xbb\xbf"), str(path))
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not a csv file: {error}") from None


def _pieces(stream: IO[AnyStr], null: AnyStr, where: str) -> Iterator[AnyStr]:
    """The content of a stream, which may be an endless device: null bytes and too much content are refused."""
    size = 0
    while piece := stream.read(SIZE_OF_PIECE):
        size += len(piece)
        if null in piece and not piece.startswith(UTF16 if isinstance(piece, bytes) else ()):
            raise ValueError(f"{where} is not a csv file: it has a null byte")
        if size > LARGEST:
            raise ValueError(
                f"{where} is larger than {LARGEST >> 30} GiB, which is too large for a table that is read as a whole"
            )
        yield piece


def _lines(text: str) -> list[str]:
    """The lines as a csv reader numbers them: line feeds and carriage returns end them."""
    return [line.rstrip("\r\n") for line in io.StringIO(text, newline="")]


def _rows(text: str, separator: str, where: str) -> list[Row]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        rows = [Row(reader.line_num, [cell.strip() for cell in cells]) for cells in reader if cells]
    except csv.Error as error:
        raise ValueError(f"{where} is not a csv file: {error}") from None
    if not rows:
        raise ValueError(f"{where} is empty")
    return rows


def _with_decimal_points(rows: list[Row]) -> list[Row]:
    """Decimal commas as points, in a file without decimal points."""
    if any(has_decimal_point(cell) for row in rows for cell in row.cells):
        return rows
    return [Row(line, [with_decimal_point(cell) for cell in cells]) for line, cells in rows]
