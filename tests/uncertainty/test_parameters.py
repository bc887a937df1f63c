"""Parameters of clusters: against plain loops, under relabelling, and the coverage of the intervals in simulations."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from partita.draws.sample import as_sample
from partita.estimation.convergence import MixingWarning
from partita.estimation.estimate import estimate
from partita.models import GaussianDPM
from partita.models.chains.chain import Chain
from partita.models.mixtures.cluster_means import draw_means
from partita.search.settings import Search
from partita.uncertainty import parameters
from partita.uncertainty.parameters import cluster_parameters


def switching_draws(rng, n_draws=60, n_items=7, n_clusters=3):
    """Labels that switch from draw to draw, and the parameters of the clusters as the sampler numbers them."""
    labels = np.array([rng.permutation(n_clusters)[rng.integers(n_clusters, size=n_items)] for _ in range(n_draws)])
    return labels, rng.normal(size=(n_draws, n_clusters, 2))


def test_draws_are_means_over_items_and_do_not_depend_on_the_numbers():
    rng = np.random.default_rng(1)
    labels, theta = switching_draws(rng)
    reported = [0, 0, 1, 1, 1, 2, 0]
    found = cluster_parameters(reported, theta, labels, labels=labels, level=0.8)
    for t in range(60):
        for c in range(3):
            items = [i for i in range(7) if reported[i] == c]
            expected = np.mean([theta[t, labels[t, i]] for i in items], axis=0)
            np.testing.assert_allclose(found.draws[t, c], expected)
    np.testing.assert_allclose(found.clusters.mean, found.draws.mean(axis=0))
    np.testing.assert_allclose(found.clusters.low, np.quantile(found.draws, 0.1, axis=0))
    item = np.array([theta[t, labels[t, 4]] for t in range(60)])
    np.testing.assert_allclose(found.items.high[4], np.quantile(item, 0.9, axis=0))
    switched = np.array([rng.permutation(3) for _ in range(60)])
    other = np.take_along_axis(theta, np.argsort(switched, axis=1)[:, :, None], axis=1)
    again = cluster_parameters(reported, other, labels, labels=np.take_along_axis(switched, labels, axis=1), level=0.8)
    np.testing.assert_allclose(again.draws, found.draws)
    per_item = theta[np.arange(60)[:, None], labels]
    np.testing.assert_allclose(cluster_parameters(reported, per_item, labels).draws, found.draws)
    assert found.to_pandas().shape == (6, 6)


def test_weights_chains_and_arviz_variables():
    rng = np.random.default_rng(2)
    labels, theta = switching_draws(rng)
    sample = as_sample(labels, rng.gamma(1.0, size=60))
    weights = sample.draw_weights
    found = cluster_parameters([0] * 7, theta, sample, labels=labels)
    np.testing.assert_allclose(found.clusters.mean[0], weights / weights.sum() @ found.draws[:, 0])
    order = np.argsort(found.draws[:, 0, 0])
    below = np.cumsum(weights[order]) / weights.sum()
    assert found.clusters.low[0, 0] == found.draws[order[np.argmax(below >= 0.05)], 0, 0]
    xarray = pytest.importorskip("xarray")
    shaped = labels.reshape(2, 30, 7)
    data = xarray.Dataset(
        {"mu": (("cluster", "chain", "draw", "side"), theta.reshape(2, 30, 3, 2).transpose(2, 0, 1, 3)),
         "z": (("chain", "draw", "item"), shaped)}
    )  # fmt: skip
    best = [0, 0, 1, 1, 2, 2, 2]
    named = cluster_parameters(best, data, shaped, variable="mu", labels="z")
    plain = cluster_parameters(best, theta, labels, labels=labels)
    np.testing.assert_allclose(named.draws, plain.draws)
    with pytest.raises(ValueError, match="not 'nu'; there are mu, z"):
        cluster_parameters(best, data, shaped, variable="nu")


@pytest.mark.parametrize("covariance", ["diag", "full"])
def test_means_of_our_own_model_have_their_posterior(covariance):
    """Against importance sampling from the prior of one cluster."""
    from scipy.stats import invwishart

    rng = np.random.default_rng(3)
    X = rng.normal([1, 2], size=(4, 2))
    if covariance == "full":
        model = GaussianDPM("full", mu0=[0.0, 0.0], kappa0=0.7, nu0=5, scale=[[1, 0.3], [0.3, 2]])
        sigma = invwishart(5, [[1, 0.3], [0.3, 2]]).rvs(60_000, random_state=rng)
    else:
        model = GaussianDPM("diag", mu0=0.0, c=0.7, a=3.0, b=[1.0, 2.0])
        sigma = np.array([1.0, 2.0])[:, None] * (np.eye(2) / rng.gamma(3.0, size=(60_000, 2, 1)))
    mu = (np.linalg.cholesky(sigma / 0.7) @ rng.normal(size=(60_000, 2, 1)))[:, :, 0]
    apart = X - mu[:, None]
    logs = -0.5 * np.einsum("sni,sij,snj->s", apart, np.linalg.inv(sigma), apart) - 2 * np.log(np.linalg.det(sigma))
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    stats = {"n_clusters": np.ones((1, 4000)), "log_density": np.zeros((1, 4000))}
    chain = Chain(np.zeros((1, 4000, 4), np.uint8), stats, model, {"X": X})
    drawn = draw_means(model, chain, 1)[0, :, 0]
    error = np.sqrt((weights**2).sum() + 1 / 4000)
    for power in (1, 2):
        expected, spread = weights @ mu**power, np.sqrt(weights @ mu ** (2 * power))
        assert (np.abs((drawn**power).mean(axis=0) - expected) < 5 * error * spread).all()


def coverage(replications, seed=1, draws=200):
    """How often the 90 % interval of a cluster chosen at random holds the mean of its items' true parameters."""
    rng = np.random.default_rng(seed)
    hits = []
    for _ in range(replications):
        z = [0]
        for i in range(1, 15):
            counts = np.append(np.bincount(z), 1.0)
            z.append(int(rng.choice(counts.size, p=counts / (i + 1.0))))
        variance = 1 / rng.gamma(3.0, size=max(z) + 1)
        theta = rng.normal(0, np.sqrt(variance / 0.05))[z]
        model = GaussianDPM("diag", alpha=1.0, mu0=0.0, c=0.05, a=3.0, b=1.0)
        data = rng.normal(theta, np.sqrt(variance)[z])[:, None]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MixingWarning)
            chain = model.sample(data, draws=draws, warmup=100, chains=1, rng=rng, n_jobs=1)
            best = estimate(chain, rng=rng, search=Search(runs=1, n_jobs=1))
        found = cluster_parameters(best, chain, rng=rng).clusters
        cluster = rng.integers(best.n_clusters)
        truth = theta[best.labels == cluster].mean()
        hits.append(found.low[cluster, 0] <= truth <= found.high[cluster, 0])
    return np.mean(hits)


