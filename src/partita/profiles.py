"""What makes a cluster: its mean or level shares in every column, and how much each column tells clusters apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from partita._estimator import Estimator
from partita._validate import check_count, check_level, check_rng
from partita.estimate_result import Estimate
from partita.models.mixtures.base import Base, log_positive, make_base
from partita.models.mixtures.cells import Cells, encode, is_gap, narrow_columns, wide_columns
from partita.models.mixtures.dpm import MixtureDPM
from partita.models.mixtures.maximum import MixtureFit
from partita.models.mixtures.raw import read_raw
from partita.models.mixtures.schema import COUNT, GAUSSIAN, POSITIVE, Column, choose_schema

Floats = NDArray[np.float64]
_LEVEL_SHOWN = 9  # characters of a level's name
_COLUMNS_SHOWN = 12


@dataclass(frozen=True, eq=False)
class ColumnProfile:
    """One column in every cluster.

    Attributes
    ----------
    column : Column
        Name, family and levels.
    information : float
        How many bits a cell of the column tells, on average, about the cluster of its row.
    mean, low, high : (clusters,) or (clusters, levels) arrays
        Posterior mean and interval of the cluster's mean, or of its level shares.
    centre, spread : float
        Mean and standard deviation of all observed cells, of their logarithms if the column is positive; 0 and 1 for
        levels, whose codes have no meaning as numbers.
    """

    column: Column
    information: float
    mean: Floats
    low: Floats
    high: Floats
    centre: float = 0.0
    spread: float = 1.0

    @property
    def standardised(self) -> Floats:
        """The means of the clusters in standard deviations of the column from its mean, logarithms if it is positive;
        of levels their shares."""
        if self.column.levels:
            return self.mean
        values = np.log(self.mean) if self.column.family == POSITIVE else self.mean
        result: Floats = (values - self.centre) / self.spread
        return result


@dataclass(frozen=True, eq=False)
class Profiles:
    """The profiles of the clusters of an estimate.

    Attributes
    ----------
    columns : tuple of ColumnProfile
        One per column, in the order of the table.
    sizes : (clusters,) integer array
        Number of items of each cluster.
    level : float
        Posterior probability of the intervals.
    """

    columns: tuple[ColumnProfile, ...]
    sizes: NDArray[np.int64]
    level: float

    def __getitem__(self, name: str) -> ColumnProfile:
        for column in self.columns:
            if column.column.name == name:
                return column
        raise KeyError(f"no column {name!r}; there are {[column.column.name for column in self.columns]}")

    def rows(self) -> Iterator[dict[str, Any]]:
        """One entry per cluster and column, or per cluster, column and level."""
        for own in self.columns:
            for cluster, size in enumerate(self.sizes.tolist()):
                for place, level in enumerate(own.column.levels or ("",)):
                    at = (cluster, place) if own.column.levels else (cluster,)
                    yield {
                        "cluster": cluster, "items": size, "column": own.column.name, "level": level,
                        "mean": float(own.mean[at]), "low": float(own.low[at]), "high": float(own.high[at]),
                    }  # fmt: skip

    def to_pandas(self) -> Any:
        """The entries of `rows` as a data frame."""
        import pandas

        return pandas.DataFrame(list(self.rows()))

    def __str__(self) -> str:
        """The columns that tell most first: the mean, or the most frequent level, of each cluster."""
        return self.text()

    def text(self, first: int = 0) -> str:
        """The profiles as lines of text, with the clusters counted from `first`."""
        ranked = sorted(self.columns, key=lambda own: -own.information)
        heads = "  ".join(f"{f'cluster {k + first}':>14}" for k in range(len(self.sizes)))
        lines = [f"{'column':<20} {'bits':>5}  {heads}"]
        for own in ranked[:_COLUMNS_SHOWN]:
            cells = "  ".join(f"{_shown(own, k):>14}" for k in range(len(self.sizes)))
            lines.append(f"{own.column.name:<20.20} {own.information:>5.2f}  {cells}")
        return "\n".join(lines)

    __repr__ = __str__


def _shown(own: ColumnProfile, cluster: int) -> str:
    if not own.column.levels:
        return f"{own.mean[cluster]:.4g}"
    best = int(own.mean[cluster].argmax())
    level = str(own.column.levels[best])
    return f"{level if len(level) <= _LEVEL_SHOWN else level[: _LEVEL_SHOWN - 1] + '…'} {own.mean[cluster, best]:.0%}"


def profiles(
    estimate: Estimate | MixtureFit | Estimator,
    table: Any,
    *,
    columns: Any = None,
    level: float = 0.9,
    draws: int = 200,
    rng: Any = None,
) -> Profiles:
    """What each cluster is like, and which columns tell clusters apart.

    In draw t an item has the parameter of its cluster there (a mean, a rate, level shares), drawn from its posterior
    given the cells of that cluster; the parameter of a reported cluster is the mean over its items. Its posterior
    spreads over partitions and over parameters. Priors are the defaults of `MixtureDPM`. The information of a column is

    I = mean over observed cells of log2 f_r(x) / Σ_s p_s f_s(x),

    with the posterior predictive f_r of the reported cluster r of the cell and the cluster shares p; at least 0.

    Parameters
    ----------
    estimate : Estimate, MixtureFit, or a fitted model
        The partition, and the draws behind it. What `maximize` returns has none: the intervals are then those of the
        parameters given the partition.
    table : (items, columns) table
        The items in the same order as in the draws; in all forms that `MixtureDPM` takes, with gaps.
    columns : dict, sequence of str or str, optional
        Families that differ from those that the types imply, as for `MixtureDPM`.
    level : float
        Posterior probability of the intervals.
    draws : int
        Number of draws to use, chosen at random by their weight.
    rng : None, int or numpy Generator
        Seed or source of random numbers; the same seed gives the same result.

    Returns
    -------
    Profiles

    Examples
    --------
    >>> import partita as pt
    >>> table = {"size": [1.0, 1.2, None, 7.9, 8.1, 8.0], "colour": ["red", "red", "red", "blue", None, "blue"]}
    >>> chain = pt.models.MixtureDPM(b=0.1).sample(table, draws=500, chains=2, rng=1)
    >>> described = pt.profiles(pt.estimate(chain, rng=1), table, rng=1)
    >>> described["colour"].mean.shape, described["size"].mean.shape
    ((2, 2), (2,))
    """
    check_level(level)
    generator, n_draws = check_rng(rng), check_count(draws, "draws", minimum=1)
    raw, estimate = read_raw(table), _reported(estimate)
    if raw.n_items != len(estimate.labels):
        raise ValueError(f"table has {raw.n_items} items, but the draws have {len(estimate.labels)}")
    cells = encode(raw, schema := choose_schema(raw, columns))
    base = make_base(MixtureDPM(columns), cells, schema)
    reported = np.asarray(estimate.labels)
    if isinstance(estimate, MixtureFit):
        partitions: NDArray[Any] = np.broadcast_to(reported, (n_draws, len(reported)))
    else:
        partitions = _partitions(estimate.sample, n_draws, generator)
    found = [_profile(own, reported, partitions, level, generator) for own in _parts(base, cells)]
    order = {column.name: place for place, column in enumerate(schema.columns)}
    found.sort(key=lambda own: order[own.column.name])
    return Profiles(tuple(found), np.bincount(reported), level)


def _reported(estimate: Any) -> Estimate | MixtureFit:
    """The partition of the argument, which may be a fitted model."""
    if isinstance(estimate, Estimator):
        estimate._check_fitted()
    found = getattr(estimate, "estimate_", estimate)
    if not isinstance(found, Estimate | MixtureFit):
        raise TypeError(
            f"profiles needs a result of estimate or maximize, or a fitted model, not {type(estimate).__name__};"
            " estimate(draws) makes one of draws"
        )
    return found


def _partitions(sample: Any, n_draws: int, rng: np.random.Generator) -> NDArray[Any]:
    chosen = rng.choice(sample.n_unique, size=n_draws, p=sample.weights)
    labels: NDArray[Any] = np.asarray(sample.labels)[chosen].astype(np.int64)
    if (labels < 0).any():
        raise ValueError("the draws have missing labels, for which clusters have no profiles")
    return labels


@dataclass(frozen=True, eq=False)
class _Part:
    """The observed cells of one column; subclasses draw parameters and score cells."""

    column: Column
    rows: NDArray[np.intp]
    values: NDArray[Any]

    def draw(self, labels: NDArray[Any], size: int, rng: np.random.Generator) -> Floats:
        """Parameters of the clusters 0, ..., size - 1 given the labels of the observed cells."""
        raise NotImplementedError

    def log_predictive(self, labels: NDArray[Any], size: int) -> Floats:
        """ln f_k of every observed cell for every cluster; (cells, clusters)."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class _Numbers(_Part):
    mean: float
    c: float
    a: float
    b: float

    def _posterior(self, labels: NDArray[Any], size: int) -> tuple[Floats, Floats, Floats, Floats]:
        n = np.bincount(labels, minlength=size).astype(float)
        centred = self.values - self.mean
        shift = np.bincount(labels, centred, size) / np.maximum(n, 1)
        scatter = np.bincount(labels, (centred - shift[labels]) ** 2, size)
        c = self.c + n
        b = self.b + 0.5 * scatter + 0.5 * self.c * n / c * shift**2
        return self.mean + n / c * shift, c, self.a + 0.5 * n, b

    def draw(self, labels: NDArray[Any], size: int, rng: np.random.Generator) -> Floats:
        mean, c, a, b = self._posterior(labels, size)
        drawn: Floats = mean + np.sqrt(b / (a * c)) * rng.standard_t(2 * a)
        # of a log-normal the median: its mean would need a prior without such heavy tails
        return np.exp(drawn) if self.column.family == POSITIVE else drawn

    def log_predictive(self, labels: NDArray[Any], size: int) -> Floats:
        mean, c, a, b = self._posterior(labels, size)
        result: Floats = stats.t.logpdf(self.values[:, None], 2 * a, mean, np.sqrt(b * (c + 1) / (a * c)))
        return result


