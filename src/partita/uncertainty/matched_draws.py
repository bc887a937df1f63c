"""A lower bound for metrics, from distances between draws: each draw is matched with one that is far from it.

For every partition y and every symmetric Λ >= 0 whose rows sum to at most the weights w,

    Σ_s w_s d(s, y) >= ½ Σ_st Λ_st (d(s, y) + d(t, y)) >= ½ Σ_st Λ_st d(s, t).

Λ_st = w_s w_t gives half the mean distance. The best Λ is a heaviest fractional matching of the draws, and no bound
from these distances alone is larger: the dual problem is Σ w_s r_s at its least subject to r_s + r_t >= d(s, t).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Draws are matched within blocks of about this many units of weight: the time grows with the cube.
BLOCK = 1000
#: Relative allowance for rounding, of weights to whole units and of sums.
ROUNDING = 1e-9


def matched_distance(distances: Floats, weights: Floats) -> float:
    """The bound ½ Σ Λ_st d(s, t) for a heaviest matching within blocks of draws.

    Examples
    --------
    >>> line = np.array([0.0, 1.0, 9.0, 10.0])
    >>> round(matched_distance(abs(line[:, None] - line), np.full(4, 0.25)), 6)  # every median is at this mean distance
    4.5
    """
    kept = np.flatnonzero(weights > 0)
    blocks = [kept[first :: -(-len(kept) // BLOCK)] for first in range(-(-len(kept) // BLOCK))]
    total = sum(_of_block(distances[np.ix_(block, block)], weights[block]) for block in blocks)
    return float(total * (1 - ROUNDING) / 2)


def _of_block(distances: Floats, weights: Floats) -> float:
    """Σ Λ_st d(s, t): whole units of weight are matched, and what is left over is spread over all draws."""
    from scipy.optimize import linear_sum_assignment

    unit = max(weights.min(), weights.sum() / BLOCK)
    counts = np.floor(weights / unit + ROUNDING).astype(np.int64)
    left = np.maximum(weights - counts * unit, 0)
    units = np.repeat(np.arange(len(weights)), counts)
    rows, columns = linear_sum_assignment(distances[np.ix_(units, units)], maximize=True)
    matched = unit * distances[units[rows], units[columns]].sum()
    spread = left @ distances @ left / left.sum() if left.sum() > 0 else 0.0
    return float(matched + spread)
