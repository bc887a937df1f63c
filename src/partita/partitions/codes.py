"""Converts cells of any kind to integer codes, and explains why a cell is not a valid label.

Only equality matters for labels, and only within one draw. So numbers stay unchanged if possible, and everything
else is numbered through a dictionary.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.errors import Argument, Sentence, TableModel

GAP = -1
NEGATIVE = "labels must not be negative"
_NOT_WHOLE = "labels must be whole numbers"
LABEL_KINDS = "biufOUST"
LARGEST_EXACT_FLOAT = np.float64(2**53)


class BadLabel(ValueError):
    """A cell that is not a valid label; a caller that knows the place of the cell turns it into a message."""

    def __init__(self, row: int, column: int, value: object, problem: str) -> None:
        super().__init__(problem)
        self.row, self.column, self.value, self.problem = row, column, value, problem

    def at(self, place: str | Argument) -> Sentence:
        """What is wrong, and with what."""
        table = ("; for a table of measurements, use ", TableModel()) if self.problem == _NOT_WHOLE else ()
        return Sentence(place, f" is {_shown(self.value)}: {self.problem}", *table)


@dataclass(frozen=True)
class Missing:
    """The markers of missing labels: these values, and NaN, None and NA if `null`."""

    values: tuple[Any, ...] = ()
    null: bool = False

    def marks(self, value: object) -> bool:
        return self.null if is_null(value) else value in self.values


NO_GAPS = Missing()


def as_missing(missing: object) -> Missing:
    """The argument `missing=`: None if no labels are missing, one value, or a list of values."""
    if missing is None:
        return NO_GAPS
    listed = isinstance(missing, list | tuple | set | frozenset | np.ndarray)
    values: list[Any] = list(missing) if listed else [missing]  # type: ignore[call-overload]
    return Missing(tuple(v for v in values if not is_null(v)), any(is_null(v) for v in values))


def is_null(value: object) -> bool:
    """Whether the value is None, or NaN, NaT or the NA of pandas, which do not equal themselves."""
    try:
        return value is None or bool(value != value)
    except TypeError:
        return True


def as_cells(x: Any, name: str) -> NDArray[Any]:
    """An array of cells; values in a list are neither rounded nor turned into text, and ragged rows are reported."""
    if not isinstance(x, list | tuple):
        return np.asanyarray(x)
    if any(isinstance(row, np.ma.MaskedArray) for row in x):
        return np.ma.stack(x)
    _check_not_ragged(x, name)
    try:
        cells = np.asarray(x)
    except ValueError as error:
        raise ValueError(f"{name} is ragged: {error}") from None
    as_text = cells.dtype.kind in "US"
    rounded = cells.dtype.kind == "f" and bool((np.abs(cells) > LARGEST_EXACT_FLOAT).any())
    return np.asarray(x, dtype=object) if as_text or rounded else cells


def _check_not_ragged(rows: Iterable[Any], name: str) -> None:
    lengths = [len(row) if hasattr(row, "__len__") and not isinstance(row, str) else None for row in rows]
    for i, length in enumerate(lengths):
        if length != lengths[0]:
            first, other = ("is not a list" if n is None else f"has {n} items" for n in (lengths[0], length))
            raise ValueError(f"{name} is ragged: entry {i} {other}, but entry 0 {first}")


def to_codes(cells: NDArray[Any], missing: Missing = NO_GAPS, name: str = "draws") -> NDArray[Any]:
    """Integers that are equal if the labels are, and -1 for missing labels.

    Integers without missing labels are returned without a copy; `BadLabel` names the first cell without a valid label.
    """
    cells = _unmasked(cells)
    kind = cells.dtype.kind
    if kind == "b":
        cells = cells.view(np.uint8)
    if kind in "biuf":
        # the core requires aligned integers
        native = np.require(cells.astype(cells.dtype.newbyteorder("="), copy=False), requirements="A")
        return _code_numbers(native, missing)
    if kind in "OUST":
        return _code_objects(cells, missing)
    raise TypeError(f"{name} {type_problem(cells.dtype)}")


def to_codes_with_noise(
    cells: NDArray[Any], missing: Missing, noise: Missing, name: str = "draws"
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Codes as from `to_codes`, but an item marked as noise has a code of its own; and which cells are noise.

    >>> codes, is_noise = to_codes_with_noise(np.array([[5, -1, 5, -1]]), NO_GAPS, Missing((-1,)))
    >>> codes.tolist(), is_noise.tolist()
    ([[5, 7, 5, 9]], [[False, True, False, True]])
    """
    cells = _unmasked(cells)
    is_noise = marked(cells, noise)
    both = Missing((*missing.values, *noise.values), missing.null or noise.null)
    codes = to_codes(cells, both, name)
    if not is_noise.any():
        return codes, is_noise
    free = int(codes.max()) + 1
    wide = np.int32 if free + cells.shape[1] < np.iinfo(np.int32).max else np.int64
    return np.where(is_noise, np.arange(free, free + cells.shape[1], dtype=wide), codes.astype(wide)), is_noise


