"""Missing cells, drawn from their posterior predictive distribution given each draw of the partition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
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
            seen = values[~gaps]
            drawn = [sampler(seen, draw[~gaps], draw[rows], int(draw.max()) + 1, generator) for draw in labels]
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
        yield column, numbers[:, j], gaps[:, j], partial(_draw_numbers, base, j, column.family == POSITIVE)
    gaps = is_gap(cells, "counts")
    for j, column in enumerate(schema.used(*COUNTED)):
        draw = _draw_counts if column.family == COUNT else _draw_sized_counts
        yield column, cells["counts"][:, j], gaps[:, j], partial(draw, base.shape, float(base.rate[j]))
    grids = iter(base.ordinal)
    for name, own in (("codes", narrow_columns(schema)), ("wide_codes", wide_columns(schema))):
        gaps = is_gap(cells, name)
        for j, column in enumerate(own):
            if column.family == ORDINAL:
                sampler = partial(_draw_ordinal, log_weights(base.c, base.a), next(grids))
            else:
                sampler = partial(_draw_levels, base.weight, len(column.levels))
            yield column, cells[name][:, j], gaps[:, j], sampler


def _draw_numbers(
    base: Base, place: int, is_log: bool, values: Any, labels: Any, missing: Any, size: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """From the Student t of the observed cells of the cluster."""
    mean, prior_c = float(base.mean[place]), base.c
    n = np.bincount(labels, minlength=size)
    shift = np.bincount(labels, values - mean, size) / np.maximum(n, 1)
    scatter = np.bincount(labels, (values - mean - shift[labels]) ** 2, size)
    c, a = prior_c + n, base.a + 0.5 * n
    b = float(base.b[place]) + 0.5 * scatter + 0.5 * prior_c * n / c * shift**2
    scale = np.sqrt(b * (c + 1) / (a * c))
    drawn = mean + (n / c * shift)[missing] + scale[missing] * rng.standard_t(2 * a[missing])
    if is_log:
        return np.asarray(np.exp(np.minimum(drawn, np.log(_LARGEST))))
    return np.asarray(np.clip(drawn, -_LARGEST, _LARGEST))


def _draw_counts(
    shape: float, rate: float, values: Any, labels: Any, missing: Any, size: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """From the negative binomial of the observed cells of the cluster."""
    shapes = shape + np.bincount(labels, values, size)
    rates = rate + np.bincount(labels, minlength=size)
    return np.asarray(rng.poisson(rng.gamma(shapes[missing], 1.0 / rates[missing])), dtype=np.float64)


def _draw_sized_counts(
    shape: float, rate: float, values: Any, labels: Any, missing: Any, size: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """From the negative binomial of the observed cells of the cluster, of size r on a grid."""
    logs, first, second = size_posterior(values.astype(np.float64), labels, size, shape, rate)
    r = draw_place(logs[missing], rng)
    share = rng.beta(first[missing, r], second[missing, r])  # p
    drawn = rng.poisson(rng.gamma(SIZES[r], (1 - share) / np.maximum(share, 1e-300)).clip(max=_LARGEST_RATE))
    return np.asarray(drawn, dtype=np.float64)


def _draw_ordinal(
    weights: Any, shares: Any, values: Any, labels: Any, missing: Any, size: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """From the shares of the levels of an ordinal column in the cluster."""
    cells = labels.astype(np.int64) * len(shares) + values
    counts = np.bincount(cells, minlength=size * len(shares)).reshape(size, len(shares))
    point = draw_place((weights + counts @ np.log(shares))[missing], rng)
    return draw_place(np.log(shares[:, point].T), rng).astype(np.float64)


def _draw_levels(
    weight: float, n_levels: int, values: Any, labels: Any, missing: Any, size: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """From the shares of the levels among the observed cells of the cluster."""
    cells = labels.astype(np.int64) * n_levels + values
    counts = np.bincount(cells, minlength=size * n_levels).reshape(size, n_levels) + weight
    cumulative = np.cumsum(counts, axis=1)[missing]
    passed = cumulative <= rng.random(len(missing))[:, None] * cumulative[:, -1:]
    return np.asarray(passed.sum(axis=1), dtype=np.float64)


def level_shares(draws: NDArray[np.float64], n_levels: int) -> NDArray[np.float64]:
    """How often each level was drawn for each cell; (cells, levels)."""
    return np.stack([(draws == level).mean(axis=0) for level in range(n_levels)], axis=1)
