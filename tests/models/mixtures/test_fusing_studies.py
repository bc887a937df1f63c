"""FOLD on designs like those of its paper (skewed clusters, moons, spirals) and on two real sets."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.stats import skewnorm

import partita as pt
from partita.models.mixtures.fusing import tree_cuts

PLAN = {"draws": 150, "warmup": 250, "thin": 2, "chains": 2, "n_jobs": 1}


def skewed(rng):
    """Three skew-normal clusters in the plane."""
    truth = np.repeat([0, 1, 2], [80, 60, 60])
    centres = np.array([[0.0, 0.0], [7.0, 0.0], [0.0, 7.0]])[truth]
    return centres + skewnorm.rvs(8, size=(200, 2), scale=2.0, random_state=rng), truth


def spirals(rng):
    """Two interlocked spirals, which no mixture of a few Gaussians fits."""
    truth = np.repeat([0, 1], 150)
    turn = np.sqrt(rng.uniform(0.15, 1.0, 300)) * 2 * np.pi
    radius = np.where(truth == 0, turn, -turn)
    return np.column_stack([radius * np.cos(turn), radius * np.sin(turn)]) + rng.normal(0, 0.15, (300, 2)), truth


def fused_and_plain(data, seed, covariance="full", omega=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        chain = pt.models.GaussianDPM(covariance, standardize=True).sample(data, rng=seed, **PLAN)
        return pt.fuse(chain, omega, rng=1), pt.estimate(chain, rng=1, search=pt.Search(runs=2, n_jobs=1))


def check_risk(found):
    """No cut of average linkage on the same distances, which is foldcluster's rule, has a lower risk."""
    for cut in tree_cuts(1 - found.similarity.to_dense()):
        assert found.expected_loss <= pt.pair_loss(cut, found.similarity, found.loss) + 1e-12


def moons(rng):
    """Two interlocked half moons."""
    truth, turn = np.repeat([0, 1], 150), rng.uniform(0, np.pi, 300)
    upper = np.column_stack([np.cos(turn), np.sin(turn)])
    return np.where(truth[:, None] == 0, upper, [1.0, -0.4] - upper) + rng.normal(0, 0.08, (300, 2)), truth


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.slow)])
def test_skewed_clusters_are_found_again(seed):
    data, truth = skewed(np.random.default_rng(seed))
    found, plain = fused_and_plain(data, seed)
    check_risk(found)
    assert found.n_clusters == 3
    assert found.mean_components > 3.2
    assert pt.adjusted_rand(found.labels, truth) > 0.9
    assert pt.adjusted_rand(found.labels, truth) >= pt.adjusted_rand(plain.labels, truth)


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.slow)])
def test_half_moons_are_truer_with_a_larger_omega(seed):
    data, truth = moons(np.random.default_rng(seed))
    found, plain = fused_and_plain(data, seed, omega=5.0)
    check_risk(found)
    assert found.n_clusters < plain.n_clusters
    assert pt.adjusted_rand(found.labels, truth) > pt.adjusted_rand(plain.labels, truth) + 0.2


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_spirals_stay_in_pieces(seed):
    """The ends of an arm do not overlap, so that pairs cannot join it: no better than the components, and no worse."""
    data, truth = spirals(np.random.default_rng(seed))
    found, plain = fused_and_plain(data, seed)
    check_risk(found)
    assert found.n_clusters > 2
    assert pt.adjusted_rand(found.labels, truth) == pytest.approx(pt.adjusted_rand(plain.labels, truth), abs=0.1)


def test_galaxies_and_old_faithful():
    galaxies = np.asarray(pt.datasets.load_galaxies().data, np.float64).reshape(-1, 1)
    found, _ = fused_and_plain(galaxies, 1, "diag")
    check_risk(found)
    assert found.n_clusters <= found.mean_components
    eruptions = np.asarray(pt.datasets.load_old_faithful().data, np.float64)
    found, _ = fused_and_plain(eruptions, 1)
    check_risk(found)
    assert found.n_clusters == 2
    short = eruptions[:, 0] < 3
    assert pt.adjusted_rand(found.labels, short) > 0.95


def test_overlapping_gaussians_stay_apart_where_omega_says_so():
    """Two groups 2.5 deviations apart: two clusters by default, one if much more overlap is asked to be kept apart."""
    rng = np.random.default_rng(5)
    data = rng.normal(np.repeat([0.0, 2.5], 100), 1.0)[:, None]
    labels = np.repeat([np.repeat([0, 1], 100)], 30, axis=0)
    means = np.tile([[[data[:100].mean()], [data[100:].mean()]]], (30, 1, 1))
    kernels = {"means": means, "covariances": np.ones((30, 2, 1)), "rng": 1}
    assert [pt.fuse(labels, omega, **kernels).n_clusters for omega in (1.0, None, 9.0)] == [2, 2, 1]
