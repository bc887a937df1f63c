"""Tables as users have them: pandas, polars, Arrow, NumPy, dictionaries, csv files; one column at a time."""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.arrays import Floats
from partita._support.names import Names, row_names
from partita._support.text.cells import is_number

NUMBERS, TRUTHS, TEXTS = "numbers", "truth values", "text"
_NO_TEXT = -1
_PLAIN_NUMBERS = {int, float, type(None)}
#: 2024-03-31, 31.3.2024 or 3/31/24, and a time of day.
_DATE = re.compile(r"(\d{4}-\d\d?-\d\d?|\d\d?([./])\d\d?\2(\d{4}|\d\d))([T ]\d\d?:\d\d.*)?")

LineOf = Callable[[int], str]


def row_line(row: int) -> str:
    """Where a row is, for messages, if it does not come from a file."""
    return f"row {row}"


@dataclass(frozen=True, eq=False)
class RawColumn:
    """One column.

    `values` are numbers of the user's own type, without a copy where that is possible, NaN where missing; truth values
    are 0 and 1. Of text they are places in `texts`, the distinct texts, and −1 where missing.
    `levels` are the levels that the column's type declares, if it does: some may not occur.
    `problem` says why the column cannot be modelled as it is; it may still be ignored, or its texts taken as levels if
    `may_be_levels`.
    """

    name: str
    kind: str
    values: NDArray[Any]
    levels: tuple[str, ...] | None = None
    problem: str = ""
    texts: tuple[str, ...] = ()

    @property
    def may_be_levels(self) -> bool:
        """Whether a column with a problem has texts that a user may want as levels."""
        return self.problem.startswith(
            ("mixes", "holds dates as text", "holds numbers as text", "has a different word")
        )

    @property
    def holds_dates(self) -> bool:
        """Whether its texts are dates or times."""
        return self.problem.startswith("holds dates") and bool(self.texts)

    def observed(self) -> NDArray[np.bool_]:
        """Where the column has a value."""
        if self.kind == TEXTS:
            return np.asarray(self.values != _NO_TEXT)
        if self.values.dtype.kind != "f":
            return np.ones(len(self.values), np.bool_)
        return np.asarray(~np.isnan(self.values))

    def at(self, rows: NDArray[np.intp]) -> RawColumn:
        """The cells of these rows in this order; −1 is a missing cell."""
        values, absent = self.values[rows], rows < 0
        if absent.any():
            values = values if self.kind == TEXTS else values.astype(np.float64)
            values[absent] = _NO_TEXT if self.kind == TEXTS else np.nan
        return replace(self, values=values)

    def distinct(self) -> tuple[tuple[str, ...], NDArray[np.intp]]:
        """The distinct cells as texts, and the place of each cell among them, −1 if missing; numbers in order."""
        if self.kind == TEXTS:
            return self.texts, self.values
        numbers, places = np.unique(self.values, return_inverse=True)
        known = numbers[~np.isnan(numbers)] if numbers.dtype.kind == "f" else numbers
        name = _truth_text if self.kind == TRUTHS else number_text
        places[places >= len(known)] = _NO_TEXT  # NaN comes last
        return tuple(map(name, known.tolist())), places

    def text(self, row: int) -> str:
        """An observed cell as a text."""
        value = self.values[row]
        if self.kind == TEXTS:
            return self.texts[int(value)]
        return _truth_text(value) if self.kind == TRUTHS else number_text(value)


def number_text(value: float) -> str:
    """A number as the name of a level: whole numbers without a point."""
    return str(int(value)) if np.isfinite(value) and value == int(value) else repr(float(value))


def _truth_text(value: float) -> str:
    return str(bool(value))


