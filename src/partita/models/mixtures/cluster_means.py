"""Parameters of Gaussian clusters drawn given each partition: their means and their covariances."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from partita._support.arrays import Floats
from partita._support.validate import check_rng
from partita.models.mixtures.base_measure import gamma_values, scaling, wishart_values

if TYPE_CHECKING:
    from partita.models.chains.chain import Chain
    from partita.models.mixtures.gaussian_dpm import GaussianDPM


def draw_means(model: GaussianDPM, chain: Chain, rng: Any = None) -> Floats:
    """The mean of the cluster of each item in each draw, drawn from its posterior: (chains, draws, items, dimensions).

    With n items of mean x̄ in a cluster, the mean has a Student distribution (marginal of the conjugate posterior).
    "diag", per dimension: centre m = (c mu0 + n x̄) / (c + n), 2 a_n degrees of freedom, scale² b_n / (a_n (c + n)) with
    a_n = a + n / 2 and b_n = b + Σ (x - x̄)² / 2 + c n (x̄ - mu0)² / (2 (c + n)). "full": centre m with kappa0 for c,
    ν = nu0 + n - d + 1 degrees of freedom, scale matrix (scale + S + kappa0 n / (kappa0 + n) (x̄ - mu0)(x̄ - mu0)ᵀ) /
    ((kappa0 + n) ν).
    """
    generator, X = check_rng(rng), np.asarray(chain.inputs["X"], np.float64)
    frame = scaling(X, model.standardize)
    scaled = frame.apply(X)
    draw = _diagonal(model, scaled) if model.covariance == "diag" else _full(model, scaled)
    means = np.empty((*chain.labels.shape, X.shape[1]))
    for index in np.ndindex(chain.n_chains, chain.n_draws):
        labels = chain.labels[index].astype(np.int64)
        means[index] = draw(labels, generator)[labels]
    return np.asarray(means * frame.width + frame.centre)


def kernel_drawer(model: Any, X: Floats) -> Callable[[NDArray[np.int64], np.random.Generator], tuple[Floats, Floats]]:
    """A function that draws means and covariances of the clusters of a partition from their posterior.

    Covariances are (clusters, d) variances for "diag" and (clusters, d, d) matrices for "full", of the data as the
    model scales them: distances between kernels do not depend on the scale.
    """
    scaled = scaling(X, model.standardize).apply(X)
    if model.covariance == "diag":
        diagonal = _diagonal_posterior(model, scaled)

        def draw(labels: NDArray[np.int64], rng: np.random.Generator) -> tuple[Floats, Floats]:
            centre, c_n, a_n, b_n = diagonal(labels)
            variances = b_n / rng.gamma(np.broadcast_to(a_n, b_n.shape))
            return centre + np.sqrt(variances / c_n) * rng.standard_normal(centre.shape), variances

        return draw
    full = _full_posterior(model, scaled)

    def draw_full(labels: NDArray[np.int64], rng: np.random.Generator) -> tuple[Floats, Floats]:
        centre, kappa_n, nu_n, scale_n = full(labels)
        factor = _inverse_wishart_factor(nu_n, scale_n, rng)
        normal = (factor @ rng.standard_normal((*centre.shape, 1)))[:, :, 0]
        return centre + normal / np.sqrt(kappa_n), factor @ factor.transpose(0, 2, 1)

    return draw_full


def _inverse_wishart_factor(freedom: Floats, scale: Floats, rng: np.random.Generator) -> Floats:
    """F with F Fᵀ ~ IW(freedom, scale): F = L A⁻ᵀ with scale = L Lᵀ and A Aᵀ ~ Wishart(freedom, I), by Bartlett."""
    dims = scale.shape[1]
    lower = np.tril(rng.standard_normal(scale.shape), -1)
    lower[:, range(dims), range(dims)] = np.sqrt(rng.chisquare(freedom - np.arange(dims)))
    return np.asarray(np.linalg.solve(lower, np.linalg.cholesky(scale).transpose(0, 2, 1)).transpose(0, 2, 1))


Draw = Callable[[NDArray[np.int64], np.random.Generator], Floats]
Posterior = Callable[[NDArray[np.int64]], tuple[Floats, Floats, Floats, Floats]]


def _diagonal(model: Any, X: Floats) -> Draw:
    posterior = _diagonal_posterior(model, X)

    def draw(labels: NDArray[np.int64], rng: np.random.Generator) -> Floats:
        centre, c_n, a_n, b_n = posterior(labels)
        return np.asarray(centre + np.sqrt(b_n / (a_n * c_n)) * rng.standard_t(2 * a_n))

    return draw


def _diagonal_posterior(model: Any, X: Floats) -> Posterior:
    """Centre, c_n, a_n and b_n of the clusters of a partition."""
    mu0, c, a, b = gamma_values(model, X)

    def posterior(labels: NDArray[np.int64]) -> tuple[Floats, Floats, Floats, Floats]:
        n, mean = _sizes_and_means(labels, X)
        squares = _sums(labels, (X - mean[labels]) ** 2)
        a_n, c_n = a + n / 2, c + n
        b_n = b + squares / 2 + c * n * (mean - mu0) ** 2 / (2 * c_n)
        return (c * mu0 + n * mean) / c_n, c_n, a_n, b_n

    return posterior


def _full(model: Any, X: Floats) -> Draw:
    dims, posterior = X.shape[1], _full_posterior(model, X)

    def draw(labels: NDArray[np.int64], rng: np.random.Generator) -> Floats:
        centre, kappa_n, nu_n, scale_n = posterior(labels)
        freedom = nu_n - dims + 1
        shape = scale_n / (kappa_n * freedom)[:, :, None]
        normal = (np.linalg.cholesky(shape) @ rng.standard_normal((len(centre), dims, 1)))[:, :, 0]
        return np.asarray(centre + normal * np.sqrt(freedom / rng.chisquare(freedom)))

    return draw


def _full_posterior(model: Any, X: Floats) -> Posterior:
    """Centre, kappa_n, nu_n and scale_n of the clusters of a partition."""
    dims = X.shape[1]
    if model.hyperprior is not None:
        raise ValueError("parameters of clusters are not drawn for a model with a hyperprior")
    mu0, kappa0, nu0, scale = wishart_values(model, X)

    def posterior(labels: NDArray[np.int64]) -> tuple[Floats, Floats, Floats, Floats]:
        n, mean = _sizes_and_means(labels, X)
        apart, off = X - mean[labels], mean - mu0
        scatter = _sums(labels, (apart[:, :, None] * apart[:, None, :]).reshape(len(X), -1)).reshape(-1, dims, dims)
        shrunk = (kappa0 * n / (kappa0 + n))[:, :, None] * off[:, :, None] * off[:, None, :]
        return (kappa0 * mu0 + n * mean) / (kappa0 + n), kappa0 + n, nu0 + n, scale + scatter + shrunk

    return posterior


def _sizes_and_means(labels: NDArray[np.int64], X: Floats) -> tuple[Floats, Floats]:
    """(clusters, 1) sizes and (clusters, dimensions) means."""
    n = np.bincount(labels)[:, None].astype(np.float64)
    return n, _sums(labels, X) / n


def _sums(labels: NDArray[np.int64], values: Floats) -> Floats:
    return np.array([np.bincount(labels, column) for column in values.T]).T
