"""Mixtures of Gaussians straight from their formulas, slow and obvious: what the sampler must agree with."""

from __future__ import annotations

import itertools

import numpy as np
from scipy import integrate
from scipy.special import gammaln, multigammaln


def partitions(n):
    """Every canonical label vector of n items."""
    found = [[0]]
    for _ in range(n - 1):
        found = [[*labels, k] for labels in found for k in range(max(labels) + 2)]
    return [tuple(labels) for labels in found]


def log_marginal_full(X, mu0, kappa0, nu0, scale):
    """ln ∫ ∏ N(x | mu, Sigma) dNIW(mu, Sigma)."""
    n, d = X.shape
    centre = X.mean(axis=0)
    scatter = (X - centre).T @ (X - centre)
    shift = centre - mu0
    posterior = scale + scatter + kappa0 * n / (kappa0 + n) * np.outer(shift, shift)
    return (
        -n * d / 2 * np.log(np.pi)
        + d / 2 * np.log(kappa0 / (kappa0 + n))
        + multigammaln((nu0 + n) / 2, d)
        - multigammaln(nu0 / 2, d)
        + nu0 / 2 * np.linalg.slogdet(scale)[1]
        - (nu0 + n) / 2 * np.linalg.slogdet(posterior)[1]
    )


def log_marginal_diag(X, mu0, c, a, b):
    """ln of the product over dimensions of ∫ ∏ N(x | mu, s²) dNIG(mu, s²)."""
    n = len(X)
    centre = X.mean(axis=0)
    b_n = b + ((X - centre) ** 2).sum(axis=0) / 2 + c * n / (c + n) * (centre - mu0) ** 2 / 2
    a_n = a + n / 2
    parts = gammaln(a_n) - gammaln(a) + a * np.log(b) - a_n * np.log(b_n) + np.log(c / (c + n)) / 2
    return float(np.sum(parts - n / 2 * np.log(2 * np.pi)))


def log_crp(sizes, alpha, discount=0.0):
    """ln of the probability of a partition: Dirichlet process, Pitman–Yor."""
    t, n = len(sizes), sum(sizes)
    total = sum(np.log(alpha + i * discount) for i in range(1, t)) - sum(np.log(alpha + i) for i in range(1, n))
    return total + sum(gammaln(m - discount) - gammaln(1 - discount) for m in sizes)


def log_finite(sizes, weight, rate, terms=200):
    """ln of the probability of a partition: K − 1 ~ Poisson(rate), weights Dirichlet(weight, ..., weight)."""
    n, t = sum(sizes), len(sizes)
    total = 0.0
    for k in range(t, terms):
        log_prior = (k - 1) * np.log(rate) - rate - gammaln(k)
        ways = gammaln(k + 1) - gammaln(k - t + 1)
        urn = gammaln(weight * k) - gammaln(weight * k + n) + sum(gammaln(weight + m) - gammaln(weight) for m in sizes)
        total += np.exp(log_prior + ways + urn)
    return np.log(total)


def log_crp_gamma(sizes, shape, rate, discount=0.0):
    """The same with alpha integrated over its Gamma prior."""

    def integrand(alpha):
        log_prior = shape * np.log(rate) - gammaln(shape) + (shape - 1) * np.log(alpha) - rate * alpha
        return np.exp(log_prior + log_crp(sizes, alpha, discount))

    return np.log(integrate.quad(integrand, 0, np.inf, epsabs=1e-14, epsrel=1e-10)[0])


def sizes_of(labels):
    return tuple(int(m) for m in np.bincount(labels))


def exact_posterior(X, log_prior, log_marginal):
    """Probability of every partition; `log_prior(sizes)`, `log_marginal(items of a cluster)`."""
    cache = {}

    def marginal(members):
        if members not in cache:
            cache[members] = log_marginal(X[list(members)])
        return cache[members]

    priors = {}
    scores = []
    every = partitions(len(X))
    for labels in every:
        groups = [tuple(np.flatnonzero(np.array(labels) == k)) for k in range(max(labels) + 1)]
        sizes = tuple(sorted(len(group) for group in groups))
        if sizes not in priors:
            priors[sizes] = log_prior(sizes)
        scores.append(priors[sizes] + sum(marginal(group) for group in groups))
    scores = np.array(scores)
    weights = np.exp(scores - scores.max())
    return every, weights, scores.max()


def grid_product(*grids):
    return itertools.product(*grids)
