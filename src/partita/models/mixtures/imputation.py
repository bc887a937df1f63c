"""Missing cells, drawn from their posterior predictive distribution given each draw of the partition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.hints import plural
from partita._support.optional import data_frame
from partita._support.shown import Noted
from partita._support.validate import check_count, check_rng
from partita.models.chains.chain import Chain
from partita.models.mixtures.augmentation import groups_of
from partita.models.mixtures.base import SIZES, Base, draw_place, log_positive, log_weights, size_posterior
from partita.models.mixtures.cells import is_gap, narrow_columns, wide_columns
from partita.models.mixtures.schema import COUNT, COUNTED, NUMERIC, ORDINAL, POSITIVE, Column

_INTERVAL = (0.05, 0.95)
#: Draws of a Student t with hardly any degrees of freedom are cut here, so that their squares are still numbers.
_LARGEST = 1e150
_LARGEST_RATE = 1e15
_STEPS = 2  # of the sampler of missing cells of columns with a covariance, for each draw


@dataclass(frozen=True, eq=False)
class ImputedColumn:
    """The missing cells of one column.

    Attributes
    ----------
    column : Column
        Its name, family and levels.
    rows : (cells,) integer array
        The rows whose cell is missing.
    draws : (draws, cells) array
        Draws of these cells; for categorical and binary columns, codes of the levels.
    """

    column: Column
    rows: NDArray[np.intp]
    draws: NDArray[np.float64]

    def summary(self) -> list[dict[str, Any]]:
        """One entry per cell: mean, standard deviation and 90 % interval, or the most probable level."""
        if self.column.levels:
            shares = level_shares(self.draws, len(self.column.levels))
            best = shares.argmax(axis=1)
            return [
                {"row": int(row), "column": self.column.name, "value": self.column.levels[code],
                 "probability": float(shares[cell, code])}
                for cell, (row, code) in enumerate(zip(self.rows, best, strict=True))
            ]  # fmt: skip
        low, high = np.quantile(self.draws, _INTERVAL, axis=0)
        middle, spread = self.draws.mean(axis=0), self.draws.std(axis=0)
        return [
            {"row": int(row), "column": self.column.name, "value": float(middle[cell]), "sd": float(spread[cell]),
             "low": float(low[cell]), "high": float(high[cell])}
            for cell, row in enumerate(self.rows)
        ]  # fmt: skip


@dataclass(frozen=True, eq=False)
class Imputation(Noted):
    """Posterior predictive draws of every missing cell, column by column.

    Attributes
    ----------
    columns : tuple of ImputedColumn
        The columns with missing cells, in the order of the table.
    n_draws : int
        Number of draws of each cell.
    names : tuple of str or None
        Names of the items.
    """

    columns: tuple[ImputedColumn, ...]
    n_draws: int
    names: tuple[str, ...] | None = field(default=None, repr=False)

    @property
    def n_cells(self) -> int:
        """The number of missing cells."""
        return sum(len(column.rows) for column in self.columns)

    def __getitem__(self, name: str) -> ImputedColumn:
        for column in self.columns:
            if column.column.name == name:
                return column
        raise KeyError(f"column {name!r} has no missing cells, or is not in the table")

    def summary(self) -> list[dict[str, Any]]:
        """One entry per missing cell: row, column, value (posterior mean or likeliest level), and its certainty."""
        entries = [entry for column in self.columns for entry in column.summary()]
        if self.names is not None:
            entries = [{"item": self.names[entry["row"]], **entry} for entry in entries]
        return entries

    def to_pandas(self) -> Any:
        """The summary as a data frame, one row per missing cell."""
        return data_frame(self.summary())

    def __repr__(self) -> str:
        shown = ", ".join(f"{column.column.name} ({len(column.rows)})" for column in self.columns) or "none"
        return f"Imputation: {plural(self.n_cells, 'missing cell')} x {plural(self.n_draws, 'draw')}; {shown}"


def impute(base: Base, chain: Chain, draws: int | None, rng: Any) -> Imputation:
    """Draws of the missing cells of a chain's table."""
    total = chain.n_chains * chain.n_draws
    wanted = total if draws is None else min(check_count(draws, "draws", minimum=1), total)
    chosen = np.linspace(0, total - 1, wanted).round().astype(int)
    generator = check_rng(rng)
    labels = chain.labels.reshape(total, chain.n_items)[chosen]
    columns = list(_grouped(base, chain, labels, generator))
    done = {own.column.name for own in columns}
    for column, values, gaps, sampler in _columns(base, chain):
        rows = np.flatnonzero(gaps)
        if rows.size and column.name not in done:
            drawn = [sampler(values[~gaps], draw[~gaps], draw[rows], generator) for draw in labels]
            columns.append(ImputedColumn(column, rows, np.array(drawn, dtype=np.float64)))
    order = {column.name: place for place, column in enumerate(base.schema.columns)}
    return Imputation(tuple(sorted(columns, key=lambda own: order[own.column.name])), wanted, chain.names)


