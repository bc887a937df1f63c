"""Modes in detail: contributions of items, balls around modes, batches of draws and the choice of their number."""

import numpy as np
import pytest

import partita as pt
from partita.datasets import make_draws
from partita.uncertainty.modes import modes
from support.reference import vi


def two_modes():
    return np.concatenate([make_draws(12, 60, k, doubt=0.02, split=0, merge=0, rng=k) for k in (2, 4)])


def test_contributions_against_numpy():
    found = modes(two_modes(), 2, rng=1)
    x, y = found.labels
    sizes = [np.array([(row == row[i]).sum() for i in range(12)]) for row in (x, y)]
    both = np.array([((x == x[i]) & (y == y[i])).sum() for i in range(12)])
    expected = (np.log2(sizes[0]) + np.log2(sizes[1]) - 2 * np.log2(both)) / 12
    np.testing.assert_allclose(found.contributions(0, 1), expected, atol=1e-12)
    assert found.contributions().sum() == pytest.approx(vi(x, y))
    binder = modes(two_modes(), 2, pt.Binder(a=0.5), rng=1)
    whole = pt.partition_loss(*binder.labels, pt.Binder(a=0.5))
    assert binder.contributions(0, 1).sum() == pytest.approx(whole)


def test_the_ball_of_a_mode_holds_its_own_draws():
    draws = two_modes()
    found = modes(draws, 2, rng=1)
    for mode in (0, 1):
        own = [row for row in draws if np.argmin([vi(row, other) for other in found.labels]) == mode]
        distances = np.sort([vi(row, found.labels[mode]) for row in own])
        assert found.ball(mode, level=0.9).radius == pytest.approx(distances[int(np.ceil(0.9 * len(own))) - 1])
    assert found.ball(0, level=1.0).mass == pytest.approx(1)


def test_the_number_of_modes_is_chosen_by_the_rule():
    draws = two_modes()
    chosen = modes(draws, rng=1)
    more = modes(draws, 4, rng=1)
    assert len(chosen.labels) == chosen.favored == 2
    assert more.favored == 2
    assert len(modes([[0, 0, 1]] * 9, rng=1).labels) == 1


def test_batches_search_few_draws_and_assign_all():
    draws = two_modes()
    whole, part = modes(draws, 2, rng=1), modes(draws, 2, batch=30, rng=1)
    assert part.assignment.shape == whole.assignment.shape
    assert part.weights.sum() == pytest.approx(1)
    assert part.distance == pytest.approx(np.mean([min(vi(row, y) for y in part.labels) for row in draws]))
    assert part.distance <= 1.2 * whole.distance
    np.testing.assert_array_equal(modes(draws, 2, batch=10_000, rng=1).labels, whole.labels)


def test_bad_input():
    found = modes(two_modes(), 2, "nvi", rng=1)
    with pytest.raises(ValueError, match="contributions of items are for VI and Binder's loss, not for NVI"):
        found.contributions()
    with pytest.raises(ValueError, match="mode is 2, but there are 2 representatives"):
        found.ball(2)
    with pytest.raises(ValueError, match="batch must be at least 1"):
        modes(two_modes(), 2, batch=0)