def test_intervals_cover():
    assert abs(coverage(50) - 0.9) <= 3.5 * np.sqrt(0.09 / 50)


def test_the_simulation_finds_intervals_that_ignore_the_partition(monkeypatch):
    """Means that are drawn once and kept, as if the parameters were known, cover far too seldom."""

    def one_draw(chain, labels, variable, rng):
        means = chain.model.draw_means(chain, rng=rng)
        return np.repeat(means[:, :1], means.shape[1], axis=1)

    monkeypatch.setattr(parameters, "_model_means", one_draw)
    assert abs(coverage(20, draws=50) - 0.9) > 3.5 * np.sqrt(0.09 / 20)


@pytest.mark.slow
def test_intervals_cover_ninety_percent():
    assert coverage(2500, draws=400) == pytest.approx(0.9, abs=0.02)


def test_bad_input_is_named():
    labels = np.array([[0, 0, 1]] * 10)
    best = [0, 0, 1]
    with pytest.raises(ValueError, match=r"theta has shape \(9, 3\); .* there are 10 draws and 3 items"):
        cluster_parameters(best, np.zeros((9, 3)), labels)
    with pytest.raises(ValueError, match=r"theta has shape \(10, 2\)"):
        cluster_parameters(best, np.zeros((10, 2)), labels)
    with pytest.raises(ValueError, match=r"labels\[0, 2\] is 1, but theta has clusters 0..0"):
        cluster_parameters(best, np.zeros((10, 1)), labels, labels=labels)
    theta = np.zeros((10, 3))
    theta[4, 1] = np.nan
    with pytest.raises(ValueError, match=r"theta\[4, 1\] is nan"):
        cluster_parameters(best, theta, labels)
    with pytest.raises(TypeError, match="theta must be numbers"):
        cluster_parameters(best, [["a"] * 3] * 10, labels)
    with pytest.raises(ValueError, match="variable is for xarray"):
        cluster_parameters(best, np.zeros((10, 3)), labels, variable="mu")
    constant = cluster_parameters(best, np.ones((10, 3)), labels)
    assert constant.clusters.low.tolist() == constant.clusters.high.tolist() == [1, 1]
    unused = np.full((10, 3), np.nan)  # of a cluster that no item is in
    unused[:, :2] = 1
    assert cluster_parameters(best, unused, labels, labels=labels).clusters.mean.tolist() == [1, 1]
