"""What a prior on partitions says about the number of clusters, and the prior that says what is expected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from partita._support.arrays import Floats
from partita._support.optional import optional
from partita._support.shown import ShownAsText
from partita._support.validate import check_count, check_level
from partita.models.mixtures.gibbs_priors import gibbs_prior
from partita.models.mixtures.priors import FiniteMixture, GammaAlpha, PowerAlpha

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

    For a prior of Gibbs type P(K = k) = V(k) S(n, k): see `partita.models.mixtures.gibbs_priors` for V and S, which are
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