def _grouped(base: Base, chain: Chain, labels: NDArray[Any], rng: np.random.Generator) -> Iterator[ImputedColumn]:
    """Columns with a covariance: two steps of the sampler of missing cells for each draw, from those of the last."""
    own = base.schema.used(*NUMERIC)
    for group, cells in zip(
        base.groups, groups_of(base, log_positive(chain.inputs["numbers"], base.schema)), strict=True
    ):
        drawn = []
        for draw in labels if cells.missing.any() else ():
            for _ in range(_STEPS):
                cells.draw(draw.astype(np.int64), rng)
            drawn.append(cells.cells[cells.missing])
        at, place = np.nonzero(cells.missing)
        for j in np.unique(place):
            values = np.array(drawn)[:, place == j]
            column = own[group[j]]
            is_log = column.family == POSITIVE
            yield ImputedColumn(column, at[place == j], np.exp(np.minimum(values, 345.0)) if is_log else values)


def _columns(base: Base, chain: Chain) -> Iterator[tuple[Column, NDArray[Any], NDArray[np.bool_], Any]]:
    """Every column with its cells, its missing values, and how one of its cells is drawn."""
    cells, schema = chain.inputs, base.schema
    numbers, gaps = log_positive(cells["numbers"], schema), is_gap(cells, "numbers")
    for j, column in enumerate(schema.used(*NUMERIC)):
        yield column, numbers[:, j], gaps[:, j], _Gaussian(base, j, column.family == POSITIVE)
    gaps = is_gap(cells, "counts")
    for j, column in enumerate(schema.used(*COUNTED)):
        sampler = _Count if column.family == COUNT else _NegativeBinomial
        yield column, cells["counts"][:, j], gaps[:, j], sampler(base.shape, float(base.rate[j]))
    grids = iter(base.ordinal)
    for name, own in (("codes", narrow_columns(schema)), ("wide_codes", wide_columns(schema))):
        gaps = is_gap(cells, name)
        for j, column in enumerate(own):
            is_ordinal = column.family == ORDINAL
            level = _Graded(log_weights(base.c, base.a), next(grids)) if is_ordinal else None
            yield column, cells[name][:, j], gaps[:, j], level or _Level(base.weight, len(column.levels))


class _Gaussian:
    """The Student t of the observed cells of the cluster."""

    def __init__(self, base: Base, place: int, is_log: bool) -> None:
        self.mean, self.b = float(base.mean[place]), float(base.b[place])
        self.c, self.a, self.is_log = base.c, base.a, is_log

    def __call__(self, values: Any, labels: Any, missing: Any, rng: np.random.Generator) -> NDArray[np.float64]:
        size = int(max(labels.max(initial=0), missing.max())) + 1
        n = np.bincount(labels, minlength=size)
        centred = values - self.mean
        shift = np.bincount(labels, centred, size) / np.maximum(n, 1)
        scatter = np.bincount(labels, (centred - shift[labels]) ** 2, size)
        c, a = self.c + n, self.a + 0.5 * n
        b = self.b + 0.5 * scatter + 0.5 * self.c * n / c * shift**2
        scale = np.sqrt(b * (c + 1) / (a * c))
        drawn = self.mean + (n / c * shift)[missing] + scale[missing] * rng.standard_t(2 * a[missing])
        if self.is_log:
            return np.asarray(np.exp(np.minimum(drawn, np.log(_LARGEST))))
        return np.asarray(np.clip(drawn, -_LARGEST, _LARGEST))


