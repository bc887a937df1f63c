"""The tail of importance weights: Pareto k."""

from __future__ import annotations

import numpy as np

from partita._support.arrays import Floats

#: Above it, averages with these weights are not to be trusted (Vehtari et al. 2024).
MAX_PARETO_K = 0.7
#: If so few weights hold more than half of the sum, there is no tail to fit.
FEW = 5
#: The prior of the fit: so many further weights with k = 1/2.
PRIOR_COUNT, PRIOR_K = 10, 0.5


def pareto_k(weights: Floats) -> float:
    """Shape k of the generalised Pareto distribution of the largest weights; 1 / k is the number of moments they have.

    The tail is the largest 3 √draws weights, at most a fifth of them, and all that equal the smallest of these: weights
    that depend on the number of clusters alone have many ties. -inf for weights that are all equal, and inf if five of
    them hold more than half of the sum. The fit is that of Zhang & Stephens (2009), its use that of Vehtari et al.
    (2024).

    >>> pareto_k(np.ones(100))
    -inf
    >>> rng = np.random.default_rng(1)
    >>> bool(0.8 < pareto_k(rng.pareto(1.0, 100_000)) < 1.2)
    True
    """
    ordered = np.sort(weights / weights.max())
    if ordered[0] == ordered[-1]:
        return -np.inf
    if ordered[-FEW:].sum() > ordered.sum() / 2:
        return np.inf
    count = int(np.ceil(min(0.2 * ordered.size, 3 * np.sqrt(ordered.size))))
    below = ordered[ordered < ordered[-count]]
    cutoff = float(below[-1]) if below.size else 0.0
    return _fitted_k(ordered[ordered > cutoff] - cutoff)


def _fitted_k(x: Floats) -> float:
    """The fit of Zhang & Stephens to sorted exceedances, which averages k over a grid of b = -k / scale."""
    n = x.size
    points = np.arange(1, 31 + int(np.sqrt(n)))
    b = 1 / x[-1] + (1 - np.sqrt(points.size / (points - 0.5))) / (3 * x[max(int(n / 4 + 0.5) - 1, 0)])
    b = b[b != 0]
    k = np.array([np.log1p(-each * x).mean() for each in b])
    log_likelihood = n * (np.log(-b / k) - k - 1)
    weights = np.exp(log_likelihood - log_likelihood.max())
    mean = float((weights / weights.sum()) @ b)
    fitted = float(np.log1p(-mean * x).mean())
    return (n * fitted + PRIOR_COUNT * PRIOR_K) / (n + PRIOR_COUNT)
