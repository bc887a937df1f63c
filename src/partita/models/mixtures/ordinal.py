"""Ordinal columns: a probit with its two parameters on a grid, so that the marginal likelihood is a finite sum."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from partita._support.arrays import Floats

#: The grid of the latent mean m and standard deviation s, in units of the latent variable of the whole column.
MEANS, SPREADS = np.linspace(-3.5, 3.5, 36), 0.2 * 1.35 ** np.arange(9)
#: Share of answers at random, so that no level is impossible anywhere on the grid.
LAPSES = 1e-4


def log_weights(c: float, a: float) -> Floats:
    """Prior probabilities of the points, (points,): those of a gaussian column with mean 0 and b = a − 1.

    s² ~ IG(a, b) with mean 1, or b = 1 if a is at most 1, m | s² ~ N(0, s² / c), in proportion to its density.
    """
    mean, spread = (axis.ravel() for axis in np.meshgrid(MEANS, SPREADS, indexing="ij"))
    b = a - 1.0 if a > 1 else 1.0
    # in m and ln s: the points are even in them, and the Jacobian of s² makes s^-2a
    logs = -2 * a * np.log(spread) - b / spread**2 - np.log(spread) - 0.5 * c * (mean / spread) ** 2
    weights: Floats = logs - np.logaddexp.reduce(logs)
    return weights


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
    result: Floats = (1 - LAPSES) * shares + LAPSES / n_levels
    return result
