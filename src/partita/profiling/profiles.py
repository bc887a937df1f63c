"""What makes a cluster: its mean or level shares in every column, and how much each column tells clusters apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.arrays import Floats
from partita._support.optional import data_frame
from partita._support.shown import Noted, rows_table
from partita._support.validate import check_choice, check_count, check_level, check_rng
from partita.estimation.result import Estimate
from partita.models.estimator import Estimator
from partita.models.mixtures.base import make_base
from partita.models.mixtures.cells import encode
from partita.models.mixtures.column_parts import Part, column_parts, curve_parts
from partita.models.mixtures.curves import Curves
from partita.models.mixtures.dpm import MixtureDPM
from partita.models.mixtures.maximum import MixtureFit
from partita.models.mixtures.raw import read_raw
from partita.models.mixtures.schema import CURVED, POSITIVE, Column, choose_schema
from partita.partitions.labels import contingency

_LEVEL_SHOWN = 9  # characters of a level's name
_COLUMNS_SHOWN, _CLUSTERS_SHOWN = 12, 6
MIN_PARTITIONS, MAX_CELLS = 20, 200_000_000  # cells of all partitions that are used, if more than the least number


@dataclass(frozen=True, eq=False)
class ColumnProfile:
    """One column in every cluster.

    Attributes
    ----------
    column : Column
        Name, family and levels.
    information : float
        How many bits a cell of the column tells, on average, about the cluster of its row; 0 if that may be chance.
    mean, low, high : (clusters,) or (clusters, levels) arrays
        Posterior mean and interval of the cluster's mean, or of its level shares.
    observed : (clusters,) integer array
        Number of observed cells of each cluster.
    center, spread : float
        Mean and standard deviation of all observed cells, of their logarithms if the column is positive; 0 and 1 for
        levels, whose codes have no meaning as numbers.
    """

    column: Column
    information: float
    mean: Floats
    low: Floats
    high: Floats
    observed: NDArray[np.int64]
    center: float = 0.0
    spread: float = 1.0

    @property
    def n_observed(self) -> int:
        """The number of observed cells of the column."""
        return int(self.observed.sum())

    @property
    def standardized(self) -> Floats:
        """The means of the clusters in standard deviations of the column from its mean, logarithms if it is positive;
        of levels their shares."""
        if self.column.levels:
            return self.mean
        values = np.log(self.mean) if self.column.family == POSITIVE else self.mean
        return np.asarray((values - self.center) / self.spread)


@dataclass(frozen=True, eq=False)
class Profiles(Noted):
    """The profiles of the clusters of an estimate.

    Attributes
    ----------
    columns : tuple of ColumnProfile
        One per column, in the order of the table.
    sizes : (clusters,) integer array
        Number of items of each cluster.
    level : float
        Posterior probability of the intervals.
    inclusion : mapping of str to float, or None
        The probability that each column takes part, if columns were selected.
    """

    columns: tuple[ColumnProfile, ...]
    sizes: NDArray[np.int64]
    level: float
    inclusion: Mapping[str, float] | None = None

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
                        "observed": int(own.observed[cluster]),
                    }  # fmt: skip

    def column_rows(self) -> Iterator[dict[str, Any]]:
        """One entry per column: its family, its bits, the number of its observed cells and, if columns were selected,
        the probability that it takes part."""
        for own in self.columns:
            name, family = own.column.name, own.column.family
            row = {"column": name, "family": family, "bits": own.information, "observed": own.n_observed}
            yield row if self.inclusion is None else {**row, "inclusion": self.inclusion.get(name, 0.0)}

    def to_pandas(self, table: str = "clusters") -> Any:
        """A data frame of the entries of `rows` ("clusters") or of `column_rows` ("columns")."""
        tables = {"clusters": self.rows, "columns": self.column_rows}
        return data_frame(list(tables[check_choice(table, "table", tables)]()))

    def __str__(self) -> str:
        """The columns that tell most first: the mean, or the most frequent level, of each cluster."""
        return self.text()

    def text(self, first: int = 0) -> str:
        """The profiles as lines of text, with the clusters counted from `first`."""
        clusters = self._largest()
        heads = "  ".join(f"{f'cluster {k + first}':>14}" for k in clusters)
        part = "" if self.inclusion is None else "  takes part"
        lines = [f"{'column':<20} {'bits':>5}{part}  {'observed':>8}  {heads}"]
        for own in self._shown():
            cells = "  ".join(f"{_shown(own, k):>14}" for k in clusters)
            share = "" if self.inclusion is None else f"  {self.inclusion.get(own.column.name, 0.0):>10.2f}"
            lines.append(f"{own.column.name:<20.20} {own.information:>5.2f}{share}  {own.n_observed:>8,}  {cells}")
        return "\n".join(lines + self._left_out())

    def _shown(self) -> list[ColumnProfile]:
        return sorted(self.columns, key=lambda own: -own.information)[:_COLUMNS_SHOWN]

    def _left_out(self) -> list[str]:
        """Lines on the columns and the clusters that are not shown, if there are any."""
        columns, clusters = len(self.columns) - _COLUMNS_SHOWN, len(self.sizes) - _CLUSTERS_SHOWN
        told = [f"The {_COLUMNS_SHOWN} columns of most bits; {columns:,} more are not shown."] if columns > 0 else []
        return told + [f"The {_CLUSTERS_SHOWN} largest clusters; {clusters:,} more are not shown."] * (clusters > 0)

    def _largest(self) -> list[int]:
        """The largest clusters, in their order."""
        return sorted(np.argsort(-self.sizes, kind="stable")[:_CLUSTERS_SHOWN].tolist())

    def _repr_html_(self) -> str:
        header = ["column", "bits", "observed", *(f"cluster {k}" for k in self._largest())]
        rows = (
            [own.column.name, f"{own.information:.2f}", f"{own.n_observed:,}"]
            + [_shown(own, k) for k in self._largest()]
            for own in self._shown()
        )
        return rows_table(" ".join(["Profiles of the clusters.", *self._left_out()]), header, rows)

    __repr__ = __str__


def _shown(own: ColumnProfile, cluster: int) -> str:
    if not own.column.levels:
        return f"{own.mean[cluster]:.4g}"
    if own.column.family in CURVED:
        return f"{own.mean[cluster, 0]:.4g} → {own.mean[cluster, -1]:.4g}"
    best = int(own.mean[cluster].argmax())
    level = str(own.column.levels[best])
    return f"{level if len(level) <= _LEVEL_SHOWN else level[: _LEVEL_SHOWN - 1] + '…'} {own.mean[cluster, best]:.0%}"


def profiles(
    estimate: Estimate | MixtureFit | Estimator,
    table: Any,
    *,
    columns: Any = None,
    curves: Curves | str | None = None,
    inclusion: Mapping[str, float] | None = None,
    level: float = 0.9,
    draws: int = 200,
    rng: Any = None,
) -> Profiles:
    """What each cluster is like, and which columns distinguish the clusters.

    In draw t an item has the parameter of its cluster there (a mean, a rate, level shares), drawn from its posterior
    given the cells of that cluster; the parameter of a reported cluster is the mean over its items. Its posterior
    spreads over partitions and over parameters. Priors are the defaults of `MixtureDPM`. The information of a column is

    I = mean over observed cells of log2 f_r(x) / Σ_s p_s f_s(x),

    where r is the reported cluster of the cell, f_s the posterior predictive of cluster s and p_s its probability, all
    of them without the cell itself: p_s is in proportion to the number of other observed cells in s plus K times the
    share of s among all items, with K clusters. If the column had nothing to do with the clusters, r would be a random
    draw from p, and the mean of log2 p(r | x) / p(r) would be minus a Kullback–Leibler divergence: noise has no
    positive information on average, however many levels and however few cells it has. A cell that is the only one of
    its cluster adds 0. I is reported as 0 unless it exceeds twice its standard error, √((s² + 0.2²) / (n − 1)) with
    the standard deviation s over the n observed cells, and n is at least 5.

    Parameters
    ----------
    estimate : Estimate, MixtureFit, or a fitted model
        The partition, and the draws behind it. What `maximize` returns has none: the intervals are then those of the
        parameters given the partition.
    table : (items, columns) table
        The items in the same order as in the draws; in all forms that `MixtureDPM` takes, missing cells included.
    columns : dict, sequence of str or str, optional
        Families that differ from those that the types imply, as for `MixtureDPM`.
    curves : Curves or str, optional
        As for `MixtureDPM`: the profile of an outcome is then its mean curve, or the coefficients.
    inclusion : mapping of str to float, optional
        `chain.inclusion`, to be shown with the columns; that of a `MixtureFit` is known.
    level : float
        Posterior probability of the intervals.
    draws : int
        Number of draws to use, chosen at random by their weight. Above 200 million cells in all, fewer partitions are
        used, at least 20, each for several draws of the parameters.
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
    model, estimate = MixtureDPM(columns, curves=curves), _reported(estimate)
    raw, families, extra = model.items(read_raw(table))
    if raw.n_items != len(estimate.labels):
        raise ValueError(f"table has {raw.n_items} items, but the draws have {len(estimate.labels)}")
    if not (np.asarray(estimate.labels) >= 0).any():
        raise ValueError("every item is noise: there are no clusters to describe")
    cells = encode(raw, schema := choose_schema(raw, families)) | extra
    base = make_base(model, cells, schema)
    reported = np.asarray(estimate.labels)
    if isinstance(estimate, MixtureFit):
        partitions = iter([(reported, n_draws)])
    else:
        partitions = _partitions(estimate.sample, n_draws, raw.n_items * len(raw.columns), generator)
    parts = [*column_parts(base, cells), *curve_parts(base, cells)]
    drawn = _drawn(parts, reported, partitions, generator)
    found = [_profile(part, reported, own, level) for part, own in zip(parts, drawn, strict=True)]
    order = {column.name: place for place, column in enumerate(schema.columns)}
    found.sort(key=lambda own: order[own.column.name])
    if inclusion is None:
        inclusion = getattr(estimate, "inclusion", None)
    return Profiles(tuple(found), np.bincount(reported[reported >= 0]), level, inclusion)


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


