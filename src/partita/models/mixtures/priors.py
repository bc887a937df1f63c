"""Settings that a mixture model takes as arguments: priors of the concentration, base measure and partition; moves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, gammaln, logsumexp

from partita._support.settings import SettingsGroup
from partita._support.validate import check_count, check_scale, check_shape
from partita.models.mixtures.curves import Curves

_MIN_CLUSTERS = 0.01  # exp(digamma(k)) soon underflows below it
_MAX_U = 18.0  # exp(u) is the argument of a Gamma function
_MAX_RATE = 1e4  # the sum over K has about ten times as many terms
_CELLS_AT_A_TIME = 1 << 20


@dataclass(frozen=True)
class GammaAlpha:
    """Gamma prior on the concentration, with mean shape / rate; drawn as Escobar & West (1995) do.

    Parameters
    ----------
    shape, rate : float
        Parameters of the Gamma distribution, from 1e-100 to 1e100. A concentration below 1e-300 is drawn as 1e-300.
    """

    shape: float = 1.0
    rate: float = 1.0

    def __post_init__(self) -> None:
        check_scale(self.shape, "shape")
        check_scale(self.rate, "rate")


@dataclass(frozen=True)
class PowerAlpha:
    """Power prior on the concentration, on an even grid: equation 25 of Rastelli & Friel.

    p(alpha) ∝ (1 − (alpha − low) / (high − low))^power

    The bounds are given as a number of clusters k: alpha = exp(ψ(k)) / (γ + ln n), γ = 0.577..., is about
    the alpha with k clusters among n items. They are those of `rDPGibbs` in the R package bayesm.

    Parameters
    ----------
    clusters : (float, float or None)
        The bounds low and high as numbers of clusters, from 0.01 to 1e100. None for high: min(50, n / 10).
    power : float
        The exponent, from 1e-100 to 1e100.
    size : int
        Number of points of the grid.
    """

    clusters: tuple[float, float | None] = (1.0, None)
    power: float = 0.8
    size: int = 20

    def __post_init__(self) -> None:
        low, high = self.clusters
        if check_scale(low, "clusters[0]") < _MIN_CLUSTERS:
            raise ValueError(f"clusters[0] must be at least {_MIN_CLUSTERS}, but it is {low}")
        if high is not None and check_scale(high, "clusters[1]") <= low:
            raise ValueError(f"clusters must be (low, high) with low below high, but it is {self.clusters}")
        check_scale(self.power, "power")
        check_count(self.size, "size", minimum=2)

    def grid(self, n_items: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Values of alpha with positive probability, and their log probabilities up to a constant."""
        low, high = self.clusters
        # few items leave no room between the default bounds
        high = max(min(50.0, 0.1 * n_items), 2.0 * low) if high is None else high
        bounds = np.exp(digamma([low, high])) / (np.euler_gamma + np.log(max(n_items, 2)))
        values = np.linspace(bounds[0], bounds[1], self.size)[:-1]  # the last has probability zero
        return values, self.power * np.log1p(-(values - bounds[0]) / (bounds[1] - bounds[0]))


