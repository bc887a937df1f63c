"""GaussianDPM: marginal likelihoods, defaults, edge cases, prediction, bad input."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import integrate, stats

from partita.models import Chain, FiniteMixture, GammaAlpha, GaussianDPM, PowerAlpha, SplitMergeMoves, WishartGrid
from support import mixture_reference as reference

RNG = np.random.default_rng(1)
X = np.concatenate([RNG.normal(-3, 1, (30, 2)), RNG.normal(3, 1, (30, 2))])


def one_cluster_density(model, data):
    """ln p(data) under the model with everyone in one cluster, from the core."""
    sampler = model._sampler(data, 0, 0, np.zeros(len(data), np.uint32))
    for _ in range(10**4):
        labels, values = sampler.advance(1, 0, 1)
        if labels.max() == 0:
            return values[0, 0] - reference.log_crp((len(data),), 1e-3)
    raise AssertionError("never in one cluster")


@pytest.mark.parametrize("covariance", ["full", "diag"])
def test_marginal_likelihood_by_numerical_integration(covariance):
    """d = 1: ∫∫ ∏ N(x | mu, s) p(mu, s) dmu ds."""
    data = np.array([[0.3], [-0.4], [1.1]])
    mu0, c, a, b = 0.2, 0.7, 1.6, 0.9

    mu, log_variance = np.meshgrid(np.linspace(-30, 30, 2401), np.linspace(-6, 9, 401))
    variance = np.exp(log_variance)
    density = stats.norm.pdf(mu, mu0, np.sqrt(variance / c))
    for x in data[:, 0]:
        density *= stats.norm.pdf(x, mu, np.sqrt(variance))
    inner = integrate.simpson(density, x=mu[0], axis=1)
    variance = variance[:, 0]
    expected = integrate.simpson(inner * stats.invgamma.pdf(variance, a, scale=b) * variance, x=log_variance[:, 0])
    settings = {"c": c, "a": a, "b": b} if covariance == "diag" else {"kappa0": c, "nu0": 2 * a, "scale": [[2 * b]]}
    found = one_cluster_density(GaussianDPM(covariance, 1e-3, mu0, **settings), data)
    np.testing.assert_allclose(np.exp(found), expected, rtol=1e-6)


@pytest.mark.parametrize("dims", [2, 3, 6])
def test_marginal_likelihood_in_closed_form(dims):
    data = np.random.default_rng(dims).normal(size=(7, dims))
    scale = np.cov(np.random.default_rng(9).normal(size=(dims, 40))) + np.eye(dims)
    base = {"mu0": np.full(dims, 0.1), "kappa0": 0.3, "nu0": dims + 0.7, "scale": scale}
    found = one_cluster_density(GaussianDPM(alpha=1e-3, **base), data)
    np.testing.assert_allclose(found, reference.log_marginal_full(data, **base), rtol=1e-12)
    base = {
        "mu0": np.full(dims, 0.1),
        "c": np.full(dims, 0.3),
        "a": np.arange(1, dims + 1.0),
        "b": np.ones(dims),
    }
    found = one_cluster_density(GaussianDPM("diag", 1e-3, **base), data)
    np.testing.assert_allclose(found, reference.log_marginal_diag(data, **base), rtol=1e-12)


@pytest.mark.parametrize("dims", [1, 2, 5, 12])
@pytest.mark.parametrize("covariance", ["full", "diag"])
def test_statistics_do_not_drift(covariance, dims):
    """After many moves the log density is still that of the labels."""
    data = np.random.default_rng(dims).normal(size=(60, dims)) + 1e3
    model = GaussianDPM(covariance, alpha=2.0, moves=SplitMergeMoves(1))
    chain = model.sample(data, draws=63, warmup=192, chains=1, rng=4)
    labels = chain.labels[0, -1].astype(np.uint32)
    fresh = model._sampler(data, 0, 0, labels)
    fresh_density = fresh.advance(0, 0, 1)  # no sweep: only the state is compared
    assert len(fresh_density[0]) == 0
    mean, spread = data.mean(axis=0), data.var(axis=0, ddof=1)
    groups = [data[labels == k] for k in range(labels.max() + 1)]
    if covariance == "full":
        parts = [reference.log_marginal_full(g, mean, 0.5, dims + 3, np.diag(2 * spread)) for g in groups]
    else:
        parts = [reference.log_marginal_diag(g, mean, 0.5, 2.0, spread) for g in groups]
    expected = reference.log_crp(tuple(len(g) for g in groups), 2.0) + sum(parts)
    np.testing.assert_allclose(chain.log_density[0, -1], expected, rtol=1e-9)


def test_far_outliers_keep_their_digits():
    """An item 10^8 scales away from its cluster is scored by recomputation, not by rounding."""
    data = np.array([[0.0], [1e-4], [1e4], [1.0]])
    base = {"mu0": 0.0, "kappa0": 1e-9, "nu0": 1.0, "scale": [[1e-8]]}
    _, weights, _ = reference.exact_posterior(
        data,
        lambda s: reference.log_crp(s, 1.0),
        lambda x: reference.log_marginal_full(x, np.zeros(1), 1e-9, 1.0, np.array([[1e-8]])),
    )
    expected = weights / weights.sum()
    labels = GaussianDPM(alpha=1.0, **base, moves=SplitMergeMoves(1)).sample(data, draws=20000, chains=4, rng=3).labels
    every = reference.partitions(4)
    counts = dict.fromkeys(every, 0)
    for row in labels.reshape(-1, 4):
        counts[tuple(int(k) for k in row)] += 1
    frequencies = np.array([counts[partition] for partition in every]) / labels[..., 0].size
    assert np.abs(frequencies - expected).sum() / 2 < 0.02


@pytest.mark.parametrize("covariance", ["full", "diag"])
@pytest.mark.parametrize(
    "data",
    [
        np.array([[1.0, 2.0]]),
        np.ones((5, 2)),
        np.column_stack([np.arange(6.0), np.ones(6)]),
        np.repeat([[0.0, 0.0], [5.0, 5.0]], 10, axis=0),
        np.random.default_rng(0).normal(size=(3, 7)),
        np.random.default_rng(0).normal(size=(4, 2)) * 1e150,
    ],
    ids=["one item", "all equal", "constant column", "duplicates", "fewer items than dimensions", "huge"],
)
def test_edge_cases_have_an_answer(covariance, data):
    for standardize in (False, True):
        chain = GaussianDPM(covariance, standardize=standardize).sample(data, draws=20, warmup=5, chains=2, rng=0)
        assert chain.labels.shape == (2, 20, len(data))
        assert np.isfinite(chain.log_density).all()
        assert (chain.labels[..., 0] == 0).all()


def test_chain_and_its_ways_out():
    chain = GaussianDPM().sample(X, draws=30, warmup=10, chains=2, rng=0)
    assert isinstance(chain, Chain)
    assert (chain.n_chains, chain.n_draws, chain.n_items) == (2, 30, 60)
    assert chain.labels.dtype == np.uint8
    assert set(chain.stats) >= {"log_density", "n_clusters", "alpha"}
    np.testing.assert_array_equal(chain.n_clusters, chain.labels.max(axis=2) + 1)
    assert repr(chain).startswith("Chain of GaussianDPM: 2 chains x 30 draws x 60 items")
    single = replace(chain, labels=chain.labels[:1], stats={name: values[:1] for name, values in chain.stats.items()})
    assert "1 chain x 30 draws" in repr(single)
    assert "log_density" in chain._repr_html_()
    dataset = chain.to_xarray()
    assert dataset["labels"].dims == ("chain", "draw", "item")
    np.testing.assert_array_equal(dataset["alpha"], chain.alpha)
    assert dataset.attrs["thin"] == 1
    posterior = chain.to_arviz()["posterior"]
    np.testing.assert_array_equal(posterior["labels"], chain.labels)


def test_as_sample_takes_a_chain():
    from partita.draws.sample import as_sample

    chain = GaussianDPM().sample(X, draws=30, warmup=10, chains=2, rng=0)
    sample = as_sample(chain)
    assert (sample.n_draws, sample.n_items) == (60, 60)


@pytest.mark.parametrize(
    "model",
    [
        GaussianDPM(),
        GaussianDPM("diag", standardize=True, discount=0.3),
        GaussianDPM(components=FiniteMixture()),
        GaussianDPM(hyperprior=WishartGrid(size=4), alpha=PowerAlpha(), standardize=True),
    ],
    ids=["full", "diag", "finite", "grid"],
)
def test_predictive_density_integrates_to_one(model):
    chain = model.sample(X[:, :1], draws=20, warmup=50, chains=1, rng=2)
    grid = np.linspace(-400, 400, 40001)
    density = chain.predictive_density(grid[:, None])
    np.testing.assert_allclose(integrate.simpson(density, x=grid), 1.0, atol=2e-3)


def test_predictive_density_is_the_ratio_of_marginals():
    """Of a point: Σ over where it may go of p(labels and it) / p(labels)."""
    base = {"mu0": np.zeros(2), "kappa0": 0.5, "nu0": 4.0, "scale": np.eye(2)}
    chain = GaussianDPM(alpha=0.7, **base).sample(X, draws=1, warmup=20, chains=1, rng=2)
    labels, point = chain.labels[0, 0], np.array([[0.5, -1.0]])
    groups = [X[labels == k] for k in range(labels.max() + 1)]
    expected = 0.7 * np.exp(reference.log_marginal_full(point, **base))
    for group in groups:
        ratio = reference.log_marginal_full(np.vstack([group, point]), **base) - reference.log_marginal_full(
            group, **base
        )
        expected += len(group) * np.exp(ratio)
    np.testing.assert_allclose(chain.predictive_density(point), [expected / (len(X) + 0.7)], rtol=1e-10)


def test_allocation_of_new_points():
    model = GaussianDPM(b=0.5, covariance="diag")
    chain = model.sample(X, draws=100, warmup=100, chains=1, rng=2)
    reported = np.repeat([0, 1], 30)
    probabilities = model.allocation(chain, reported, [[-3.0, -3.0], [3.0, 3.0], [90.0, -90.0]])
    assert probabilities.shape == (3, 3)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert probabilities.argmax(axis=1).tolist() == [0, 1, 2]


def test_allocation_is_the_posterior_given_the_new_item():
    """Draws that explain the new item count more: against all partitions of the items and the new one."""
    data, reported, base = np.array([[-3.0], [-2.2], [2.2], [3.0]]), np.array([0, 0, 1, 1]), (0.05, 1.0, 0.5)
    c, a, b = base
    model = GaussianDPM("diag", alpha=1.0, mu0=0.0, c=c, a=a, b=b)
    chain = model.sample(data, draws=8000, warmup=200, chains=2, rng=1)
    both = np.vstack([data, [[0.0]]])
    every, weights, _ = reference.exact_posterior(
        both,
        lambda sizes: reference.log_crp(sizes, 1.0),
        lambda group: reference.log_marginal_diag(group, np.zeros(1), *(np.full(1, v) for v in base)),
    )
    exact = np.zeros(3)
    for labels, probability in zip(np.array(every), weights / weights.sum(), strict=True):
        mates = reported[np.equal(labels[:4], labels[4])]
        exact += probability * (np.bincount(mates, minlength=3) / len(mates) if len(mates) else np.eye(3)[2])
    assert model.allocation(chain, reported, [[0.0]])[0] == pytest.approx(exact, abs=0.01)  # without weights 0.03 off


def test_standardisation_is_a_change_of_units():
    scaled = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    one = GaussianDPM(standardize=True).sample(X * [3.0, 0.1] + 7, draws=50, chains=1, rng=5)
    other = GaussianDPM().sample(scaled, draws=50, chains=1, rng=5)
    np.testing.assert_array_equal(one.labels, other.labels)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([[0.0, 1.0], [np.nan, 2.0]], "X has nan at row 1, column 0: missing values"),
        ([[0.0, np.inf]], "X has inf at row 0, column 1: infinity"),
        ([["a", "b"]], "X must be numbers"),
        ([1.0, 2.0, 3.0], r"Reshape your data: X.reshape\(-1, 1\)"),
        (np.zeros((2, 2, 2)), "2 dimensions .* but has 3"),
        (np.zeros((0, 2)), "0 item"),
        (np.zeros((2, 0)), "0 feature"),
        ([[1 + 2j]], "Complex data not supported"),
        ([[1.0], [2.0, 3.0]], "X must be numbers"),
    ],
)
def test_bad_data_is_refused(data, message):
    with pytest.raises(ValueError, match=message):
        GaussianDPM().sample(data)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"covariance": "tied"}, "covariance must be one of full, diag, but it is 'tied'"),
        ({"alpha": 0.0}, "alpha must be a positive number"),
        ({"alpha": -1}, "alpha must be a positive number"),
        ({"discount": 1.0}, r"discount must be in \[0, 1\)"),
        ({"discount": -0.1}, r"discount must be in \[0, 1\)"),
        ({"kappa0": 0}, "kappa0 must be a positive number"),
        ({"nu0": 1.0}, "nu0 must be above d - 1 = 1 for 2 dimensions, but it is 1.0"),
        ({"scale": [[1.0, 2.0], [2.0, 1.0]]}, "positive definite, but its least eigenvalue is -1"),
        ({"scale": [[1.0, 0.5], [0.1, 1.0]]}, "symmetric"),
        ({"scale": np.eye(3)}, r"\(2, 2\) matrix, but its shape is \(3, 3\)"),
        ({"mu0": [1.0, 2.0, 3.0]}, "mu0 has shape"),
        ({"mu0": np.nan}, "mu0 must be finite"),
        ({"covariance": "diag", "a": -1.0}, "a must be positive, but its entry 0 is -1.0"),
        ({"covariance": "diag", "b": [1.0, 0.0]}, "b must be positive, but its entry 1 is 0.0"),
        ({"covariance": "diag", "c": np.inf}, "c must be positive"),
        ({"covariance": "diag", "hyperprior": WishartGrid()}, "hyperprior is for covariance='full'"),
        ({"hyperprior": WishartGrid(), "nu0": 5}, "nu0 was given too"),
        ({"components": FiniteMixture(), "alpha": 1.0}, "neither alpha nor discount"),
        ({"moves": SplitMergeMoves(-1)}, "split_merge must be"),
        ({"moves": SplitMergeMoves(restricted_scans=-1)}, "restricted_scans must be at least 0"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        GaussianDPM(**settings).sample(X)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GammaAlpha(0, 1), "shape"),
        (lambda: PowerAlpha(clusters=(3, 2)), "low below high"),
        (lambda: WishartGrid(a=(2, 1)), "low below high"),
        (lambda: FiniteMixture(rate=-1), "rate"),
        (lambda: GaussianDPM().sample(X, draws=0), "draws"),
        (lambda: GaussianDPM().sample(X, thin=0), "thin"),
        (lambda: GaussianDPM().sample(X, n_jobs=0), "n_jobs"),
    ],
)
def test_bad_numbers_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_wrong_types_are_refused():
    with pytest.raises(TypeError, match="hyperprior"):
        GaussianDPM(hyperprior="yes").sample(X)
    with pytest.raises(TypeError, match="components"):
        GaussianDPM(components=3).sample(X)
    with pytest.raises(TypeError, match="alpha"):
        GaussianDPM(alpha="big").sample(X)
    with pytest.raises(TypeError, match="rng"):
        GaussianDPM().sample(X, rng="seed")


def test_bounds_of_the_power_prior_are_those_of_rdpgibbs():
    """The grid that rDPGibbs 3.1 draws from on 272 items, read off its draws."""
    values, log_prior = PowerAlpha().grid(272)
    np.testing.assert_allclose(values[[0, 1, -1]], [0.09080671, 0.31331851, 4.09601924], rtol=1e-6)
    assert (np.diff(log_prior) < 0).all()


@pytest.mark.parametrize(("covariance", "name"), [("full", "a"), ("full", "c"), ("diag", "nu0"), ("diag", "scale")])
def test_an_argument_of_the_other_covariance_is_named(covariance, name):
    """It used to be ignored."""
    model = GaussianDPM(covariance, **{name: 5.0})
    with pytest.raises(ValueError, match=f"{name} is for covariance=.*, but covariance is '{covariance}'"):
        model.sample([[0.0], [1.0]], draws=1, warmup=1, chains=1)
