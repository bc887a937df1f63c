"""Pairs in tables of pandas, polars or Arrow, in a list, a Series with two index levels, or the scores of dedupe."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.optional import optional
from partita.draws.sources.tables import as_frame
from partita.pairs.sources.columns import find_columns
from partita.pairs.sources.listed import SOURCE_SEPARATOR, ListedPairs, numbered
from partita.partitions.codes import is_null

Place = Callable[[int], str]


def table_pairs(table: Any, wanted: Sequence[str] | None, where: str = "the table") -> ListedPairs:
    """The pairs of a table, one per row."""
    frame = as_frame(as_arrow(table))
    columns = find_columns([str(name) for name in frame.columns], wanted, where)
    sources = columns.sources or (None, None)
    left, right = (_ids(frame, *both) for both in zip((columns.left, columns.right), sources, strict=True))
    has_sources = columns.sources is not None
    return pairs_from(left, right, _numbers(frame[:, columns.probability]), _row_of(where), has_sources)


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


def pairs_from(left: Any, right: Any, probability: Any, place: Place, has_sources: bool = False) -> ListedPairs:
    """Columns of ids and probabilities as pairs; `has_sources`: ids begin with their source."""
    values = _probabilities(probability, place)
    first, second, items = numbered(left, right, place)
    sources = tuple(name.split(SOURCE_SEPARATOR)[0] for name in items) if has_sources else None
    return ListedPairs(first, second, values, items, place, sources)


def _ids(frame: Any, own: int, source: int | None) -> Any:
    """Whole numbers as an array; texts in the column of the library that made the table, which can number them.

    With a column of sources an id is its source and the id in it.
    """
    used = [frame[:, at] for at in (source, own) if at is not None]
    if any(column.null_count() or not (column.dtype.is_integer() or _is_text(column)) for column in used):
        cells = [column.to_list() for column in used]
        if source is None:
            return cells[0]
        known = (None if any(map(is_null, both)) else map(str, both) for both in zip(*cells, strict=True))
        return [both and SOURCE_SEPARATOR.join(both) for both in known]
    if source is None:
        return used[0].to_numpy() if used[0].dtype.is_integer() else used[0].to_native()
    nw = optional("narwhals.stable.v1", "tables are read with narwhals", "io")
    parts = [nw.col(frame.columns[at]).cast(nw.String) for at in (source, own)]
    return frame.select(nw.concat_str(parts, separator=SOURCE_SEPARATOR).alias("id"))[:, 0].to_native()


def _is_text(column: Any) -> bool:
    return str(column.dtype) == "String"


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
