"""From a MixtureDPM's arguments and the cells to what the core needs: a base measure for each column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, gammaln, ndtr, ndtri

from partita import _core
from partita._support.arrays import Floats
from partita._support.errors import Argument, ArgumentError, Setting
from partita._support.validate import check_scale, check_shape
from partita.models.mixtures.base_measure import per_dimension
from partita.models.mixtures.cells import COUNT_GAP, is_gap, narrow_columns, wide_columns
from partita.models.mixtures.curves import Curves
from partita.models.mixtures.regression import CurveBase, curve_bases, statistics
from partita.models.mixtures.schema import (
    COUNT,
    COUNTED,
    CURVED,
    NEGATIVE_BINOMIAL,
    NUMERIC,
    ORDINAL,
    POSITIVE,
    Column,
    Schema,
)

# Ordinal columns are a probit with two parameters on a grid, so that the marginal likelihood is a finite sum.
#: The grid of the latent mean m and standard deviation s, in units of the latent variable of the whole column.
MEANS, SPREADS = np.linspace(-3.5, 3.5, 36), 0.2 * 1.35 ** np.arange(9)
#: Share of answers at random, so that no level is impossible anywhere on the grid.
LAPSES = 1e-4


def log_weights(c: float, a: float) -> Floats:
    """Prior probabilities of the points of that grid, (points,): those of a gaussian column with mean 0 and b = a − 1.

    s² ~ IG(a, b) with mean 1, or b = 1 if a is at most 1, m | s² ~ N(0, s² / c), in proportion to its density.
    """
    mean, spread = (axis.ravel() for axis in np.meshgrid(MEANS, SPREADS, indexing="ij"))
    b = a - 1.0 if a > 1 else 1.0
    # in m and ln s: the points are even in them, and the Jacobian of s² makes s^-2a
    logs = -2 * a * np.log(spread) - b / spread**2 - np.log(spread) - 0.5 * c * (mean / spread) ** 2
    return np.asarray(logs - np.logaddexp.reduce(logs))


def level_shares(codes: NDArray[Any], n_levels: int) -> Floats:
    """P(level | point), (levels, points), with thresholds at which a standard normal has the shares of the column.

    Half an answer is added to each level, so that one that does not occur has a place of its own.
    """
    counts = np.bincount(codes, minlength=n_levels) + 0.5
    cuts = ndtri(np.cumsum(counts)[:-1] / counts.sum())
    mean, spread = (axis.ravel() for axis in np.meshgrid(MEANS, SPREADS, indexing="ij"))
    z = (cuts[:, None] - mean) / spread
    below = np.vstack([np.zeros(len(mean)), ndtr(z), np.ones(len(mean))])
    above = np.vstack([np.ones(len(mean)), ndtr(-z), np.zeros(len(mean))])
    # the tail that is smaller, so that shares far out do not round to 0
    shares = np.where(below[1:] < 0.5, np.diff(below, axis=0), -np.diff(above, axis=0))
    return np.asarray((1 - LAPSES) * shares + LAPSES / n_levels)


#: The grid of the size r of negative binomial columns, each with the same prior probability.
SIZES = 2.0 ** np.arange(-2, 7)


@dataclass(frozen=True, eq=False)
class Base:
    """The hyperparameters of every column, from the arguments of a model and the data of its fit.

    Numbers are Gaussian: s² ~ IG(a, b), m | s² ~ N(mean, s² / c); those of positive columns are logarithms.
    Counts: rate ~ Gamma(shape, rate). Levels: shares ~ Dirichlet(weight, ..., weight).
    """

    schema: Schema
    groups: tuple[tuple[int, ...], ...]  # places among the numbers of columns with one covariance
    mean: Floats
    c: float
    a: float
    b: Floats
    shape: float
    rate: Floats
    weight: float
    ordinal: tuple[Floats, ...]  # shares of the levels of each ordinal column on the grid
    curves: tuple[CurveBase, ...] = ()  # of each outcome

    @property
    def alone(self) -> list[int]:
        """Places of the numbers that are independent of the others within a cluster."""
        grouped = {place for group in self.groups for place in group}
        return [place for place in range(len(self.mean)) if place not in grouped]


def make_base(model: Any, cells: Mapping[str, NDArray[Any]], schema: Schema) -> Base:
    """Defaults from the observed cells: their means, and their sample variances (1 for a constant column)."""
    numbers = log_positive(cells["numbers"], schema)
    moments = [_mean_and_spread(numbers[:, j]) for j in range(numbers.shape[1])]
    mean, spread = (np.array(part, dtype=np.float64) for part in (zip(*moments, strict=True) if moments else ((), ())))
    discrete = model.settings_of("discrete")
    shape = check_shape(discrete.shape, "shape")
    means = np.array([_mean_count(cells["counts"][:, j]) for j in range(cells["counts"].shape[1])])
    rate = shape / np.where(means > 0, means, 1.0)
    return Base(
        schema=schema,
        groups=_groups(model.full, schema),
        mean=per_dimension(model.mu0, mean, "mu0", positive=False),
        c=check_scale(model.c, "c"),
        a=check_shape(model.a, "a"),
        b=spread if model.b is None else np.full(len(mean), check_scale(model.b, "b")),
        shape=shape,
        rate=rate if discrete.rate is None else np.full(len(rate), check_scale(discrete.rate, "rate")),
        weight=check_shape(discrete.weight, "weight"),
        ordinal=tuple(
            level_shares(cells["codes"][~gaps, j], len(column.levels))
            for j, column in enumerate(narrow_columns(schema))
            if column.family == ORDINAL
            for gaps in [is_gap(cells, "codes")[:, j]]
        ),
        curves=_curves(model, cells, schema),
    )


def _curves(model: Any, cells: Mapping[str, NDArray[Any]], schema: Schema) -> tuple[CurveBase, ...]:
    if not schema.used(*CURVED):
        return ()
    if "curve_items" not in cells:
        raise ValueError(
            f"{schema.used(*CURVED)[0].name!r} is to be a curve, which needs curves=Curves(id=..., time=...)"
        )
    curves = model.curves if isinstance(model.curves, Curves) else None
    c = check_scale(model.c, "c") if curves is None else curves.c
    return curve_bases(cells, curves, c, check_shape(model.a, "a"))


def _mean_and_spread(column: Floats) -> tuple[float, float]:
    """Mean and sample variance of the observed cells; the variance of a constant column is 1."""
    cells = np.asarray(column)[~np.isnan(column)]  # NumPy 2.0 leaves cells of a memory map read-only
    if not cells.size:
        return 0.0, 1.0
    mean = float(cells.mean())
    constant = bool(cells.min() == cells.max())
    cells -= mean
    with np.errstate(over="ignore"):
        variance = float(cells @ cells) / max(len(cells) - 1, 1)
    if not np.isfinite(variance):
        raise ValueError("X is too large for its variances to be computed; rescale it")
    return mean, 1.0 if constant or variance <= 0 else variance


def _mean_count(column: NDArray[np.uint32]) -> float:
    """The mean of the observed cells; 0 if there are none."""
    cells = column[column != COUNT_GAP]
    return float(cells.mean()) if cells.size else 0.0


def log_positive(numbers: Floats, schema: Schema) -> Floats:
    """The numbers with logarithms in the positive columns."""
    positive = _positive(schema)
    if not positive:
        return numbers
    result = numbers.copy()
    result[:, positive] = np.log(numbers[:, positive])
    return result


def log_carrier(cells: Mapping[str, NDArray[Any]], schema: Schema) -> Floats:
    """What the core leaves out of the log density of each item: −ln x! of counts, −ln x of positive numbers."""
    carrier = np.zeros(len(cells["numbers"]))
    for column in cells["counts"].T:  # one at a time: tables may be large
        carrier -= gammaln(np.where(column == COUNT_GAP, 0, column) + 1.0)
    for j in _positive(schema):
        carrier -= np.nan_to_num(np.log(cells["numbers"][:, j]))
    return carrier


@dataclass(frozen=True, eq=False)
class CoreColumns:
    """The cells with their base measures as the core has them.

    `units` are the columns whose parameters are selected together: one column, or those of one covariance matrix.
    """

    native: _core.MixtureColumns
    units: tuple[tuple[str, ...], ...]


def core_columns(
    base: Base, cells: Mapping[str, NDArray[Any]], *, any_gaps: bool = False, groups: Sequence[Floats] | None = None
) -> CoreColumns:
    """The cells with their base measures. `any_gaps`: any numeric column may have missing values; `groups`: the cells
    of columns with a covariance, if some of them were missing."""
    schema, numbers = base.schema, log_positive(cells["numbers"], base.schema)
    columns = _core.MixtureColumns(len(numbers), float(log_carrier(cells, schema).sum()))
    units: list[tuple[str, ...]] = [
        (column.name,) for column in _add_levels(columns, base, cells) + _add_counts(columns, base, cells)
    ]
    gappy = [place for place in base.alone if any_gaps or np.isnan(numbers[:, place]).any()]
    names = [column.name for column in schema.used(*NUMERIC)]
    for places, add in (
        ([place for place in base.alone if place not in gappy], columns.add_gaussian),
        (gappy, columns.add_gaussian_with_gaps),  # among the last: what costs most skips clusters out of reach
    ):
        if places:
            add(_columns_at(numbers, places), _gamma_base(base, places))
            units += [(names[place],) for place in places]
    complete = groups or [_columns_at(numbers, list(group)) for group in base.groups]
    for group, own_cells in zip(base.groups, complete, strict=True):
        columns.add_full_gaussian(own_cells, _wishart_base(base, group))
        units.append(tuple(names[place] for place in group))
    for place, (column, own) in enumerate(zip(schema.used(*CURVED), base.curves, strict=True)):
        found, coordinates = statistics(cells, place, own, len(numbers))
        weights = [-float(np.log(len(own.ratios)))] * len(own.ratios)
        columns.add_regression(found, coordinates, [own.c] * own.basis.size, own.a, own.b, weights)
        units.append((column.name,))
    return CoreColumns(columns, tuple(units))


def _add_levels(columns: _core.MixtureColumns, base: Base, cells: Mapping[str, NDArray[Any]]) -> list[Column]:
    """Adds the columns of levels, and returns them in the order of the core."""
    narrow, added = narrow_columns(base.schema), []
    for name, own in (("codes", narrow), ("wide_codes", wide_columns(base.schema))):
        places = [j for j, column in enumerate(own) if column.family != ORDINAL]
        if places:
            levels = [len(own[j].levels) for j in places]
            columns.add_levels(_columns_at(cells[name], places), levels, [base.weight] * len(places))
        added += [own[j] for j in places]
    places = [j for j, column in enumerate(narrow) if column.family == ORDINAL]
    if places:
        columns.add_ordinal(_columns_at(cells["codes"], places), log_weights(base.c, base.a), list(base.ordinal))
    return added + [narrow[j] for j in places]


def _add_counts(columns: _core.MixtureColumns, base: Base, cells: Mapping[str, NDArray[Any]]) -> list[Column]:
    """Adds the columns of counts, and returns them in the order of the core."""
    own = base.schema.used(*COUNTED)
    places = [j for j, column in enumerate(own) if column.family == COUNT]
    if places:
        columns.add_counts(_columns_at(cells["counts"], places), [base.shape] * len(places), base.rate[places].tolist())
    others = [j for j, column in enumerate(own) if column.family == NEGATIVE_BINOMIAL]
    for j in others:
        counts, gaps = cells["counts"][:, j].astype(np.float64), is_gap(cells, "counts")[:, j]
        sizes = [gammaln(counts + r) - gammaln(r) for r in SIZES]
        statistics = np.column_stack([np.ones(len(counts)), counts, *sizes])
        statistics[gaps] = 0.0
        coordinates = np.where(gaps, np.nan, np.sqrt(counts))[:, None]
        columns.add_negative_binomial(statistics, coordinates, base.shape, float(base.rate[j]), SIZES.tolist())
    return [own[j] for j in places + others]


def _columns_at(cells: NDArray[Any], places: list[int]) -> NDArray[Any]:
    """Some columns for the core, which reads them where they are; without a copy if they are all."""
    everything = places == list(range(cells.shape[1]))
    return cells if everything else np.ascontiguousarray(cells[:, places])


def has_full_gaps(base: Base, cells: Mapping[str, NDArray[Any]]) -> bool:
    """Whether columns with a covariance have missing values."""
    return any(bool(np.isnan(cells["numbers"][:, list(group)]).any()) for group in base.groups)


def bases_by_gaps(base: Base, cells: Mapping[str, NDArray[Any]]) -> list[tuple[NDArray[np.intp], Base]]:
    """Rows with the same missing cells among the columns with a covariance, and the base measure of what they have.

    Of N(μ, Σ) with Σ ~ IW(2 a + d − 1, 2 diag(b)), some of the d columns have the same distribution with their own d:
    the others are integrated out by leaving them out of the group. Alone, a column without a cell adds nothing.
    """
    grouped = [place for group in base.groups for place in group]
    gaps = np.isnan(cells["numbers"][:, grouped])
    found = []
    for pattern in np.unique(gaps, axis=0):
        seen = {place for place, is_gap in zip(grouped, pattern, strict=True) if not is_gap}
        kept = (tuple(place for place in group if place in seen) for group in base.groups)
        rows = np.flatnonzero((gaps == pattern).all(axis=1))
        found.append((rows, replace(base, groups=tuple(filter(None, kept)))))
    return found


def check_full(base: Base, cells: Mapping[str, NDArray[Any]], place: Any) -> None:
    """Columns with a covariance must be complete where nothing is sampled: a row with missing values would leave the
    conjugate family."""
    own = base.schema.used(*NUMERIC)
    for group in base.groups:
        for column in group:
            rows = np.flatnonzero(np.isnan(cells["numbers"][:, column]))
            if rows.size:
                raise ArgumentError(
                    f"{place(int(rows[0]), own[column].name)}: a missing value in a column of ",
                    Setting("full"),
                    ", whose covariance needs complete rows here (`sample` does not); leave the column out of ",
                    Setting("full"),
                    " to model it on its own",
                )


def _positive(schema: Schema) -> list[int]:
    return [j for j, column in enumerate(schema.used(*NUMERIC)) if column.family == POSITIVE]


def _gamma_base(base: Base, places: Sequence[int]) -> _core.GammaBase:
    n = len(places)
    return _core.GammaBase(base.mean[places].tolist(), [base.c] * n, [base.a] * n, base.b[places].tolist())


def _wishart_base(base: Base, group: Sequence[int]) -> _core.WishartBase:
    """In one dimension the Wishart with 2 a degrees of freedom and scale 2 b is the Gamma above."""
    places, dims = list(group), len(group)
    scale = np.diag(2.0 * base.b[places])
    return _core.WishartBase(
        base.mean[places].tolist(), [base.c], [2.0 * base.a + dims - 1.0], scale.ravel().tolist(), []
    )


def _groups(full: Any, schema: Schema) -> tuple[tuple[int, ...], ...]:
    own: tuple[Column, ...] = schema.used(*NUMERIC)
    names = [column.name for column in own]
    if full is None:
        return ()
    if isinstance(full, str):
        if full != "all":
            raise ArgumentError(
                Argument("full"), f" must be None, 'all' or lists of names of columns, but it is {full!r}"
            )
        return (tuple(range(len(names))),) if names else ()
    found, seen = [], set()
    if not isinstance(full, Iterable):
        raise TypeError(f"full must be None, 'all' or lists of names of columns, but it is {full!r}")
    for group in full:
        if isinstance(group, str):
            raise ValueError(f"full must contain lists of names of columns, but it contains {group!r}")
        for name in group:
            if name not in names:
                known = ", ".join(names) or "none"
                said = f" names {name!r}, which is not a gaussian or positive column; these are {known}"
                raise ArgumentError(Argument("full"), said)
            if name in seen:
                raise ArgumentError(Argument("full"), f" names {name!r} twice")
            seen.add(name)
        if len(group):
            found.append(tuple(names.index(name) for name in group))
    return tuple(found)


def draw_place(logs: Floats, rng: np.random.Generator) -> NDArray[np.intp]:
    """A place of each row of unnormalised log probabilities; (rows,)."""
    noise = rng.gumbel(size=logs.shape)
    return np.asarray((logs + noise).argmax(axis=1))


def size_posterior(values: Floats, labels: NDArray[Any], size: int, shape: float, rate: float) -> tuple[Floats, ...]:
    """Of the sizes r of negative binomials in the clusters 0, ..., size − 1, each (clusters, sizes): log probabilities,
    unnormalised, and the parameters of the Beta distribution of p for each r."""
    n = np.bincount(labels, minlength=size)[:, None]
    sums = np.bincount(labels, values, size)[:, None]
    terms = [np.bincount(labels, gammaln(values + r) - gammaln(r), size) for r in SIZES]
    prior = 1.0 + SIZES * rate
    first, second = prior + n * SIZES, np.broadcast_to(shape + sums, (size, len(SIZES)))
    logs: Floats = np.stack(terms, axis=1) + betaln(first, second) - betaln(prior, shape)
    return logs, first.astype(np.float64), second.astype(np.float64)