def _unmasked(cells: NDArray[Any]) -> NDArray[Any]:
    """The cells, with None where an array masks them."""
    if not isinstance(cells, np.ma.MaskedArray):
        return cells
    mask, cells = np.ma.getmaskarray(cells), cells.data
    if mask.any():
        cells = cells.astype(object)
        cells[mask] = None
    return cells


def marked(cells: NDArray[Any], markers: Missing) -> NDArray[np.bool_]:
    """Which cells have one of the markers."""
    if cells.dtype.kind in "biuf":
        found = _number_gaps(cells, markers)
        return np.zeros(cells.shape, np.bool_) if found is None else found
    flat = cells.ravel().tolist()
    return np.fromiter((_marks(markers, value) for value in flat), np.bool_, len(flat)).reshape(cells.shape)


def _marks(markers: Missing, value: Any) -> bool:
    try:
        return markers.marks(value)
    except (TypeError, ValueError):  # such as a list or an array, for which `to_codes` raises an error
        return False


def type_problem(dtype: Any) -> str:
    """What is wrong with cells of this type; None if they may be labels."""
    if np.dtype(dtype).kind in LABEL_KINDS:
        return ""
    return f"has type {dtype}; labels are integers, strings, booleans or categories"


Check = tuple[str, Callable[[NDArray[Any]], NDArray[np.bool_]]]

_NEGATIVE: Check = (NEGATIVE, lambda x: x < 0)
_FLOAT_CHECKS: tuple[Check, ...] = (
    ("a label must not be missing", np.isnan),
    ("labels must be finite", np.isinf),
    (_NOT_WHOLE, lambda x: np.floor(x) != x),
    ("a float this large is not exact, use integers", lambda x: np.abs(x) > LARGEST_EXACT_FLOAT),
    _NEGATIVE,
)
_CHECKS: dict[str, tuple[Check, ...]] = {"u": (), "i": (_NEGATIVE,), "f": _FLOAT_CHECKS}


def _code_numbers(cells: NDArray[Any], missing: Missing) -> NDArray[Any]:
    gaps = _number_gaps(cells, missing)
    for problem, is_bad in _CHECKS[cells.dtype.kind]:
        bad = is_bad(cells) if gaps is None else is_bad(cells) & ~gaps
        if bad.any():
            row, column = divmod(int(bad.argmax()), cells.shape[1])
            raise BadLabel(row, column, cells[row, column].item(), problem)
    if gaps is None:
        return cells.astype(np.int64) if cells.dtype.kind == "f" else cells
    if cells.dtype == np.uint64 and cells.max() > np.iinfo(np.int64).max:
        return _code_objects(cells.astype(object), missing)
    codes = np.where(gaps, cells.dtype.type(0), cells).astype(np.int64)
    codes[gaps] = GAP
    return codes


def _number_gaps(cells: NDArray[Any], missing: Missing) -> NDArray[np.bool_] | None:
    gaps = np.zeros(cells.shape, np.bool_)
    for value in missing.values:
        if isinstance(value, Real):
            gaps |= cells == (np.float64(value) if cells.dtype.kind == "f" else value)
    if missing.null and cells.dtype.kind == "f":
        gaps |= np.isnan(cells)
    return gaps if gaps.any() else None


class _Refused(Exception):
    """A value that is not a valid label, and the reason."""


class _Codes(dict[Any, int]):
    """Numbers distinct values in order of appearance; each is checked once."""

    def __init__(self, missing: Missing) -> None:
        super().__init__()
        self._missing = missing

    def __missing__(self, value: Any) -> int:
        if self._missing.marks(value):
            code = GAP
        elif problem := _problem(value):
            raise _Refused(value, problem)
        else:
            code = len(self)
        self[value] = code
        return code


def _problem(value: Any) -> str:
    if is_null(value):
        return "a label must not be missing"
    if isinstance(value, float | np.floating):
        number = float(value)
        if math.isinf(number):
            return "labels must be finite"
        if not number.is_integer():
            return _NOT_WHOLE
        if abs(number) > LARGEST_EXACT_FLOAT:
            return "a float this large is not exact, use integers"
    is_negative = isinstance(value, Real) and value < 0
    return NEGATIVE if is_negative else ""


def _code_objects(cells: NDArray[Any], missing: Missing) -> NDArray[np.int64]:
    flat = cells.ravel().tolist()
    try:
        return np.fromiter(map(_Codes(missing).__getitem__, flat), np.int64, len(flat)).reshape(cells.shape)
    except _Refused as refused:
        value, problem = refused.args
    except TypeError:
        value = next(v for v in flat if type(v).__hash__ is None)
        problem = "labels must be numbers, strings or categories"
    position = next(i for i, v in enumerate(flat) if v is value)
    row, column = divmod(position, cells.shape[1])
    raise BadLabel(row, column, value, problem)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
