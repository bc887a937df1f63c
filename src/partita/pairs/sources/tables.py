"""Pairs in tables of pandas, polars or Arrow, in a list, a Series with two index levels, or the scores of dedupe."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.draws.sources.tables import as_frame
from partita.pairs.sources.columns import find_columns
from partita.pairs.sources.listed import SOURCE_SEPARATOR, ListedPairs, numbered

Place = Callable[[int], str]


def table_pairs(table: Any, wanted: Sequence[str] | None, where: str = "the table") -> ListedPairs:
    """The pairs of a table, one per row."""
    frame = as_frame(as_arrow(table))
    columns = find_columns([str(name) for name in frame.columns], wanted, where)
    left, right = (_ids(frame[:, column], columns.sources is None) for column in (columns.left, columns.right))
    sources = None if columns.sources is None else tuple(frame[:, column].to_list() for column in columns.sources)
    return pairs_from(left, right, _numbers(frame[:, columns.probability]), _row_of(where), sources)


def is_stream(x: Any) -> bool:
    """Whether this is read by the Arrow stream that it offers: a relation of DuckDB, a reader, a table of polars."""
    return hasattr(x, "__arrow_c_stream__") and not hasattr(x, "iloc")


def as_arrow(table: Any) -> Any:
    """What offers an Arrow stream as a table of Arrow, without a copy in Python; anything else as it is."""
    if not is_stream(table):
        return table
    try:
        import pyarrow
    except ImportError:
        return table
    return table if isinstance(table, pyarrow.Table) else pyarrow.RecordBatchReader.from_stream(table).read_all()


def series_pairs(series: Any) -> ListedPairs:
    """A Series of probabilities whose index has two levels, as recordlinkage makes it."""
    if series.index.nlevels != 2:
        raise ValueError(f"a Series of pairs has two index levels, but this one has {series.index.nlevels}")
    left, right = (series.index.get_level_values(level).to_numpy() for level in (0, 1))
    return pairs_from(left, right, series.to_numpy(), _row_of("the Series"))


def scored_pairs(scores: NDArray[Any]) -> ListedPairs:
    """The structured array of dedupe: fields `pairs` (two ids) and `score`."""
    both = np.asarray(scores["pairs"])
    return pairs_from(both[:, 0], both[:, 1], scores["score"], _row_of("the scores"))


def tuple_pairs(rows: Sequence[tuple[Any, Any, Any]]) -> ListedPairs:
    """A list of tuples (left, right, probability).

    >>> tuple_pairs([("a", "b", 0.9), ("b", "c", 0.2)]).items
    ('a', 'b', 'c')
    """
    left, right, probability = zip(*rows, strict=True)
    return pairs_from(left, right, probability, _row_of("the list"))


def is_list_of_pairs(x: Any) -> bool:
    """Whether this is a list of tuples of three; the rows of a matrix are lists or arrays."""
    return isinstance(x, list) and bool(x) and all(isinstance(row, tuple) and len(row) == 3 for row in x)


def is_scored(x: Any) -> bool:
    """Whether this is what dedupe gives."""
    return isinstance(x, np.ndarray) and x.dtype.names is not None and {"pairs", "score"} <= set(x.dtype.names)


def is_indexed_by_pairs(x: Any) -> bool:
    """Whether this is a Series with an index of several levels."""
    return hasattr(x, "index") and hasattr(x.index, "nlevels") and not hasattr(x, "columns") and x.index.nlevels > 1


def pairs_from(
    left: Any, right: Any, probability: Any, place: Place, sources: tuple[list[Any], list[Any]] | None = None
) -> ListedPairs:
    """Columns of ids and probabilities as pairs; ids are distinguished by their source if there are several."""
    values = _probabilities(probability, place)
    if sources is None:
        return ListedPairs(*_with(numbered(left, right, place), values), place)
    named = [
        [f"{source}{SOURCE_SEPARATOR}{own}" for source, own in zip(of, ids, strict=True)]
        for of, ids in zip(sources, (left, right), strict=True)
    ]
    first, second, items = numbered(named[0], named[1], place)
    return ListedPairs(first, second, values, items, place, tuple(name.split(SOURCE_SEPARATOR)[0] for name in items))


def _with(numbers: tuple[Any, Any, tuple[str, ...]], values: NDArray[np.float64]) -> tuple[Any, Any, Any, Any]:
    left, right, items = numbers
    return left, right, values, items


def _ids(column: Any, may_be_coded: bool) -> Any:
    """Whole numbers as an array; texts in the column of the library that made the table, which can number them."""
    if column.null_count():
        return column.to_list()
    if column.dtype.is_integer():
        return column.to_numpy()
    return column.to_native() if may_be_coded else column.to_list()


def _numbers(column: Any) -> Any:
    return column.to_numpy() if column.dtype.is_numeric() and not column.null_count() else column.to_list()


def _probabilities(column: Any, place: Place) -> NDArray[np.float64]:
    try:
        return np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError):
        for row, value in enumerate(column):
            try:
                float(value)
            except (TypeError, ValueError):
                raise ValueError(f"{place(row)}: the probability is {value!r}, which is not a number") from None
        raise


def _row_of(where: str) -> Place:
    return lambda row: f"{where}, row {row}"