def raw_column(name: str, values: Any, line_of: LineOf = row_line) -> RawColumn:
    """A column from its cells; cells of several types raise an error when the column is used."""
    array = np.asarray(values) if isinstance(values, np.ndarray) else _object_array(values)
    if array.dtype.kind in "iuf":
        return RawColumn(name, NUMBERS, array)
    if array.dtype.kind == "b":
        return RawColumn(name, TRUTHS, array.view(np.uint8), ("False", "True"))
    if set(map(type, array)) <= _PLAIN_NUMBERS:
        return RawColumn(name, NUMBERS, array.astype(np.float64))  # None becomes NaN
    if array.dtype.kind in "mM":
        texts = [None if np.isnat(cell) else str(cell) for cell in array]
        return text_column(name, texts, problem=f"holds dates or times ({array.dtype})")
    first = next(((row, kind) for row, kind in _kinds(array)), None)
    if first is None:
        return RawColumn(name, NUMBERS, np.full(len(array), np.nan))
    other = next(((row, kind) for row, kind in _kinds(array) if kind != first[1]), None)
    if other is not None:
        shown = [f"{array[row]!r} in {line_of(row)}" for row, _ in (first, other)]
        return text_column(name, array, problem=f"mixes {first[1]} and {other[1]}: {shown[0]} and {shown[1]}")
    if first[1] == TEXTS:
        column = text_column(name, array)
        said = f"{str(array[first[0]])!r} in {line_of(first[0])}"
        if all(map(_DATE.fullmatch, column.texts)):
            return replace(column, problem=f"holds dates as text: {said}")
        if all(map(is_number, column.texts)) and any("." in text for text in column.texts):
            return replace(column, problem=f"holds numbers as text: {said}; convert them to numbers")
        return column
    if first[1] not in (NUMBERS, TRUTHS):
        return text_column(name, array, problem=f"holds {first[1]}: {array[first[0]]!r} in {line_of(first[0])}")
    numbers = np.fromiter((np.nan if is_missing(cell) else float(cell) for cell in array), np.float64, len(array))
    return RawColumn(name, first[1], numbers, ("False", "True") if first[1] == TRUTHS else None)


def text_column(
    name: str, cells: Sequence[Any] | NDArray[Any], levels: tuple[str, ...] | None = None, problem: str = ""
) -> RawColumn:
    """A column of text; cells of other types count as their texts."""
    places: dict[str, int] = {}
    codes = np.fromiter(
        (_NO_TEXT if is_missing(cell) else places.setdefault(str(cell), len(places)) for cell in cells),
        np.int32,
        len(cells),
    )
    smallest = np.min_scalar_type(-max(len(places), 1))
    return RawColumn(name, TEXTS, codes.astype(smallest), levels, problem, tuple(places))


def is_missing(value: Any) -> bool:
    """None, NaN of any type, pandas' NA and NaT."""
    if type(value) is str:
        return False
    if value is None:
        return True
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    return type(value).__name__ in ("NAType", "NaTType")


def _kinds(cells: Iterable[Any]) -> Iterable[tuple[int, str]]:
    return ((row, _kind_of(cell)) for row, cell in enumerate(cells) if not is_missing(cell))


def _kind_of(value: Any) -> str:
    if isinstance(value, str):
        return TEXTS
    if isinstance(value, bool | np.bool_):
        return TRUTHS
    if isinstance(value, int | float | np.number):
        return NUMBERS
    if type(value).__name__ == "Decimal":
        return NUMBERS
    if hasattr(value, "isoformat"):
        return "dates or times"
    return f"cells of type {type(value).__name__}"


def _object_array(values: Any) -> NDArray[Any]:
    cells = list(values)
    array = np.empty(len(cells), dtype=object)
    array[:] = cells
    return array


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


DAYS_PER_MONTH = 30.4375
_START = datetime.datetime(1970, 1, 1)
_DAY_FIRST = re.compile(r"(\d\d?)([./])(\d\d?)\2(\d{4}|\d\d)(.*)")


def days(text: str) -> float:
    """Days since 1970 of an ISO date or time; of 31.3.2024 too, where points separate day, month and year.

    >>> days("1970-02-01"), days("1970-01-02T12:00:00+12:00"), days("1.2.1970")
    (31.0, 1.0, 31.0)
    """
    own = _DAY_FIRST.fullmatch(text)
    if own is not None and own[2] == "." and len(own[4]) == 4:
        text = f"{own[4]}-{int(own[3]):02}-{int(own[1]):02}{own[5]}"
    moment = datetime.datetime.fromisoformat(text)
    if moment.tzinfo is not None:
        moment = moment.astimezone(datetime.UTC).replace(tzinfo=None)
    return (moment - _START) / datetime.timedelta(days=1)


def first_date(texts: Iterable[str]) -> str:
    """The earliest of some dates, as it is written."""
    return min(texts, key=days)


def months(table: RawTable, raw: RawColumn, origin: str | None = None) -> Floats:
    """A column of dates as months since `origin`, or since its first date; NaN where it is empty."""
    since = days(first_date(_checked_dates(table, raw)) if origin is None else origin)
    found = [(days(text) - since) / DAYS_PER_MONTH for text in _checked_dates(table, raw)]
    return np.asarray(np.append(found, np.nan)[raw.values])


def _checked_dates(table: RawTable, raw: RawColumn) -> tuple[str, ...]:
    """The dates of a column, all of them readable."""
    for place, text in enumerate(raw.texts):
        try:
            days(text)
        except ValueError:
            row = int(np.flatnonzero(raw.values == place)[0])
            raise ValueError(
                f"{table.place(row, raw.name)}: {text!r} is not a time; times are numbers or dates such as 2026-03-31"
            ) from None
    return raw.texts
