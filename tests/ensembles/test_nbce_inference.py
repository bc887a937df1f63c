"""The three inferences of NBCE against enumeration and plain references."""

from __future__ import annotations

import numpy as np
import pytest

from partita.ensembles.base_clusterings import as_base
from partita.ensembles.nbce import NBCEModel, sample_nbce
from partita.ensembles.nbce_variational import (
    Settings,
    bound,
    fit_cvb,
    fit_vb,
    learn,
    mean_log_labels,
    mean_log_weights,
    random_start,
)
from partita.ensembles.responsibilities import LocalHost
from partita.models.chains.checkpoint import Plan
from support import ensemble_reference as reference

TINY = [[0, 0, 0], [0, 0, -1], [0, 1, 1], [1, 1, 2], [1, -1, 2]]


POWERS = np.array([1.0, 0.3, 0.6])


def chain_frequencies(model, codes, seed=1, chains=24, draws=2000, weights=None):
    chain = sample_nbce(model, as_base(np.array(codes)), Plan(draws, 50, 1, chains, seed), weights)
    tables = []
    for labels in chain.labels:
        rows, counts = np.unique(labels, axis=0, return_counts=True)
        tables.append({tuple(map(int, row)): count / draws for row, count in zip(rows, counts, strict=True)})
    return tables


def worst_error(tables, exact):
    """The largest distance from the exact probability, in standard errors over chains."""
    worst = 0.0
    for partition, probability in exact.items():
        found = np.array([table.get(partition, 0.0) for table in tables])
        error = max(found.std(ddof=1), np.sqrt(probability / 2000)) / np.sqrt(len(found))
        worst = max(worst, abs(found.mean() - probability) / error)
    return worst


@pytest.mark.parametrize("prior", ["fsd", "tsb"])
@pytest.mark.parametrize("truncation", [2, 4])
def test_gibbs_matches_enumeration(prior, truncation):
    exact = reference.exact_posterior(TINY, [2, 2, 3], truncation, prior, [(0.8, 1.0)], [(0.6, 1.0)])
    tables = chain_frequencies(NBCEModel(prior, truncation, 0.8, 0.6), TINY)
    assert worst_error(tables, exact) < 5.0


@pytest.mark.parametrize("prior", ["fsd", "tsb"])
def test_gibbs_with_learned_concentrations_matches_enumeration(prior):
    grids = reference.gamma_grid(2.0, 1.5), reference.gamma_grid(1.0, 1.0)
    exact = reference.exact_posterior(TINY, [2, 2, 3], 3, prior, *grids)
    model = NBCEModel(prior, 3, None, None, (2.0, 1.5), (1.0, 1.0))
    assert worst_error(chain_frequencies(model, TINY), exact) < 5.0


@pytest.mark.parametrize("prior", ["fsd", "tsb"])
def test_weighted_gibbs_matches_the_enumerated_weighted_posterior(prior):
    grids = reference.gamma_grid(2.0, 1.5), reference.gamma_grid(1.0, 1.0)
    exact = reference.exact_posterior(TINY, [2, 2, 3], 3, prior, *grids, POWERS)
    model = NBCEModel(prior, 3, None, None, (2.0, 1.5), (1.0, 1.0))
    assert worst_error(chain_frequencies(model, TINY, weights=POWERS), exact) < 5.0
    assert worst_error(chain_frequencies(model, TINY), exact) > 10.0  # the seeded fault: no weights


def test_the_enumeration_can_fail():
    exact = reference.exact_posterior(TINY, [2, 2, 3], 4, "tsb", [(0.8, 1.0)], [(0.6, 1.0)])
    tables = chain_frequencies(NBCEModel("tsb", 4, 1.2, 0.6), TINY)
    assert worst_error(tables, exact) > 10.0


def test_log_density_is_the_joint():
    base = as_base(np.array(TINY))
    chain = sample_nbce(NBCEModel("fsd", 4, 0.8, 0.6), base, Plan(20, 0, 1, 1, 3), POWERS)
    for labels, found in zip(chain.labels[0], chain.log_density[0], strict=True):
        z = labels.tolist()
        sizes = [z.count(c) for c in range(4)]
        expected = reference.log_weights_prior(sizes, 0.8, "fsd")
        expected += reference.log_labels_given(TINY, z, 4, [2, 2, 3], 0.6, POWERS)
        assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("prior", ["fsd", "tsb"])
def test_a_restored_chain_goes_on_as_if_nothing_happened(prior):
    base = as_base(np.random.default_rng(0).integers(-1, 4, (40, 5)))
    inputs = {"codes": base.codes, "n_labels": base.sizes, "weights": np.ones(base.n_clusterings)}
    plan, model = Plan(10, 0, 1, 1, 5), NBCEModel(prior, 20)
    (first,), (second,) = model.samplers(inputs, plan), model.samplers(inputs, plan)
    first.advance(7, 0, 1)
    second.restore(first.state())
    for ours, theirs in zip(first.advance(5, 0, 1), second.advance(5, 0, 1), strict=True):
        assert np.array_equal(ours, theirs)
    with pytest.raises(ValueError, match="state"):
        second.restore(first.state()[:-4])


