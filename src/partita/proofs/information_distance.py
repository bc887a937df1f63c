"""The information distance above lines: how bounds on VI(a, b) are bounds on ID.

With H the entropy of the estimate, H_h that of a draw and J_h of the two together, ID = J_h - min(H, H_h). Its second
part is concave in H, so for every slope 0 < b < 1 there is an intercept k with E min(H, H_h) <= k + b H, and

    E ID >= E J_h - b H - k = E VI(1 - b, b) + (1 - b) E H_h - k,

because VI(a, b) = (a + b) J_h - b H - a H_h. The slope 1/2 says that ID is at least half of VI.
"""

from __future__ import annotations

import numpy as np

from partita.draws.sample import PartitionSample
from partita.estimation.mixing import entropies
from partita.losses.losses import VI

#: Slopes to try. The best bound is concave in the slope, so that a few show where it is largest.
SLOPES = (0.1, 0.3, 0.5, 0.7, 0.9)


def below_information_distance(sample: PartitionSample, slope: float) -> tuple[VI, float]:
    """VI(a, b) and a constant whose sum is nowhere above the expected ID.

    Examples
    --------
    >>> from partita.losses.expected import expected_loss
    >>> from partita.draws.sample import as_sample
    >>> sample = as_sample([[0, 0, 1, 1], [0, 0, 1, 2], [0, 0, 0, 1]])
    >>> vi, constant = below_information_distance(sample, 0.5)
    >>> bool(expected_loss([0, 0, 1, 1], sample, vi) + constant <= expected_loss([0, 0, 1, 1], sample, "id"))
    True
    """
    own = entropies(sample)
    order = np.argsort(own)
    own, weights = own[order], sample.weights[order]
    expected_min = np.cumsum(weights * own) + own * (1 - np.cumsum(weights))  # E min(H, H_h) at each draw's entropy
    intercept = (expected_min - slope * own).max()
    return VI(1 - slope, slope), float((1 - slope) * (weights @ own) - intercept)
