"""Variational Bayes for NBCE with the finite symmetric Dirichlet prior (Section 5.2 of the paper)."""

from __future__ import annotations

import numpy as np
from scipy.special import digamma

from partita._support.arrays import Floats
from partita.ensembles.layout import Layout
from partita.ensembles.responsibilities import Hosts
from partita.ensembles.variational import Fit, Settings, bound, learn, random_start


def fit_vb(hosts: Hosts, settings: Settings, rng: np.random.Generator) -> Fit:
    """One run from a random start, until the relative growth of the bound is below `tolerance`.

    Each iteration raises the bound twice: first over α0, β, ξ and ρ given γ, then over γ given those.
    """
    alpha, beta = settings.alpha_start, settings.beta_start
    step = random_start(hosts, settings.truncation, rng)
    bounds: list[float] = []
    for iteration in range(settings.max_iter):
        if iteration >= settings.hold:
            alpha, beta = learn(step, alpha, beta, hosts.layout, settings)
        xi, rho = alpha / settings.truncation + step.sizes, beta + step.counts
        step = hosts.linear(hosts.layout.weighted(mean_log_labels(rho, hosts.layout)), mean_log_weights(xi))
        bounds.append(bound(step, alpha, beta, hosts.layout, settings))
        if iteration > settings.hold and bounds[-1] - bounds[-2] <= settings.tolerance * abs(bounds[-1]):
            return Fit(step, alpha, beta, np.array(bounds), True)
    return Fit(step, alpha, beta, np.array(bounds), False)


def mean_log_weights(xi: Floats) -> Floats:
    """E[log π_k] = Ψ(ξ_k) − Ψ(Σ ξ)."""
    return np.asarray(digamma(xi) - digamma(xi.sum()))


def mean_log_labels(rho: Floats, layout: Layout) -> Floats:
    """E[log θ_kmj] = Ψ(ρ_kmj) − Ψ(Σ_j ρ_kmj), (Σ J_m, clusters)."""
    return np.asarray(digamma(rho) - digamma(layout.per_clustering(rho))[layout.owner])