@dataclass(frozen=True, eq=False)
class _Counts(_Part):
    shape: float
    rate: float

    def _posterior(self, labels: NDArray[Any], size: int) -> tuple[Floats, Floats]:
        sums: Floats = np.bincount(labels, self.values, size).astype(np.float64)
        return self.shape + sums, self.rate + np.bincount(labels, minlength=size).astype(np.float64)

    def draw(self, labels: NDArray[Any], size: int, rng: np.random.Generator) -> Floats:
        shape, rate = self._posterior(labels, size)
        return rng.gamma(shape, 1.0 / rate)

    def log_predictive(self, labels: NDArray[Any], size: int) -> Floats:
        shape, rate = self._posterior(labels, size)
        result: Floats = stats.nbinom.logpmf(self.values[:, None], shape, rate / (rate + 1))
        return result


@dataclass(frozen=True, eq=False)
class _Levels(_Part):
    weight: float

    def _posterior(self, labels: NDArray[Any], size: int) -> Floats:
        n_levels = len(self.column.levels)
        cells = labels * n_levels + self.values
        counts: Floats = np.bincount(cells, minlength=size * n_levels).reshape(size, n_levels).astype(np.float64)
        return counts + self.weight

    def draw(self, labels: NDArray[Any], size: int, rng: np.random.Generator) -> Floats:
        drawn = rng.standard_gamma(self._posterior(labels, size))
        shares: Floats = drawn / drawn.sum(axis=1, keepdims=True)
        return shares

    def log_predictive(self, labels: NDArray[Any], size: int) -> Floats:
        weights = self._posterior(labels, size)
        logs: Floats = np.log(weights / weights.sum(axis=1, keepdims=True)).T
        return np.asarray(logs[self.values])


