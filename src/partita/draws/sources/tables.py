"""Tables of pandas, polars, Arrow and others that narwhals supports: one row per draw, one column per item, or long."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.optional import optional
from partita.draws.sources.columns import Columns, check_draws_differ, choose_columns
from partita.draws.sources.long import LongColumns, LongRows, Names, find_long, long_source
from partita.draws.sources.source import Block, Source, row_slices


def is_table(draws: Any) -> bool:
    """Checks the type, since the columns of a lazy table may be costly to find."""
    return hasattr(type(draws), "columns") or hasattr(type(draws), "column_names")


def table_source(table: Any, variable: str | None, long: Names | None = None) -> Source:
    frame = as_frame(table)
    return tables_source(iter([frame]), frame, variable, long)


def tables_source(parts: Iterator[Any], first: Any, variable: str | None, long: Names | None = None) -> Source:
    """Tables that follow each other, all with the columns of the first."""
    header = [str(name) for name in as_frame(first).columns]
    if found := find_long(header, long, "the table", variable):
        return long_source(_long_rows(parts, found), found, variable, "the table")
    columns = choose_columns(header, variable, "the table")
    return Source(len(columns.items), _rows_of_parts(parts, header, columns), columns.names)


def as_frame(table: Any) -> Any:
    nw = optional("narwhals.stable.v1", "tables are read with narwhals", "io")
    from narwhals.exceptions import DuplicateError

    if hasattr(table, "__arrow_c_array__"):  # a record batch of Arrow
        import pyarrow

        table = pyarrow.table(table)
    if isinstance(table, nw.DataFrame):
        return table
    try:
        frame = nw.from_native(table)
    except DuplicateError as error:
        raise ValueError(f"draws has columns of the same name: {error}") from None
    return frame.collect() if isinstance(frame, nw.LazyFrame) else frame


def _long_rows(parts: Iterator[Any], long: LongColumns) -> LongRows:
    columns: dict[int, list[Any]] = {position: [] for position in long.used}
    for part in parts:
        frame = as_frame(part)
        for position, values in columns.items():
            values += frame[:, position].to_list()
    return LongRows(columns, lambda row: f"the table, row {row}")


def _rows_of_parts(parts: Iterator[Any], header: list[str], columns: Columns) -> Iterator[Block]:
    start, numbers = 0, dict[Any, int]()
    for part in parts:
        frame = as_frame(part)
        yield from _rows_of(frame, header, columns, start, numbers)
        start += len(frame)


def _rows_of(frame: Any, header: list[str], columns: Columns, start: int, numbers: dict[Any, int]) -> Iterator[Block]:
    """The blocks of a table whose first row is row `start`; `numbers` has those of the chains met so far."""
    item_names = [header[i] for i in columns.items]
    chains = None if columns.chain is None else _chains(frame[:, columns.chain], numbers)
    weights = None if columns.weight is None else _weights(frame[:, columns.weight])
    if start == 0 and columns.counters:
        kept = [j for j in (columns.chain, *columns.counters) if j is not None]
        check_draws_differ(list(zip(*(frame[:, j].to_list() for j in kept), strict=True)), "the table")
    items = frame[:, list(columns.items)]
    for rows in row_slices(len(frame), len(item_names)):
        yield Block(
            _cells(items[rows]),
            _place_in_table(item_names, start + rows.start),
            None if chains is None else chains[rows],
            None if weights is None else weights[rows],
        )


def _chains(column: Any, numbers: dict[Any, int]) -> NDArray[np.int64]:
    try:
        return np.array([numbers.setdefault(value, len(numbers)) for value in column.to_list()], np.int64)
    except TypeError:  # lists and records are not hashable
        raise ValueError(f"draws, column {column.name!r}: chains must be identified by numbers or words") from None


def _weights(column: Any) -> NDArray[np.float64]:
    try:
        return np.asarray(column.to_numpy().astype(np.float64))
    except (TypeError, ValueError):
        raise ValueError(f"draws, column {column.name!r}: weights must be numbers") from None


def _cells(part: Any) -> NDArray[Any]:
    """One array if a single type holds every cell exactly, otherwise objects, with None for nulls."""
    types = list(part.schema.values())
    all_float = all(t.is_float() for t in types)
    all_integer = all(t.is_integer() for t in types) and not any(c.null_count() for c in part.iter_columns())
    if all_float or all_integer:
        cells: NDArray[Any] = part.to_numpy()
        if all_float or cells.dtype.kind in "iu":  # int64 beside uint64 would become floats
            return cells
    cells = np.empty(part.shape, dtype=object)
    for i, column in enumerate(part.iter_columns()):
        cells[:, i] = column.to_list()
    return cells


def _place_in_table(names: list[str], start: int) -> Any:
    return lambda row, column: f"draws, row {start + row}, column {names[column]!r},"
