"""Files other than draws: one partition, or a table of numbers."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from partita._support.hints import listed
from partita._support.text.cells import parse_cell
from partita._support.text.header import Kind
from partita._support.text.table import Table, read_table, split_column

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from partita._support.names import Named, Names
    from partita._support.text.cells import Cell

DRAWS = "the sample of draws"  # as messages call them
LABEL_COLUMNS = ("cluster", "label", "labels")
#: Columns that name the items, the most reliable first. Whole numbers in the first two are item numbers.
NAME_COLUMNS = ("item", "node", "name", "id")
NUMBERING_COLUMNS = NAME_COLUMNS[:2]
#: Names that programs and people give to a first column of row numbers; X is R's.
ROW_NUMBERS = ("index", "level_0", "row", "rowname", "rownames", "row_number", "rn", "nr", "Nr", "no", "No", "obs", "X")
MIN_COUNTED = 5
MIN_NAMES = 5  # this many words, all different, are names and not labels
LABELS = Kind(
    "item",
    "write FILE:NAME to read the column NAME below a header, or put the header cluster above the first item",
    is_header=lambda cells: any(cell.lower() in LABEL_COLUMNS for cell in cells),
    labels_by_column=True,
    may_start_at_zero=True,
)
DATA = Kind(
    "item", "put names (x1,x2,...) in its place if it is a header, or above it if it is an item", numbers_only=True
)


def read_partition(source: str) -> Named:
    """Labels from a file: a column named cluster or label, the only column, or `file.csv:column`.

    An npy file holds one row of labels; - is standard input. A column named item, node, name or id, or a first column
    without a name, names the items.
    """
    import numpy as np

    from partita._support.names import Named

    path, column = split_column(source)
    if path.endswith(".npy"):
        labels = read_labels(path)
        if labels.ndim != 1:
            raise ValueError(f"{path} must hold one row of labels, but its shape is {labels.shape}")
        return Named(labels, None, source)
    table = read_table(path, LABELS, [] if column is None else [column])
    index = _label_column(table) if column is None else table.column(column)
    cells = table.columns[index]
    missing = next((at for at in zip(table.lines, cells, strict=True) if parse_cell(at[1]) is None), None)
    if missing is not None:
        raise ValueError(f"{path}, line {missing[0]}: the label is missing ({missing[1] or 'an empty cell'})")
    return named_rows(np.array(list(cells), dtype=object), table, [index], source)


def read_data(source: str, columns: str | None = None, check: Callable[[Table], None] | None = None) -> Named:
    """Numbers from a csv or npy file, one row per item; a column of names, as in `read_partition`, is not a variable.

    `columns` are the names of the columns to read, separated by commas; `file.csv:column` selects one column. A csv
    file is passed to `check` first.
    """
    import numpy as np

    from partita._support.names import Named

    path, column = split_column(source)
    wanted = [column] if column is not None else split_names(columns)
    if path.endswith(".npy"):
        numbers = _read_array(path)
        if wanted:
            raise ValueError(f"--columns names columns of a csv file, but {path} is an array without names")
        if numbers.dtype.kind not in "biuf":
            raise ValueError(f"{path} must hold numbers, but its type is {numbers.dtype}")
        return Named(numbers.astype(np.float64), None, source)
    table = read_table(path, DATA, wanted)
    if not wanted:
        table.require_names()
    if check is not None:
        check(table)
    positions = [table.column(name) for name in wanted] or variables(table)
    numbers = np.array([[_number(table, line, j, cells[j]) for j in positions] for line, cells in table.rows])
    rows = named_rows(numbers, table, positions, source)
    return replace(rows, columns=tuple(table.names[j] for j in positions)) if table.has_header else rows


def unplaced_as_numbers(labels: Any) -> NDArray[Any]:
    """Labels of a file as numbers: -1, which labels.csv has for an item in no cluster, is not the name of a cluster."""
    import numpy as np

    cells = np.asarray(labels).astype(str)
    return np.where(cells == "-1", -1, np.unique(cells, return_inverse=True)[1])


def in_order(given: Mapping[str, Named], names: Names | None, n_items: int, whose: str) -> dict[str, Named]:
    """The rows read from files, in the order of the items of `whose`."""
    return {
        what: replace(rows, values=rows.in_order_of(names, n_items, whose), names=None) for what, rows in given.items()
    }


def variables(table: Table) -> list[int]:
    """The columns that do not name the items; an error if the first of them seems to number the rows."""
    names = name_column(table, ())
    found = [j for j in range(len(table.names)) if j != names]
    name = table.names[found[0]] if found else ""
    may_number = not table.has_header or name in ROW_NUMBERS
    if len(found) > 1 and may_number and counts_rows(table.columns[found[0]]):
        raise ValueError(
            f"{table.path}: {name!r} counts the rows and may not be a variable; rename it to item if it numbers the "
            f"items, remove it, or choose the columns by name (--columns, if the command has it)"
        )
    return found


def counts_rows(cells: Sequence[str]) -> bool:
    """Whether a column counts from 0 or 1, over enough rows that this is no accident."""
    return len(cells) >= MIN_COUNTED and any(
        all(cell == str(number) for number, cell in enumerate(cells, start)) for start in (0, 1)
    )


def different_words(cells: Sequence[Cell]) -> bool:
    """Whether a column has a different word in each row, over enough rows that this is no accident."""
    return len(cells) >= MIN_NAMES and all(isinstance(x, str) for x in cells) and len(set(cells)) == len(cells)


def name_column(table: Table, taken: Sequence[int]) -> int | None:
    """The column that names the items, if there is one, among the columns that are not `taken`.

    A column called name or id with duplicates does not name the items.
    """
    if not table.has_header or len(table.names) == 1:
        return None
    lower = [name.lower() for name in table.names]
    for name in NAME_COLUMNS:
        if lower.count(name) == 1 and (column := lower.index(name)) not in taken:
            cells = table.columns[column]
            if name in NUMBERING_COLUMNS or len(set(cells)) == len(cells):
                return column
    return None


def named_rows(values: Any, table: Table, taken: Sequence[int], source: str) -> Named:
    """Rows of a table with the names of its items."""
    from partita._support.names import Named

    column = name_column(table, taken)
    if column is None:
        names: Names | None = None if table.row_names is None else tuple(table.row_names)
        return Named(values, names, source, f"remove the first column of {table.path}")
    heading = table.names[column]
    names = tuple(table.columns[column])
    if heading.lower() in NUMBERING_COLUMNS:
        return Named(values, names, source)
    return Named(values, names, source, f"remove the column {heading} of {table.path}")


def split_names(columns: str | None, option: str = "--columns") -> list[str]:
    """The names that --columns or another option lists."""
    names = [] if columns is None else [name.strip() for name in columns.split(",")]
    if "" in names or len(set(names)) < len(names):
        raise ValueError(f"{option} must be distinct names separated by commas, but it is {columns!r}")
    return names


def read_labels(path: str) -> NDArray[Any]:
    """The labels of an npy file."""
    from partita.partitions.codes import type_problem

    labels = _read_array(path)
    if problem := type_problem(labels.dtype):
        raise ValueError(f"{path} {problem}")
    return labels


def _read_array(path: str) -> NDArray[Any]:
    """The array of an npy file; every error names the file."""
    from partita._support.npy import read_npy

    with open(path, "rb") as stream:
        try:
            return read_npy(stream, os.fstat(stream.fileno()).st_size)
        except ValueError as error:
            raise ValueError(f"{path}, read as npy: {error}") from None


def _label_column(table: Table) -> int:
    named = [j for j, name in enumerate(table.names) if name.lower() in LABEL_COLUMNS]
    if len(named) == 1 or (not named and len(table.names) == 1):
        return named[0] if named else 0
    which = "several are" if named else "none is"
    raise ValueError(
        f"{table.path} has {len(table.names)} columns and {which} named cluster or label; "
        f"write {table.path}:NAME for one of {listed(table.names)}"
    )


def _number(table: Table, line: int, column: int, cell: str) -> float:
    number = parse_cell(cell)
    if isinstance(number, int | float):
        return float(number)
    numeric = [name for j, name in enumerate(table.names) if _is_numeric(table, j)]
    hint = f"; --columns {','.join(numeric)} reads the columns of numbers" if table.has_header and numeric else ""
    raise ValueError(f"{table.path}, line {line}, {table.names[column]}: {cell!r} is not a number{hint}")


def _is_numeric(table: Table, column: int) -> bool:
    return all(isinstance(parse_cell(cell), int | float) for cell in table.columns[column])
