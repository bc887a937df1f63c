"""Several modes: a mixture of two sets of draws is found, one set is not taken apart."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from partita.draws.sample import as_sample
from partita.losses.losses import as_loss
from partita.search.settings import Search
from partita.uncertainty.density_peaks import density_peaks
from partita.uncertainty.modes import modes
from support import reference as ref
from support.strategies import random_sample


def around(base, draws, noise, rng):
    """Copies of one partition with some items moved."""
    copies = np.repeat(np.asarray(base)[None, :], draws, axis=0)
    moved = rng.random(copies.shape) < noise
    return np.where(moved, rng.integers(max(base) + 2, size=copies.shape), copies)


first = [0] * 10 + [1] * 10 + [2] * 10
second = [0, 1, 2] * 10


def test_two_sets_of_draws_are_both_found_with_their_weights():
    rng = np.random.default_rng(1)
    draws = np.concatenate([around(first, 70, 0.05, rng), around(second, 30, 0.05, rng)])
    found = modes(draws, 2, rng=1)
    assert [ref.canonical(row) for row in found.labels.tolist()] == [ref.canonical(first), ref.canonical(second)]
    np.testing.assert_allclose(found.weights, [0.7, 0.3])
    assert found.favored == 2
    assert set(found.assignment[found.sample.index[:70]]) == {0}


def test_one_set_of_draws_is_not_taken_apart():
    rng = np.random.default_rng(2)
    for noise in (0.05, 0.2):
        found = modes(around(first, 100, noise, rng), 3, rng=1)
        assert found.favored == 1
        assert (np.diff(found.elbow) <= 1e-12).all()


def test_weights_of_the_draws_count():
    found = modes(as_sample([first, second], [1, 3]), 2, rng=1)
    np.testing.assert_allclose(found.weights, [0.75, 0.25])
    assert found.distance == 0
    assert found.labels[0].tolist() == list(ref.canonical(second))


@pytest.mark.parametrize("loss", ["vi", "binder"])
def test_small_samples_reach_the_best_pair(loss):
    """Against all pairs of partitions of four items."""
    rng = np.random.default_rng(4)
    partitions = ref.all_partitions(4)
    for _ in range(5):
        rows, weights = random_sample(4, 8, rng)
        sample = as_sample(rows, weights)
        if sample.n_unique < 2:
            continue
        w = ref.weights_of(rows, weights)
        table = np.array([ref.distances(p, rows.tolist(), ref.LOSSES[loss]) for p in partitions])
        best = min(float(np.minimum(table[p], table[q]) @ w) for p, q in combinations(range(len(partitions)), 2))
        found = modes(sample, 2, loss, starts=40, search=Search(max_clusters=np.inf), rng=1)
        assert found.distance == pytest.approx(best, abs=1e-9)
        nearest = [min(ref.LOSSES[loss](row, p) for p in found.labels.tolist()) for row in rows.tolist()]
        assert found.distance == pytest.approx(float(np.dot(w, nearest)), abs=1e-9)


def peaks_of(rows, weights, loss):
    """Straight from the definition, one draw at a time."""
    distance = np.array([[(loss(x, y) + loss(y, x)) / 2 for y in rows] for x in rows])
    n = len(rows)
    width = np.quantile([distance[i, j] for i in range(n) for j in range(i + 1, n)], 0.02)
    density = [sum(weights[j] * np.exp(-((distance[i, j] / width) ** 2)) for j in range(n)) for i in range(n)]
    gamma = []
    for i in range(n):
        denser = [distance[i, j] for j in range(n) if density[j] > density[i] or (density[j] == density[i] and j < i)]
        gamma.append(density[i] * (min(denser) if denser else max(distance[i])))
    return sorted(range(n), key=lambda i: -gamma[i])


@pytest.mark.parametrize("loss", ["vi", "binder"])
def test_peaks_are_those_of_the_definition(loss):
    rng = np.random.default_rng(5)
    for _ in range(4):
        sample = as_sample(around(first, 30, 0.2, rng), rng.random(30))
        found = density_peaks(sample, as_loss(loss), 1)
        expected = peaks_of(sample.labels.tolist(), sample.weights, ref.LOSSES[loss])
        assert found[:8].tolist() == expected[:8]


def test_peaks_of_two_sets_of_draws():
    rng = np.random.default_rng(6)
    draws = np.concatenate([around(first, 70, 0.03, rng), around(second, 30, 0.03, rng)])
    found = modes(draws, method="peaks")
    assert [ref.canonical(row) for row in found.labels.tolist()] == [ref.canonical(first), ref.canonical(second)]
    np.testing.assert_allclose(found.weights, [0.7, 0.3])
    assert found.distance >= modes(draws, 2, rng=1).distance - 1e-9
    assert modes([first], method="peaks").weights.tolist() == [1.0]


def test_unknown_method_is_named():
    with pytest.raises(ValueError, match="method must be one of wasserstein, peaks"):
        modes([[0, 1]], method="peak")


def test_table_and_repr():
    found = modes([[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 1]], 3, rng=1)
    table = found.table()
    assert [row["k"] for row in table] == [1, 2, 3]
    assert table[0]["drop"] == 0
    assert table[-1]["distance"] == 0
    assert "weights" in repr(found)
    assert "<table>" in found._repr_html_()


def test_bad_k_is_named():
    with pytest.raises(ValueError, match="k must be at least 1"):
        modes([[0, 1]], 0)
    with pytest.raises(ValueError, match="k is 3, but there are only 2 distinct draws"):
        modes([[0, 1], [0, 0], [1, 1]], 3)