@dataclass(frozen=True)
class WishartGrid:
    """Uniform priors on the Wishart base, equation 24 of Rastelli & Friel, with the defaults of `rDPGibbs`.

    mu | Sigma ~ N(0, Sigma / a),  Sigma ~ IW(nu, nu v I),  nu = d − 1 + exp(u)

    Parameters
    ----------
    a, u, v : (float, float)
        Lowest and highest value of each grid, whose points are evenly spaced; u is called `nulim` in `rDPGibbs`. From
        1e-100 to 1e100; u at most 18.
    size : int
        Number of points of each grid.
    """

    a: tuple[float, float] = (0.01, 10.0)
    u: tuple[float, float] = (0.01, 3.0)
    v: tuple[float, float] = (0.1, 4.0)
    size: int = 20

    def __post_init__(self) -> None:
        for name in ("a", "u", "v"):
            low, high = getattr(self, name)
            if not (np.isfinite(high) and low < high):
                raise ValueError(f"{name} must be (low, high) with low below high, but it is {(low, high)}")
            check_scale(low, f"{name}[0]")
            check_scale(high, f"{name}[1]")
        if self.u[1] > _MAX_U:
            raise ValueError(f"u[1] must be at most {_MAX_U:g}, but it is {self.u[1]}")
        check_count(self.size, "size", minimum=1)

    def grids(self, dims: int) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Values of a, nu and v."""
        a, u, v = (np.linspace(low, high, self.size) for low, high in (self.a, self.u, self.v))
        return a, dims - 1 + np.exp(u), v


@dataclass(frozen=True, repr=False)
class DiscreteBase(SettingsGroup):
    """Base measure of the counts and categories of a table.

    Parameters
    ----------
    shape, rate : float, float or None
        Of counts, λ ~ Gamma(shape, rate). None for the rate: shape divided by the mean of each column. Negative
        binomial columns, of size r and probability p: 1 − p ~ Beta(shape, 1 + r rate).
    weight : float
        Dirichlet parameter of the shares of each level of categorical and binary columns.
    """

    shape: float = 1.0
    rate: float | None = None
    weight: float = 1.0


@dataclass(frozen=True)
class FiniteMixture:
    """Symmetric Dirichlet mixture with an unknown number of components K, K − 1 ~ Poisson(rate), or a given one.

    Given K, the component weights are Dirichlet(weight, ..., weight). Summed over K, a partition of n items
    into t clusters of sizes n_k has p = V(t) ∏ Γ(weight + n_k) / Γ(weight), with
    V(t) = Σ_{K ≥ t} p(K) K! / (K − t)! · Γ(weight K) / Γ(weight K + n)   (Miller & Harrison 2018).

    Parameters
    ----------
    weight : float
        Dirichlet parameter of each component, from 1e-100 to 1e8.
    rate : float
        Mean of the Poisson distribution of the number of components beyond the first, from 1e-100 to 1e4.
    components : int, optional
        The number of components K, as in latent class analysis; rate is not used then. Some may have no items.
    """

    weight: float = 1.0
    rate: float = 1.0
    components: int | None = None

    def __post_init__(self) -> None:
        check_shape(self.weight, "weight")
        if check_scale(self.rate, "rate") > _MAX_RATE:
            raise ValueError(f"rate must be at most {_MAX_RATE:g}, but it is {self.rate}")
        if self.components is not None:
            check_count(self.components, "components", minimum=1)

    def log_v(self, n_items: int) -> NDArray[np.float64]:
        """ln V(t) for t = 0, ..., n_items; the first is a placeholder."""
        if self.components is not None:
            t = np.arange(n_items + 1)
            left = np.where(t <= self.components, self.components - t, np.inf)
            with np.errstate(invalid="ignore"):
                logs = gammaln(self.components + 1) - gammaln(left + 1)
            found: NDArray[np.float64] = logs - _log_rising(np.array(self.weight * self.components), n_items)
            found[0] = 0.0
            return found
        # past t, terms fall faster than rate^j / j!
        extra = np.arange(int(200 + 10 * self.rate))
        result = np.zeros(n_items + 1)
        step = max(1, _CELLS_AT_A_TIME // len(extra))
        for start in range(1, n_items + 1, step):
            t = np.arange(start, min(start + step, n_items + 1))[:, None]
            k = t + extra
            log_prior = (k - 1) * np.log(self.rate) - self.rate - gammaln(k)
            terms = log_prior + gammaln(k + 1) - gammaln(k - t + 1)
            terms -= _log_rising(self.weight * k, n_items)
            result[start : start + len(t)] = logsumexp(terms, axis=1)
        return result


def _log_rising(x: NDArray[Any], n: int) -> NDArray[np.float64]:
    """ln Γ(x + n) − ln Γ(x); from x = 1e8 on Stirling's series are subtracted term by term, as digits would be lost.

    >>> _log_rising(np.array([3.0, 1e12]), 2).round(6).tolist()
    [2.484907, 55.262042]
    """
    x = np.asarray(x, dtype=np.float64)
    series = (1 / (x + n) - 1 / x) / 12
    by_terms = n * np.log(x) + ((x + n - 0.5) * np.log1p(n / x) - n) + series
    return np.asarray(np.where(x < 1e8, gammaln(x + n) - gammaln(x), by_terms))


_PRIORS: dict[str, Any] = {cls.__name__: cls for cls in (GammaAlpha, PowerAlpha, WishartGrid, FiniteMixture, Curves)}


def to_plain(value: Any) -> Any:
    """A setting in a form that JSON can hold."""
    if type(value).__name__ in _PRIORS and type(value) is _PRIORS[type(value).__name__]:
        return {"prior": type(value).__name__, **asdict(value)}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return value


def from_plain(value: Any) -> Any:
    """The inverse of `to_plain`."""
    if isinstance(value, Mapping) and "prior" in value:
        fields = {name: tuple(v) if isinstance(v, list) else v for name, v in value.items() if name != "prior"}
        return _PRIORS[value["prior"]](**fields)
    return value


MAX_MOVES = 10**6


@dataclass(frozen=True, repr=False)
class SplitMergeMoves(SettingsGroup):
    """How often clusters are proposed to be split or merged in one move (Jain & Neal 2004).

    Parameters
    ----------
    split_merge : float or None
        Mean number of proposals per sweep, from 0 (none) to 1e6. None: as many as cost about a fifth of a sweep; their
        number follows the number of clusters during the warm-up and is fixed after it.
    restricted_scans : int
        Number of Gibbs scans that prepare each proposal, at most 1e6.

    Examples
    --------
    >>> from partita.models import GaussianDPM, SplitMergeMoves
    >>> GaussianDPM(moves=SplitMergeMoves(split_merge=2.0))
    GaussianDPM(moves=SplitMergeMoves(split_merge=2.0))
    """

    split_merge: float | None = None
    restricted_scans: int = 1

    def checked(self) -> tuple[float | None, int]:
        """Both settings, in their ranges."""
        scans = check_count(self.restricted_scans, "restricted_scans")
        if scans > MAX_MOVES:
            raise ValueError(f"restricted_scans must be at most {MAX_MOVES:,}, but it is {scans}")
        if self.split_merge is None:
            return None, scans
        if not 0 <= self.split_merge <= MAX_MOVES:
            raise ValueError(f"split_merge must be a number from 0 to {MAX_MOVES:,}, but it is {self.split_merge}")
        return float(self.split_merge), scans
