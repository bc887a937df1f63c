"""Tables as users have them, column by column: pandas, polars, Arrow, NumPy, dictionaries, csv files."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._names import Names, row_names

NUMBERS, TRUTHS, TEXTS = "numbers", "truth values", "text"


@dataclass(frozen=True, eq=False)
class RawColumn:
    """One column: float64 with NaN for gaps (numbers, truth values), or str with None for gaps (text).

    `levels` are the levels that the column's type declares, if it does: some may not occur.
    `problem` says why the column cannot be modelled as it is; it may still be ignored.
    """

    name: str
    kind: str
    values: NDArray[Any]
    levels: tuple[str, ...] | None = None
    problem: str = ""


@dataclass(frozen=True, eq=False)
class RawTable:
    """Columns of the same items. `named`: whether the columns have names, or are only counted."""

    columns: tuple[RawColumn, ...]
    n_items: int
    named: bool = True
    names: Names | None = None
    line_of: Callable[[int], str] = lambda row: f"row {row}"

    def place(self, row: int, column: str) -> str:
        """Where a cell is, for messages."""
        return f"{self.line_of(row)}, column {column!r}"


def read_raw(table: Any) -> RawTable:
    """The columns of whatever the user gives."""
    if isinstance(table, RawTable):
        return table
    if hasattr(table, "toarray"):
        raise TypeError("X is sparse; pass a dense table, for instance X.toarray()")
    if isinstance(table, str | os.PathLike):
        return _from_csv(table)
    if isinstance(table, Mapping):
        return from_columns(table)
    if hasattr(type(table), "columns") or hasattr(type(table), "column_names"):
        return _from_frame(table)
    return _from_array(table)


def from_columns(columns: Mapping[str, Any], names: Names | None = None, **more: Any) -> RawTable:
    """Columns by name, each a sequence with one cell per item."""
    raw = tuple(
        raw_column(str(name), values, more.get("line_of", lambda row: f"row {row}")) for name, values in columns.items()
    )
    lengths = {len(column.values) for column in raw}
    if len(lengths) > 1:
        raise ValueError(f"the columns have different numbers of cells: {sorted(lengths)}")
    return _checked(RawTable(raw, lengths.pop() if lengths else 0, True, names, **more))


def _checked(table: RawTable) -> RawTable:
    shape = (table.n_items, len(table.columns))
    if table.n_items == 0:
        raise ValueError(f"X has 0 item(s) (shape={shape}) while a minimum of 1 is required.")
    if not table.columns:
        raise ValueError(f"X has 0 feature(s) (shape={shape}) while a minimum of 1 is required.")
    names = [column.name for column in table.columns]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"X has two columns named {twice!r}")
    return table


def _from_array(table: Any) -> RawTable:
    array = np.asarray(table)
    if array.dtype.names is not None:
        return from_columns({name: array[name] for name in array.dtype.names})
    if np.iscomplexobj(array):
        raise ValueError(f"Complex data not supported: X has type {array.dtype}")
    if array.ndim != 2:
        raise ValueError(
            f"X must have 2 dimensions (items, variables) but has {array.ndim}. Reshape your data: "
            "X.reshape(-1, 1) if it is one variable, X.reshape(1, -1) if it is one item"
        )
    columns = tuple(raw_column(f"x{j}", array[:, j]) for j in range(array.shape[1]))
    return _checked(RawTable(columns, len(array), False))


def _from_frame(table: Any) -> RawTable:
    from partita._draws.sources.tables import as_frame

    names = [str(name) for name in getattr(table, "columns", [])] if hasattr(table, "iloc") else []
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"X has two columns named {twice!r}")
    frame = as_frame(table)
    columns = tuple(_series_column(str(name), frame[:, j]) for j, name in enumerate(frame.columns))
    return _checked(RawTable(columns, len(frame), True, row_names(table)))


def _series_column(name: str, series: Any) -> RawColumn:
    kind = series.dtype
    if kind.is_temporal():
        return RawColumn(name, TEXTS, np.empty(len(series), object), problem=f"holds dates or times ({kind})")
    declared = str(kind).startswith(("Categorical", "Enum"))
    if kind.is_numeric() and not series.null_count():
        return RawColumn(name, NUMBERS, np.asarray(series.to_numpy(), dtype=np.float64))
    column = raw_column(name, series.to_list())
    if not declared:
        return column
    levels = tuple(map(str, series.cat.get_categories().to_list()))
    texts = np.array([None if _is_gap(v) else str(v) for v in series.to_list()], dtype=object)
    return RawColumn(name, TEXTS, texts, levels)


def raw_column(name: str, values: Any, line_of: Callable[[int], str] = lambda row: f"row {row}") -> RawColumn:
    """A column from its cells; cells of several types are refused when the column is used."""
    array = np.asarray(values) if isinstance(values, np.ndarray) else _object_array(values)
    if array.dtype.kind in "iuf":
        return RawColumn(name, NUMBERS, array.astype(np.float64))
    if array.dtype.kind == "b":
        return RawColumn(name, TRUTHS, array.astype(np.float64), ("False", "True"))
    if array.dtype.kind in "mM":
        return RawColumn(name, TEXTS, np.empty(len(array), object), problem=f"holds dates or times ({array.dtype})")
    cells = [None if _is_gap(value) else value for value in array.tolist()]
    kinds = [None if cell is None else _kind_of(cell) for cell in cells]
    first = next((row for row, kind in enumerate(kinds) if kind is not None), None)
    if first is None:
        return RawColumn(name, NUMBERS, np.full(len(cells), np.nan))
    other = next((row for row, kind in enumerate(kinds) if kind not in (None, kinds[first])), None)
    texts = np.array([None if cell is None else str(cell) for cell in cells], dtype=object)
    if other is not None:
        problem = (
            f"mixes {kinds[first]} and {kinds[other]}: {cells[first]!r} in {line_of(first)} and {cells[other]!r} in "
            f"{line_of(other)}"
        )
        return RawColumn(name, TEXTS, texts, problem=problem)
    if kinds[first] == TEXTS:
        return RawColumn(name, TEXTS, texts)
    if kinds[first] not in (NUMBERS, TRUTHS):
        return RawColumn(name, TEXTS, texts, problem=f"holds {kinds[first]}: {cells[first]!r} in {line_of(first)}")
    numbers = np.array([np.nan if cell is None else float(cell) for cell in cells])
    return RawColumn(name, str(kinds[first]), numbers, ("False", "True") if kinds[first] == TRUTHS else None)


def _object_array(values: Any) -> NDArray[Any]:
    cells = list(values)
    array = np.empty(len(cells), dtype=object)
    array[:] = cells
    return array


def _is_gap(value: Any) -> bool:
    """None, NaN of any type, pandas' NA and NaT."""
    if value is None:
        return True
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    return type(value).__name__ in ("NAType", "NaTType")


def _kind_of(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return TRUTHS
    if isinstance(value, int | float | np.number):
        return NUMBERS
    if isinstance(value, str):
        return TEXTS
    if type(value).__name__ == "Decimal":
        return NUMBERS
    if hasattr(value, "isoformat"):
        return "dates or times"
    return f"cells of type {type(value).__name__}"


def _from_csv(path: str | os.PathLike[str]) -> RawTable:
    from partita._text.cells import parse_cell
    from partita._text.header import Kind
    from partita._text.table import read_table

    kind = Kind("item", "put the names of the columns in its first line", labels_by_column=True)
    table = read_table(os.fspath(path), kind)
    table.require_names()

    def line_of(row: int) -> str:
        return f"{path}, line {table.rows[row].line}"

    columns = {
        name: _object_array(parse_cell(row.cells[j]) for row in table.rows) for j, name in enumerate(table.names)
    }
    names = None if table.row_names is None else tuple(table.row_names)
    return from_columns(columns, names, line_of=line_of)
