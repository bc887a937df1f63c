"""Every family against numerical integration, and against the exact posterior over all partitions."""

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import gammaln

from partita.models import DiscreteBase, FiniteMixture, MixtureDPM, SplitMergeMoves
from support import mixture_reference as reference
from support import table_reference as tables
from support.table_cases import CASES, codes, model_of

# a table of one column has rows without a cell wherever it has gaps
pytestmark = pytest.mark.filterwarnings("ignore:.* no observed cell")


def frequencies(chain):
    """How often each chain visits each partition, (chains, partitions)."""
    every = np.array(reference.partitions(6), dtype=np.uint64)
    powers = np.uint64(10) ** np.arange(6, dtype=np.uint64)
    keys = every @ powers
    order = np.argsort(keys)
    places = order[np.searchsorted(keys[order], chain.labels.astype(np.uint64) @ powers)]
    return np.array([np.bincount(row, minlength=len(keys)) for row in places]) / chain.n_draws


def excess(found, exact):
    """Total variation from the exact posterior, over what Monte Carlo error alone leads one to expect."""
    error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    return np.abs(found.mean(axis=0) - exact).sum() / (np.sqrt(2 / np.pi) * error.sum())


def exact_posterior(case, log_prior):
    every = [np.array(labels) for labels in reference.partitions(6)]
    logs = []
    for labels in every:
        groups = [np.flatnonzero(labels == k) for k in range(labels.max() + 1)]
        logs.append(log_prior(tuple(map(len, groups))) + sum(CASES[case][2](group) for group in groups))
    weights = np.exp(np.array(logs) - max(logs))
    return weights / weights.sum()


def log_components(sizes, weight, components):
    """Dirichlet proportions of a given number of components, some of them empty."""
    n, t = sum(sizes), len(sizes)
    total = gammaln(components + 1) - gammaln(components - t + 1)
    total += gammaln(weight * components) - gammaln(weight * components + n)
    return total + sum(gammaln(weight + m) - gammaln(weight) for m in sizes)


PRIORS = {
    "fixed": ({"alpha": 0.7}, lambda s: reference.log_crp(s, 0.7)),
    "gamma": ({}, lambda s: reference.log_crp_gamma(s, 1.0, 1.0)),
    "pitman-yor": ({"alpha": 0.7, "discount": 0.3}, lambda s: reference.log_crp(s, 0.7, 0.3)),
    "three components": (
        {"components": FiniteMixture(0.8, components=3)},
        lambda s: -np.inf if len(s) > 3 else log_components(s, 0.8, 3),
    ),
    "finite": ({"components": FiniteMixture(0.8, 1.5)}, lambda s: reference.log_finite(s, 0.8, 1.5)),
}


@pytest.mark.parametrize("split_merge", [0, 2])
@pytest.mark.parametrize("case", CASES)
def test_a_long_run_has_the_exact_posterior(case, split_merge):
    more, log_prior = PRIORS["fixed"]
    chain = model_of(case, moves=SplitMergeMoves(split_merge), **more).sample(
        CASES[case][0], draws=1200, warmup=50, chains=12, rng=5
    )
    assert excess(frequencies(chain), exact_posterior(case, log_prior)) < 1.6


@pytest.mark.parametrize("prior", PRIORS)
def test_every_prior_on_partitions(prior):
    more, log_prior = PRIORS[prior]
    chain = model_of("mixed", **more).sample(CASES["mixed"][0], draws=1200, warmup=50, chains=12, rng=6)
    assert excess(frequencies(chain), exact_posterior("mixed", log_prior)) < 1.6


def test_a_wrong_weight_is_noticed():
    """The seeded fault: the sampler has another weight per level."""
    chain = model_of("categorical", alpha=0.7, discrete=DiscreteBase(weight=0.35)).sample(
        CASES["categorical"][0], draws=1200, warmup=50, chains=12, rng=5
    )
    assert excess(frequencies(chain), exact_posterior("categorical", PRIORS["fixed"][1])) > 2.0


@pytest.mark.parametrize("case", CASES)
def test_the_log_density_is_that_of_the_formulas(case):
    for prior in ("fixed", "pitman-yor", "finite"):
        more, log_prior = PRIORS[prior]
        chain = model_of(case, **more).sample(CASES[case][0], draws=200, warmup=0, chains=1, rng=3)
        for labels, value in zip(chain.labels[0, ::20], chain.log_density[0, ::20], strict=True):
            groups = [np.flatnonzero(labels == k) for k in range(labels.max() + 1)]
            expected = log_prior(tuple(map(len, groups))) + sum(CASES[case][2](group) for group in groups)
            np.testing.assert_allclose(value, expected, rtol=1e-11)


def test_counts_by_numerical_integration():
    x = np.array([3.0, 0.0, 7.0])
    value, _ = integrate.quad(
        lambda rate: stats.poisson.pmf(x, rate).prod() * stats.gamma.pdf(rate, 0.7, scale=1 / 0.2), 0, 80, epsabs=1e-14
    )
    np.testing.assert_allclose(tables.log_count(x, 0.7, 0.2), np.log(value), rtol=1e-7)


def test_overdispersed_counts_by_numerical_integration():
    x, shape, rate = np.array([3, 0, 7]), 0.7, 0.2
    values = [
        integrate.quad(lambda p, r=r: stats.nbinom.pmf(x, r, p).prod() * stats.beta.pdf(p, 1 + r * rate, shape), 0, 1)[
            0
        ]
        for r in tables.SIZES
    ]
    np.testing.assert_allclose(tables.log_negative_binomial(x.astype(float), shape, rate), np.log(np.mean(values)))


