"""The statistics by which the core knows curves, and their parameters given a partition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from partita._support.arrays import Floats
from partita.models.mixtures.curve_basis import Basis, Linear, make_basis, make_linear
from partita.models.mixtures.curves import Curves

#: Prior variance of the lines of subjects over that of their errors, ρ, with equal probabilities.
RATIOS = (0.0, 0.5, 2.0, 8.0, 32.0)


@dataclass(frozen=True, eq=False)
class CurveBase:
    """The prior of the curves of one outcome: β | s² ~ N(mean, s² / c), s² ~ IG(a, b), ρ one of `ratios`."""

    basis: Basis | Linear
    ratios: tuple[float, ...]
    mean: Floats
    c: float
    a: float
    b: float


def curve_bases(cells: Mapping[str, NDArray[Any]], curves: Curves | None, c: float, a: float) -> tuple[CurveBase, ...]:
    """One for each outcome: the mean curve of all subjects or the regression of all items, and variance about it."""
    times = np.asarray(cells["curve_times"])
    basis = make_linear(times) if curves is None else make_basis(times, cells["curve_items"], curves)
    splines, ratios = basis.splines(times), RATIOS if curves is not None and curves.random_effects else (0.0,)
    found = []
    for y in cells["curve_values"].T:
        seen = ~np.isnan(y)
        own, center = splines[seen], float(y[seen].mean()) if seen.any() else 0.0
        deviation = np.linalg.solve(own.T @ own + c * np.eye(basis.size), own.T @ (y[seen] - center))
        mean = center * basis.constant + deviation
        residual = y[seen] - own @ mean
        with np.errstate(over="ignore"):
            variance = float(residual @ residual) / max(seen.sum() - basis.size, 1)
        if not np.isfinite(variance):
            raise ValueError("the curves are too large for their variances to be computed; rescale them")
        found.append(CurveBase(basis, ratios, mean, c, a, variance if variance > 0 else 1.0))
    return tuple(found)


def statistics(cells: Mapping[str, NDArray[Any]], outcome: int, base: CurveBase, n_items: int) -> tuple[Floats, Floats]:
    """What the core sums, (items, statistics), and coordinates of the items, (items, coefficients).

    With V = I + ρ Z Z', V⁻¹ = I − Z (I / ρ + Z'Z)⁻¹ Z' and ln |V| = ln |I + ρ Z'Z|, Z the line of each subject.
    """
    y = np.asarray(cells["curve_values"][:, outcome])
    seen = ~np.isnan(y)
    items, times = np.asarray(cells["curve_items"])[seen], np.asarray(cells["curve_times"])[seen]
    splines, lines = base.basis.splines(times), base.basis.line(times)
    left = y[seen] - splines @ base.mean
    both = np.column_stack([splines, left])  # the cross products of the splines and y at once
    gram = _sums(both[:, :, None] * both[:, None, :], items, n_items)
    across = _sums(lines[:, :, None] * both[:, None, :], items, n_items)
    squares = _sums(lines[:, :, None] * lines[:, None, :], items, n_items)
    p = base.basis.size
    rows, columns = np.tril_indices(p)
    parts = [np.bincount(items, minlength=n_items).astype(np.float64)[:, None]]
    for ratio in base.ratios:
        own, log_v = gram, np.zeros(n_items)
        if ratio > 0:
            inner = np.linalg.inv(np.eye(2) / ratio + squares)
            own = gram - across.transpose(0, 2, 1) @ inner @ across
            log_v = np.linalg.slogdet(np.eye(2) + ratio * squares)[1]
        parts += [log_v[:, None], own[:, p, p][:, None], own[:, :p, p], own[:, rows, columns]]
    solved = np.linalg.solve(gram[:, :p, :p] + base.c * np.eye(p), gram[:, :p, p][..., None])[..., 0]
    solved[parts[0][:, 0] == 0] = np.nan
    return np.ascontiguousarray(np.hstack(parts)), np.ascontiguousarray(solved)


def _sums(values: Floats, items: NDArray[Any], n_items: int) -> Floats:
    """Sums over the rows of each item, which follow each other."""
    found = np.zeros((n_items, *values.shape[1:]))
    if len(items):
        starts = np.flatnonzero(np.diff(items, prepend=-1))
        found[items[starts]] = np.add.reduceat(values, starts, axis=0)
    return found


@dataclass(frozen=True, eq=False)
class Posterior:
    """Of sums of statistics, (sums, ratios, ...): log probabilities of the ratios, unnormalised and with ln m as their
    logarithmic sum; β has precision `precision` / s² about `mean`, and s² ~ IG(`a`, `b`)."""

    logs: Floats
    mean: Floats
    precision: Floats
    a: Floats
    b: Floats


def posterior(sums: Floats, base: CurveBase) -> Posterior:
    """The parameters of clusters, (clusters, statistics) sums, relative to the mean curve."""
    p, n_ratios = base.basis.size, len(base.ratios)
    n = sums[:, 0]
    parts = sums[:, 1:].reshape(len(sums), n_ratios, -1)
    log_v, squares, cross = parts[..., 0], parts[..., 1], parts[..., 2 : 2 + p]
    precision = np.zeros((len(sums), n_ratios, p, p))
    rows, columns = np.tril_indices(p)
    precision[..., rows, columns] = precision[..., columns, rows] = parts[..., 2 + p :]
    precision += base.c * np.eye(p)
    mean: Floats = np.linalg.solve(precision, cross[..., None])[..., 0].astype(np.float64)
    a = base.a + 0.5 * n[:, None]
    b = base.b + 0.5 * np.maximum(squares - (cross * mean).sum(axis=-1), 0.0)
    logs = (
        -np.log(n_ratios) - 0.5 * n[:, None] * np.log(2 * np.pi) - 0.5 * log_v
        + 0.5 * (p * np.log(base.c) - np.linalg.slogdet(precision)[1])
        + gammaln(a) - gammaln(base.a) + base.a * np.log(base.b) - a * np.log(b)
    )  # fmt: skip
    return Posterior(logs, mean, precision, np.broadcast_to(a, b.shape), b)


def log_marginal(sums: Floats, base: CurveBase) -> Floats:
    """ln m of sums of statistics, (sums, statistics)."""
    return np.asarray(logsumexp(posterior(sums, base).logs, axis=1))
