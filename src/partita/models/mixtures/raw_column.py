"""One column of a table as the user has it: numbers, truth values or text, with missing values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
