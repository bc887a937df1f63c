"""Variables from outside the model, as a regression takes them: outcomes, covariates, and which items have them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.arrays import Floats
from partita._support.names import Names, order_by_name, row_names
from partita.models.mixtures.column_notes import are_few, are_whole, sentinel_questions
from partita.models.mixtures.raw import TEXTS, RawColumn, RawTable, from_columns, read_raw
from partita.partitions.labels import canonical

Known = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Outcome:
    """What is regressed: numbers, codes of categories, or times and events; and which items have it."""

    name: str
    values: Floats
    known: Known
    categories: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Predictors:
    """Covariates as (items, terms) numbers, and which items have them all."""

    terms: tuple[str, ...]
    values: Floats
    known: Known


def as_predictors(covariates: Any, names: Names | None, n_items: int) -> Predictors:
    """Numbers as they are, categories as indicators of all but the first."""
    if covariates is None:
        return Predictors((), np.zeros((n_items, 0)), np.ones(n_items, np.bool_))
    terms: list[str] = []
    values: list[Floats] = []
    known = np.ones(n_items, np.bool_)
    for column in _columns(covariates, names, n_items, "covariates"):
        known &= column.observed()
        levels, places = _in_order(column)
        if len(levels) < 2:
            raise ValueError(f"covariates: column {column.name!r} has one value for all items")
        if column.kind == TEXTS:
            terms += [f"{column.name} {level}" for level in levels[1:]]
            values += [(places == place).astype(np.float64) for place in range(1, len(levels))]
        else:
            terms.append(column.name)
            values.append(np.asarray(column.values, np.float64))
    return Predictors(tuple(terms), np.column_stack(values), known)


def as_outcome(outcome: Any, family: str, names: Names | None, n_items: int) -> Outcome:
    """The outcome of a family."""
    columns = _columns(outcome, names, n_items, "outcome")
    if len(columns) != (2 if family == "cox" else 1):
        wanted = "two columns, times and events," if family == "cox" else "one column"
        raise ValueError(f"outcome must have {wanted} for family {family!r}, but it has {len(columns)}")
    if family == "cox":
        return _survival(*columns)
    column = columns[0]
    if family in ("binomial", "multinomial"):
        return _categories(column, family)
    values = _numbers(column, "outcome")
    if len(column.distinct()[0]) < 2:
        raise ValueError(f"outcome: {column.name!r} has one value for all items")
    if family == "poisson":
        _check_values(values, ~((values >= 0) & (values == np.floor(values))), column.name, "counts")
    return Outcome(column.name, values, column.observed())


def questions(outcome: Outcome | None, family: str, predictors: Predictors) -> list[str]:
    """What a careful reader would ask: whole numbers may be codes, others may mark missing values."""
    columns = list(zip(predictors.terms, predictors.values.T, predictors.values.T[:, predictors.known], strict=True))
    told = "has whole numbers only, {} different ones, and is taken as a measurement. Are they codes? {}"
    words = "Words in their place are taken as categories."
    notes = [f"{name} {told.format(n, words)}" for name, _, known in columns if (n := _codes(known)) > 2]
    if outcome is not None and family in ("gaussian", "poisson"):
        columns.append((outcome.name, outcome.values, outcome.values[outcome.known]))
        if family == "gaussian" and (n := _codes(columns[-1][2])):
            words = "The families binomial and multinomial take codes, poisson takes counts."
            notes.append(f"{outcome.name} {told.format(n, words)}")
    numbers = {name: values for name, values, _ in columns}.items()
    return notes + [question for _, question in sentinel_questions(from_columns(numbers))] if numbers else notes


def _codes(values: Floats) -> int:
    """The number of different values if they may be codes, else 0."""
    n = len(np.unique(values))
    return n if are_few(n, len(values)) and are_whole(values) else 0


def _columns(x: Any, names: Names | None, n_items: int, what: str) -> list[RawColumn]:
    """The columns of a table or array, in the order of the items: by name where both have names."""
    table = _table(x, what)
    if table.n_items != n_items:
        raise ValueError(f"{what} has {table.n_items} items, but the estimate has {n_items}")
    order = None if table.names is None or names is None else order_by_name(table.names, names, what, "the estimate")
    for column in table.columns:
        if column.problem:
            raise ValueError(f"{what}: column {column.name!r} {column.problem}")
        if column.kind != TEXTS and (infinite := np.flatnonzero(np.isinf(column.values.astype(np.float64)))).size:
            row = infinite[0]
            raise ValueError(f"{what}: {column.name!r} must be finite, but item {row} has {column.values[row]:g}")
    if order is None:
        return list(table.columns)
    return [RawColumn(c.name, c.kind, c.values[order], c.levels, c.problem, c.texts) for c in table.columns]


def _table(x: Any, what: str) -> RawTable:
    if isinstance(x, Mapping) or hasattr(type(x), "columns") or hasattr(type(x), "column_names"):
        return read_raw(x)
    if not hasattr(x, "to_list") and np.ndim(x) != 1:
        return read_raw(x)
    name = getattr(x, "name", None)
    return from_columns([(what if name in (None, "") else str(name), list(x))], row_names(x))


def _numbers(column: RawColumn, what: str) -> Floats:
    if column.kind == TEXTS:
        raise ValueError(
            f"{what}: column {column.name!r} has text ({column.texts[0]!r}), but numbers are needed; categories are for"
            " the families 'binomial' and 'multinomial'"
        )
    return np.asarray(column.values, np.float64)


def _check_values(values: Floats, bad: Known, name: str, what: str) -> None:
    wrong = np.flatnonzero(bad & ~np.isnan(values))
    if wrong.size:
        raise ValueError(f"outcome: {name!r} must have {what}, but item {wrong[0]} has {values[wrong[0]]:g}")


def _in_order(column: RawColumn) -> tuple[tuple[str, ...], NDArray[np.intp]]:
    """The distinct cells, and the place of each cell: texts in their declared order, otherwise by alphabet."""
    levels, places = column.distinct()
    if column.kind != TEXTS:
        return levels, places
    ordered = tuple(level for level in column.levels if level in levels) if column.levels else tuple(sorted(levels))
    place = np.array([*(ordered.index(level) for level in levels), -1])  # the last is for missing values
    return ordered, place[places]


def _categories(column: RawColumn, family: str) -> Outcome:
    levels, places = _in_order(column)
    used = sorted({int(place) for place in places if place >= 0})
    if len(used) < 2 or (family == "binomial" and len(used) > 2):
        wanted = "two values" if family == "binomial" else "at least two values"
        raise ValueError(f"outcome: {column.name!r} must have {wanted} for family {family!r}, but it has {len(used)}")
    code = np.full(len(levels) + 1, -1)  # the last is for missing values, whose place is -1
    code[used] = np.arange(len(used))
    names = tuple(levels[place] for place in used)
    return Outcome(column.name, code[places].astype(np.float64), column.observed(), names)


def _survival(time: RawColumn, event: RawColumn) -> Outcome:
    times, events = _numbers(time, "outcome"), _numbers(event, "outcome")
    _check_values(times, times < 0, time.name, "times that are not negative")
    _check_values(events, ~np.isin(events, (0, 1)), event.name, "1 for an event and 0 for a censored time")
    known = time.observed() & event.observed()
    if not events[known].any():
        raise ValueError(f"outcome: {event.name!r} has no events")
    return Outcome(time.name, np.column_stack([times, events]), known)


def check_outside(outcome: Outcome | None, predictors: Predictors, inputs: Mapping[str, Any] | None) -> None:
    """Raises an error for an outcome that the clusters were made from; covariates, if the clusters are the outcome."""
    if outcome is None:
        tried = [(term, predictors.values[:, place]) for place, term in enumerate(predictors.terms)]
        known = predictors.known
    else:
        tried = [(outcome.name, outcome.values if outcome.values.ndim == 1 else outcome.values[:, 0])]
        known = outcome.known
    for array in (inputs or {}).values():
        cells = np.asarray(array)
        if cells.dtype.kind not in "iufb" or cells.ndim != 2 or len(cells) != known.size:
            continue
        for column in cells.T:
            same = next((name for name, values in tried if _is_same(values[known], column[known])), None)
            if same is not None:
                raise ValueError(
                    f"{same!r} was a column of the model: the clusters were made from it, so that any relation to it is"
                    " there by construction; relate is for variables that the model did not see"
                )


def _is_same(values: Floats, column: NDArray[Any]) -> bool:
    """Whether one column is the other on another scale, or names its categories differently."""
    both = np.isfinite(values) & np.isfinite(column)
    one, other = values[both], column[both].astype(np.float64)
    if one.size < 3 or one.std() == 0 or other.std() == 0:
        return False
    if len(np.unique(one)) <= one.size // 2:
        codes = [canonical(np.unique(each, return_inverse=True)[1]) for each in (one, other)]
        return bool((codes[0] == codes[1]).all())
    return bool(abs(np.corrcoef(one, other)[0, 1]) > 1 - 1e-10)