def test_means_of_overdispersed_counts_have_the_prior_mean():
    """r (1 − p) / p with 1 − p ~ Beta(shape, 1 + r rate) has the mean shape / rate, whatever r is."""
    for r in tables.SIZES:
        mean, _ = integrate.quad(lambda p, r=r: r * (1 - p) / p * stats.beta.pdf(p, 1 + r * 0.3, 1.4), 0, 1)
        np.testing.assert_allclose(mean, 1.4 / 0.3, rtol=1e-4)


def test_the_order_of_levels_matters_to_ordinal_columns_only():
    """Answers 1 and 5 in one cluster are less probable than 1 and 2; reversing the scale changes nothing."""
    near, far = np.repeat([1.0, 2.0, 5.0], [4, 4, 2]), np.repeat([1.0, 5.0, 2.0], [4, 4, 2])
    labels = np.repeat([0, 1], [8, 2])
    for family, equal in (("ordinal", False), ("categorical", True)):
        model = MixtureDPM(family)
        known = {"x": np.append(near, [3, 4])}, {"x": np.append(far, [3, 4])}
        first, second = (model.icl(table, np.append(labels, [2, 2])) for table in known)
        assert np.isclose(first, second) == equal
    reversed_icl = MixtureDPM("ordinal").icl({"x": 6 - near}, labels)
    np.testing.assert_allclose(MixtureDPM("ordinal").icl({"x": near}, labels), reversed_icl, rtol=1e-10)


def test_ordinal_texts_need_an_order():
    with pytest.raises(ValueError, match="order of its texts"):
        MixtureDPM("ordinal").describe({"x": ["low", "high", "low"]})


def test_truth_values_by_numerical_integration():
    value, _ = integrate.quad(lambda p: p**2 * (1 - p) * stats.beta.pdf(p, 0.6, 0.6), 0, 1, epsabs=1e-14)
    np.testing.assert_allclose(tables.log_levels(np.array([1, 1, 0, -1]), 2, 0.6), np.log(value), rtol=1e-7)


def test_three_levels_by_numerical_integration():
    """On a grid of the simplex: the density at weight 2 vanishes at its border."""
    p, q = np.meshgrid(np.linspace(0, 1, 801), np.linspace(0, 1, 801), indexing="ij")
    rest = np.clip(1 - p - q, 0, None)
    density = p**2 * q * 120 * p * q * rest  # Dirichlet(2, 2, 2) is 5! p q r
    value = integrate.simpson(integrate.simpson(density, x=q[0], axis=1), x=p[:, 0])
    np.testing.assert_allclose(tables.log_levels(np.array([0, 0, 1]), 3, 2.0), np.log(value), rtol=1e-5)


def test_positive_numbers_by_numerical_integration():
    """∫∫ ∏ lognormal(x | m, s) p(m, s) dm ds."""
    x, mean, c, a, b = np.array([0.5, 2.0]), 0.2, 0.7, 1.6, 0.9
    m, log_variance = np.meshgrid(np.linspace(-30, 30, 2401), np.linspace(-6, 9, 401))
    variance = np.exp(log_variance)
    density = stats.norm.pdf(m, mean, np.sqrt(variance / c))
    for value in x:
        density *= stats.lognorm.pdf(value, np.sqrt(variance), scale=np.exp(m))
    inner = integrate.simpson(density, x=m[0], axis=1)
    variance = variance[:, 0]
    expected = integrate.simpson(inner * stats.invgamma.pdf(variance, a, scale=b) * variance, x=log_variance[:, 0])
    np.testing.assert_allclose(tables.log_positive(x, mean, c, a, b), np.log(expected), rtol=1e-6)


@pytest.mark.parametrize("shift", [0, 10**6])
def test_large_counts_do_not_drift(shift):
    """Products for small counts, Stirling's series for large ones: after many moves still the formulas."""
    rng = np.random.default_rng(1)
    counts = np.concatenate([rng.poisson(3, 30), rng.poisson(16, 30), rng.poisson(900, 30)]).astype(float) + shift
    chain = MixtureDPM("count", alpha=2.0, moves=SplitMergeMoves(1)).sample(
        {"x": counts}, draws=60, warmup=100, chains=1, rng=4
    )
    labels = chain.labels[0, -1]
    groups = [counts[labels == k] for k in range(labels.max() + 1)]
    expected = reference.log_crp(tuple(map(len, groups)), 2.0)
    expected += sum(tables.log_count(group, 1.0, 1 / counts.mean()) for group in groups)
    np.testing.assert_allclose(chain.log_density[0, -1], expected, rtol=1e-9)


def test_many_levels():
    """More levels than 8 bits hold."""
    rng = np.random.default_rng(2)
    levels = [f"level{code}" for code in rng.integers(400, size=900)]
    chain = MixtureDPM(alpha=2.0).sample({"x": levels, "y": rng.normal(size=900)}, draws=5, warmup=5, chains=1, rng=4)
    assert chain.inputs["wide_codes"].shape == (900, 1)
    own = codes(levels)
    labels = chain.labels[0, -1]
    y = chain.inputs["numbers"][:, 0]
    expected = reference.log_crp(tuple(np.bincount(labels)), 2.0)
    for k in range(labels.max() + 1):
        expected += tables.log_levels(own[labels == k], own.max() + 1, 1.0)
        expected += tables.log_gaussian(y[labels == k], y.mean(), 0.5, 2.0, y.var(ddof=1))
    np.testing.assert_allclose(chain.log_density[0, -1], expected, rtol=1e-9)
