"""The cells of one column given a partition: parameters of its clusters, and what a cell tells about its cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, gammaln, logsumexp

from partita._support.arrays import Floats, Ints
from partita.models.mixtures.base import SIZES, Base, draw_place, log_positive, log_weights, size_posterior
from partita.models.mixtures.cells import is_gap, narrow_columns, wide_columns
from partita.models.mixtures.curve_basis import Linear
from partita.models.mixtures.raw import number_text
from partita.models.mixtures.regression import CurveBase, log_marginal, posterior, statistics
from partita.models.mixtures.schema import COUNT, COUNTED, CURVED, NUMERIC, ORDINAL, POSITIVE, Column

#: ln f_k of each value for each cluster, of its own cluster without the cell: (values, own) -> (values, clusters).
LogDensities = Callable[[NDArray[Any], Ints], Floats]
#: Fewer observed cells than this say nothing that chance would not.
MIN_CELLS = 5
#: Information below this many standard errors is reported as 0.
STANDARD_ERRORS = 2.0
#: Added to the standard deviation of the bits of cells, by squares: a few cells of equal bits prove nothing.
MIN_SPREAD = 0.2
#: Of more cells, so many, evenly spread, are scored: the rest would change the third digit.
MAX_SCORED = 1 << 15
_BLOCK = 1 << 18  # densities that are computed at a time
#: Draws of a Student t with hardly any degrees of freedom are cut here, so that their squares are still numbers.
_LARGEST = 1e150
_LARGEST_RATE = 1e15


@dataclass(frozen=True, eq=False)
class Part:
    """The observed cells of one column; subclasses draw parameters and new cells, and score cells."""

    column: Column
    rows: NDArray[np.intp]
    values: NDArray[Any]

    def draw(self, labels: NDArray[Any], size: int, times: int, rng: np.random.Generator) -> Floats:
        """Parameters of the clusters 0, ..., size - 1 given the labels of the observed cells; (times, size, ...)."""
        raise NotImplementedError

    def predict(self, labels: Ints, new: Ints, size: int, rng: np.random.Generator) -> Floats:
        """Cells of new rows in the clusters `new`, given the labels of the observed cells; (new rows,)."""
        raise NotImplementedError

    def distinct(self, labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Cells that differ in value or cluster: their values, their clusters and how often each occurs."""
        pairs, times = np.unique(np.stack([self.values, labels]), axis=1, return_counts=True)
        return pairs[0], pairs[1].astype(np.int64), times

    def log_densities(self, labels: NDArray[Any], size: int) -> LogDensities:
        """The predictive densities of the clusters given the labels of the observed cells."""
        raise NotImplementedError

    def information(self, reported: NDArray[Any], n_clusters: int) -> float:
        """How many bits a cell tells about the cluster of its row, with the cell itself left out; see `profiles`.

        `reported`: −1 for items that are noise, whose cells the part does not have.
        """
        labels = reported[self.rows].astype(np.int64)
        counts = np.bincount(labels, minlength=n_clusters)
        if len(labels) < MIN_CELLS or n_clusters == 1:
            return 0.0
        prior = counts + n_clusters * np.bincount(reported[reported >= 0], minlength=n_clusters) / (reported >= 0).sum()
        values, own, times = self.distinct(labels)
        if len(values) > MAX_SCORED:
            some = np.linspace(0, len(values) - 1, MAX_SCORED).astype(np.intp)
            values, own, times = values[some], own[some], times[some] * (times.sum() / times[some].sum())
        known = counts[own] > 1
        values, own, times = values[known], own[known], times[known]
        log_densities = self.log_densities(labels, n_clusters)
        total, squares = 0.0, 0.0
        step = max(1, _BLOCK // n_clusters)
        for start in range(0, len(values), step):
            at = slice(start, start + step)
            bits = _bits(log_densities(values[at], own[at]), prior, own[at])
            total += float((times[at] * bits).sum())
            squares += float((times[at] * bits**2).sum())
        mean = total / len(labels)
        variance = max(squares / len(labels) - mean**2, 0.0) + MIN_SPREAD**2
        error = np.sqrt(variance / (len(labels) - 1))
        return mean if mean > STANDARD_ERRORS * error else 0.0


def _bits(logs: Floats, prior: Floats, own: Ints) -> Floats:
    """log2 f_r(x) / Σ_s p_s f_s(x) of each cell, with p_s in proportion to the prior without the cell."""
    at = np.arange(len(own))
    top = logs.max(axis=1)
    ratios = np.exp(logs - top[:, None])
    mixed = (np.einsum("ik,k->i", ratios, prior) - ratios[at, own]) / (prior.sum() - 1)
    return np.asarray((logs[at, own] - top - np.log(mixed)) / np.log(2))


@dataclass(frozen=True, eq=False)
class Numbers(Part):
    """Cells of a gaussian column, or logarithms of a positive one: s² ~ IG(a, b), m | s² ~ N(mean, s² / c)."""

    mean: float
    c: float
    a: float
    b: float

    def _moments(self, labels: NDArray[Any], size: int) -> tuple[Floats, Floats, Floats]:
        """Number, mean and scatter of the cells of each cluster, centred at the prior mean."""
        n = np.bincount(labels, minlength=size).astype(float)
        centred = self.values - self.mean
        shift = np.bincount(labels, centred, size) / np.maximum(n, 1)
        scatter = np.bincount(labels, (centred - shift[labels]) ** 2, size)
        return n, shift, scatter.astype(np.float64)

    def _posterior(self, n: Floats, shift: Floats, scatter: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        c = self.c + n
        return n / c * shift, c, self.a + 0.5 * n, self.b + 0.5 * scatter + 0.5 * self.c * n / c * shift**2

    def draw(self, labels: NDArray[Any], size: int, times: int, rng: np.random.Generator) -> Floats:
        mean, c, a, b = self._posterior(*self._moments(labels, size))
        drawn: Floats = self.mean + mean + np.sqrt(b / (a * c)) * rng.standard_t(2 * a, (times, size))
        # of a log-normal the median: its mean would need a prior without such heavy tails
        return np.exp(drawn) if self.column.family == POSITIVE else drawn

    def predict(self, labels: Ints, new: Ints, size: int, rng: np.random.Generator) -> Floats:
        mean, c, a, b = self._posterior(*self._moments(labels, size))
        scale = np.sqrt(b * (c + 1) / (a * c))
        drawn = self.mean + mean[new] + scale[new] * rng.standard_t(2 * a[new])
        if self.column.family == POSITIVE:
            return np.asarray(np.exp(np.minimum(drawn, np.log(_LARGEST))))
        return np.asarray(np.clip(drawn, -_LARGEST, _LARGEST))

    def distinct(self, labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        return self.values, labels, np.ones(len(labels))  # sorting costs more than it saves

    def log_densities(self, labels: NDArray[Any], size: int) -> LogDensities:
        n, shift, scatter = self._moments(labels, size)
        a = self.a + 0.5 * n  # of a cluster; a - 1/2 without one of its cells
        gammas, gammas_without = gammaln(a + 0.5) - gammaln(a), gammaln(a) - gammaln(a - 0.5)

        def of(values: NDArray[Any], own: Ints) -> Floats:
            x = values - self.mean
            logs = _log_t(x[:, None], gammas, *self._posterior(n, shift, scatter))
            left, apart = n[own] - 1, x - shift[own]
            scatter_left = np.maximum(scatter[own] - apart**2 * n[own] / left, 0.0)
            without = self._posterior(left, shift[own] - apart / left, scatter_left)
            logs[np.arange(len(own)), own] = _log_t(x, gammas_without[own], *without)
            return logs

        return of


def _log_t(x: Floats, gammas: Floats, mean: Floats, c: Floats, a: Floats, b: Floats) -> Floats:
    """ln of the predictive density, Student's t with 2a degrees of freedom, but for what is the same for all.

    `gammas` is ln Γ(a + 1/2) / Γ(a).
    """
    width = 2 * b * (c + 1) / c
    return np.asarray(gammas - 0.5 * np.log(width) - (a + 0.5) * np.log(1 + (x - mean) ** 2 / width))


@dataclass(frozen=True, eq=False)
class Counts(Part):
    """Cells of a count column: rate ~ Gamma(shape, rate)."""

    shape: float
    rate: float

    def _posterior(self, labels: NDArray[Any], size: int) -> tuple[Floats, Floats]:
        sums: Floats = np.bincount(labels, self.values, size).astype(np.float64)
        return self.shape + sums, self.rate + np.bincount(labels, minlength=size).astype(np.float64)

    def draw(self, labels: NDArray[Any], size: int, times: int, rng: np.random.Generator) -> Floats:
        shape, rate = self._posterior(labels, size)
        return rng.gamma(shape, 1.0 / rate, (times, size))

    def predict(self, labels: Ints, new: Ints, size: int, rng: np.random.Generator) -> Floats:
        shape, rate = self._posterior(labels, size)
        return np.asarray(rng.poisson(rng.gamma(shape[new], 1.0 / rate[new])), np.float64)

    def log_densities(self, labels: NDArray[Any], size: int) -> LogDensities:
        shape, rate = self._posterior(labels, size)

        def of(values: NDArray[Any], own: Ints) -> Floats:
            logs = _log_negative_binomial(values[:, None], shape, rate)
            logs[np.arange(len(own)), own] = _log_negative_binomial(values, shape[own] - values, rate[own] - 1)
            return logs

        return of


def _log_negative_binomial(x: Floats, shape: Floats, rate: Floats) -> Floats:
    """ln of the predictive probability, but for x!, which is the same for all."""
    return np.asarray(gammaln(shape + x) - gammaln(shape) + shape * np.log(rate) - (shape + x) * np.log(rate + 1))


@dataclass(frozen=True, eq=False)
class OverdispersedCounts(Counts):
    """Cells of a negative binomial column: size r on a grid, 1 − p ~ Beta(shape, 1 + r rate)."""

    def draw(self, labels: NDArray[Any], size: int, times: int, rng: np.random.Generator) -> Floats:
        logs, first, second = size_posterior(self.values, labels, size, self.shape, self.rate)
        at = np.stack([draw_place(logs, rng) for _ in range(times)])
        cluster = np.arange(size)
        # (1 - p) / p is a ratio of Gamma variates
        ratio = rng.standard_gamma(second[cluster, at]) / rng.standard_gamma(first[cluster, at])
        return np.asarray(SIZES[at] * ratio)

    def predict(self, labels: Ints, new: Ints, size: int, rng: np.random.Generator) -> Floats:
        logs, first, second = size_posterior(self.values, labels, size, self.shape, self.rate)
        r = draw_place(logs[new], rng)
        share = rng.beta(first[new, r], second[new, r])  # p
        rate = rng.gamma(SIZES[r], (1 - share) / np.maximum(share, 1e-300))
        return np.asarray(rng.poisson(rate.clip(max=_LARGEST_RATE)), np.float64)

    def log_densities(self, labels: NDArray[Any], size: int) -> LogDensities:
        logs, first, second = size_posterior(self.values, labels, size, self.shape, self.rate)
        logs = logs - logsumexp(logs, axis=1, keepdims=True)

        def of(values: NDArray[Any], own: Ints) -> Floats:
            found = np.empty((len(values), size))
            for k in range(size):
                found[:, k] = logsumexp(logs[k] + _log_beta_binomial(values, first[k], second[k]), axis=1)
            less = (first[own] - SIZES, second[own] - values[:, None])
            gone = _log_beta_binomial(values, *less)  # of the cell, given the others; the posterior loses it, too
            found[np.arange(len(own)), own] = -logsumexp(logs[own] - gone, axis=1)
            return found

        return of


def _log_beta_binomial(x: Floats, first: Floats, second: Floats) -> Floats:
    """ln of the probability of counts for each size r, but for x!, with p of a Beta distribution; (counts, sizes)."""
    value = x[:, None]
    ratio = betaln(first + SIZES, second + value) - betaln(first, second)
    return np.asarray(gammaln(value + SIZES) - gammaln(SIZES) + ratio)


@dataclass(frozen=True, eq=False)
class Levels(Part):
    """Cells of a categorical or binary column: level shares ~ Dirichlet(weight, ..., weight)."""

    weight: float

    def _counts(self, labels: NDArray[Any], size: int) -> Floats:
        n_levels = len(self.column.levels)
        cells = labels * n_levels + self.values
        return np.bincount(cells, minlength=size * n_levels).reshape(size, n_levels).astype(np.float64)

    def draw(self, labels: NDArray[Any], size: int, times: int, rng: np.random.Generator) -> Floats:
        weights = self._counts(labels, size) + self.weight
        drawn = rng.standard_gamma(weights, (times, *weights.shape))
        return np.asarray(drawn / drawn.sum(axis=2, keepdims=True))

    def predict(self, labels: Ints, new: Ints, size: int, rng: np.random.Generator) -> Floats:
        cumulative = np.cumsum(self._counts(labels, size) + self.weight, axis=1)[new]
        passed = cumulative <= rng.random(len(new))[:, None] * cumulative[:, -1:]
        return np.asarray(passed.sum(axis=1), np.float64)

    def distinct(self, labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        counts = self._counts(labels, int(labels.max()) + 1)
        own, values = np.nonzero(counts)
        return values, own, counts[own, values]

    def log_densities(self, labels: NDArray[Any], size: int) -> LogDensities:
        weights = self._counts(labels, size) + self.weight
        totals = weights.sum(axis=1)

        def of(values: NDArray[Any], own: Ints) -> Floats:
            shares = (weights[:, values] / totals[:, None]).T
            shares[np.arange(len(own)), own] = (weights[own, values] - 1) / (totals[own] - 1)
            return np.asarray(np.log(shares))

        return of


@dataclass(frozen=True, eq=False)
class Graded(Levels):
    """Cells of an ordinal column: shares of its levels on a grid, (levels, points), with prior log probabilities."""

    log_prior: Floats
    grid: Floats

    def _log_posterior(self, labels: NDArray[Any], size: int) -> Floats:
        logs = self.log_prior + self._counts(labels, size) @ np.log(self.grid)
        return np.asarray(logs - logsumexp(logs, axis=1, keepdims=True))

    def draw(self, labels: NDArray[Any], size: int, times: int, rng: np.random.Generator) -> Floats:
        logs = self._log_posterior(labels, size)
        return np.stack([self.grid[:, draw_place(logs, rng)].T for _ in range(times)])

    def predict(self, labels: Ints, new: Ints, size: int, rng: np.random.Generator) -> Floats:
        point = draw_place(self._log_posterior(labels, size)[new], rng)
        return draw_place(np.log(self.grid[:, point].T), rng).astype(np.float64)

    def log_densities(self, labels: NDArray[Any], size: int) -> LogDensities:
        posterior = np.exp(self._log_posterior(labels, size))

        def of(values: NDArray[Any], own: Ints) -> Floats:
            shares = (posterior @ self.grid.T)[:, values].T
            shares[np.arange(len(own)), own] = 1 / (posterior @ (1 / self.grid).T)[own, values]
            return np.asarray(np.log(shares))

        return of


def column_parts(base: Base, cells: Mapping[str, NDArray[Any]]) -> Iterator[Part]:
    """The observed cells of each column."""
    schema, numbers = base.schema, log_positive(cells["numbers"], base.schema)
    every = np.arange(len(numbers))
    for j, column in enumerate(schema.used(*NUMERIC)):
        seen = ~np.isnan(numbers[:, j])
        rows, values = (every, numbers[:, j]) if seen.all() else (np.flatnonzero(seen), numbers[seen, j])
        yield Numbers(column, rows, values, float(base.mean[j]), base.c, base.a, float(base.b[j]))
    for j, column in enumerate(schema.used(*COUNTED)):
        rows = np.flatnonzero(~is_gap(cells, "counts")[:, j])
        kind = Counts if column.family == COUNT else OverdispersedCounts
        yield kind(column, rows, cells["counts"][rows, j].astype(float), base.shape, float(base.rate[j]))
    grids = iter(base.ordinal)
    for name, own in (("codes", narrow_columns(schema)), ("wide_codes", wide_columns(schema))):
        for j, column in enumerate(own):
            rows = np.flatnonzero(~is_gap(cells, name)[:, j])
            values = cells[name][rows, j].astype(np.int64)
            if column.family == ORDINAL:
                yield Graded(column, rows, values, base.weight, log_weights(base.c, base.a), next(grids))
            else:
                yield Levels(column, rows, values, base.weight)


MAX_TIMES = 25  # at which a mean curve is given


@dataclass(frozen=True, eq=False)
class CurvePart(Part):
    """The curves of the subjects that have one; `values` are places in `statistics`, (subjects, statistics)."""

    base: CurveBase
    statistics: Floats
    design: Floats

    def _sums(self, labels: NDArray[Any], size: int) -> Floats:
        sums = np.zeros((size, self.statistics.shape[1]))
        np.add.at(sums, labels, self.statistics)
        return sums

    def draw(self, labels: NDArray[Any], size: int, times: int, rng: np.random.Generator) -> Floats:
        """Mean curves, (draws, clusters, times), without the lines of the subjects, or coefficients of regressions."""
        found, at = posterior(self._sums(labels, size), self.base), self.design
        inverse = np.linalg.inv(np.linalg.cholesky(found.precision))  # its transpose times noise has the covariance
        cluster, curves = np.arange(size), []
        for _ in range(times):
            ratio = draw_place(found.logs, rng)
            spread = np.sqrt(found.b[cluster, ratio] / rng.standard_gamma(found.a[cluster, ratio]))
            noise = np.einsum("kji,kj->ki", inverse[cluster, ratio], rng.standard_normal((size, len(self.base.mean))))
            curves.append((self.base.mean + found.mean[cluster, ratio] + spread[:, None] * noise) @ at.T)
        return np.array(curves)

    def distinct(self, labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        return self.values, labels, np.ones(len(labels))

    def log_densities(self, labels: NDArray[Any], size: int) -> LogDensities:
        sums = self._sums(labels, size)
        now = log_marginal(sums, self.base)

        def of(values: NDArray[Any], own: Ints) -> Floats:
            curves = self.statistics[values]
            logs = np.column_stack([log_marginal(sums[k] + curves, self.base) - now[k] for k in range(size)])
            logs[np.arange(len(own)), own] = now[own] - log_marginal(sums[own] - curves, self.base)
            return logs

        return of


def curve_parts(base: Base, cells: Mapping[str, NDArray[Any]]) -> Iterator[CurvePart]:
    """The curves or the regression of each outcome; their levels are the times at which curves are given."""
    for place, (column, own) in enumerate(zip(base.schema.used(*CURVED), base.curves, strict=True)):
        found, _ = statistics(cells, place, own, len(cells["numbers"]))
        rows = np.flatnonzero(found[:, 0] > 0)
        levels, design = _shown(own, np.asarray(cells["curve_times"]))
        yield CurvePart(replace(column, levels=levels), rows, np.arange(len(rows)), own, found[rows], design)


def _shown(own: CurveBase, times: Floats) -> tuple[tuple[str, ...], Floats]:
    """Names of what is given of each cluster, and the rows by which the coefficients are multiplied for it.

    Of a curve these are its values at some times, of a regression the intercept and the slopes of the columns.
    """
    if isinstance(own.basis, Linear):
        spread, center = own.basis.spread, own.basis.center
        slopes = np.column_stack([np.zeros(len(spread)), np.diag(1 / spread)])
        names = ("intercept", *(f"slope {j + 1}" for j in range(len(spread))))
        return names, np.vstack([np.append(1.0, -center / spread), slopes])
    distinct = np.unique(times)
    if len(distinct) > MAX_TIMES:
        distinct = np.linspace(distinct[0], distinct[-1], MAX_TIMES)
    return tuple(number_text(round(float(time), 6)) for time in distinct), own.basis.splines(distinct)
