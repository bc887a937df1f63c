"""FOLD: distances against numerical integrals and plain loops, risks against the cuts of a tree, and enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import invwishart, norm

import partita as pt
from partita.models import GaussianDPM
from partita.models.mixtures import fusing, kernel_distances
from partita.models.mixtures.cluster_means import kernel_drawer
from partita.models.mixtures.fusing import fused_components, tree_cuts
from partita.models.mixtures.kernel_distances import expected_distances, hellinger
from support import reference as ref


def test_hellinger_distances_are_the_integrals():
    means, deviations = np.array([0.0, 1.0, 4.0]), np.array([1.0, 0.5, 2.0])
    found = hellinger(means[:, None], deviations[:, None] ** 2)
    full = hellinger(means[:, None], (deviations**2)[:, None, None])
    np.testing.assert_allclose(found, full, atol=1e-12)
    for i in range(3):
        for j in range(3):
            overlap = quad(lambda x, i=i, j=j: np.sqrt(
                norm.pdf(x, means[i], deviations[i]) * norm.pdf(x, means[j], deviations[j])
            ), -30, 40, points=[0, 1, 4])[0]  # fmt: skip
            assert found[i, j] == pytest.approx(np.sqrt(max(0, 1 - overlap)), abs=1e-6)
    rng = np.random.default_rng(1)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    centres, variances = rng.normal(size=(4, 3)), rng.gamma(2.0, size=(4, 3))
    turned = hellinger(centres @ turn.T, np.array([turn @ np.diag(v) @ turn.T for v in variances]))
    np.testing.assert_allclose(turned, hellinger(centres, variances), atol=1e-9)


def test_expected_distances_are_means_over_draws(monkeypatch):
    monkeypatch.setattr(kernel_distances, "BLOCK_COLUMNS", 5)
    rng = np.random.default_rng(2)
    draws = []
    for _ in range(7):
        labels = np.array(ref.canonical(rng.integers(3, size=6).tolist()))
        half = rng.random((labels.max() + 1,) * 2)
        draws.append((labels, np.triu(half, 1) + np.triu(half, 1).T))
    found = expected_distances(draws)
    for i in range(6):
        for j in range(6):
            assert found[i, j] == pytest.approx(np.mean([d[z[i], z[j]] for z, d in draws]), abs=1e-6)


def given_draws(rng, n=7, draws=40, components=4):
    """Labels as a sampler numbers them, with means and variances of its components."""
    labels = rng.integers(components, size=(draws, n))
    return labels, rng.normal(0, 2, (draws, components, 1)), rng.gamma(2.0, size=(draws, components, 1))


@pytest.mark.parametrize("omega", [0.5, None, 5.0])
def test_the_best_of_all_partitions(omega):
    labels, means, variances = given_draws(np.random.default_rng(3))
    found = pt.fuse(labels, omega, means=means, covariances=variances, rng=1)
    delta = np.zeros((7, 7))
    for z, m, v in zip(labels, means, variances, strict=True):
        delta += hellinger(m, v)[np.ix_(z, z)] / len(labels)
    upper = np.triu_indices(7, 1)

    def risk(partition):
        same = np.equal.outer(partition, partition)[upper]
        return np.where(same, delta[upper], found.omega * (1 - delta[upper])).sum()

    risks = [risk(np.array(p)) for p in ref.all_partitions(7)]
    assert risk(found.labels) == pytest.approx(min(risks), rel=1e-5)
    assert found.expected_loss == pytest.approx(2 / 49 * min(risks), rel=1e-5)
    assert found.proven
    counts = [step.n_clusters for step in found.path]
    assert counts == sorted(counts, reverse=True)


def test_never_above_the_cuts_of_average_linkage():
    rng = np.random.default_rng(4)
    X = np.concatenate([rng.gamma(2.0, size=60), 9 + rng.gamma(2.0, size=60)])[:, None]
    chain = GaussianDPM("diag").sample(X, draws=100, warmup=200, chains=2, rng=1)
    found = pt.fuse(chain, rng=1)
    for cut in tree_cuts(1 - found.similarity.to_dense()):
        assert found.expected_loss <= pt.pair_loss(cut, found.similarity, found.loss) + 1e-12
    assert found.n_clusters < found.mean_components
    assert found.bound(1).value <= found.expected_loss + 1e-12
    assert found.to_pandas("path").shape == (6, 5)
    assert len(found.to_pandas()) == 120


@pytest.mark.parametrize("omega", [0.4, 1.7, 6.0])
def test_the_components_of_each_draw_are_fused_with_the_least_loss(omega):
    """Against all partitions of the components, weighted by their sizes; a draw of one component is one cluster."""
    rng = np.random.default_rng(8)
    draws = [(np.zeros(9, np.int64), np.zeros((1, 1)))]
    for k in (2, 3, 4, 5, 6):
        labels = np.array(ref.canonical([*range(k), *rng.integers(k, size=20).tolist()]))
        half = np.triu(rng.random((k, k)), 1)
        draws.append((labels, half + half.T))
    for (labels, distance), found in zip(draws, fused_components(draws, omega), strict=True):
        sizes, k = np.bincount(labels), len(distance)
        upper = np.triu_indices(k, 1)
        pairs = np.outer(sizes, sizes)[upper]

        def loss(partition, distance=distance, upper=upper, pairs=pairs):
            same = np.equal.outer(partition, partition)[upper]
            return (pairs * np.where(same, distance[upper], omega * (1 - distance[upper]))).sum()

        assert loss(found) == pytest.approx(min(loss(np.array(p)) for p in ref.all_partitions(k)), rel=1e-9)


def test_the_ball_is_of_fused_draws_and_the_page_says_what_the_components_make(monkeypatch, tmp_path):
    labels = np.repeat([[0] * 4 + [1] * 4 + [2] * 4], 40, axis=0)
    means = np.tile([[[0.0], [0.5], [9.0]]], (40, 1, 1))
    means[:4, 1] = 4.0  # in a tenth of the draws the first two are apart
    sample = {"means": means, "covariances": np.ones((40, 3, 1))}
    for most in (1000, 8):
        monkeypatch.setattr(fusing, "MOST_ITEMS", most)
        found = pt.fuse(labels, rng=1, **sample)
        assert found.labels.tolist() == [0] * 8 + [1] * 4
        assert found.draws.n_clusters.tolist() == [3, 2] if found.draws.n_clusters[0] == 3 else [2, 3]
        assert found.ball(0.8).mass == pytest.approx(0.9)
        assert found.ball(0.8).n_inside == 1
        told = "The 3 components of the mixture (posterior mean 3.0) make 2 clusters."
        assert found.in_words() == told
        page = pt.read_report(pt.report(found, found.bound(1), path=tmp_path / f"{most}.html"))
        assert told in page.answer
        best = pt.estimate(labels, rng=1)
        beside = pt.report(best, found, path=tmp_path / f"beside{most}.html").read_text()
        assert told in beside
        certainty = found.to_pandas()["certainty"].to_numpy()
        np.testing.assert_allclose(certainty[:8], (3 + 4 * 0.9) / 7)
        np.testing.assert_allclose(certainty[8:], 1)


def test_distance_and_omega_decide():
    """Two components a distance apart are one cluster below the default, and two above it."""
    labels = np.repeat([[0] * 5 + [1] * 5], 20, axis=0)
    for apart, clusters in ((1.8, 1), (2.2, 2)):
        means = np.tile([[[0.0], [apart]]], (20, 1, 1))
        found = pt.fuse(labels, means=means, covariances=np.ones((20, 2, 1)), rng=1)
        assert found.n_clusters == clusters
        if clusters == 1:
            assert pt.fuse(labels, 1.0, means=means, covariances=np.ones((20, 2, 1)), rng=1).n_clusters == 2
    far = np.tile([[[0.0], [9.0]]], (20, 1, 1))
    assert pt.fuse(labels, 50.0, means=far, covariances=np.ones((20, 2, 1, 1)), rng=1).n_clusters == 2


def test_many_items_are_represented(monkeypatch):
    monkeypatch.setattr(fusing, "MOST_ITEMS", 40)
    rng = np.random.default_rng(5)
    X = rng.normal(np.repeat([0.0, 12.0], 100), 1.0)[:, None]
    chain = GaussianDPM("diag").sample(X, draws=60, warmup=100, chains=2, rng=1)
    found = pt.fuse(chain, rng=1)
    assert found.labels.tolist() == [0] * 100 + [1] * 100
    assert len(found.representatives) == found.similarity.n_items == 40
    assert found.bound(1).value <= found.expected_loss + 1e-12
    assert len(found.to_pandas("pairs").columns) == 6


@pytest.mark.parametrize("covariance", ["diag", "full"])
def test_kernels_have_their_posterior(covariance):
    """One cluster: the mean of its covariance, and the spread of its mean, are those of the conjugate posterior."""
    rng = np.random.default_rng(6)
    X, labels = rng.normal(size=(8, 2)), np.zeros(8, np.int64)
    full = {"kappa0": 0.7, "nu0": 6.0, "scale": [[1.0, 0.3], [0.3, 2.0]]}
    own = {"c": 0.7, "a": 3.0, "b": [1.0, 2.0]} if covariance == "diag" else full
    draw = kernel_drawer(GaussianDPM(covariance, mu0=[0.0, 0.0], **own), X)
    drawn = [draw(labels, rng) for _ in range(4000)]
    centre = 8 * X.mean(axis=0) / 8.7
    spread = (X - X.mean(axis=0)).T @ (X - X.mean(axis=0)) + 0.7 * 8 / 8.7 * np.outer(X.mean(axis=0), X.mean(axis=0))
    if covariance == "diag":
        expected = (np.array([1.0, 2.0]) + np.diag(spread) / 2) / (3.0 + 4 - 1)
        each = np.array([v[0] for _, v in drawn])
    else:
        expected = invwishart(14.0, np.array(full["scale"]) + spread).mean()
        each = np.array([v[0] for _, v in drawn])
    assert (np.abs(each.mean(axis=0) - expected) < 5 * each.std(axis=0) / np.sqrt(4000)).all()
    means = np.array([m[0] for m, _ in drawn])
    assert (np.abs(means.mean(axis=0) - centre) < 5 * means.std(axis=0) / np.sqrt(4000)).all()


def test_bad_input():
    labels, means, variances = given_draws(np.random.default_rng(7))
    with pytest.raises(TypeError, match="fuse needs a chain of GaussianDPM"):
        pt.fuse(labels)
    with pytest.raises(TypeError, match="go together"):
        pt.fuse(labels, means=means)
    with pytest.raises(ValueError, match="means has shape"):
        pt.fuse(labels, means=means[:3], covariances=variances)
    with pytest.raises(ValueError, match="labels must be whole numbers from 0 to 2"):
        pt.fuse(labels, means=means[:, :3], covariances=variances[:, :3])
    with pytest.raises(ValueError, match="omega must be a positive number"):
        pt.fuse(labels, -1.0, means=means, covariances=variances)
