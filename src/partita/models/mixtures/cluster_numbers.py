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
from scipy.optimize import minimize
from scipy.special import gammaincinv, gammaln, logsumexp

from partita._support.arrays import Floats, Ints
from partita._support.optional import optional
from partita._support.shown import ShownAsText
from partita._support.validate import check_count, check_level, check_scale
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


#: Shapes of the Gamma prior that are tried; from the second on, the concentration may as well be fixed.
SHAPES = (0.05, 1e3)


@dataclass(frozen=True, eq=False, repr=False)
class PriorClusters(ShownAsText):
    """The number of clusters before the data are seen: the result of `prior_clusters`.

    Attributes
    ----------
    probabilities : dict
        The prior probability of each number of clusters, without those below 1e-9.
    prior : float, GammaAlpha, PowerAlpha or FiniteMixture
        The prior; pass it as ``alpha=`` (a `FiniteMixture` as ``components=``) to a mixture.
    n_items : int
        Number of items.
    discount : float
        Discount of the Pitman–Yor process.
    """

    probabilities: dict[int, float]
    prior: Any
    n_items: int
    discount: float = 0.0

    @property
    def mean(self) -> float:
        """Expected number of clusters."""
        return float(sum(k * p for k, p in self.probabilities.items()))

    def between(self, low: int, high: int) -> float:
        """Probability of low to high clusters, both included."""
        return float(sum(p for k, p in self.probabilities.items() if low <= k <= high))

    def interval(self, level: float = 0.9) -> tuple[int, int]:
        """The central interval of the number of clusters with at least this probability."""
        tail = (1 - check_level(level)) / 2
        numbers, mass = list(self.probabilities), np.cumsum(list(self.probabilities.values()))
        low, high = np.searchsorted(mass, [tail, (1 - tail) * mass[-1]], side="right")
        return numbers[int(low)], numbers[min(int(high), len(numbers) - 1)]

    def in_words(self) -> str:
        """What the prior says, in a sentence."""
        low, high = self.interval()
        return (
            f"Before the data are seen, {self.n_items:,} items are expected in {self.mean:.1f} clusters; with"
            f" probability {self.between(low, high):.0%} there are {low} to {high}."
        )

    def to_pandas(self) -> Any:
        """The probabilities as a pandas Series, indexed by the number of clusters."""
        pd = optional("pandas", "tables of results need pandas", "io")
        return pd.Series(self.probabilities, name="probability").rename_axis("n_clusters")

    def __repr__(self) -> str:
        low, high = self.interval()
        return f"PriorClusters({self.n_items:,} items, {self.prior!r}: {self.mean:.1f} clusters, {low} to {high})"


def prior_clusters(n: int, prior: Any = None, *, discount: float = 0.0) -> PriorClusters:
    """The number of clusters among n items that a prior on partitions implies, or the prior for an expected number.

    For a prior of Gibbs type P(K = k) = V(k) S(n, k), with V and S as in `partita.models.mixtures.cluster_numbers`,
    computed to about nine digits; no draws are made. For the Dirichlet process with concentration α,
    P(K = k) = |s(n, k)| α^k Γ(α) / Γ(α + n), with |s(n, k)| Stirling numbers of the first kind, averaged over the prior
    of α if it has one.

    Parameters
    ----------
    n : int
        Number of items.
    prior : float, GammaAlpha, PowerAlpha, FiniteMixture, mixture model, (int, int) or None
        A concentration, a prior on it, a finite mixture, or a model with its own prior. None: GammaAlpha(1, 1), the
        default of the mixtures. A range such as (3, 8), the number of clusters that you expect: the Gamma prior on the
        concentration, or the fixed concentration, is found that puts 5 % below the range and 5 % above it, or comes
        closest; it is in ``.prior``.
    discount : float
        Discount of the Pitman–Yor process, in [0, 1).

    Returns
    -------
    PriorClusters

    Examples
    --------
    >>> found = prior_clusters(100, 1.0)
    >>> print(found.in_words())
    Before the data are seen, 100 items are expected in 5.2 clusters; with probability 94% there are 2 to 8.
    >>> expected = prior_clusters(100, (3, 8))
    >>> expected.prior, round(expected.between(3, 8), 2)
    (1.03, 0.89)

    References
    ----------
    Antoniak (1974), Ann. Stat. 2; Gnedin & Pitman (2006), J. Math. Sci. 138; De Blasi et al. (2015), IEEE Trans.
    Pattern Anal. Mach. Intell. 37.
    """
    items = check_count(n, "n", minimum=1)
    if isinstance(prior, tuple | list):
        low, high = _check_range(prior, items)
        prior = expected_clusters(items, low, high, discount)
    alpha, own, components = prior_settings(prior, discount)
    found = gibbs_prior(items, alpha, own, components).n_clusters()
    kept = {k: float(p) for k, p in enumerate(found.tolist()) if p > 1e-9}
    return PriorClusters(kept, prior if prior is not None else GammaAlpha(), items, own)


def prior_settings(prior: Any, discount: float = 0.0) -> tuple[Any, float, Any]:
    """Concentration, discount and components, of a model or of what a user gives as a prior."""
    if isinstance(prior, FiniteMixture):
        return None, 0.0, prior
    if hasattr(prior, "discount") and hasattr(prior, "components") and hasattr(prior, "alpha"):
        return prior.alpha, prior.discount, prior.components
    if isinstance(prior, str) or not (prior is None or isinstance(prior, GammaAlpha | PowerAlpha | int | float)):
        raise TypeError(f"prior must be a number, GammaAlpha, PowerAlpha, FiniteMixture or a mixture, not {prior!r}")
    return prior, discount, None


def _check_range(given: Any, n_items: int) -> tuple[int, int]:
    if len(given) != 2:
        raise ValueError(f"a range of clusters is (fewest, most), but it is {given!r}")
    low, high = check_count(given[0], "prior[0]", minimum=1), check_count(given[1], "prior[1]", minimum=1)
    if not low <= high <= n_items:
        raise ValueError(
            f"prior must be (fewest, most) with fewest <= most <= {n_items} items, but it is {(low, high)}"
        )
    return low, high


def expected_clusters(
    n_items: int, low: int, high: int, discount: float = 0.0, outside: float = 0.1
) -> GammaAlpha | float:
    """The Gamma prior on the concentration with half of `outside` below `low` clusters and half above `high`.

    Where no Gamma prior has both, that with the least squared differences; it may be a fixed concentration, under which
    the number of clusters varies least. A range that begins at 1 or ends at n has nothing outside on that side.
    """
    wanted = np.array([outside / 2 * (low > 1), outside / 2 * (high < n_items)])

    def prior_at(point: Floats) -> GammaAlpha | float:
        mean, shape = float(np.exp(point[0])), float(np.exp(max(point[1], np.log(SHAPES[0]))))
        return GammaAlpha(_rounded(shape), _rounded(shape / mean)) if shape < SHAPES[1] else _rounded(mean)

    def apart(point: Floats) -> float:
        found = gibbs_prior(n_items, prior_at(point), discount).n_clusters()
        return float(((np.array([found[:low].sum(), found[high + 1 :].sum()]) - wanted) ** 2).sum())

    start = np.log([max(0.05, np.sqrt(low * high) / np.log1p(n_items)), 3.0])
    options = {"xatol": 1e-3, "fatol": 1e-8, "maxfev": 200}
    return prior_at(minimize(apart, start, method="Nelder-Mead", options=options).x)


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")
