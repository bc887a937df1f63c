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
from partita.models.mixtures.base import Base, log_positive
from partita.models.mixtures.column_parts import column_parts
from partita.models.mixtures.schema import NUMERIC, POSITIVE, Column

_INTERVAL = (0.05, 0.95)
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
    labels = chain.labels.reshape(total, chain.n_items)[chosen].astype(np.int64)
    columns = list(_grouped(base, chain, labels, generator))
    done = {own.column.name for own in columns}
    for part in column_parts(base, chain.inputs):
        rows = np.setdiff1d(np.arange(chain.n_items), part.rows, assume_unique=True)
        if rows.size and part.column.name not in done:
            drawn = [part.predict(own[part.rows], own[rows], int(own.max()) + 1, generator) for own in labels]
            columns.append(ImputedColumn(part.column, rows, np.array(drawn)))
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
                cells.draw(draw, rng)
            drawn.append(cells.cells[cells.missing])
        at, place = np.nonzero(cells.missing)
        for j in np.unique(place):
            values = np.array(drawn)[:, place == j]
            column = own[group[j]]
            is_log = column.family == POSITIVE
            yield ImputedColumn(column, at[place == j], np.exp(np.minimum(values, 345.0)) if is_log else values)


def level_shares(draws: NDArray[np.float64], n_levels: int) -> NDArray[np.float64]:
    """How often each level was drawn for each cell; (cells, levels)."""
    return np.stack([(draws == level).mean(axis=0) for level in range(n_levels)], axis=1)
