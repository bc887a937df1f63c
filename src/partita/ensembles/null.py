"""Whether runs agree more than they would on data without clusters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression
from scipy.special import stdtr

from partita._support.arrays import Floats
from partita._support.shown import ShownAsText
from partita.ensembles.base_clusterings import Base
from partita.ensembles.clusterers import Data
from partita.ensembles.summary import pair_agreement

#: The agreement is more than chance if its p-value is at most this, so that it is above the 95 % prediction interval of
#: one more data set without clusters, and if it is at least the second number.
LEVEL, LEAST_AGREEMENT = 0.025, 0.5
#: A smaller standard deviation of −log(1 − agreement) over data sets without clusters counts as this.
LEAST_DEVIATION = 0.05
#: Disagreement that counts as none.
NO_DISAGREEMENT = 1e-3
KINDS = ("gaussian", "permuted")
#: A column has several modes if its distribution differs by more than this over √n from all unimodal ones, as one
#: uniform column in a hundred does; at so many places of the mode, and on so many cells.
SEVERAL_MODES, MODES, DETAIL = 0.95, 33, 512


@dataclass(frozen=True, eq=False)
class NullComparison(ShownAsText):
    """The agreement of runs beside that of runs on data without clusters.

    Attributes
    ----------
    kind : str
        "gaussian": a normal distribution with the same means and covariances; "permuted": each column permuted, or
        drawn from the nearest distribution with one mode if it has several. If both were asked for, the one on which
        runs agree more.
    agreement : float
        Mean adjusted Rand index of pairs of runs on the data. A run without clusters, or with one that has all items,
        agrees with none.
    values : (data sets,) array
        The same for each data set without clusters.
    """

    kind: str
    agreement: float
    values: Floats

    @property
    def p_value(self) -> float:
        """How likely one more data set without clusters is to have runs that agree at least as much.

        By the prediction interval for −log(1 − agreement): its distance from the mean of the m values, in standard
        deviations and divided by √(1 + 1/m), has a t distribution with m − 1 degrees of freedom.
        """
        values = on_log_scale(self.values)
        off = (on_log_scale(self.agreement) - values.mean()) / max(values.std(ddof=1), LEAST_DEVIATION)
        return float(stdtr(values.size - 1, -off / np.sqrt(1 + 1 / values.size)))

    @property
    def is_more_than_chance(self) -> bool:
        """Whether the runs agree, by 0.5 at least, and more than on data without clusters, with a p-value of 0.025."""
        return self.p_value <= LEVEL and self.agreement >= LEAST_AGREEMENT

    def in_words(self) -> str:
        """The comparison in a sentence."""
        what = "with permuted columns" if self.kind == "permuted" else "from one normal distribution"
        found = f"{self.agreement:.2f}, against {self.values.mean():.2f} on average and {self.values.max():.2f} at most"
        verdict = "more than chance" if self.is_more_than_chance else "no more than chance"
        return f"The runs agree by {found} on {self.values.size} data sets {what}: {verdict}."

    def __repr__(self) -> str:
        return f"NullComparison: {self.in_words()}"


def on_log_scale(agreement: Any) -> Any:
    """−log(1 − agreement): the disagreement of runs as a ratio, which can be far from chance also near agreement 1."""
    return -np.log(1 + NO_DISAGREEMENT - np.asarray(agreement))


def mean_agreement(base: Base) -> float:
    """Mean adjusted Rand index of pairs of runs; a run without clusters, or with all items in one, agrees with none."""
    pairs = pair_agreement(base)
    clustered = np.array([_has_clusters(base, m) for m in range(base.n_clusterings)])
    pairs = np.where(clustered[:, None] & clustered, pairs, 0.0)
    off = ~np.eye(len(pairs), dtype=np.bool_)
    return float(pairs[off].mean()) if off.any() else 1.0


def _has_clusters(base: Base, run: int) -> bool:
    codes = base.codes[:, run]
    sizes = np.bincount(codes[codes >= 0], minlength=1)
    return bool(sizes.max() > 1 and sizes.max() < base.seen[:, run].sum())


def null_data(data: Data, kind: str) -> Callable[[np.random.Generator], NDArray[np.float64]]:
    """Makes data sets without clusters that are otherwise like the data."""
    values = _numbers(data)
    if kind == "permuted":
        columns = [_without_modes(column) for column in values.T]
        return lambda rng: np.column_stack([draw(rng) for draw in columns])
    center = values.mean(axis=0)
    _, scale, axes = np.linalg.svd(values - center, full_matrices=False)
    spread = scale[:, None] * axes / np.sqrt(max(1, len(values) - 1))
    return lambda rng: center + rng.standard_normal((len(values), len(scale))) @ spread


def _without_modes(column: NDArray[np.float64]) -> Callable[[np.random.Generator], NDArray[np.float64]]:
    """Permutes a column; one with several modes, which alone has clusters, is drawn from the nearest unimodal one."""
    values, counts = np.unique(column, return_counts=True)
    if values.size < 3:
        return lambda rng: rng.permutation(column)
    middle = (values[1:] + values[:-1]) / 2
    edges = np.concatenate([[2 * values[0] - middle[0]], middle, [2 * values[-1] - middle[-1]]])
    shares = np.concatenate([[0.0], counts.cumsum() / len(column)])
    kept = np.unique(np.linspace(0, values.size, min(values.size, DETAIL) + 1).round().astype(int))
    distance, cumulative = _nearest_unimodal(edges[kept], shares[kept])
    if distance <= SEVERAL_MODES / np.sqrt(len(column)):
        return lambda rng: rng.permutation(column)
    is_coarse = values.size <= len(column) / 2

    def draw(rng: np.random.Generator) -> NDArray[np.float64]:
        drawn = np.interp(rng.random(len(column)), cumulative, edges[kept])
        return np.asarray(values[np.searchsorted(middle, drawn)] if is_coarse else drawn)

    return draw


def _nearest_unimodal(edges: Floats, shares: Floats) -> tuple[float, Floats]:
    """The unimodal distribution nearest to a piecewise linear one: largest difference, and its shares up to the edges.

    Up to the mode its density is the isotonic regression of the given one, which is the slope of the greatest convex
    minorant of the distribution function; from there on, of the least concave majorant (Hartigan & Hartigan 1985).
    """
    widths = np.diff(edges)
    density = np.diff(shares) / widths
    best = np.inf, shares
    for mode in np.unique(np.linspace(0, len(widths), MODES).round().astype(int)):
        rising = isotonic_regression(density[:mode], weights=widths[:mode]).x if mode else density[:0]
        rest, wide = density[mode:], widths[mode:]
        falling = isotonic_regression(rest, weights=wide, increasing=False).x if rest.size else rest
        cumulative = np.concatenate([[0.0], np.cumsum(np.concatenate([rising, falling]) * widths)])
        best = min(best, (float(np.abs(cumulative - shares).max()), cumulative), key=lambda each: each[0])
    return best


def _numbers(data: Data) -> NDArray[np.float64]:
    given: Any = data.values
    if data.n_columns is None:
        raise ValueError("null= needs a table of numbers: there is no such data without clusters for graphs and texts")
    try:
        values = np.asarray(given.toarray() if hasattr(given, "toarray") else given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("null= needs a table of numbers, but X has other columns") from None
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        raise ValueError(f"null= needs finite numbers, but X[{row}, {column}] is {values[row, column]}")
    return values
