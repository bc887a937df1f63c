"""Pairs in csv files, read line by line: a file of millions of pairs never becomes millions of lists."""

from __future__ import annotations

import csv
import io
import re
import sys
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import IO

import numpy as np

from partita._support.text.cells import is_word, with_decimal_point
from partita._support.text.content import DAMAGED, open_bytes
from partita._support.text.header import HEAD_ROWS, HeadRow, Kind, has_header
from partita._support.text.separator import SPACE, find_separator, single_spaces
from partita._support.text.table import STDIN
from partita.pairs.sources.columns import PairColumns, find_columns, names_columns, names_items
from partita.pairs.sources.listed import SOURCE_SEPARATOR, ListedPairs, Numbers, in_order

LONGEST_LINE = 1 << 20  # characters
_NUMBER = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[0-9a-fA-F]{8,}|[0-9]+")

KIND = Kind(
    "pair",
    "put left,right,probability in its place if it is a header, or above it if it is a pair",
    is_header=names_columns,
)


def csv_pairs(path: str | Path, wanted: Sequence[str] | None) -> ListedPairs:
    """The pairs of a csv file, compressed or not; - is standard input."""
    where = "standard input" if path == STDIN else str(path)
    with _opened(path) as stream:
        head, separator, reader = _read(stream, where)
        return _pairs(reader, _head_rows(head, separator), wanted, where)


def csv_rows(path: str | Path) -> Iterator[tuple[int, list[str]]]:
    """The lines of a csv file, compressed or not, with their numbers; cells are stripped."""
    where = "standard input" if path == STDIN else str(path)
    with _opened(path) as stream:
        for line, cells in enumerate(_read(stream, where)[2], 1):
            yield line, [cell.strip() for cell in cells]


def _read(stream: IO[str], where: str) -> tuple[list[str], str, Iterator[list[str]]]:
    """The first lines, what separates cells, and the cells of all lines."""
    every = _lines(stream, where)
    head = list(islice(every, HEAD_ROWS + 1))
    if not any(line.strip() for line in head):
        raise ValueError(f"{where} is empty")
    separator = find_separator([line.rstrip("\r\n") for line in head if line.strip()][:HEAD_ROWS], where)
    lines = chain(head, every)
    spaced = (single_spaces(line) for line in lines) if separator == SPACE else lines
    return head, separator, csv.reader(spaced, delimiter=separator)


@contextmanager
def _opened(path: str | Path) -> Iterator[IO[str]]:
    if path == STDIN:
        yield sys.stdin
        return
    with open_bytes(path) as binary, io.TextIOWrapper(binary, encoding="utf-8-sig", newline="") as stream:
        try:
            yield stream
        except (UnicodeDecodeError, csv.Error, *DAMAGED) as error:
            raise ValueError(f"{path} is not a csv file: {error}") from None


def _lines(stream: IO[str], where: str) -> Iterator[str]:
    """Lines that end: a device may have no end, and no pair is so long."""
    number = 0
    while line := stream.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE or "\0" in line:
            reason = (
                f"longer than {LONGEST_LINE >> 20} MiB" if len(line) > LONGEST_LINE else "not text: it has a null byte"
            )
            raise ValueError(f"{where}, line {number} is {reason}: is it a csv file?")
        yield line


def _head_rows(head: Sequence[str], separator: str) -> list[HeadRow]:
    rows = [
        HeadRow.of(number, cells, head[number - 1])
        for number, cells in enumerate(csv.reader(head, delimiter=separator), 1)
        if cells and number <= len(head)
    ]
    return rows[: HEAD_ROWS + 1]


def _pairs(
    reader: Iterator[list[str]], head: Sequence[HeadRow], wanted: Sequence[str] | None, where: str
) -> ListedPairs:
    first = head[0].cells
    headed = (wanted is not None and set(wanted) <= set(first)) or _has_header(head, where)
    header = first if headed else [f"column {j + 1}" for j in range(len(first))]
    columns = find_columns(header, wanted, where)
    rows = _Rows(columns, len(header), where)
    for line, cells in enumerate(reader, 1):
        if cells and not (headed and line == head[0].line):
            rows.add(line, cells)
    return rows.pairs()


def _has_header(head: Sequence[HeadRow], where: str) -> bool:
    """As `has_header`, but two words and 0 or 1 may be names too: pandas calls a column without a name 0.

    Such a row is a pair if one of its items, or another of the same form (x1, x27), occurs below. Otherwise it is a
    header if it has names that record linkage uses, or none at all. Otherwise it may be either.
    """
    first, below = head[0], [row.cells for row in head[1:] if len(row.cells) == 3]
    if len(first.cells) != 3 or first.cells[2] not in ("0", "1") or first.quoted or not below:
        return has_header(head, KIND, where)
    names = first.cells[:2]
    if names == ["", ""]:
        return True
    if not all(map(is_word, names)):
        return has_header(head, KIND, where)
    forms = {_form(item) for cells in below for item in cells[:2]}
    if any(_form(name) in forms for name in names):
        return False
    if names_items(names):
        return True
    raise ValueError(
        f"{where}, line {first.line} is {', '.join(first.cells)}: a header, or the first pair; {KIND.choose}"
    )


def _form(item: str) -> str:
    """The item with # for each number, UUID and long hexadecimal number: items of one form are named alike."""
    return _NUMBER.sub("#", item)


class _Rows:
    """Pairs as they are read: three numbers per row, and each name once."""

    def __init__(self, columns: PairColumns, width: int, where: str) -> None:
        self.columns, self.width, self.where = columns, width, where
        self.numbers = Numbers()
        self.left, self.right, self.probability = array("q"), array("q"), array("d")
        self.lines = array("q")

    def add(self, line: int, cells: list[str]) -> None:
        if len(cells) != self.width:
            raise ValueError(f"{self.where}, line {line}: {len(cells)} cells, but there are {self.width} columns")
        columns = self.columns
        left, right = cells[columns.left].strip(), cells[columns.right].strip()
        if not left or not right:
            raise ValueError(f"{self.where}, line {line}: an item has no name")
        if columns.sources is not None:
            left = f"{cells[columns.sources[0]].strip()}{SOURCE_SEPARATOR}{left}"
            right = f"{cells[columns.sources[1]].strip()}{SOURCE_SEPARATOR}{right}"
        self.left.append(self.numbers[left])
        self.right.append(self.numbers[right])
        self.probability.append(self._number(line, cells[columns.probability]))
        self.lines.append(line)

    def _number(self, line: int, cell: str) -> float:
        try:
            return float(with_decimal_point(cell) if "," in cell else cell)
        except ValueError:
            raise ValueError(f"{self.where}, line {line}: the probability is {cell!r}, which is not a number") from None

    def pairs(self) -> ListedPairs:
        if not self.lines:
            raise ValueError(f"{self.where} has only a header")
        lines, where = self.lines, self.where
        left, right, items = in_order(np.array(self.left), np.array(self.right), tuple(self.numbers))
        sources = None
        if self.columns.sources is not None:
            sources = tuple(name.split(SOURCE_SEPARATOR)[0] for name in items)
        return ListedPairs(
            left, right, np.array(self.probability), items, lambda row: f"{where}, line {lines[row]}", sources
        )
