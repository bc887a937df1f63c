"""The degrees of freedom nu of eq. 24 on Old Faithful, by their conditional and as bayesm's `rDPGibbs` draws them.

Given covariances Sigma_1, ..., Sigma_K ~ IW(nu, V) of the clusters, with V = nu v I, nu and v have the conditionals

    p(nu | v, Sigma) ∝ ∏ IW(Sigma_k; nu, nu v I),      p(v | nu, Sigma) ∝ ∏ IW(Sigma_k; nu, nu v I)

on their grids. bayesm's `lambdaD` draws nu with the matrix V of the step before held fixed,
p(nu | V, Sigma) ∝ ∏ IW(Sigma_k; nu, V), although V is a function of nu.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import multigammaln
from scipy.stats import invwishart

from partita.models import WishartGrid

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Base:
    """Parameters of mu | Sigma ~ N(0, Sigma / a), Sigma ~ IW(nu, nu v I)."""

    a: float
    nu: float
    v: float

    @property
    def scale(self) -> float:
        return self.nu * self.v


def mean_degrees(
    data: Array, partitions: NDArray[np.unsignedinteger], steps: int, rng: np.random.Generator, scale_held: bool
) -> float:
    """Posterior mean of nu over partitions, with `steps` updates for each; `scale_held` is bayesm's way."""
    standard = (data - data.mean(axis=0)) / data.std(axis=0, ddof=1)
    grids = WishartGrid().grids(data.shape[1])
    base = Base(*(float(np.median(grid)) for grid in grids))
    values = []
    for labels in partitions:
        clusters = [standard[labels == k] for k in np.unique(labels)]
        for _ in range(steps):
            base = update(base, *draw_clusters(base, clusters, rng), grids, rng, scale_held)
            values.append(base.nu)
    return float(np.mean(values))


def draw_clusters(base: Base, clusters: list[Array], rng: np.random.Generator) -> tuple[Array, Array]:
    """Means (K, d) and covariances (K, d, d) of the clusters from their conditionals."""
    means, covariances = [], []
    for points in clusters:
        n, d = points.shape
        centre, precision = points.sum(axis=0) / (base.a + n), base.a + n
        scale = base.scale * np.eye(d) + points.T @ points - precision * np.outer(centre, centre)
        covariances.append(invwishart.rvs(base.nu + n, scale, random_state=rng))
        means.append(rng.multivariate_normal(centre, covariances[-1] / precision))
    return np.array(means), np.array(covariances)


def update(
    base: Base, means: Array, covariances: Array, grids: tuple[Array, ...], rng: np.random.Generator, scale_held: bool
) -> Base:
    """a, nu and v in turn, each from its grid."""
    k, d = means.shape
    inverses = np.linalg.inv(covariances)
    squares = np.einsum("ki,kij,kj->", means, inverses, means)
    trace = np.trace(inverses, axis1=1, axis2=2).sum()
    log_det = np.linalg.slogdet(covariances)[1].sum()

    def log_density(nu: Array | float, scale: Array | float) -> Array:
        """ln ∏ IW(Sigma_k; nu, scale · I), up to what depends on neither."""
        constant = nu * d * (np.log(scale) - np.log(2)) / 2 - multigammaln(np.asarray(nu) / 2, d)
        return k * constant - nu * log_det / 2 - scale * trace / 2

    a_grid, nu_grid, v_grid = grids
    a = draw(a_grid, k * d * np.log(a_grid) / 2 - a_grid * squares / 2, rng)
    nu = draw(nu_grid, log_density(nu_grid, base.scale if scale_held else nu_grid * base.v), rng)
    return Base(a, nu, draw(v_grid, log_density(nu, nu * v_grid), rng))


def draw(grid: Array, log_weights: Array, rng: np.random.Generator) -> float:
    weights = np.exp(log_weights - log_weights.max())
    return float(rng.choice(grid, p=weights / weights.sum()))