def _parts(base: Base, cells: Cells) -> Iterator[_Part]:
    schema, numbers = base.schema, log_positive(cells["numbers"], base.schema)
    for j, column in enumerate(schema.used(GAUSSIAN, POSITIVE)):
        rows = np.flatnonzero(~np.isnan(numbers[:, j]))
        yield _Numbers(column, rows, numbers[rows, j], float(base.mean[j]), base.c, base.a, float(base.b[j]))
    for j, column in enumerate(schema.used(COUNT)):
        rows = np.flatnonzero(~is_gap(cells, "counts")[:, j])
        yield _Counts(column, rows, cells["counts"][rows, j].astype(float), base.shape, float(base.rate[j]))
    for name, own in (("codes", narrow_columns(schema)), ("wide_codes", wide_columns(schema))):
        for j, column in enumerate(own):
            rows = np.flatnonzero(~is_gap(cells, name)[:, j])
            yield _Levels(column, rows, cells[name][rows, j].astype(np.int64), base.weight)


def _profile(
    part: _Part, reported: NDArray[Any], partitions: NDArray[Any], level: float, rng: np.random.Generator
) -> ColumnProfile:
    n_reported = int(reported.max()) + 1
    drawn = []
    for labels in partitions:
        parameters = part.draw(labels[part.rows], size := int(labels.max()) + 1, rng)
        shared = np.zeros((n_reported, size))
        np.add.at(shared, (reported, labels), 1.0)
        drawn.append((shared / shared.sum(axis=1, keepdims=True)) @ parameters)
    values = np.array(drawn)
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2], axis=0)
    mean, information = values.mean(axis=0), _information(part, reported, n_reported)
    if part.column.levels:
        return ColumnProfile(part.column, information, mean, low, high)
    spread = float(part.values.std()) or 1.0
    return ColumnProfile(part.column, information, mean, low, high, float(part.values.mean()), spread)


def _information(part: _Part, reported: NDArray[Any], n_reported: int) -> float:
    own = reported[part.rows]
    logs = part.log_predictive(own, n_reported)
    shares = np.bincount(own, minlength=n_reported) / len(own)
    with np.errstate(divide="ignore"):
        mixed = np.logaddexp.reduce(logs + np.log(shares), axis=1)
    return max(0.0, float((logs[np.arange(len(own)), own] - mixed).mean() / np.log(2)))
