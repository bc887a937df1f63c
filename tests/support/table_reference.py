"""Marginal likelihoods of the columns of a table, straight from their formulas; NaN and the code −1 are gaps."""

import numpy as np
from scipy import stats
from scipy.special import betaln, gammaln, logsumexp

from support import mixture_reference


def log_gaussian(x, mean, c, a, b):
    """ln ∫ ∏ N(x | m, s²) dP0 over the observed cells."""
    x = x[~np.isnan(x)]
    return mixture_reference.log_marginal_diag(x[:, None], np.array([mean]), c, a, np.array([b])) if len(x) else 0.0


def log_positive(x, mean, c, a, b):
    """The same for ln x, with the Jacobian 1 / x."""
    x = x[~np.isnan(x)]
    return log_gaussian(np.log(x), mean, c, a, b) - np.log(x).sum()


def log_count(x, shape, rate):
    """ln ∫ ∏ Poisson(x | λ) Gamma(λ | shape, rate) dλ over the observed cells."""
    x = x[~np.isnan(x)]
    total = shape + x.sum()
    rates = shape * np.log(rate) - total * np.log(rate + len(x))
    return gammaln(total) - gammaln(shape) + rates - gammaln(x + 1).sum()


def log_levels(codes, n_levels, weight):
    """ln ∫ ∏ p[code] Dirichlet(p | weight, ..., weight) dp over the observed cells."""
    counts = np.bincount(codes[codes >= 0], minlength=n_levels)
    return (
        gammaln(n_levels * weight)
        - gammaln(n_levels * weight + counts.sum())
        + (gammaln(weight + counts) - gammaln(weight)).sum()
    )


SIZES = [0.25, 0.5, 1, 2, 4, 8, 16, 32, 64]


def log_negative_binomial(x, shape, rate):
    """ln of the mean over sizes r of ∫ ∏ NB(x | r, p) Beta(p | 1 + r rate, shape) dp over the observed cells."""
    x = x[~np.isnan(x)]
    logs = [
        (gammaln(x + r) - gammaln(r) - gammaln(x + 1)).sum()
        + betaln(1 + r * rate + len(x) * r, shape + x.sum())
        - betaln(1 + r * rate, shape)
        for r in SIZES
    ]
    return logsumexp(logs) - np.log(len(SIZES))


def log_ordinal(codes, column, n_levels, c, a, b):
    """ln Σ w(m, s) ∏ P(level | m, s) over the observed cells, on the grid that the documentation states."""
    counts = np.bincount(column[column >= 0], minlength=n_levels) + 0.5
    cuts = np.concatenate([[-np.inf], stats.norm.ppf(np.cumsum(counts)[:-1] / counts.sum()), [np.inf]])
    m, s = (axis.ravel()[:, None] for axis in np.meshgrid(np.linspace(-3.5, 3.5, 36), 0.2 * 1.35 ** np.arange(9)))
    weights = stats.invgamma.logpdf(s**2, a, scale=b) + 2 * np.log(s) + stats.norm.logpdf(m, 0, s / np.sqrt(c))
    shares = np.diff(stats.norm.cdf(cuts, m, s), axis=1) * (1 - 1e-4) + 1e-4 / n_levels
    logs = np.log(shares)[:, codes[codes >= 0]].sum(axis=1)
    return logsumexp(logs + weights[:, 0]) - logsumexp(weights)
