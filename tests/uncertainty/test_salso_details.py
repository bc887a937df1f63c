"""What salso has: labels to grow from, the cost of items left out, conditional parameters, the highest least loss."""

from __future__ import annotations

import numpy as np
import pytest

import partita as pt
from partita.plots.points import coordinates
from partita.uncertainty.partial import contains
from support import reference as ref


def posterior(rng, n=6, size=40):
    """Distinct partitions of few items, with weights."""
    rows = {ref.canonical(rng.integers(3, size=n).tolist()) for _ in range(size)}
    return np.array(sorted(rows)), rng.gamma(0.7, size=len(rows))


def joint(rows, weights, labels):
    """The probability that the items with labels are clustered so, in plain Python."""
    items = [i for i, label in enumerate(labels) if label >= 0]
    wanted = ref.canonical([labels[i] for i in items])
    return sum(w for row, w in zip(rows, weights, strict=True) if ref.canonical([row[i] for i in items]) == wanted)


@pytest.mark.parametrize("seed", range(8))
def test_a_partial_clustering_grows_from_given_labels_and_tells_the_cost_of_the_others(seed):
    rng = np.random.default_rng(seed)
    rows, weights = posterior(rng)
    weights /= weights.sum()
    sample = pt.as_sample(rows, weights)
    begin = rows[weights.argmax()].copy()
    begin[rng.permutation(6)[:3]] = -1
    found = pt.partial_clustering(sample, 0.3, begin=begin, rng=1)
    placed = begin >= 0
    assert pt.canonical(found.labels[placed]).tolist() == pt.canonical(begin[placed]).tolist()
    assert found.probability == pytest.approx(joint(rows, weights, found.labels))
    assert found.cut(1.0).n_items >= placed.sum()
    np.testing.assert_array_equal(
        np.isclose([joint([row], [1.0], found.labels) for row in sample.labels], 1), contains(sample, found.labels)
    )
    for item, cost in enumerate(found.probability_with):
        if found.labels[item] >= 0:
            assert np.isnan(cost)
            continue
        tries = []
        for cluster in range(found.labels.max() + 2):
            labels = found.labels.copy()
            labels[item] = cluster
            tries.append(joint(rows, weights, labels))
        assert cost == pytest.approx(max(tries), abs=1e-12)
        assert cost < 0.3


def test_given_labels_that_no_draw_has_are_refused():
    draws = [[0, 0, 1], [0, 0, 1], [0, 1, 1]]
    with pytest.raises(ValueError, match="no draw clusters these items in this way"):
        pt.partial_clustering(draws, begin=[0, 1, 0])
    with pytest.raises(ValueError, match="begin has no cluster"):
        pt.partial_clustering(draws, begin=[-1, -1, -1])
    with pytest.raises(ValueError, match="one whole number for each of 3 items"):
        pt.partial_clustering(draws, begin=[0, 1])
    assert pt.partial_clustering(draws, 1.0, begin=[0, 0, -1]).labels.tolist() == [0, 0, -1]


def test_parameters_given_a_partial_clustering_are_those_of_the_draws_that_have_it():
    rng = np.random.default_rng(3)
    rows, weights = posterior(rng, size=30)
    theta = rng.normal(size=(len(rows), 6))
    sample = pt.as_sample(rows, weights)
    partial = pt.partial_clustering(sample, 0.25, rng=1)
    found = pt.cluster_parameters(partial, theta)
    agrees = np.array([joint([row], [1.0], partial.labels) == 1 for row in rows])
    assert 1 < agrees.sum() < len(rows)
    for cluster, mean in enumerate(found.clusters.mean):
        own = theta[:, partial.labels == cluster].mean(axis=1)
        assert mean == pytest.approx(np.average(own[agrees], weights=weights[agrees]))
    again = pt.cluster_parameters(partial, theta, sample)
    np.testing.assert_array_equal(again.clusters.mean, found.clusters.mean)
    of_all = np.average(theta[:, partial.labels == 0].mean(axis=1), weights=weights)
    assert found.clusters.mean[0] != pytest.approx(of_all)


@pytest.mark.parametrize("loss", ["vi", "binder"])
def test_the_weight_of_the_highest_least_loss(loss):
    rng = np.random.default_rng(4)
    rows, weights = posterior(rng)
    sample = pt.as_sample(rows, weights)
    found = pt.weights_for(sample, loss, rng=1)
    assert found.loss.b == pytest.approx(2 - found.a)
    partitions = np.array(ref.all_partitions(6))
    kind = type(found.loss)

    def least(a):
        return float(np.min(pt.expected_loss(partitions, sample, kind(a, 2 - a))))

    assert found.estimate.expected_loss == pytest.approx(least(found.a))
    assert least(found.a) >= max(least(a) for a in np.linspace(0.05, 1.95, 77)) - 1e-9


def test_the_map_of_items_has_their_distances_and_rings_the_exemplars():
    points = np.random.default_rng(5).normal(size=(8, 2))
    apart = np.linalg.norm(points[:, None] - points, axis=2)
    found = coordinates(apart)
    np.testing.assert_allclose(np.linalg.norm(found[:, None] - found, axis=2), apart, atol=1e-9)
    best = pt.estimate([[0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]], rng=1)
    ax = pt.plots.item_map(best)
    rings = ax.collections[-1]
    assert len(rings.get_offsets()) == best.n_clusters
    assert rings.get_facecolors().size == 0