def _partitions(
    sample: Any, n_draws: int, n_cells: int, rng: np.random.Generator
) -> Iterator[tuple[NDArray[Any], int]]:
    """Random draws, each distinct one once with the number of times that it was chosen.

    Of a large table fewer are chosen, each for several draws of the parameters.
    """
    fewer = max(MIN_PARTITIONS, MAX_CELLS // n_cells)
    repeats = -(-n_draws // fewer)
    times = repeats * rng.multinomial(-(-n_draws // repeats), sample.weights)
    for place in np.flatnonzero(times):
        labels = np.asarray(sample.labels[place], dtype=np.int64)
        if (labels < 0).any():
            raise ValueError("the draws have missing labels, for which clusters have no profiles")
        yield labels, int(times[place])


def _drawn(
    parts: Sequence[Part], reported: NDArray[Any], partitions: Iterator[tuple[NDArray[Any], int]], rng: Any
) -> list[Floats]:
    """Parameters of the reported clusters, (draws, clusters, ...) for each part: means over their items."""
    drawn: list[list[Floats]] = [[] for _ in parts]
    kept = reported >= 0  # not noise
    for labels, times in partitions:
        size = int(labels.max()) + 1
        shared = contingency(reported[kept], labels[kept], (int(reported.max()) + 1, size))
        shared /= shared.sum(axis=1, keepdims=True)
        for part, own in zip(parts, drawn, strict=True):
            parameters = part.draw(labels[part.rows], size, times, rng)
            own.append(np.einsum("rk,tk...->tr...", shared, parameters))
    return [np.concatenate(own) for own in drawn]


def _profile(part: Part, reported: NDArray[Any], drawn: Floats, level: float) -> ColumnProfile:
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], axis=0)
    n_clusters, kept = int(reported.max()) + 1, reported[part.rows] >= 0
    part = replace(part, rows=part.rows[kept], values=part.values[kept])
    observed = np.bincount(reported[part.rows], minlength=n_clusters)
    found = ColumnProfile(part.column, part.information(reported, n_clusters), drawn.mean(axis=0), low, high, observed)
    if part.column.levels:
        return found
    return replace(found, center=float(part.values.mean()), spread=float(part.values.std()) or 1.0)
