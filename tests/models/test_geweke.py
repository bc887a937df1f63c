"""Geweke's joint distribution test: (partition, alpha, data) drawn forwards, and drawn by the sampler."""

import numpy as np
import pytest

from partita import _core
from support.geweke import differences

ITEMS, DIMS = 6, 2
SHAPE, RATE = 2.0, 2.0
MEAN, KAPPA, NU, SCALE = [0.3, -0.2], 0.5, 5.0, np.array([[1.0, 0.4], [0.4, 0.8]])
C, A, B = [0.5, 0.8], [2.5, 3.0], [1.0, 0.7]


def draw_partition(rng, alpha):
    labels = [0]
    for i in range(1, ITEMS):
        counts = np.append(np.bincount(labels), alpha)
        labels.append(int(np.searchsorted(np.cumsum(counts), rng.uniform() * (i + alpha))))
    return np.array(labels, np.uint32)


def draw_data(rng, labels, full):
    data = np.empty((ITEMS, DIMS))
    for k in range(labels.max() + 1):
        if full:  # the inverse of a Wishart with whole degrees of freedom: a sum of outer products
            normals = np.linalg.cholesky(np.linalg.inv(SCALE)) @ rng.normal(size=(DIMS, int(NU)))
            root = np.linalg.cholesky(np.linalg.inv(normals @ normals.T))
            mean = MEAN + root @ rng.normal(size=DIMS) / np.sqrt(KAPPA)
        else:
            variances = np.array(B) / rng.gamma(A)
            root = np.diag(np.sqrt(variances))
            mean = rng.normal(MEAN, np.sqrt(variances / C))
        members = labels == k
        data[members] = mean + rng.normal(size=(members.sum(), DIMS)) @ root.T
    return data


def sweep(data, labels, alpha, step, full, split_merge, shape=SHAPE):
    prior = _core.ProcessPrior(_core.GammaConcentration(shape, RATE, start=alpha))
    if full:
        base = _core.WishartBase(MEAN, [KAPPA], [NU], SCALE.ravel().tolist(), [])
        make = _core.FullGaussianSampler
    else:
        base, make = _core.GammaBase(MEAN, C, A, B), _core.DiagonalGaussianSampler
    sampler = make(data, base, prior, split_merge, 1, 99, step, labels)
    drawn, values = sampler.advance(1, 0, 1)
    return drawn[0], values[0, list(sampler.stat_names).index("alpha")]


def summary(labels, alpha, data):
    logs = np.log1p(np.abs(data))  # heavy tails have no mean to compare
    return [
        labels.max(),
        alpha,
        np.log(alpha),
        labels[0] == labels[1],
        logs.mean(),
        np.abs(logs[:, 0] - logs[:, 1]).mean(),
    ]


def forwards(rng, full, n):
    rows = []
    for _ in range(n):
        alpha = rng.gamma(SHAPE, 1 / RATE)
        labels = draw_partition(rng, alpha)
        rows.append(summary(labels, alpha, draw_data(rng, labels, full)))
    return np.array(rows, float)


def successive(rng, full, split_merge, n, shape=SHAPE):
    alpha = rng.gamma(SHAPE, 1 / RATE)
    labels = draw_partition(rng, alpha)
    rows = []
    for step in range(n):
        data = draw_data(rng, labels, full)
        labels, alpha = sweep(data, labels, alpha, step, full, split_merge, shape)
        rows.append(summary(labels, alpha, data))
    return np.array(rows, float)


@pytest.mark.parametrize("split_merge", [0.0, 1.0])
@pytest.mark.parametrize("full", [True, False], ids=["full", "diag"])
def test_both_ways_give_the_same_joint_distribution(full, split_merge):
    rng = np.random.default_rng(17)
    z = differences(forwards(rng, full, 3000), successive(rng, full, split_merge, 6000))
    assert np.abs(z).max() < 4.0, z


def test_a_wrong_prior_is_noticed():
    """The seeded fault: the sampler believes in a larger concentration."""
    rng = np.random.default_rng(17)
    z = differences(forwards(rng, False, 3000), successive(rng, False, 1.0, 3000, shape=SHAPE + 1.0))
    assert np.abs(z).max() > 6.0