class _Count:
    """The negative binomial of the observed cells of the cluster."""

    def __init__(self, shape: float, rate: float) -> None:
        self.shape, self.rate = shape, rate

    def __call__(self, values: Any, labels: Any, missing: Any, rng: np.random.Generator) -> NDArray[np.float64]:
        size = int(max(labels.max(initial=0), missing.max())) + 1
        shape = self.shape + np.bincount(labels, values, size)
        rate = self.rate + np.bincount(labels, minlength=size)
        drawn: NDArray[np.int64] = rng.poisson(rng.gamma(shape[missing], 1.0 / rate[missing]))
        return drawn.astype(np.float64)


class _NegativeBinomial:
    """The negative binomial of the observed cells of the cluster, of size r on a grid."""

    def __init__(self, shape: float, rate: float) -> None:
        self.shape, self.rate = shape, rate

    def __call__(self, values: Any, labels: Any, missing: Any, rng: np.random.Generator) -> NDArray[np.float64]:
        size = int(max(labels.max(initial=0), missing.max())) + 1
        logs, first, second = size_posterior(values.astype(np.float64), labels, size, self.shape, self.rate)
        r = draw_place(logs[missing], rng)
        share = rng.beta(first[missing, r], second[missing, r])  # p
        drawn = rng.poisson(rng.gamma(SIZES[r], (1 - share) / np.maximum(share, 1e-300)).clip(max=_LARGEST_RATE))
        return np.asarray(drawn, dtype=np.float64)


class _Graded:
    """The shares of the levels of an ordinal column in the cluster."""

    def __init__(self, weights: NDArray[np.float64], shares: NDArray[np.float64]) -> None:
        self.weights, self.shares = weights, shares

    def __call__(self, values: Any, labels: Any, missing: Any, rng: np.random.Generator) -> NDArray[np.float64]:
        size = int(max(labels.max(initial=0), missing.max())) + 1
        cells = labels.astype(np.int64) * len(self.shares) + values
        counts = np.bincount(cells, minlength=size * len(self.shares)).reshape(size, len(self.shares))
        logs = self.weights + counts @ np.log(self.shares)
        point = draw_place(logs[missing], rng)
        return draw_place(np.log(self.shares[:, point].T), rng).astype(np.float64)


class _Level:
    """The shares of the levels among the observed cells of the cluster."""

    def __init__(self, weight: float, n_levels: int) -> None:
        self.weight, self.n_levels = weight, n_levels

    def __call__(self, values: Any, labels: Any, missing: Any, rng: np.random.Generator) -> NDArray[np.float64]:
        size = int(max(labels.max(initial=0), missing.max())) + 1
        cells = labels.astype(np.int64) * self.n_levels + values
        counts = np.bincount(cells, minlength=size * self.n_levels).reshape(size, self.n_levels) + self.weight
        cumulative = np.cumsum(counts, axis=1)[missing]
        passed = cumulative <= rng.random(len(missing))[:, None] * cumulative[:, -1:]
        return np.asarray(passed.sum(axis=1), dtype=np.float64)


def level_shares(draws: NDArray[np.float64], n_levels: int) -> NDArray[np.float64]:
    """How often each level was drawn for each cell; (cells, levels)."""
    return np.stack([(draws == level).mean(axis=0) for level in range(n_levels)], axis=1)
