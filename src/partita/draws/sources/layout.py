"""The layout of a text file of draws: its separator, and whether it has a header and a column of draw numbers."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.errors import ArgumentError, Sentence, Setting
from partita._support.text.cells import is_word
from partita._support.text.header import HeadRow, Kind, has_header
from partita._support.text.separator import SPACE, all_end_in, find_separator, single_spaces, without_last_separators
from partita.draws.sources.columns import ROWS_ARE_ITEMS, is_special

MIN_COUNTS = 5  # a first column that counts 0, 1, 2, ... or 1, 2, 3, ... over at least this many rows is not labels
DRAWS = Kind(
    "draw",
    Sentence("specify it with ", Setting("header", True), " or ", Setting("header", False)),
    is_header=lambda cells: any(cell != "" and is_special(cell) for cell in cells),
    may_start_at_zero=True,
    may_count_from_one=True,
)


@dataclass(frozen=True)
class Layout:
    """`index` is None if the first lines do not show whether the first column numbers the draws.

    `ends_in_separator` is True if every line ends in a separator that no cell follows.
    """

    separator: str
    header: list[str] | None
    index: bool | None
    ends_in_separator: bool = False


def find_layout(
    lines: Sequence[str], numbers: Sequence[int], header: bool | None, index: bool | None, name: str
) -> Layout:
    """The layout as seen from the first lines, with their numbers; `header` and `index` override it."""
    separator = find_separator(lines, name)
    ends = all_end_in(lines, separator)
    if ends:
        lines = [without_last_separators(line, separator) for line in lines]
    if separator == SPACE:
        lines = [single_spaces(line) for line in lines]
    head = [_head_row(line, number, separator, name) for line, number in zip(lines, numbers, strict=True)]
    if header is None:
        header = has_header(head, DRAWS, name)
    if index is None:
        index = _has_index(head[0].cells if header else None, head[1 if header and len(head) > 1 else 0], lines[-1])
    return Layout(separator, head[0].cells if header else None, index, ends)


def _head_row(line: str, number: int, separator: str, name: str) -> HeadRow:
    try:
        cells = next(csv.reader([line], delimiter=separator, strict=True))
    except csv.Error as error:
        raise ValueError(f"{name}, line {number}: {error}") from None
    return HeadRow.of(number, cells, line)


def _has_index(header: list[str] | None, row: HeadRow, line: str) -> bool | None:
    if header is not None:
        if len(header) + 1 == len(row.cells) or header[0] == "":
            return True
        if is_special(header[0]) or header[0].lower() in ROWS_ARE_ITEMS:
            return False
    words = [is_word(cell) for cell in row.cells]
    only_first_is_word = len(words) > 1 and words[0] and not any(words[1:])
    only_first_is_quoted = line.startswith('"') and line.count('"') == 2 and len(words) > 1
    return True if only_first_is_word or only_first_is_quoted else None


def check_not_json(lines: Sequence[str], name: str) -> None:
    """Raises an error for JSON, whose brackets would become parts of labels."""
    if lines[0].lstrip().startswith(("[", "{")) and lines[-1].rstrip().rstrip(",").endswith(("]", "}")):
        raise ValueError(f"{name} is JSON, not csv: write its draws as csv, one row per draw and one column per item")


def check_not_coda_index(cells: NDArray[Any], name: str) -> None:
    """Raises an error for the index of CODA files: the name of a variable, its first line and its last."""
    if cells.shape[1] != 3 or len(cells) < 2 or any(not isinstance(cell, int) for cell in cells[:, 1:].flat):
        return
    first, last = cells[:, 1].tolist(), cells[:, 2].tolist()
    if first[0] == 1 and first[1:] == [end + 1 for end in last[:-1]] and last[0] > 1:
        raise ValueError(f"{name} is the index of CODA files, not draws: name the chain files, such as CODAchain1.txt")


def check_not_one_partition(labels: NDArray[Any], name: str) -> None:
    """Raises an error for one column of several labels: draws of one item or, more likely, labels of many items."""
    if len({str(label) for label in labels[:, 0].tolist()}) > 1:
        problem = f"{name} has one column: one label per item, not draws; "
        raise ArgumentError(problem, Setting("variable", "*"), " reads it as the draws of one item")


def check_not_coda(column: NDArray[Any], name: str) -> None:
    """Raises an error for a column that counts and starts again: CODA files have one variable below the other."""
    if column.dtype.kind not in "iu" or len(column) < 2 * MIN_COUNTS:
        return
    again = np.flatnonzero(column[1:] == column[0])
    length = int(again[0]) + 1 if again.size else len(column)
    if MIN_COUNTS <= length < len(column) and np.array_equal(
        column, np.resize(column[0] + np.arange(length), len(column))
    ):
        raise ValueError(
            f"{name}: column 1 counts {column[0]} to {column[length - 1]} and starts again, as in the CODA files of "
            "JAGS and BUGS; they are read as CODAchain1.txt if CODAindex.txt is beside it"
        )


def counts_rows(column: NDArray[Any]) -> bool:
    """Whether a column only numbers the rows, from 0 or from 1."""
    if len(column) < MIN_COUNTS or column[0] not in (0, 1):
        return False
    return bool(np.array_equal(column, int(column[0]) + np.arange(len(column))))
