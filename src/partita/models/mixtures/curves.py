"""Repeated measurements: a long table with one row per subject and time becomes one item per subject."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.arrays import Floats
from partita._support.hints import did_you_mean
from partita._support.validate import check_count, check_scale
from partita.models.mixtures.raw import NUMBERS, TEXTS, RawColumn, RawTable, months
from partita.models.mixtures.schema import CURVE, IGNORE, REGRESSION, given_families

MAX_COEFFICIENTS = 16


@dataclass(frozen=True)
class Curves:
    """Which columns of a long table make curves: one row per subject and time, in any order.

    Numeric columns that vary within subjects are outcomes. In a cluster, outcome y of subject i at time t is

    y_it = B(t)' β + u_i0 + u_i1 t + e_it,  e ~ N(0, s²), u ~ N(0, ρ s²),  β | s² ~ N(β0, s² / c), s² ~ IG(a, b),

    with a basis B of B-splines, the mean curve β0 of all subjects, b the variance about it, and a of the model.
    The ratio ρ of a cluster is 0, 1/2, 2, 8 or 32, with equal prior probabilities; t in u_i1 t is from −1 to 1. The
    times may differ between subjects, and any may be missing. Columns that are constant within subjects are variables
    of the subject, of the families of `MixtureDPM`.

    Parameters
    ----------
    id : str
        The column that names the subject of each row.
    time : str
        The column of times: numbers, or dates, which are taken as months since the first.
    outcomes : sequence of str, optional
        The columns that make curves; by default all numeric ones that vary within subjects.
    degree : int, optional
        Degree of the splines. By default 3, or less if the times or the visits of most subjects are few.
    knots : int, optional
        Number of inner knots, which are at quantiles of the times. By default one for every three visits of most
        subjects beyond the first four, at most 4.
    random_effects : bool
        Whether subjects of a cluster differ by a straight line of their own. Without, ρ is 0, as in latent class growth
        analysis.
    c : float
        How many observations the prior of a mean curve is worth. With more, subgroups of subjects that differ by lines
        of their own become clusters.

    Examples
    --------
    >>> import numpy as np, partita as pt
    >>> rng = np.random.default_rng(1)
    >>> patient, month = np.repeat(np.arange(30), 5), np.tile(np.arange(5.0), 30)
    >>> pain = np.where(patient < 15, 8 - 1.5 * month, 8.0) + rng.normal(0, 0.5, 150)
    >>> model = pt.models.MixtureDPM(curves=pt.models.Curves(id="patient", time="month"))
    >>> chain = model.sample({"patient": patient, "month": month, "pain": pain}, draws=200, warmup=200, rng=1)
    >>> pt.estimate(chain, rng=1).n_clusters
    2
    """

    id: str
    time: str
    outcomes: Sequence[str] | None = None
    degree: int | None = None
    knots: int | None = None
    random_effects: bool = True
    c: float = 0.003

    def __post_init__(self) -> None:
        if self.degree is not None:
            check_count(self.degree, "degree", minimum=0)
        if self.knots is not None:
            check_count(self.knots, "knots", minimum=0)
        check_scale(self.c, "c")
        if (self.degree or 0) + (self.knots or 0) + 1 > MAX_COEFFICIENTS:
            raise ValueError(f"degree + knots + 1 must be at most {MAX_COEFFICIENTS} coefficients")


@dataclass(frozen=True, eq=False)
class Subjects:
    """A long table as one row per subject, the families of its columns, and its curves as arrays.

    `cells`: `curve_items` (rows,), the subject of each row, in order; `curve_times` (rows,); `curve_values` (rows,
    outcomes), NaN where nothing was measured.
    """

    table: RawTable
    families: dict[str, str]
    cells: dict[str, NDArray[Any]]


def read_curves(table: RawTable, curves: Any, given: Any, outcomes: Sequence[str] | None = None) -> Subjects:
    """The items of curves or of a regression. `outcomes`: those of a fit, for new items."""
    if isinstance(curves, Curves):
        return _read_subjects(table, curves, given, outcomes)
    if isinstance(curves, str):
        return _read_regression(table, curves, given)
    raise TypeError(f"curves must be Curves(id=..., time=...) or a formula such as 'y ~ x1 + x2', but it is {curves!r}")


def _read_subjects(table: RawTable, curves: Curves, given: Any, outcomes: Sequence[str] | None) -> Subjects:
    """One row per subject, in order of first appearance."""
    known = {column.name: column for column in table.columns}
    item, time = _column(known, curves.id, "id"), _column(known, curves.time, "time")
    families = given_families(table, given)
    names, items = _subjects(table, item)
    times = _times(table, time)
    others = [raw for raw in table.columns if raw.name not in (curves.id, curves.time)]
    wanted = outcomes if outcomes is not None else _outcomes(curves, known, others, items, families)
    if len(names) == table.n_items > 1 and outcomes is None:
        raise ValueError(
            f"{curves.id!r} has a different value in each row: there is one visit per subject, and no curve"
        )
    if outcomes is None and not _varies(time, items):
        raise ValueError(f"{curves.time!r} does not vary within {curves.id!r}: it is no time of visits")
    if not wanted:
        raise ValueError(
            f"no numeric column varies within {curves.id!r}, so that there are no curves: such a table has one"
            f" row per {curves.id!r}"
        )
    order = np.lexsort((times, items))
    measured = [_column(known, name, "an outcome").values.astype(np.float64) for name in wanted]
    values = np.column_stack(measured)[order]
    if np.isinf(values).any():
        row, column = (int(at[0]) for at in np.nonzero(np.isinf(values)))
        raise ValueError(f"{table.place(int(order[row]), wanted[column])}: infinity has no density")
    first = np.unique(items, return_index=True)[1]
    columns = tuple(
        RawColumn(raw.name, NUMBERS, _subject_means(raw.values.astype(np.float64), items, len(names)))
        if raw.name in wanted
        else _of_subjects(table, raw, items, len(names), curves.id, families.get(raw.name))
        for raw in others
    )
    subjects = RawTable(columns, len(names), table.named, names, lambda row: table.line_of(int(first[row])))
    cells = {"curve_items": items[order].astype(np.int64), "curve_times": times[order], "curve_values": values}
    for array in cells.values():
        array.flags.writeable = False
    kept = {name: family for name, family in families.items() if name in {raw.name for raw in others}}
    return Subjects(subjects, kept | dict.fromkeys(wanted, CURVE), cells)


def _column(known: Mapping[str, RawColumn], name: str, role: str) -> RawColumn:
    if name not in known:
        raise ValueError(f"{role} is {name!r}, which the table does not have{did_you_mean(name, list(known))}")
    return known[name]


def _subjects(table: RawTable, item: RawColumn) -> tuple[tuple[str, ...], NDArray[np.intp]]:
    """The names of the subjects, in order of first appearance, and the subject of each row."""
    texts, places = item.distinct()
    missing = np.flatnonzero(np.asarray(places) < 0)
    if missing.size:
        raise ValueError(f"{table.place(int(missing[0]), item.name)}: the subject of the row is missing")
    seen, first, rows = np.unique(places, return_index=True, return_inverse=True)
    rank = np.empty(len(seen), np.intp)
    rank[np.argsort(first)] = np.arange(len(seen))
    names = tuple(texts[int(place)] for place in seen[np.argsort(first)])
    return names, rank[rows]


def _times(table: RawTable, time: RawColumn) -> Floats:
    """Times as numbers; dates as months since the first."""
    if time.kind == TEXTS and time.texts:
        values = months(table, time)
    else:
        values = time.values.astype(np.float64) if time.kind != TEXTS else np.full(table.n_items, np.nan)
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise ValueError(f"{table.place(int(bad[0]), time.name)}: the time of the row is missing or infinite")
    return np.asarray(values)


def _varies(raw: RawColumn, items: NDArray[np.intp]) -> bool:
    """Whether a subject has two different values."""
    seen = raw.observed()
    codes = np.unique(raw.values[seen], return_inverse=True)[1]
    return len(np.unique(np.stack([items[seen], codes]), axis=1).T) > len(np.unique(items[seen]))


def _outcomes(
    curves: Curves,
    known: Mapping[str, RawColumn],
    others: Sequence[RawColumn],
    items: NDArray[np.intp],
    families: Mapping[str, str],
) -> list[str]:
    if curves.outcomes is None:
        return [
            raw.name
            for raw in others
            if families.get(raw.name) == CURVE
            or (raw.name not in families and raw.kind == NUMBERS and not raw.problem and _varies(raw, items))
        ]
    for name in curves.outcomes:
        if _column(known, name, "an outcome").kind != NUMBERS:
            raise ValueError(f"the outcome {name!r} is not a column of numbers")
    return list(curves.outcomes)


def _of_subjects(
    table: RawTable, raw: RawColumn, items: NDArray[np.intp], n_items: int, who: str, family: str | None
) -> RawColumn:
    """The first observed cell of each subject, for a column that does not vary within subjects."""
    if family != IGNORE and not raw.problem and _varies(raw, items):
        return replace(
            _first_cells(raw, items, n_items), problem=f"varies within {who!r}, but is not a curve of numbers"
        )
    return _first_cells(raw, items, n_items)


def _first_cells(raw: RawColumn, items: NDArray[np.intp], n_items: int) -> RawColumn:
    rows = np.flatnonzero(raw.observed())[::-1]
    missing = -1 if raw.kind == TEXTS else np.nan
    values = np.full(n_items, missing, raw.values.dtype if raw.kind == TEXTS else np.float64)
    values[items[rows]] = raw.values[rows]  # the first row of a subject comes last
    return replace(raw, values=values)


def _subject_means(values: Floats, items: NDArray[np.intp], n_items: int) -> Floats:
    seen = ~np.isnan(values)
    counts = np.bincount(items[seen], minlength=n_items)
    with np.errstate(invalid="ignore"):
        means: Floats = np.bincount(items[seen], values[seen], n_items) / np.where(counts, counts, np.nan)
    return means


def _read_regression(table: RawTable, formula: str, given: Any) -> Subjects:
    """The outcome of a formula "y ~ x1 + x2" with its other columns; one row per item, as it is."""
    outcome, predictors = _parsed(formula)
    known = {column.name: column for column in table.columns}
    for name in (outcome, *predictors):
        if _column(known, name, "regression").kind != NUMBERS or known[name].problem:
            raise ValueError(f"regression has {name!r}, which is not a column of numbers")
    x = np.column_stack([known[name].values.astype(np.float64) for name in predictors])
    y = known[outcome].values.astype(np.float64)
    bad = np.flatnonzero(np.isinf(x).any(axis=1) | np.isinf(y))
    if bad.size:
        raise ValueError(f"{table.line_of(int(bad[0]))}: a regression has no infinite cells")
    complete = np.flatnonzero(~np.isnan(x).any(axis=1))
    if not complete.size:
        raise ValueError(f"no row has all of {', '.join(predictors)}, on which {outcome!r} is to depend")
    constant = next((name for name, own in zip(predictors, x[complete].T, strict=True) if own.min() == own.max()), None)
    if constant is not None and complete.size > 1:
        raise ValueError(f"{constant!r} has only one value, so that {outcome!r} cannot depend on it")
    cells = {"curve_items": complete.astype(np.int64), "curve_times": x[complete], "curve_values": y[complete, None]}
    for array in cells.values():
        array.flags.writeable = False
    kept = tuple(raw for raw in table.columns if raw.name not in predictors)
    families = {name: family for name, family in given_families(table, given).items() if name not in predictors}
    return Subjects(replace(table, columns=kept), families | {outcome: REGRESSION}, cells)


def _parsed(formula: str) -> tuple[str, tuple[str, ...]]:
    """Outcome and predictors.

    >>> _parsed("weight ~ height + age")
    ('weight', ('height', 'age'))
    """
    left, _, right = formula.partition("~")
    predictors = tuple(name.strip() for name in right.split("+"))
    if not left.strip() or not all(predictors) or len(set(predictors)) < len(predictors):
        raise ValueError(f"regression must be like 'y ~ x1 + x2', with different columns, but it is {formula!r}")
    if left.strip() in predictors or len(predictors) >= MAX_COEFFICIENTS:
        raise ValueError(
            f"regression must have other columns than the outcome, at most {MAX_COEFFICIENTS - 1}; it is {formula!r}"
        )
    return left.strip(), predictors
