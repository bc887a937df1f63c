"""Tables as users have them, column by column: pandas, polars, Arrow, NumPy, dictionaries, csv files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.names import Names, row_names
from partita.models.mixtures.raw_column import LineOf, RawColumn, raw_column, row_line, text_column


@dataclass(frozen=True, eq=False)
class RawTable:
    """Columns of the same items. `named`: whether the columns have names, or are only counted."""

    columns: tuple[RawColumn, ...]
    n_items: int
    named: bool = True
    names: Names | None = None
    line_of: LineOf = row_line

    def place(self, row: int, column: str) -> str:
        """Where a cell is, for messages."""
        return f"{self.line_of(row)}, column {column!r}"

    def at(self, rows: NDArray[np.intp]) -> RawTable:
        """These rows in this order; −1 is a row without observed cells. It has no names."""
        line_of = self.line_of
        columns = tuple(column.at(rows) for column in self.columns)
        return RawTable(columns, len(rows), self.named, None, lambda row: line_of(int(rows[row])))


def read_raw(table: Any) -> RawTable:
    """The columns of whatever the user gives."""
    if isinstance(table, RawTable):
        return table
    if hasattr(table, "toarray"):
        raise TypeError("X is sparse; pass a dense table, for instance X.toarray()")
    if isinstance(table, str | os.PathLike):
        return _from_csv(table)
    if isinstance(table, Mapping):
        return from_columns(table.items())
    if hasattr(type(table), "columns") or hasattr(type(table), "column_names"):
        return _from_frame(table)
    return _from_array(table)


def from_columns(
    columns: Iterable[tuple[str, Any]], names: Names | None = None, line_of: LineOf = row_line
) -> RawTable:
    """Columns by name, each a sequence with one cell per item; each is read before the next is asked for."""
    raw = tuple(raw_column(str(name), values, line_of) for name, values in columns)
    lengths = {len(column.values) for column in raw}
    if len(lengths) > 1:
        raise ValueError(f"the columns have different numbers of cells: {sorted(lengths)}")
    return _checked(RawTable(raw, lengths.pop() if lengths else 0, True, names, line_of))


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
    if array.dtype.kind in "US" and not hasattr(table, "dtype"):
        array = np.asarray(table, dtype=object)  # rows of words and numbers: NumPy has made all of them words
    if array.dtype.names is not None:
        return from_columns((name, array[name]) for name in array.dtype.names)
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
    from partita.draws.sources.tables import as_frame

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
        return text_column(name, series.to_list(), problem=f"holds dates or times ({kind})")
    if kind.is_float() or (kind.is_numeric() and not series.null_count()):
        return raw_column(name, np.asarray(series.to_numpy()))
    if not str(kind).startswith(("Categorical", "Enum")):
        return raw_column(name, series.to_list())
    levels = tuple(map(str, series.cat.get_categories().to_list()))
    return text_column(name, series.to_list(), levels)


def _from_csv(path: str | os.PathLike[str]) -> RawTable:
    from partita._support.text.cells import parse_cell
    from partita._support.text.header import MIXED
    from partita._support.text.table import read_table

    table = read_table(os.fspath(path), MIXED)
    table.require_names()

    lines = table.lines
    columns = ((name, list(map(parse_cell, cells))) for name, cells in zip(table.names, table.columns, strict=True))
    names = None if table.row_names is None else tuple(table.row_names)
    return from_columns(columns, names, line_of=lambda row: f"{path}, line {lines[row]}")
