"""A lower bound for metrics, from distances between draws: each draw is matched with one that is far from it.

For every partition y and every symmetric Λ >= 0 whose rows sum to at most the weights w,

    Σ_s w_s d(s, y) >= ½ Σ_st Λ_st (d(s, y) + d(t, y)) >= ½ Σ_st Λ_st d(s, t).

Λ_st = w_s w_t gives half the mean distance. The best Λ is a heaviest fractional matching of the draws, and no bound
from these distances alone is larger: the dual problem is Σ w_s r_s at its least subject to r_s + r_t >= d(s, t).
"""

from __future__ import annotations

import numpy as np

from partita._support.arrays import Floats
from partita._support.tolerance import BOUND_MARGIN, TIE
from partita.draws.sample import PartitionSample, some_rows, with_weight
from partita.losses.base import Loss
from partita.losses.expected import pairwise_distances
from partita.search.deadline import Deadline

#: Draws are matched within blocks of about this many units of weight: the time grows with the cube.
BLOCK = 400


def matched_distance(sample: PartitionSample, loss: Loss, seconds: float = np.inf, n_jobs: int = -1) -> float:
    """The bound ½ Σ Λ_st d(s, t) for a heaviest matching within blocks of draws; none are matched after `seconds`.

    >>> from partita.losses.losses import as_loss
    >>> from partita.draws.sample import as_sample
    >>> sample = as_sample([[0, 0, 0, 0], [0, 1, 2, 3]])  # no partition is nearer to both than half their distance
    >>> round(matched_distance(sample, as_loss("vi")), 6)
    1.0
    """
    until = Deadline.after(seconds)
    kept = with_weight(sample)[0]
    n_blocks = -(-kept.n_unique // BLOCK)
    total = 0.0
    for first in until.while_time(range(n_blocks)):  # draws far apart in a chain differ more than neighbours
        weights = kept.weights[first::n_blocks]
        block = some_rows(kept, slice(first, None, n_blocks))
        total += _of_block(pairwise_distances(block, loss, n_jobs=n_jobs), weights)
    return float(total * (1 - BOUND_MARGIN) / 2)


def _of_block(distances: Floats, weights: Floats) -> float:
    """Σ Λ_st d(s, t): whole units of weight are matched, and what is left over is spread over all draws."""
    from scipy.optimize import linear_sum_assignment

    unit = max(weights.min(), weights.sum() / BLOCK)
    counts = np.floor(weights / unit + TIE).astype(np.int64)
    left = np.maximum(weights - counts * unit, 0)
    units = np.repeat(np.arange(len(weights)), counts)
    rows, columns = linear_sum_assignment(distances[np.ix_(units, units)], maximize=True)
    matched = unit * distances[units[rows], units[columns]].sum()
    spread = left @ distances @ left / left.sum() if left.sum() > 0 else 0.0
    return float(matched + spread)
