"""Priors on partitions and what they say of the number of clusters, against enumeration and quadrature."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import gammaln, logsumexp
from scipy.stats import gamma

import partita as pt
from partita.models import FiniteMixture, GammaAlpha, GaussianDPM, PowerAlpha
from partita.models.mixtures.cluster_numbers import gibbs_prior
from support import reference as ref

N = 6
PARTITIONS = ref.all_partitions(N)
CLUSTERS = np.array([max(p) + 1 for p in PARTITIONS])


def process(partition, alpha, discount):
    """Item by item: the probability that the Pitman–Yor process makes this partition."""
    total, sizes = 1.0, []
    for i, cluster in enumerate(partition):
        new = cluster == len(sizes)
        sizes = [*sizes, 0] if new else sizes
        total *= (alpha + (len(sizes) - 1) * discount if new else sizes[cluster] - discount) / (alpha + i)
        sizes[cluster] += 1
    return total


@cache
def integrated_sizes(sizes, shape, rate, discount):
    partition = np.repeat(np.arange(len(sizes)), sizes).tolist()

    def integrand(log_alpha):
        alpha = np.exp(log_alpha)
        return process(partition, alpha, discount) * gamma.pdf(alpha, shape, scale=1 / rate) * alpha

    return quad(integrand, -90, 6, limit=400, epsabs=1e-13)[0]


def integrated(partition, *settings):
    return integrated_sizes(tuple(sorted(np.bincount(partition).tolist())), *settings)


def finite(partition, weight, rate):
    """Sum over the number of components of the Dirichlet-multinomial, times the number of namings of the clusters."""
    sizes, terms = np.bincount(partition), []
    for k in range(sizes.size, 80):
        prior = (k - 1) * np.log(rate) - rate - gammaln(k)
        names = gammaln(k + 1) - gammaln(k - sizes.size + 1)
        within = (gammaln(weight + sizes) - gammaln(weight)).sum() + gammaln(weight * k) - gammaln(weight * k + N)
        terms.append(prior + names + within)
    return np.exp(logsumexp(terms))


CASES = [
    ((1.3, 0.0, None), lambda p: process(p, 1.3, 0.0)),
    ((0.4, 0.3, None), lambda p: process(p, 0.4, 0.3)),
    ((GammaAlpha(0.6, 2.0), 0.0, None), lambda p: integrated(p, 0.6, 2.0, 0.0)),
    ((GammaAlpha(3.0, 0.5), 0.4, None), lambda p: integrated(p, 3.0, 0.5, 0.4)),
    ((None, 0.0, FiniteMixture(0.7, 2.0)), lambda p: finite(p, 0.7, 2.0)),
]


@pytest.mark.parametrize(("settings", "plain"), CASES, ids=["dp", "py", "gamma", "gamma-py", "finite"])
def test_priors_of_all_partitions_and_their_numbers_of_clusters(settings, plain):
    expected = np.array([plain(p) for p in PARTITIONS])
    assert expected.sum() == pytest.approx(1)
    prior = gibbs_prior(N, *settings)
    sizes = np.array([prior.log_size_table()[np.bincount(p)].sum() for p in PARTITIONS])
    np.testing.assert_allclose(np.exp(prior.log_prior(CLUSTERS, sizes)), expected, rtol=1e-8)
    np.testing.assert_allclose(prior.n_clusters(), np.bincount(CLUSTERS, expected), rtol=1e-8)


def test_number_of_clusters_of_many_items():
    """The mean of K under the Dirichlet process is Σ α / (α + i); a grid of concentrations mixes."""
    found = pt.prior_clusters(3000, 2.0)
    assert found.mean == pytest.approx((2.0 / (2.0 + np.arange(3000))).sum(), rel=1e-8)
    assert sum(found.probabilities.values()) == pytest.approx(1)
    grid, logs = PowerAlpha().grid(50)
    weights = np.exp(logs) / np.exp(logs).sum()
    means = [pt.prior_clusters(50, alpha).mean for alpha in grid]
    assert pt.prior_clusters(50, PowerAlpha()).mean == pytest.approx(weights @ means)
    assert pt.prior_clusters(20, GaussianDPM(alpha=0.5, discount=0.2)).mean == pytest.approx(
        pt.prior_clusters(20, 0.5, discount=0.2).mean
    )


def test_an_expected_range_is_met_where_it_can_be():
    wide = pt.prior_clusters(100, (2, 20))
    assert isinstance(wide.prior, GammaAlpha)
    below, above = wide.between(1, 1), wide.between(21, 100)
    assert (below, above) == (pytest.approx(0.05, abs=2e-3), pytest.approx(0.05, abs=2e-3))
    narrow = pt.prior_clusters(100, (3, 8))  # narrower than any mixture over concentrations
    assert isinstance(narrow.prior, float)
    assert narrow.between(3, 8) > 0.88
    assert narrow.interval(0.9)[0] >= 2
    assert GaussianDPM(alpha=wide.prior).alpha == wide.prior
    assert "there are" in wide.in_words()
    assert wide.to_pandas().sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("n", "prior", "message"),
    [
        (0, None, "n must be at least 1"),
        (10, (3, 20), r"prior must be \(fewest, most\) with fewest <= most <= 10 items, but it is \(3, 20\)"),
        (10, (5, 3), "fewest <= most"),
        (10, (1, 2, 3), "a range of clusters is"),
        (10, -1.0, "alpha must be a positive number"),
    ],
)
def test_bad_input(n, prior, message):
    with pytest.raises(ValueError, match=message):
        pt.prior_clusters(n, prior)
    with pytest.raises(TypeError, match="prior must be a number"):
        pt.prior_clusters(10, "3-8")
