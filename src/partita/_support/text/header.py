"""Whether the first line of a file is a header: one rule for draws, labels, data, base clusterings and edges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from partita._support.errors import ArgumentError
from partita._support.text.cells import is_number, is_word

HEAD_ROWS = 200  # rows that the rule looks at


@dataclass(frozen=True)
class Kind:
    """The properties of a kind of file on which the rule depends.

    `row` is the word for a row in messages, and `choose` tells the user how to specify whether there is a header. Cells
    for which `is_header` holds are certainly names. `numbers_only`: a row with a word must be a header.
    `labels_by_column`: a word that recurs in its own column is a label, never the name of the column.
    `may_start_at_zero`: the only column of a file may begin with the label 0, which pandas also writes as a name.
    `may_count_from_one`: names may also be 1, 2, 3, ..., as in R if the items are numbered.
    """

    row: str
    choose: str
    is_header: Callable[[Sequence[str]], bool] = lambda cells: False
    numbers_only: bool = False
    labels_by_column: bool = False
    may_start_at_zero: bool = False
    may_count_from_one: bool = False


#: A table whose columns may be of any type.
MIXED = Kind("item", "put names that do not occur below in its first line", labels_by_column=True)


@dataclass(frozen=True)
class HeadRow:
    """One of the first rows: its line number, its stripped cells, and whether each is in quotes."""

    line: int
    cells: list[str]
    quoted: bool = False

    @classmethod
    def of(cls, line: int, cells: Sequence[str], written: str) -> HeadRow:
        """A line as the cells it was split into."""
        return cls(line, [cell.strip() for cell in cells], is_quoted(written, len(cells)))


def is_quoted(line: str, n_cells: int) -> bool:
    """Whether every cell of a line is in quotes."""
    line = line.strip()
    return line.startswith('"') and line.endswith('"') and line.count('"') >= 2 * n_cells


def has_header(head: Sequence[HeadRow], kind: Kind, where: str) -> bool:
    """Whether the first of these rows names the columns; an error if this is ambiguous.

    In this order:

    1. A row is a header if it has names that only a header has (`kind.is_header`), one cell fewer than the rows below,
       or an empty corner above the row names, or if its cells are in quotes and those below are not.
    2. Numbers are data, with two exceptions: 0, 1, 2, ... may be column numbers written by pandas, and in draws
       1, 2, 3, ... may be the numbers of the items: see `_counts_columns`.
    3. Words above numbers are a header: above all columns but the first, or different words above at least two.
    4. Repeated words are data. In base clusterings and labels, so are words that recur below; in draws and edges, where
       a label or node may have the name of a column, this is ambiguous.
    5. Words that do not occur below are a header, unless another row consists of such words too.

    >>> kind = Kind("item", "put a header above it", labels_by_column=True)
    >>> rows = [HeadRow(line, [cell]) for line, cell in enumerate(["species", "oak", "oak", "elm", "elm"])]
    >>> has_header(rows, kind, "trees.csv"), has_header(rows[1:], kind, "trees.csv")
    (True, False)
    """
    first, below = head[0], list(head[1 : HEAD_ROWS + 1])
    cells = [cell for cell in first.cells if cell != ""]
    if kind.is_header(first.cells):
        return True
    if not below:
        return len(cells) == len(first.cells) > 1 and _distinct_words(cells)
    if all(len(row.cells) == len(first.cells) + 1 for row in below) or has_empty_corner(first.cells):
        return True
    if first.quoted and not any(row.quoted for row in below):
        return True
    words = [cell for cell in cells if is_word(cell)]
    if not words:
        return _counts_columns(first, below, kind, where)
    if len(words) < len(cells):
        return _names_with_numbers(first, below, kind, where)
    return _words_are_names(first, below, kind, where)


def has_empty_corner(first: Sequence[str]) -> bool:
    """A header of R or pandas: no name above the row names, followed by words, numbers from 0, or 1, 2, 3, ..."""
    names = list(first[1:])
    counted = _counts(names, 0) or (len(names) > 2 and _counts(names, 1))
    return first[0] == "" and len(names) > 0 and (counted or _distinct_words(names))


def _distinct_words(cells: Sequence[str]) -> bool:
    return all(map(is_word, cells)) and len(set(cells)) == len(cells)


def _counts(cells: Sequence[str], start: int) -> bool:
    return list(cells) == [str(start + i) for i in range(len(cells))]


def _counts_columns(first: HeadRow, below: Sequence[HeadRow], kind: Kind, where: str) -> bool:
    """Whether the first row is 0, 1, 2, ..., as pandas writes for columns without names; it may also be data.

    So may 1, 2, 3, ...: the numbers of the items, or a draw in which each item is alone.

    If a column writes whole numbers as 1.0, a 0 in a row of data would have been 0.0; and three whole numbers in this
    order are not data if no column below has a single whole number.
    """
    cells = first.cells
    from_one = kind.may_count_from_one and len(cells) > 2 and _counts(cells, 1)
    if not (_counts(cells, 0) or from_one) or (len(cells) == 1 and kind.may_start_at_zero):
        return False
    if any(cells == row.cells for row in below) and not kind.numbers_only:
        return False
    columns = [
        [row.cells[j] for row in below if j < len(row.cells) and is_number(row.cells[j])] for j in range(len(cells))
    ]
    if any(map(_writes_points, columns)) or (len(cells) > 2 and not any(map(_has_whole, columns))):
        return True
    raise _either(first, "a header of column numbers", kind, where)


def _writes_points(numbers: list[str]) -> bool:
    return all("." in number for number in numbers) and _has_whole(numbers)


def _has_whole(numbers: list[str]) -> bool:
    return any(float(number).is_integer() for number in numbers)


def _names_with_numbers(first: HeadRow, below: Sequence[HeadRow], kind: Kind, where: str) -> bool:
    """Words beside numbers or missing values: names such as id, 1, 2, 3, or a row of mixed labels."""
    cells = first.cells
    if kind.numbers_only:
        return any(is_word(cell) and _is_numeric(below, j, kind) for j, cell in enumerate(cells))
    if is_word(cells[0]) and len(cells) > 2 and (_counts(cells[1:], 0) or _counts(cells[1:], 1)):
        return True
    above_numbers = any(is_word(cell) and _is_numeric(below, j, kind) for j, cell in enumerate(cells))
    if above_numbers and len(set(cells)) == len(cells):
        raise _either(first, "a header", kind, where)
    return False


def _words_are_names(first: HeadRow, below: Sequence[HeadRow], kind: Kind, where: str) -> bool:
    cells = first.cells
    numeric = [_is_numeric(below, j, kind) for j in range(len(cells))]
    if all(numeric) or (len(cells) > 1 and all(numeric[1:])):
        return True
    if kind.numbers_only and any(numeric):
        return True
    if len(set(cells)) < len(cells):
        return False
    if sum(numeric) > 1:
        return True
    own = any(cell in {row.cells[j] for row in below if j < len(row.cells)} for j, cell in enumerate(cells) if cell)
    seen = Counter(cell for row in below for cell in set(row.cells))
    again = any(cell in seen for cell in cells if cell)
    if own and kind.labels_by_column and not any(numeric):
        return False
    if again or any(_stands_alone(row, seen) for row in below):
        if any(numeric) and not again:
            return True
        raise _either(first, "a header", kind, where)
    return True


def _stands_alone(row: HeadRow, seen: Counter[str]) -> bool:
    """Whether a row consists of distinct words that no other row has, like a header."""
    return _distinct_words(row.cells) and all(seen[cell] == 1 for cell in row.cells)


def _is_numeric(rows: Sequence[HeadRow], column: int, kind: Kind) -> bool:
    """Whether the column has a number and no word; if all must be numbers, the first cell decides."""
    cells = [row.cells[column] for row in rows if column < len(row.cells)]
    numbers = [is_number(cell) for cell in cells if is_number(cell) or is_word(cell)]
    return len(numbers) > 0 and (numbers[0] if kind.numbers_only else all(numbers))


def _either(first: HeadRow, header: str, kind: Kind, where: str) -> ValueError:
    said = f"{where}, line {first.line} is {shown(first.cells)}: {header}, or the first {kind.row}; "
    return ArgumentError(said, kind.choose)


def shown(cells: Sequence[str]) -> str:
    """A row as shown in a message."""
    if len(cells) < 4 and not (len(cells) == 3 and _counts(cells, 0)):
        return ", ".join(cells)
    return f"{cells[0]}, {cells[1]}, ..., {cells[-1]}"
