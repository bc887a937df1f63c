"""The errors that base clusterings share, without a consensus: one factor explains which items they join.

Let C_m(i, j) be 1 if clustering m joins items i and j, and T(i, j) the same for the truth. If the errors of clusterings
are independent, and those of one clustering as frequent for all pairs that T joins, and for all that it does not, then
over pairs corr(C_m, C_m') = r_m r_m' with r_m = corr(C_m, T): off its diagonal, the table S of correlations has rank
one (Spearman 1904). Clusterings that share errors are more alike than that. Given T,

    ρ_mm' = (S_mm' − r_m r_m') / √((1 − r_m²) (1 − r_m'²)).

Only pairs without shared errors have the correlation r_m r_m', so r is a robust fit: a pair counts by
1 / (1 + (residual / scale)²), beginning at a low quantile of S, and clusterings that are almost copies count little.
Then all pairs but those far above the fit count the same. Where such a factor does not explain the correlations, as
of k-means runs with different numbers of clusters, nothing is said.
"""

from __future__ import annotations

import numpy as np

from partita._support.arrays import Floats
from partita.ensembles.base_clusterings import Base
from partita.ensembles.layout import Layout

MIN_SCALE = 0.02  # of residuals that count: below it, the factor model itself is only approximately true
NOISE = 0.3  # the scale is at least this over √items, about what chance makes correlations differ by
START = 0.35  # the fit begins at this quantile of the correlations
FAR = 5.0  # pairs whose residual is above this many scales share errors
MIN_PAIRS = 2.0  # pairs without shared errors, per clustering, that tell whether the factor fits
MAX_MISFIT = 0.5  # mean squared residual of these, over the variance of a correlation, part of which r takes up
SPLITS = 4  # random halves from which this variance is estimated
STEPS = 200  # of the fit; each goes halfway, so that it does not swing
MAX_LOADING = 0.999  # so that something is left to be shared


def shared_errors(base: Base, weights: Floats, rng: np.random.Generator) -> Floats | None:
    """ρ of each pair of clusterings, (clusterings, clusterings), or None if one factor does not explain the others.

    `weights` say how much each clustering counts in the fit.
    """
    correlations, weights = pair_correlations(base), np.where(base.sizes > 1, weights, 0.0)
    counted = np.outer(weights, weights)
    np.fill_diagonal(counted, 0.0)
    scale = max(MIN_SCALE, NOISE / np.sqrt(base.n_items))
    found = loadings(correlations, counted, scale)
    residuals = correlations - np.outer(found, found)
    without = np.where(residuals < FAR * scale, counted, 0.0)
    if not _fits(residuals, without, sampling_variances(base, rng), int(np.count_nonzero(weights))):
        return None
    left = np.sqrt(1.0 - found**2)
    matrix = residuals / np.outer(left, left)
    np.fill_diagonal(matrix, 1.0)
    return np.asarray(np.clip(matrix, -1.0, 1.0))


def _fits(residuals: Floats, counted: Floats, variances: Floats, n_clusterings: int) -> bool:
    """Whether the pairs that count are enough to tell, and differ from the fit by less than chance makes them."""
    pairs = np.count_nonzero(counted) / 2
    if n_clusterings == 0 or pairs < MIN_PAIRS * n_clusterings:
        return False
    left = pairs / (pairs - n_clusterings)  # r has one number for each clustering
    return bool(left * (counted * residuals**2).sum() <= MAX_MISFIT * (counted * variances).sum())


def sampling_variances(base: Base, rng: np.random.Generator) -> Floats:
    """How much the correlations would differ on other items: from random halves of these."""
    total = np.zeros((base.n_clusterings, base.n_clusterings))
    for _ in range(SPLITS):
        order = rng.permutation(base.n_items)
        halves = [base.rows(np.sort(part)) for part in np.array_split(order, 2)]
        one, other = (pair_correlations(half) for half in halves)
        total += ((one - other) / 2) ** 2 / SPLITS
    return total


def pair_correlations(base: Base) -> Floats:
    """Correlation over pairs of items, both of which both clusterings label, of whether each joins the pair.

    0 for a clustering that joins all of these pairs or none.
    """
    layout, labels = Layout.plain(base.sizes), base.memberships()
    table = np.asarray((labels.T @ labels).toarray(), dtype=np.float64)  # items with each pair of labels
    margins = layout.per_clustering(table.T).T  # items with each label that another clustering labels, too
    both = _pairs(layout.per_clustering(margins))
    every = np.maximum(both, 1.0)
    joined = layout.per_clustering(_pairs(margins)) / every
    joint = layout.per_clustering(layout.per_clustering(_pairs(table)).T) / every
    spread = np.sqrt(joined * (1.0 - joined))
    room = spread * spread.T
    matrix = np.divide(joint - joined * joined.T, room, out=np.zeros_like(room), where=room > 0)
    np.fill_diagonal(matrix, 1.0)
    return np.asarray(matrix)


def _pairs(counts: Floats) -> Floats:
    return np.asarray(counts * (counts - 1.0) / 2.0)


def loadings(correlations: Floats, pair_weights: Floats, scale: float) -> Floats:
    """r, (clusterings,), so that r_m r_m' are the correlations of the pairs that share no errors.

    `pair_weights` are 0 on the diagonal. The robust fit finds these pairs; least squares over them is unbiased, so that
    residuals of chance cancel.
    """
    found = np.full(len(correlations), np.sqrt(_quantile(correlations, pair_weights)))
    for step in range(2 * STEPS):
        residuals = (correlations - np.outer(found, found)) / scale
        counted = pair_weights / (1.0 + residuals**2) if step < STEPS else pair_weights * (residuals < FAR)
        room = counted @ found**2
        fitted = np.divide((counted * correlations) @ found, room, out=found.copy(), where=room > 0)
        found = 0.5 * (found + np.clip(fitted, 0.0, MAX_LOADING))
    return found


def _quantile(correlations: Floats, weights: Floats) -> float:
    """The low quantile of the correlations, each with its weight, that the fit begins at."""
    order = np.argsort(correlations, axis=None)
    cumulated = np.cumsum(weights.ravel()[order])
    at = int(np.searchsorted(cumulated, START * cumulated[-1]))
    return float(np.clip(correlations.ravel()[order[min(at, len(order) - 1)]], 0.01, MAX_LOADING**2))
