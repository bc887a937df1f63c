"""From a GaussianDPM's arguments and the data to what the core needs: base measure, prior, scaling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from partita import _core
from partita._support.arrays import Floats
from partita._support.validate import MAX_SHAPE, MAX_VALUE, MIN_VALUE, check_scale, check_shape
from partita.models.mixtures.priors import FiniteMixture, GammaAlpha, PowerAlpha, WishartGrid

#: What each cluster beyond the largest number costs, in nats.
TOO_MANY = 1e6

PartitionPrior = _core.ProcessPrior | _core.FiniteMixturePrior


@dataclass(frozen=True, eq=False)
class Scaling:
    """x -> (x − centre) / width, column by column."""

    centre: Floats
    width: Floats

    def apply(self, X: Floats) -> Floats:
        changes = self.centre.any() or (self.width != 1.0).any()
        return np.ascontiguousarray((X - self.centre) / self.width if changes else X)


def scaling(X: Floats, standardize: bool) -> Scaling:
    """Mean 0 and sample standard deviation 1 on request; a constant column keeps its unit."""
    if not standardize:
        return Scaling(np.zeros(X.shape[1]), np.ones(X.shape[1]))
    return Scaling(X.mean(axis=0), np.sqrt(column_variances(X)))


def column_variances(X: Floats) -> Floats:
    """Sample variances (n − 1); 1 for a constant column, and for a single item."""
    if len(X) < 2:
        return np.ones(X.shape[1])
    with np.errstate(over="ignore", invalid="ignore"):  # said below
        variances = X.var(axis=0, ddof=1)
    constant = np.ptp(X, axis=0) == 0
    usable = ~constant & (variances > 0) & np.isfinite(variances)
    if not np.isfinite(variances).all():
        raise ValueError("X is too large for its variances to be computed; rescale it")
    return np.where(usable, variances, 1.0)


def full_base(model: Any, X: Floats) -> _core.WishartBase:
    """Normal–Inverse-Wishart: given, on grids, or from the data."""
    dims = X.shape[1]
    if isinstance(model.hyperprior, WishartGrid):
        given = [name for name in ("kappa0", "nu0", "scale") if getattr(model, name) is not None]
        if given:
            raise ValueError(f"hyperprior sets kappa0, nu0 and scale, but {given[0]} was given too")
        mean = per_dimension(model.mu0, np.zeros(dims), "mu0", positive=False)
        a, nu, v = model.hyperprior.grids(dims)
        return _core.WishartBase(mean.tolist(), a.tolist(), nu.tolist(), [], v.tolist())
    if model.hyperprior is not None:
        raise TypeError(f"hyperprior must be None or a WishartGrid, not {model.hyperprior!r}")
    mean, kappa, nu0, scale = wishart_values(model, X)
    return _core.WishartBase(mean.tolist(), [kappa], [nu0], scale.ravel().tolist(), [])


def wishart_values(model: Any, X: Floats) -> tuple[Floats, float, float, Floats]:
    """Mean, kappa0, nu0 and scale: given, or from the data."""
    dims = X.shape[1]
    mean = per_dimension(model.mu0, X.mean(axis=0), "mu0", positive=False)
    kappa = check_scale(0.5 if model.kappa0 is None else model.kappa0, "kappa0")
    nu0 = check_shape(dims + 3 if model.nu0 is None else model.nu0, "nu0")
    if nu0 <= dims - 1:
        raise ValueError(f"nu0 must be above d - 1 = {dims - 1} for {dims} dimensions, but it is {nu0}")
    return mean, kappa, nu0, scale_matrix(model.scale, X)


def scale_matrix(scale: Any, X: Floats) -> Floats:
    """The scale of the inverse Wishart distribution: given as a number or a matrix, or from the data."""
    dims = X.shape[1]
    if scale is None:
        return np.diag(2.0 * column_variances(X))
    matrix = np.array(scale, dtype=np.float64)
    if matrix.ndim == 0:
        matrix = check_scale(matrix, "scale") * np.eye(dims)
    if matrix.shape != (dims, dims):
        raise ValueError(f"scale must be a number or a ({dims}, {dims}) matrix, but its shape is {matrix.shape}")
    if not np.isfinite(matrix).all() or not np.allclose(matrix, matrix.T, rtol=1e-10, atol=0):
        raise ValueError(f"scale must be symmetric, with eigenvalues from {MIN_VALUE:g} to {MAX_VALUE:g}")
    eigenvalues = np.linalg.eigvalsh(matrix)
    smallest, largest = float(eigenvalues[0]), float(eigenvalues[-1])
    if not smallest > 0:
        raise ValueError(f"scale must be positive definite, but its least eigenvalue is {smallest:.6g}")
    if smallest < MIN_VALUE or largest > MAX_VALUE:
        raise ValueError(
            f"scale must have eigenvalues from {MIN_VALUE:g} to {MAX_VALUE:g}, but it has {smallest:.6g} and"
            f" {largest:.6g}"
        )
    return matrix


def diagonal_base(model: Any, X: Floats) -> _core.GammaBase:
    """A Normal–Inverse-Gamma for each dimension."""
    if model.hyperprior is not None:
        raise ValueError("hyperprior is for covariance='full'")
    mean, c, a, b = (each.tolist() for each in gamma_values(model, X))
    return _core.GammaBase(mean, c, a, b)


def gamma_values(model: Any, X: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Mean, c, a and b of each dimension: given, or from the data."""
    dims = X.shape[1]
    mean = per_dimension(model.mu0, X.mean(axis=0), "mu0", positive=False)
    c = per_dimension(model.c, np.full(dims, 0.5), "c")
    a = per_dimension(model.a, np.full(dims, 2.0), "a", most=MAX_SHAPE)
    return mean, c, a, per_dimension(model.b, column_variances(X), "b")


