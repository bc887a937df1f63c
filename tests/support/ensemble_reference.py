"""NBCE straight from its formulas: slow, plain, and independent of the package."""

from __future__ import annotations

import itertools
from math import exp, log

import numpy as np
from scipy.special import digamma, gammaln


def noisy_clusterings(errors, gaps=0.0):
    """Six clusterings of 60 items in three true clusters, (60, 6); a share of the labels is random, another missing."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 20)
    codes = np.stack([rng.permutation(3)[truth] for _ in range(6)], axis=1)
    wrong = rng.random(codes.shape) < errors
    codes[wrong] = rng.integers(3, size=int(wrong.sum()))
    codes[rng.random(codes.shape) < gaps] = -1
    return codes


def log_weights_prior(sizes, alpha, prior):
    """log p(Z | α0) from cluster sizes by number; TSB with the factor α0 of each Beta(1, α0)."""
    sizes, k = list(sizes), len(sizes)
    if prior == "fsd":
        n = sum(sizes)
        parts = [gammaln(alpha / k + size) - gammaln(alpha / k) for size in sizes]
        return gammaln(alpha) - gammaln(alpha + n) + sum(parts)
    total = 0.0
    for c in range(k - 1):
        here, beyond = sum(sizes[c:]), sum(sizes[c + 1 :])
        total += log(alpha) + gammaln(1 + sizes[c]) + gammaln(alpha + beyond) - gammaln(1 + alpha + here)
    return total


def log_labels_given(codes, z, k, n_labels, beta, weights=None):
    """Σ_m w_m log p(Y_m | Z, β), eq. 4, gaps left out."""
    total = 0.0
    for m, j in enumerate(n_labels):
        own = 0.0
        for c in range(k):
            seen = [codes[n][m] for n in range(len(z)) if z[n] == c and codes[n][m] >= 0]
            own += gammaln(j * beta) - gammaln(j * beta + len(seen))
            own += sum(gammaln(beta + seen.count(label)) - gammaln(beta) for label in range(j))
        total += own if weights is None else weights[m] * own
    return total


def canonical(z):
    names = {}
    return tuple(names.setdefault(c, len(names)) for c in z)


def exact_posterior(codes, n_labels, k, prior, alpha, beta, weights=None):
    """Partition -> probability, by all K^n assignments; `alpha`, `beta`: values and weights to sum over."""
    mass, of_labels = {}, {}
    for z in itertools.product(range(k), repeat=len(codes)):
        sizes = [z.count(c) for c in range(k)]
        from_weights = sum(w * exp(log_weights_prior(sizes, a, prior)) for a, w in alpha)
        partition = canonical(z)
        if partition not in of_labels:  # the numbers of the clusters do not matter to the labels
            of_labels[partition] = sum(w * exp(log_labels_given(codes, z, k, n_labels, b, weights)) for b, w in beta)
        mass[partition] = mass.get(partition, 0.0) + from_weights * of_labels[partition]
    total = sum(mass.values())
    return {partition: value / total for partition, value in mass.items()}


def gamma_grid(shape, rate, points=40):
    """Values and weights that integrate against Gamma(shape, rate), on a grid in log x."""
    t = np.linspace(log(1e-5), log(60.0), points)
    density = np.exp(shape * t - rate * np.exp(t) - gammaln(shape)) * rate**shape
    return list(zip(np.exp(t), density * (t[1] - t[0]), strict=True))


def counts_of(codes, gamma, n_labels):
    """Expected counts N_kmj as nested lists [m][j] -> (K,)."""
    return [
        [sum((gamma[n] for n in range(len(codes)) if codes[n][m] == j), np.zeros(gamma.shape[1])) for j in range(size)]
        for m, size in enumerate(n_labels)
    ]


def appendix_bound(codes, gamma, xi, rho, alpha, beta, n_labels, weights=None):
    """The seven terms of eq. 7, with its misprints put right; the terms of clustering m times w_m. rho[m]: (J_m, K)."""
    k, weights = len(xi), np.ones(len(n_labels)) if weights is None else weights
    log_pi = digamma(xi) - digamma(xi.sum())
    log_theta = [digamma(r) - digamma(r.sum(axis=0)) for r in rho]
    total = 0.0
    for n in range(len(codes)):
        for m in range(len(n_labels)):
            if codes[n][m] >= 0:
                total += weights[m] * (gamma[n] @ log_theta[m][codes[n][m]])
    total += gammaln(alpha) - k * gammaln(alpha / k) + (alpha / k - 1) * log_pi.sum()
    total += (gamma @ log_pi).sum()
    for m, j in enumerate(n_labels):
        total += weights[m] * (k * gammaln(j * beta) - k * j * gammaln(beta) + (beta - 1) * log_theta[m].sum())
    total -= gammaln(xi.sum()) - gammaln(xi).sum() + ((xi - 1) * log_pi).sum()
    for m in range(len(n_labels)):
        own = gammaln(rho[m].sum(axis=0)).sum() - gammaln(rho[m]).sum()
        total -= weights[m] * (own + ((rho[m] - 1) * log_theta[m]).sum())
    for n in range(len(codes)):
        total -= sum(g * log(g) for g in gamma[n] if g > 0)
    return total


def collapsed_update(codes, gamma, n_labels, alpha, beta, prior, weights=None):
    """Eq. 10-11, first order, one item at a time but all from the old responsibilities."""
    n_items, k = gamma.shape
    weights = np.ones(len(n_labels)) if weights is None else weights
    new = np.empty_like(gamma)
    for n in range(n_items):
        others = [i for i in range(n_items) if i != n]
        sizes = gamma[others].sum(axis=0)
        for c in range(k):
            if prior == "fsd":
                score = log(alpha / k + sizes[c])
            else:
                score = 0.0 if c == k - 1 else log(1 + sizes[c]) - log(1 + alpha + sizes[c:].sum())
                for h in range(c):
                    score += log(alpha + sizes[h + 1 :].sum()) - log(1 + alpha + sizes[h:].sum())
            for m, j in enumerate(n_labels):
                if codes[n][m] < 0:
                    continue
                same = sum(gamma[i, c] for i in others if codes[i][m] == codes[n][m])
                seen = sum(gamma[i, c] for i in others if codes[i][m] >= 0)
                score += weights[m] * (log(beta + same) - log(j * beta + seen))
            new[n, c] = score
        new[n] = np.exp(new[n] - new[n].max())
        new[n] /= new[n].sum()
    return new
