"""From the columns of a table to the arrays that a model works on, in the smallest types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.warn import warn_user
from partita.models.mixtures.raw import TEXTS, RawColumn, RawTable, months, row_line
from partita.models.mixtures.schema import COUNTED, CURVED, LEVELLED, NUMERIC, POSITIVE, Column, Schema

MAX_COUNT = 2**31 - 1
#: The code of a missing cell is the largest of its type.
COUNT_GAP = np.iinfo(np.uint32).max
_MAX_NARROW = 255  # levels that 8 bits can number, with one code left for missing cells

Cells = dict[str, NDArray[Any]]


def encode(table: RawTable, schema: Schema) -> Cells:
    """`numbers` (float64, NaN if missing), `counts` (uint32), `codes` (uint8) and `wide_codes` (uint32), each (items,
    columns) in the order of the schema, and `schema` itself as bytes. The core reads them where they are, so that
    they must not be written to."""
    by_name = {column.name: column for column in table.columns}

    def filled(columns: Sequence[Column], kind: Any, cells_of: Any) -> NDArray[Any]:
        checked = [cells_of(table, by_name[column.name], column) for column in columns] if kind is np.float64 else []
        if (whole := _whole_array(checked)) is not None:
            return whole
        array = np.empty((table.n_items, len(columns)), kind)
        for j, column in enumerate(columns):
            array[:, j] = checked[j] if checked else cells_of(table, by_name[column.name], column)
        array.flags.writeable = False
        return array

    return {
        "numbers": filled(schema.used(*NUMERIC), np.float64, _numbers),
        "counts": filled(schema.used(*COUNTED), np.uint32, _counts),
        "codes": filled(narrow_columns(schema), np.uint8, _codes),
        "wide_codes": filled(wide_columns(schema), np.uint32, _codes),
        "schema": schema.to_array(),
    }


def _whole_array(columns: Sequence[NDArray[Any]]) -> NDArray[Any] | None:
    """The read-only array of which these are all the columns, in order, so that it need not be copied."""
    whole = columns[0].base if columns else None
    if not isinstance(whole, np.ndarray) or whole.ndim != 2 or whole.flags.writeable or not whole.flags.c_contiguous:
        return None
    if whole.dtype != np.float64 or whole.shape[1] != len(columns):
        return None
    ours = all(
        own.base is whole and own.shape == whole.shape[:1] and own.ctypes.data == whole[:, j].ctypes.data
        for j, own in enumerate(columns)
    )
    return whole if ours else None


def narrow_columns(schema: Schema) -> tuple[Column, ...]:
    """Columns of levels that 8 bits hold."""
    return tuple(column for column in schema.used(*LEVELLED) if len(column.levels) <= _MAX_NARROW)


def wide_columns(schema: Schema) -> tuple[Column, ...]:
    """Columns of more levels than that."""
    return tuple(column for column in schema.used(*LEVELLED) if len(column.levels) > _MAX_NARROW)


def check_cells(cells: Mapping[str, NDArray[Any]], schema: Schema) -> None:
    """Raises an error for arrays that are not of the schema: those of a run may come from anywhere."""
    wanted = {
        "numbers": (np.float64, len(schema.used(*NUMERIC))),
        "counts": (np.uint32, len(schema.used(*COUNTED))),
        "codes": (np.uint8, len(narrow_columns(schema))),
        "wide_codes": (np.uint32, len(wide_columns(schema))),
    }
    n_items = len(cells["numbers"])
    for name, (kind, width) in wanted.items():
        if cells[name].dtype != kind or cells[name].shape != (n_items, width) or n_items == 0:
            raise ValueError(f"{name} has shape {cells[name].shape} and type {cells[name].dtype}")
    positive = [j for j, column in enumerate(schema.used(*NUMERIC)) if column.family == POSITIVE]
    if np.isinf(cells["numbers"]).any() or (cells["numbers"][:, positive] <= 0).any():
        raise ValueError("numbers has cells that are out of range")
    if schema.used(*CURVED):
        _check_curves(cells, n_items, len(schema.used(*CURVED)))
    if ((cells["counts"] > MAX_COUNT) & (cells["counts"] != COUNT_GAP)).any():
        raise ValueError("counts has cells that are out of range")


def _check_curves(cells: Mapping[str, NDArray[Any]], n_items: int, n_outcomes: int) -> None:
    items, times, values = cells["curve_items"], cells["curve_times"], cells["curve_values"]
    fits = items.dtype == np.int64 and values.shape == (len(items), n_outcomes) and len(times) == len(items)
    if not fits or len(items) == 0 or items.min() < 0 or items.max() >= n_items or (np.diff(items) < 0).any():
        raise ValueError("curve_items, curve_times and curve_values do not fit each other")
    if not np.isfinite(times).all() or np.isinf(values).any():
        raise ValueError("curve_times or curve_values has cells that are out of range")


def is_gap(cells: Mapping[str, NDArray[Any]], name: str) -> NDArray[np.bool_]:
    """Where an array has missing values; (items, columns)."""
    array = cells[name]
    return np.asarray(np.isnan(array) if name == "numbers" else array == np.iinfo(array.dtype).max)


def rows_of(cells: Mapping[str, NDArray[Any]], rows: NDArray[np.intp]) -> Cells:
    """Some rows of the cells, in ascending order."""
    found = {name: np.asarray(array) for name, array in cells.items()}
    found |= {name: found[name][rows] for name in ("numbers", "counts", "codes", "wide_codes")}
    if "curve_items" in found:
        kept = np.isin(found["curve_items"], rows)
        found |= {name: found[name][kept] for name in ("curve_items", "curve_times", "curve_values")}
        found["curve_items"] = np.searchsorted(rows, found["curve_items"])
    return found


def warn_empty_rows(cells: Mapping[str, NDArray[Any]], table: RawTable) -> None:
    """Rows without a single observed cell follow the prior, which the user should know."""
    names = ("numbers", "counts", "codes", "wide_codes")
    is_empty = np.logical_and.reduce([is_gap(cells, name).all(axis=1) for name in names])
    if "curve_items" in cells:
        is_empty[cells["curve_items"][~np.isnan(cells["curve_values"]).all(axis=1)]] = False
    empty = np.flatnonzero(is_empty)
    if empty.size:
        place = table.line_of(int(empty[0]))
        if empty.size == 1:
            warn_user(f"{place} has no observed cell: only the prior says to which cluster the row belongs")
        else:
            warn_user(
                f"{empty.size} rows have no observed cell, the first in {place}: "
                "only the prior says to which cluster they belong"
            )


def _number_cells(table: RawTable, raw: RawColumn, family: str) -> NDArray[Any]:
    if raw.kind == TEXTS:
        rows = np.flatnonzero(raw.observed())
        if not rows.size:
            return np.full(table.n_items, np.nan)
        row = int(rows[0])
        raise ValueError(f"{table.place(row, raw.name)}: {raw.text(row)!r} is not a number, but the column is {family}")
    bad = np.flatnonzero(np.isinf(raw.values))
    if bad.size:
        row = int(bad[0])
        gap = "None or NaN" if table.line_of is row_line else "an empty cell"
        raise ValueError(f"{table.place(row, raw.name)}: infinity ({raw.values[row]}) has no density; {gap} is missing")
    return raw.values


def _numbers(table: RawTable, raw: RawColumn, column: Column) -> NDArray[Any]:
    if column.first and raw.kind == TEXTS:
        return months(table, raw, column.first)
    values = _number_cells(table, raw, column.family)
    bad = np.flatnonzero(values <= 0) if column.family == POSITIVE else np.empty(0, int)
    if bad.size:
        row = int(bad[0])
        raise ValueError(f"{table.place(row, raw.name)}: {values[row]:g} is not positive, but the column is positive")
    return values


def _counts(table: RawTable, raw: RawColumn, column: Column) -> NDArray[np.uint32]:
    values = _number_cells(table, raw, column.family)
    with np.errstate(invalid="ignore"):
        good = np.isnan(values) | ((values >= 0) & (values <= MAX_COUNT) & (values == np.floor(values)))
    if not good.all():
        row = int(np.flatnonzero(~good)[0])
        raise ValueError(
            f"{table.place(row, raw.name)}: {values[row]:g} is not a count, a whole number from 0 to {MAX_COUNT:,}"
        )
    return np.asarray(np.where(np.isnan(values), COUNT_GAP, values).astype(np.uint32))


def _codes(table: RawTable, raw: RawColumn, column: Column) -> NDArray[np.int64]:
    """The codes of the levels; −1, the largest of an unsigned type, is missing."""
    code_of = {level: code for code, level in enumerate(column.levels)}
    texts, places = raw.distinct()
    codes = np.array([code_of.get(text, -2) for text in texts] + [-1])  # the last entry is for missing cells
    found: NDArray[np.int64] = codes[places]
    bad = np.flatnonzero(found == -2) if (codes == -2).any() else np.empty(0, int)
    if bad.size:
        row = int(bad[0])
        known = ", ".join(column.levels[:5]) + (", ..." if len(column.levels) > 5 else "")
        raise ValueError(
            f"{table.place(row, raw.name)}: the level {raw.text(row)!r} is not one of those known: {known}"
        )
    return found
