"""Partial clusterings: the joint probability is what it says, and no single item can be added."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.datasets import make_draws
from partita.draws.sample import as_sample
from partita.estimation.estimate import estimate
from partita.losses.expected import expected_loss
from partita.partitions.labels import canonical
from partita.uncertainty import partial
from partita.uncertainty.partial import partial_clustering
from support import reference as ref
from support.strategies import samples


def joint_probability(labels, rows, weights):
    """Weight of the draws that cluster the chosen items exactly so."""
    chosen = [i for i, label in enumerate(labels) if label >= 0]
    wanted = ref.canonical([labels[i] for i in chosen])
    w = ref.weights_of(rows, weights)
    return sum(v for v, row in zip(w, rows, strict=True) if ref.canonical([row[i] for i in chosen]) == wanted)


@given(samples(max_items=7), st.sampled_from([0.3, 0.6, 0.9, 1.0]))
def test_probability_is_joint_and_no_item_can_be_added(sample, wanted):
    rows, weights = sample
    found = partial_clustering(as_sample(rows, weights), wanted, rng=1)
    labels = found.labels.tolist()
    assert found.probability == pytest.approx(joint_probability(labels, rows, weights))
    assert found.probability >= wanted - 1e-9
    for item in np.flatnonzero(found.labels < 0):
        for cluster in range(max(labels) + 2):
            larger = [cluster if i == item else label for i, label in enumerate(labels)]
            assert joint_probability(larger, rows, weights) < wanted


def test_sure_items_are_found_among_unsure_ones():
    rng = np.random.default_rng(1)
    sure = np.repeat(np.arange(12)[None, :] // 4, 200, axis=0)
    draws = np.concatenate([sure, rng.integers(3, size=(200, 5))], axis=1)
    found = partial_clustering(draws, 0.9, rng=1)
    assert found.labels.tolist() == [0] * 4 + [1] * 4 + [2] * 4 + [-1] * 5
    assert found.n_items == 12
    assert found.probability == 1


def test_completion_keeps_the_sure_items_and_lowers_the_loss():
    rng = np.random.default_rng(2)
    sure = np.repeat(np.arange(8)[None, :] // 4, 60, axis=0)
    draws = np.concatenate([sure, rng.integers(2, size=(60, 3))], axis=1)
    found = partial_clustering(draws, 0.9, complete=True, rng=1)
    assert found.completed is not None
    assert found.completed[:8].tolist() == [0] * 4 + [1] * 4
    value = ref.expected_loss(found.completed.tolist(), draws.tolist(), ref.vi)
    for item in np.flatnonzero(found.labels < 0):
        for cluster in range(found.completed.max() + 2):
            moved = [cluster if i == item else int(label) for i, label in enumerate(found.completed)]
            assert ref.expected_loss(moved, draws.tolist(), ref.vi) >= value - 1e-9


@given(samples(max_items=6), st.sampled_from([0.3, 0.6]))
def test_the_curve_has_the_joint_probabilities_and_can_be_cut(sample, wanted):
    rows, weights = sample
    found = partial_clustering(as_sample(rows, weights), 1.0, starts=1, rng=1)
    for count, value in enumerate(found.curve, start=1):
        labels = np.full(len(rows[0]), -1)
        labels[found.order[:count]] = found.clusters[:count]
        assert value == pytest.approx(joint_probability(labels.tolist(), rows, weights))
    assert found.area == pytest.approx(sum(found.curve) / len(rows[0]))
    again = partial_clustering(as_sample(rows, weights), wanted, starts=1, rng=1)
    assert found.cut(wanted).labels.tolist() == again.labels.tolist()
    assert found.cut(wanted).probability == again.probability


@given(samples(max_items=6), st.sampled_from([0.3, 0.6, 0.9]))
def test_a_cut_is_the_best_of_all_candidates(sample, wanted):
    rows, weights = sample
    found = partial_clustering(as_sample(rows, weights), 1.0, rng=1).cut(wanted)
    assert len(found.candidates) == len(rows[0])
    alone = [partial_clustering(as_sample(rows, weights), wanted, starts=1, rng=seed) for seed in range(4)]
    for each in (*alone, *found.candidates):
        assert (each.n_items, each.probability - 1e-9) <= (found.n_items, found.probability)
    np.testing.assert_array_equal(found.labels, found.candidates[0].labels)


def test_many_draws_are_screened(monkeypatch):
    monkeypatch.setattr(partial, "READ", 0)
    rng = np.random.default_rng(3)
    sure = np.repeat(np.arange(12)[None, :] // 4, 3000, axis=0)
    draws = np.concatenate([sure, rng.integers(5, size=(3000, 8))], axis=1)
    found = partial_clustering(draws, 0.9, rng=1)
    assert found.labels.tolist() == [0] * 4 + [1] * 4 + [2] * 4 + [-1] * 8
    assert len(found.candidates) == partial.KEPT


def test_completion_of_named_items_keeps_what_is_sure():
    draws = make_draws(30, 300, 3, doubt=0.2, rng=1)
    found = partial_clustering(as_sample(draws, names=[f"{29 - i}" for i in range(30)]), 0.5, complete=True, rng=1)
    assert 3 < found.n_items < 30
    sure = found.labels >= 0
    assert canonical(found.completed[sure]).tolist() == canonical(found.labels[sure]).tolist()
    best = estimate(draws, rng=1)
    assert best.expected_loss - 1e-9 <= expected_loss(found.completed, draws) <= 1.1 * best.expected_loss


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="probability must be above 0 and at most 1"):
        partial_clustering([[0, 1]], 0)
    with pytest.raises(ValueError, match="label every item"):
        partial_clustering(as_sample([[0, -1], [0, 1]], missing=-1))
    assert "2 of 2 items" in repr(partial_clustering([[0, 1]]))


def test_ties_do_not_depend_on_the_order_of_items_and_draws():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        draws = rng.integers(3, size=(int(rng.integers(4, 30)), int(rng.integers(4, 12))))
        moved = rng.permutation(rng.permutation(draws, axis=1))
        one, other = partial_clustering(draws, 0.5, rng=1), partial_clustering(moved, 0.5, rng=1)
        assert one.n_items == other.n_items
        assert one.probability == pytest.approx(other.probability, abs=1e-12)
