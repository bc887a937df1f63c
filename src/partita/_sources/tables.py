"""Tables of pandas, polars, Arrow and whatever else narwhals knows: a row is a draw, a column an item."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._sources.blocks import Block, Source, row_slices
from partita._sources.columns import Columns, choose_columns


def is_table(draws: Any) -> bool:
    """Asks the type, since the columns of a lazy table may be costly to find."""
    return hasattr(type(draws), "columns") or hasattr(type(draws), "column_names")


def table_source(table: Any, variable: str | None) -> Source:
    frame = _as_frame(table)
    return tables_source(iter([frame]), frame, variable)


def tables_source(parts: Iterator[Any], first: Any, variable: str | None) -> Source:
    """Tables that follow each other, all with the columns of the first."""
    header = [str(name) for name in _as_frame(first).columns]
    columns = choose_columns(header, variable, "the table")
    return Source(len(columns.items), _rows_of_parts(parts, header, columns), columns.names)


def _as_frame(table: Any) -> Any:
    try:
        import narwhals.stable.v1 as nw
        from narwhals.exceptions import DuplicateError
    except ImportError:
        raise ImportError("tables are read with narwhals: pip install 'partita[io]'") from None
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


def _rows_of_parts(parts: Iterator[Any], header: list[str], columns: Columns) -> Iterator[Block]:
    start, numbers = 0, dict[Any, int]()
    for part in parts:
        frame = _as_frame(part)
        yield from _rows_of(frame, header, columns, start, numbers)
        start += len(frame)


def _rows_of(frame: Any, header: list[str], columns: Columns, start: int, numbers: dict[Any, int]) -> Iterator[Block]:
    """The blocks of a table whose first row is row `start`; `numbers` has those of the chains met so far."""
    item_names = [header[i] for i in columns.items]
    chains = None if columns.chain is None else _chains(frame[:, columns.chain], numbers)
    weights = None if columns.weight is None else _weights(frame[:, columns.weight])
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
    except TypeError:  # a list or a record has no hash
        raise ValueError(f"draws, column {column.name!r}: chains are told apart by numbers or words") from None


def _weights(column: Any) -> NDArray[np.float64]:
    try:
        weights: NDArray[np.float64] = column.to_numpy().astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"draws, column {column.name!r}: weights must be numbers") from None
    return weights


def _cells(part: Any) -> NDArray[Any]:
    """As one array where a single type holds every cell exactly, else as objects, with None at the nulls."""
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