def per_dimension(value: Any, default: Floats, name: str, positive: bool = True, most: float = MAX_VALUE) -> Floats:
    """A number for all dimensions, or one for each."""
    if value is None:
        return default
    try:
        numbers = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number or one for each dimension, not {value!r}") from None
    if numbers.ndim > 1 or (numbers.ndim == 1 and numbers.shape != default.shape):
        raise ValueError(f"{name} has shape {numbers.shape}, but there are {len(default)} dimensions")
    numbers = np.broadcast_to(numbers, default.shape)
    bad = np.flatnonzero(~np.isfinite(numbers) | ((numbers <= 0) if positive else False))
    if bad.size:
        what = "positive" if positive else "finite"
        raise ValueError(f"{name} must be {what}, but its entry {bad[0]} is {numbers[bad[0]]}")
    least = MIN_VALUE if positive else -most
    bad = np.flatnonzero((numbers < least) | (numbers > most))
    if bad.size:
        raise ValueError(f"{name} must be from {least:g} to {most:g}, but its entry {bad[0]} is {numbers[bad[0]]}")
    return numbers


def partition_prior(model: Any, n_items: int, log_v_items: int | None = None) -> PartitionPrior:
    """Dirichlet process, Pitman–Yor or finite mixture; `log_v_items` is the n of the finite V(t)."""
    if isinstance(model.components, FiniteMixture):
        if model.alpha is not None or model.discount != 0:
            raise ValueError("a FiniteMixture has neither alpha nor discount: its weight is FiniteMixture(weight=...)")
        log_v = model.components.log_v(log_v_items or n_items)
        if (most := model.components.components) is not None and most < len(log_v) - 1:
            # a start may have more clusters than there can be; each is worth giving up whatever the data say
            log_v[most + 1 :] = log_v[most] - TOO_MANY * np.arange(1, len(log_v) - most)
        return _core.FiniteMixturePrior(weight=model.components.weight, log_v=log_v.tolist())
    if model.components is not None:
        raise TypeError(
            "components must be None or FiniteMixture(weight=..., rate=...), whose number of components is unknown and"
            f" 1 + rate on average, not {model.components!r}"
        )
    discount = float(model.discount)
    if not 0 <= discount < 1:
        raise ValueError(f"discount must be in [0, 1), but it is {model.discount}")
    return _core.ProcessPrior(_alpha_prior(model.alpha, n_items), discount)


def _alpha_prior(
    alpha: Any, n_items: int
) -> _core.FixedConcentration | _core.GammaConcentration | _core.GridConcentration:
    if isinstance(alpha, PowerAlpha):
        values, log_prior = alpha.grid(n_items)
        return _core.GridConcentration(values.tolist(), log_prior.tolist())
    if alpha is None or isinstance(alpha, GammaAlpha):
        gamma = alpha or GammaAlpha()
        return _core.GammaConcentration(gamma.shape, gamma.rate)
    return _core.FixedConcentration(check_scale(alpha, "alpha"))
