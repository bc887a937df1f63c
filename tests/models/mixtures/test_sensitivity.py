"""Reweighted draws: against exact posteriors, against chains under the other prior, and where weights cannot reach."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import genpareto

import partita as pt
from partita.models import FiniteMixture, GammaAlpha, GaussianDPM
from partita.models.mixtures.cluster_numbers import gibbs_prior
from partita.models.mixtures.sensitivity import pareto_k, reweighted
from support import reference as ref

DATA = np.random.default_rng(1).normal(np.repeat([0.0, 2.5], 20), 1.0)[:, None]


def total_variation(a, b):
    return sum(abs(a.get(k, 0) - b.get(k, 0)) for k in {*a, *b}) / 2


@pytest.mark.parametrize(
    "settings",
    [(3.0, 0.0, None), (0.5, 0.4, None), (GammaAlpha(2.0, 1.0), 0.2, None), (None, 0.0, FiniteMixture(0.5, 2.0))],
    ids=["alpha", "discount", "both", "finite"],
)
def test_an_exact_posterior_becomes_that_under_the_other_prior(settings):
    """All partitions of six items, weighted by posterior under the old prior."""
    partitions = np.array(ref.all_partitions(6))
    likelihood = np.random.default_rng(2).gamma(0.3, size=len(partitions))
    old, new = gibbs_prior(6, GammaAlpha(), 0.0, None), gibbs_prior(6, *settings)

    def posterior(prior):
        sizes = np.array([prior.log_size_table()[np.bincount(p)].sum() for p in partitions])
        weights = likelihood * np.exp(prior.log_prior(partitions.max(axis=1) + 1, sizes))
        return weights / weights.sum()

    sample = pt.as_sample(partitions, posterior(old))
    np.testing.assert_allclose(reweighted(sample, old, new).weights, posterior(new), rtol=1e-9)


def compared(draws, model, other, **change):
    """Total variation of the number of clusters: reweighted against sampled anew, and what chance alone gives."""
    plan = {"draws": draws, "warmup": 500, "thin": 4, "chains": 2}
    chain = model.sample(DATA, rng=1, **plan)
    anew = [other.sample(DATA, rng=seed, **plan) for seed in (2, 3)]
    sample = pt.as_sample(chain)
    new = gibbs_prior(40, change.get("alpha"), change.get("discount", 0.0), change.get("components"))
    weighted = pt.n_clusters_posterior(reweighted(sample, gibbs_prior(40, model.alpha, model.discount), new))
    counts = [pt.n_clusters_posterior(each) for each in anew]
    return (
        total_variation(weighted, counts[0]),
        total_variation(*counts),
        total_variation(pt.n_clusters_posterior(chain), counts[0]),
    )


CHANGES = [
    (GaussianDPM("diag"), GaussianDPM("diag", alpha=0.4), {"alpha": 0.4}),
    (GaussianDPM("diag", alpha=1.0), GaussianDPM("diag", alpha=GammaAlpha(2.0, 4.0)), {"alpha": GammaAlpha(2.0, 4.0)}),
    (GaussianDPM("diag", alpha=0.7), GaussianDPM("diag", alpha=0.7, discount=0.15), {"alpha": 0.7, "discount": 0.15}),
]


@pytest.mark.parametrize(("model", "other", "change"), CHANGES, ids=["fixed", "gamma", "discount"])
def test_reweighted_draws_agree_with_draws_under_the_other_prior(model, other, change):
    found, chance, unweighted = compared(1500, model, other, **change)
    assert found < 3 * chance + 0.03
    assert unweighted > found


@pytest.mark.slow
@pytest.mark.parametrize(("model", "other", "change"), CHANGES, ids=["fixed", "gamma", "discount"])
def test_reweighted_draws_agree_over_long_chains(model, other, change):
    found, chance, unweighted = compared(20_000, model, other, **change)
    assert found < 3 * chance + 0.008
    assert unweighted > 3 * found


def test_rows_ranges_and_what_is_out_of_reach():
    chain = GaussianDPM("diag", alpha=1.0).sample(DATA, draws=1000, warmup=300, chains=2, rng=1)
    found = pt.sensitivity(chain, alpha=[0.5, 1.0, 1e-60, 40.0], components=[FiniteMixture()], rng=1)
    same = found.changes[1]
    assert same.pareto_k == -np.inf
    assert same.stays
    assert same.mean_clusters == pytest.approx(found.mean_clusters)
    assert found.changes[0].mean_clusters < found.mean_clusters
    far = found.changes[3]
    assert far.pareto_k > 0.7
    assert (far.labels, far.stays, far.mean_clusters, far.n_clusters) == (None, None, None, None)
    assert found.range is not None
    assert found.range[1] == 1.0
    assert "alpha 40" in found.notes[0]
    assert "out of reach" in repr(found)
    assert found.to_pandas().shape == (5, 8)
    assert "stays the best" in found.in_words()
    assert found.changes[4].prior.startswith("FiniteMixture")


def test_another_partition_is_reported_where_the_prior_decides():
    """Two partitions of equal likelihood: the concentration chooses."""
    draws = [[0, 0, 0, 0, 0, 0]] * 52 + [[0, 0, 0, 1, 1, 1]] * 48
    found = pt.sensitivity(draws, alpha=[0.2, 1.0, 5.0], prior=1.0, rng=1)
    assert [row.stays for row in found.changes] == [True, True, False]
    assert found.changes[2].n_clusters == 2
    assert found.changes[2].excess > 0
    assert found.range == (0.2, 1.0)


def test_pareto_k_is_that_of_the_tail():
    rng = np.random.default_rng(1)
    for k in (0.2, 0.5, 1.0):
        assert pareto_k(genpareto.rvs(k, size=40_000, random_state=rng)) == pytest.approx(k, abs=0.25)
    assert pareto_k(np.r_[np.ones(1000), 1e6]) > 0.7


def test_pareto_k_of_weights_with_ties():
    """Weights that depend on the number of clusters alone have few values."""
    rng = np.random.default_rng(1)
    for slope in (0.1, 0.3, 0.6):  # P(w > x) falls as x to the minus ln 2 / slope
        assert pareto_k(np.exp(slope * rng.geometric(0.5, 40_000))) == pytest.approx(slope / np.log(2), abs=0.25)
    assert pareto_k(np.exp(1.2 * rng.geometric(0.5, 20_000))) > 0.9
    for counts in ([503, 84, 12, 1], [5030, 840, 120, 10], [300, 300], [999, 1]):
        bounded = np.repeat(1.5 ** np.arange(len(counts)), counts)
        assert pareto_k(bounded) < 0.5
        noisy = bounded * rng.choice([1 - 2**-53, 1, 1 + 2**-52], bounded.size)  # of sums
        assert pareto_k(noisy) == pytest.approx(pareto_k(bounded), abs=1e-6)
    for equal in (np.ones(30), np.r_[np.zeros(9), np.ones(30)]):
        assert pareto_k(equal * rng.choice([1 - 2**-53, 1], equal.size)) == -np.inf
        assert pareto_k(1 / bounded) < 0.5


def test_concentrations_near_that_of_the_draws_are_within_reach():
    chain = GaussianDPM("diag").sample(DATA, draws=1000, warmup=300, chains=2, rng=1)
    found = pt.sensitivity(chain, alpha=[0.5, 1.0, 2.0], rng=1)
    assert all(row.labels is not None for row in found.changes)
    ks = [row.pareto_k for row in pt.sensitivity(chain, alpha=[2.0, 5.0, 20.0, 80.0], rng=1).changes]
    assert ks == sorted(ks)


def test_bad_input():
    with pytest.raises(TypeError, match="prior is missing"):
        pt.sensitivity([[0, 1], [0, 0]], alpha=[1.0])
    with pytest.raises(TypeError, match="alpha, discount or components is missing"):
        pt.sensitivity([[0, 1], [0, 0]], prior=1.0)
    with pytest.raises(ValueError, match="alpha, discount or components is empty"):
        pt.sensitivity([[0, 1], [0, 0]], alpha=[], prior=1.0)
    with pytest.raises(ValueError, match="needs draws that label every item"):
        pt.sensitivity(pt.as_sample([[0, -1], [0, 0]], missing=-1), alpha=[1.0], prior=1.0)
    with pytest.raises(ValueError, match="discount must be in"):
        pt.sensitivity([[0, 1], [0, 0]], discount=[1.5], prior=1.0)