@pytest.fixture
def noisy():
    """30 items in 3 groups, 4 clusterings with noise and gaps."""
    rng = np.random.default_rng(7)
    truth = np.repeat([0, 1, 2], 10)
    codes = np.stack([rng.permutation(3)[truth] for _ in range(4)], axis=1)
    codes[rng.random(codes.shape) < 0.15] = 1
    codes[rng.random(codes.shape) < 0.1] = -1
    return as_base(codes)


def test_vb_bound_never_falls(noisy):
    for seed in range(5):
        weights = np.random.default_rng(seed).uniform(0.05, 1.0, noisy.n_clusterings)
        fit = fit_vb(LocalHost(noisy, weights), Settings(truncation=8, tolerance=1e-9), np.random.default_rng(seed))
        assert fit.converged
        assert np.diff(fit.bounds).min() >= -1e-9


def test_vb_bound_is_the_appendix_and_every_half_step_raises_it(noisy):
    weights = np.array([1.0, 0.2, 0.5, 0.8])
    hosts, settings = LocalHost(noisy, weights), Settings(truncation=6, alpha=0.7, beta=0.4)
    layout, n_labels = hosts.layout, noisy.sizes.tolist()
    step, codes = random_start(hosts, 6, np.random.default_rng(0)), noisy.codes.tolist()
    last = -np.inf
    for _ in range(6):
        xi, rho = 0.7 / 6 + step.sizes, 0.4 + step.counts
        tables = [rho[rows] for rows in layout.slices()]
        gamma, known = hosts.responsibilities(), (xi, tables, 0.7, 0.4, n_labels, weights)
        after_parameters = reference.appendix_bound(codes, gamma, *known)
        assert after_parameters == pytest.approx(bound(step, 0.7, 0.4, layout, settings), rel=1e-12)
        step = hosts.linear(layout.weighted(mean_log_labels(rho, layout)), mean_log_weights(xi))
        after_items = reference.appendix_bound(codes, hosts.responsibilities(), *known)
        assert last <= after_parameters + 1e-10 <= after_items + 2e-10
        last = after_items


@pytest.mark.parametrize("sticks", [False, True])
def test_learned_concentrations_maximise_the_bound(noisy, sticks):
    hosts, settings = LocalHost(noisy), Settings(truncation=6, sticks=sticks)
    step = random_start(hosts, 6, np.random.default_rng(3))
    alpha, beta = learn(step, 1.0, 0.5, hosts.layout, settings)
    best = bound(step, alpha, beta, hosts.layout, settings)
    for factor in (0.9, 0.99, 1.01, 1.1):
        assert bound(step, factor * alpha, beta, hosts.layout, settings) < best
        assert bound(step, alpha, factor * beta, hosts.layout, settings) < best


@pytest.mark.parametrize("prior", ["fsd", "tsb"])
def test_cvb_update_matches_the_plain_reference(noisy, prior):
    weights = np.array([1.0, 0.2, 0.5, 0.8])
    hosts = LocalHost(noisy, weights)
    step = random_start(hosts, 5, np.random.default_rng(2))
    old = hosts.responsibilities().copy()
    stepped = hosts.collapsed(step, 0.9, 0.3, prior == "tsb", 0.0)
    known = (noisy.sizes.tolist(), 0.9, 0.3, prior, weights)
    expected = reference.collapsed_update(noisy.codes.tolist(), old, *known)
    np.testing.assert_allclose(hosts.responsibilities(), expected, atol=1e-12)
    flat = np.concatenate(reference.counts_of(noisy.codes.tolist(), expected, noisy.sizes.tolist()))
    np.testing.assert_allclose(stepped.counts, flat, atol=1e-12)
    assert stepped.change == pytest.approx(np.abs(expected - old).max())


@pytest.mark.parametrize("prior", ["fsd", "tsb"])
def test_cvb_ends_at_a_fixed_point(noisy, prior):
    hosts = LocalHost(noisy)
    settings = Settings(truncation=5, sticks=prior == "tsb", tolerance=1e-6, max_iter=1000)
    fit = fit_cvb(hosts, settings, np.random.default_rng(4))
    gamma = hosts.responsibilities()
    again = reference.collapsed_update(noisy.codes.tolist(), gamma, noisy.sizes.tolist(), fit.alpha, fit.beta, prior)
    assert fit.converged
    np.testing.assert_allclose(gamma, again, atol=1e-4)
