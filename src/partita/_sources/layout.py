"""How a text file of draws is laid out: its separator, whether it has a header and a column that counts."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._cells import is_word
from partita._sources.columns import SPECIAL_NAMES

SEPARATORS = (",", ";", "\t")
FEWEST_COUNTS = 5  # so many rows that count 0, 1, 2, ... or 1, 2, 3, ... are no labels


@dataclass(frozen=True)
class Layout:
    """`index` is None where the first lines do not tell whether the first column numbers the draws."""

    separator: str
    header: list[str] | None
    index: bool | None


def find_layout(
    lines: Sequence[str], numbers: Sequence[int], header: bool | None, index: bool | None, name: str
) -> Layout:
    """The layout that the first lines, one or two with their numbers, show; `header` and `index` overrule it."""
    separator = next((s for s in SEPARATORS if s in lines[-1]), ",")
    if not any(s in line for s in SEPARATORS for line in lines) and _spaced_numbers(lines[-1]):
        raise ValueError(f"{name} has cells apart by spaces; they must be apart by commas, semicolons or tabs")
    rows = [_split(*pair, separator, name) for pair in zip(lines, numbers, strict=True)]
    first, second = rows[0], rows[1] if len(rows) > 1 else None
    if header is None:
        header = _has_header(first, second, lines, name)
    if index is None:
        index = _has_index(first if header else None, second or first, lines[-1])
    return Layout(separator, first if header else None, index)


def _spaced_numbers(line: str) -> bool:
    """Whether a line is several numbers, perhaps after a quoted row name, with nothing but spaces between them."""
    cells = [cell.strip('"') for cell in line.split()]
    return len(cells) > 1 and not _texts(cells[1:])


def _split(line: str, number: int, separator: str, name: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=separator, strict=True))
    except csv.Error as error:
        raise ValueError(f"{name}, line {number}: {error}") from None


def _has_header(first: list[str], second: list[str] | None, lines: Sequence[str], name: str) -> bool:
    if second is None:
        return len(_texts(first)) == len(set(first)) == len(first) > 1
    if len(first) + 1 == len(second) or _has_empty_corner(first):
        return True
    if _texts(first):
        return not _texts(second[1:]) or (len(set(first)) == len(first) and not set(first) & set(second))
    if _all_quoted(lines[0]) and not _all_quoted(lines[1]):
        return True
    if len(first) > 1 and first == [str(i) for i in range(len(first))] and first != second:
        raise ValueError(
            f"{name}, line 1 is 0, 1, ..., {len(first) - 1}: a header of column numbers, or a draw in which "
            "every item is alone; say which with header=True or header=False"
        )
    return False


def _has_empty_corner(first: list[str]) -> bool:
    """As R and pandas write it: no name above the row names, distinct names after it."""
    names = first[1:]
    counted = names == [str(i) for i in range(len(names))]
    return first[0] == "" and len(names) > 0 and (counted or len(set(_texts(names))) == len(names))


def _has_index(header: list[str] | None, row: list[str], line: str) -> bool | None:
    if header is not None:
        if len(header) + 1 == len(row) or header[0] == "":
            return True
        if header[0] in SPECIAL_NAMES:
            return False
    only_first_is_text = bool(_texts(row[:1])) and len(row) > 1 and not _texts(row[1:])
    only_first_is_quoted = line.startswith('"') and line.count('"') == 2 and len(row) > 1
    return True if only_first_is_text or only_first_is_quoted else None


def _texts(row: list[str]) -> list[str]:
    return [cell for cell in row if is_word(cell)]


def _all_quoted(line: str) -> bool:
    return all(cell.startswith('"') and cell.endswith('"') for cell in line.split(","))


def counts_rows(column: NDArray[Any]) -> bool:
    """Whether a column only numbers the rows, from 0 or from 1."""
    if len(column) < FEWEST_COUNTS or column[0] not in (0, 1):
        return False
    return bool(np.array_equal(column, int(column[0]) + np.arange(len(column))))
