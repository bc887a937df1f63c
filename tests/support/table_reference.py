"""Marginal likelihoods of the columns of a table, straight from their formulas; NaN and the code −1 are gaps."""

import numpy as np
from scipy.special import gammaln

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
