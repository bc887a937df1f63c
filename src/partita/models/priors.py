"""Priors that a mixture model takes as arguments: on concentration, base measure and partition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, gammaln, logsumexp

from partita._validate import check_count, check_positive


@dataclass(frozen=True)
class GammaAlpha:
    """Gamma prior on the concentration, with mean shape / rate; drawn as Escobar & West (1995) do."""

    shape: float = 1.0
    rate: float = 1.0

    def __post_init__(self) -> None:
        check_positive(self.shape, "shape")
        check_positive(self.rate, "rate")


@dataclass(frozen=True)
class PowerAlpha:
    """Prior of Rastelli & Friel's eq. 25 on the concentration, on an even grid.

    p(alpha) ∝ (1 − (alpha − low) / (high − low))^power

    The bounds are given as a number of clusters k: alpha = exp(ψ(k)) / (γ + ln n), γ = 0.577..., is about
    the alpha with k clusters among n items. They are those of `rDPGibbs` in the R package bayesm.

    Parameters
    ----------
    clusters : (low, high); None for high is min(50, n / 10).
    power : the exponent.
    size : points of the grid.
    """

    clusters: tuple[float, float | None] = (1.0, None)
    power: float = 0.8
    size: int = 20

    def __post_init__(self) -> None:
        low, high = self.clusters
        check_positive(low, "clusters[0]")
        if high is not None and check_positive(high, "clusters[1]") <= low:
            raise ValueError(f"clusters must be (low, high) with low below high, but it is {self.clusters}")
        check_positive(self.power, "power")
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
    """Uniform priors on the Wishart base of Rastelli & Friel's eq. 24, with the defaults of `rDPGibbs`.

    mu | Sigma ~ N(0, Sigma / a),  Sigma ~ IW(nu, nu v I),  nu = d − 1 + exp(u)

    Parameters
    ----------
    a, u, v : (low, high) of the even grids; u is `nulim` there.
    size : points of each grid.
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
            check_positive(low, f"{name}[0]")
        check_count(self.size, "size", minimum=1)

    def grids(self, dims: int) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Values of a, nu and v."""
        a, u, v = (np.linspace(low, high, self.size) for low, high in (self.a, self.u, self.v))
        return a, dims - 1 + np.exp(u), v


@dataclass(frozen=True)
class FiniteMixture:
    """Symmetric Dirichlet mixture with an unknown number of components K: K − 1 ~ Poisson(rate).

    Given K, the component weights are Dirichlet(weight, ..., weight). Summed over K, a partition of n items
    into t clusters of sizes n_k has p = V(t) ∏ Γ(weight + n_k) / Γ(weight), with
    V(t) = Σ_{K ≥ t} p(K) K! / (K − t)! · Γ(weight K) / Γ(weight K + n)   (Miller & Harrison 2018).
    """

    weight: float = 1.0
    rate: float = 1.0

    def __post_init__(self) -> None:
        check_positive(self.weight, "weight")
        check_positive(self.rate, "rate")

    def log_v(self, n_items: int) -> NDArray[np.float64]:
        """ln V(t) for t = 0, ..., n_items; the first is a placeholder."""
        # past t, terms fall faster than rate^j / j!
        extra = np.arange(int(200 + 10 * self.rate))
        result = np.zeros(n_items + 1)
        for start in range(1, n_items + 1, 1000):
            t = np.arange(start, min(start + 1000, n_items + 1))[:, None]
            k = t + extra
            log_prior = (k - 1) * np.log(self.rate) - self.rate - gammaln(k)
            terms = log_prior + gammaln(k + 1) - gammaln(k - t + 1)
            terms += gammaln(self.weight * k) - gammaln(self.weight * k + n_items)
            result[start : start + len(t)] = logsumexp(terms, axis=1)
        return result


_PRIORS: dict[str, Any] = {cls.__name__: cls for cls in (GammaAlpha, PowerAlpha, WishartGrid, FiniteMixture)}


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
