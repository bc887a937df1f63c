"""Priors on partitions of Gibbs type, with the concentration integrated out, and the number of clusters they imply.

p(partition of n items into k clusters of sizes n_1, ..., n_k) = V(k) ∏_j (1 − σ)(2 − σ) ... (n_j − 1 − σ)

- Dirichlet process, and Pitman–Yor process with discount d: σ = d, V(k) = ∏_{i=1}^{k−1} (α + i d) / (α + 1)_{n−1}.
- The same with a prior on α: V(k) is integrated over it. The factors of the sizes do not depend on α, so that the prior
  of the partition alone has a closed form but for one integral per k: a sum over a grid of ln α, at whose ends the
  integrand and all of its derivatives vanish, so that the trapezoidal rule converges faster than any power of the step.
- Finite mixture with Dirichlet weight γ: σ = −γ, V(k) is γ^k times Miller & Harrison's V, as Γ(γ + m) / Γ(γ) is γ times
  (1 + γ) ... (m − 1 + γ).

The number of clusters has P(K = k) = V(k) S(n, k), with S(n, k) the sum of the products over all partitions of n items
into k clusters: S(n + 1, k) = S(n, k − 1) + (n − k σ) S(n, k), as item n + 1 is alone or joins one of the k clusters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import gammaincinv, gammaln, logsumexp

from partita._support.arrays import Floats, Ints
from partita._support.validate import check_scale
from partita.models.mixtures.priors import FiniteMixture, GammaAlpha, PowerAlpha

#: Steps of the grid of ln α, and how far it reaches: what lies beyond has less than e to the minus so much of the mass.
GRID, TAIL = 2000, 40.0
#: The table of S(n, k) is as wide as it takes to hold all but this much of the probability.
LEFT_OUT = 1e-9


@dataclass(frozen=True, eq=False)
class GibbsPrior:
    """A prior on partitions of n_items items: V and σ."""

    n_items: int
    sigma: float
    log_v: Callable[[int], Floats]  # ln V(k) for k = 0, ..., up to the number that is asked for; the first is -inf

    def log_prior(self, n_clusters: Ints, log_sizes: Floats) -> Floats:
        """ln p of partitions, from their numbers of clusters and what `log_size_table` sums to over their clusters."""
        log_v: Floats = self.log_v(int(n_clusters.max()))[n_clusters]
        return log_v + log_sizes

    def log_size_table(self) -> Floats:
        """ln (1 − σ) ... (m − 1 − σ) for m = 0, ..., n_items; the first is a placeholder."""
        table = np.zeros(self.n_items + 1)
        table[2:] = np.cumsum(np.log(np.arange(1, self.n_items) - self.sigma))
        return table

    def n_clusters(self) -> Floats:
        """P(K = k) for k = 0, 1, ..., up to where no more than `LEFT_OUT` is left."""
        width = 64
        while True:
            width = min(2 * width, self.n_items)
            found = np.exp(self.log_v(width) + _log_sums(self.n_items, width, self.sigma))
            if width == self.n_items or found.sum() >= 1 - LEFT_OUT:
                return np.asarray(found / found.sum())


def gibbs_prior(n_items: int, alpha: Any = None, discount: float = 0.0, components: Any = None) -> GibbsPrior:
    """The prior that a mixture with these settings has on partitions of n items."""
    if components is not None:
        if not isinstance(components, FiniteMixture):
            raise TypeError(f"components must be None or FiniteMixture(weight=..., rate=...), not {components!r}")
        return GibbsPrior(n_items, -components.weight, _finite_log_v(components, n_items))
    d = float(discount)
    if not 0 <= d < 1:
        raise ValueError(f"discount must be in [0, 1), but it is {discount}")
    values, log_weights = _grid(alpha, n_items)
    # ln of Γ(α + n) / Γ(α + 1), and one term for each further cluster
    start = log_weights - gammaln(values + n_items) + gammaln(values + 1)

    def log_v(most: int) -> Floats:
        found = np.full(most + 1, -np.inf)
        terms = start.copy()
        for k in range(1, most + 1):
            found[k] = logsumexp(terms)
            terms += np.log(values + k * d)
        return found

    return GibbsPrior(n_items, d, log_v)


def _finite_log_v(components: FiniteMixture, n_items: int) -> Callable[[int], Floats]:
    whole = components.log_v(n_items) + np.arange(n_items + 1) * np.log(components.weight)
    whole[0] = -np.inf
    return lambda most: np.asarray(whole[: most + 1])


def _grid(alpha: Any, n_items: int) -> tuple[Floats, Floats]:
    """Values of α and the logarithms of their weights, which sum to 1."""
    if isinstance(alpha, PowerAlpha):
        values, logs = alpha.grid(n_items)
        return values, logs - logsumexp(logs)
    if alpha is None or isinstance(alpha, GammaAlpha):
        prior = alpha or GammaAlpha()
        return _gamma_grid(prior.shape, prior.rate)
    return np.array([check_scale(alpha, "alpha")]), np.zeros(1)


def _gamma_grid(shape: float, rate: float) -> tuple[Floats, Floats]:
    high = np.log(gammaincinv(shape, 1 - 1e-16) + TAIL / 2) if shape < 1e6 else np.log(shape) + TAIL / np.sqrt(shape)
    low = max(np.log(shape) - TAIL * max(1 / shape, 1 / np.sqrt(shape)), -650.0)
    logs = np.linspace(low, high, GRID)
    weights = shape * logs - np.exp(logs)
    return np.exp(logs - np.log(rate)), weights - logsumexp(weights)


@lru_cache(maxsize=4)
def _log_sums(n_items: int, width: int, sigma: float) -> Floats:
    """ln S(n, k) for k = 0, ..., width."""
    clusters = np.arange(width + 1)
    found = np.full(width + 1, -np.inf)
    found[1] = 0.0
    with np.errstate(divide="ignore"):
        for n in range(1, n_items):
            top = min(n + 1, width)
            grown = found[1 : top + 1] + np.log(np.maximum(n - clusters[1 : top + 1] * sigma, 0))
            found[1 : top + 1] = np.logaddexp(found[:top], grown)
    found.flags.writeable = False
    return found
