"""Many items and many draws: equal items as one, coarse items first, some of the draws."""

from __future__ import annotations

import numpy as np
import pytest

import partita as pt
from partita.datasets import make_draws
from partita.estimation.held_out import some_draws
from partita.search import multilevel
from partita.search.core import native_options
from partita.search.equal_items import compress
from partita.search.jobs import Job
from support.native import problem_of

LINEAR = (pt.VI(), pt.Binder(), pt.VI(a=0.3), pt.Binder(a=0.4), pt.VI(a=1.6, b=0.4))


def repeated_columns(rng, n_distinct, copies, n_draws, gaps=0.0):
    """Draws of few distinct items, each there several times, in random places."""
    few = rng.integers(4, size=(n_draws, n_distinct))
    few[rng.random(few.shape) < gaps] = -1
    few[:, 0] = np.abs(few[:, 0])  # no draw without any label
    return few[:, rng.permutation(np.repeat(np.arange(n_distinct), copies))]


@pytest.mark.parametrize("loss", LINEAR, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_an_optimum_keeps_equal_items_together(loss, seed):
    """By enumeration: the best partition of all is matched by one that splits no equal items."""
    assert loss.additive is loss
    draws = repeated_columns(np.random.default_rng(seed), 4, [3, 2, 1, 1], 5)
    group = compress(pt.as_sample(draws), worthwhile=1).group
    partitions = np.array(list(pt.enumerate_partitions(7)))
    losses = pt.expected_loss(partitions, draws, loss)
    together = [all(len(set(y[group == g])) == 1 for g in set(group)) for y in partitions]
    assert losses[together].min() == pytest.approx(losses.min(), abs=1e-12)


@pytest.mark.parametrize("loss", ["nvi", "id", "nid", "omari"])
def test_other_losses_are_searched_item_by_item(loss):
    draws = repeated_columns(np.random.default_rng(1), 3, 20, 6)
    assert pt.losses.as_loss(loss).additive is None
    assert pt.estimate(draws, loss, rng=1).compression.items == 1


@pytest.mark.parametrize("loss", LINEAR[:4], ids=str)
@pytest.mark.parametrize("gaps", [0.0, 0.2])
def test_a_search_of_equal_items_as_one_is_that_of_all(loss, gaps):
    """The loss that the core reports is that of all items, and no search of all items does better."""
    draws = repeated_columns(np.random.default_rng(3), 24, np.arange(24) % 5 + 1, 30, gaps)
    sample = pt.as_sample(draws, missing=-1)
    equal = compress(sample, worthwhile=1)
    assert equal.copies.sum() == sample.n_items
    assert np.array_equal(equal.sample.labels[:, equal.group], sample.labels)
    options = native_options(sample, pt.Search(runs=8, n_jobs=1), np.random.default_rng(1))
    runs, _, _ = Job("search", equal.sample, loss, options, copies=equal.copies).run()
    for run in runs:
        assert run.loss == pytest.approx(pt.expected_loss(run.labels[equal.group], sample, loss), rel=1e-9)
    full, _, _ = Job("search", sample, loss, options).run()
    assert min(run.loss for run in runs) <= min(run.loss for run in full) * (1 + 1e-9)


def test_the_ratio_is_reported_and_few_equal_items_change_nothing():
    draws = repeated_columns(np.random.default_rng(2), 10, 30, 20)
    best = pt.estimate(draws, rng=1)
    assert best.compression.items == 30
    assert best.expected_loss == pytest.approx(pt.expected_loss(best.labels, draws), abs=1e-12)
    assert pt.estimate(make_draws(50, 40, 4, rng=1), rng=1).compression.items == 1


@pytest.mark.parametrize("loss", ["vi", "binder", "nvi"])
def test_levels_come_within_a_thousandth_of_the_full_search(loss):
    draws = make_draws(3000, 60, 8, rng=5)
    sample, kind = pt.as_sample(draws), pt.losses.as_loss(loss)
    rng, search = np.random.default_rng(1), pt.Search(runs=4)
    runs, _, _ = multilevel.search_levels(sample, kind, native_options(sample, search, rng), rng, n_coarse=500)
    best = min(runs, key=lambda run: run.loss)
    full = pt.estimate(sample, loss, search=search, rng=1)
    assert best.loss == pytest.approx(pt.expected_loss(best.labels, sample, kind), rel=1e-6)
    assert best.loss <= full.expected_loss * (1 + 1e-3)
    assert best.loss <= pt.expected_loss(sample, sample, kind).min()


def test_large_samples_are_searched_in_levels(monkeypatch):
    monkeypatch.setattr(multilevel, "MANY_ITEMS", 500)
    monkeypatch.setattr(multilevel, "COARSE_ITEMS", 100)
    draws = make_draws(600, 80, 5, rng=2)
    draws[:, 0] = -1
    sample = pt.as_sample(draws, missing=-1)
    best = pt.estimate(sample, search=pt.Search(runs=4, n_jobs=1), rng=1)
    assert {run.start for run in best.runs} <= {"coarse", "crossing"}
    again = pt.estimate(sample, search=pt.Search(runs=4, n_jobs=2), rng=1)
    assert np.array_equal(best.labels, again.labels)


def test_representatives_have_their_share_of_every_group():
    rng = np.random.default_rng(1)
    groups = np.repeat([0, 1, 2], [900, 90, 10])
    sample = pt.as_sample(np.stack([groups, np.zeros(1000, int)]))
    items = multilevel.representatives(sample, 100, rng)
    assert len(set(items)) == 100
    assert np.bincount(groups[items]).tolist() == pytest.approx([90, 9, 1], abs=1)


def test_held_out_draws_judge_the_estimate():
    draws = make_draws(40, 600, 4, rng=4)
    best = pt.estimate(draws, search=pt.Search(max_draws=50), rng=7)
    error = best.held_out
    assert (error.n_search, error.n_held_out) == (50, 550)
    part, chosen = some_draws(pt.as_sample(draws), 50, np.random.default_rng(7))
    losses = pt.distances(best.labels, draws)
    assert part.n_draws == 50
    assert error.loss == pytest.approx(losses[~chosen].mean())
    assert error.search_loss == pytest.approx(losses[chosen].mean())
    assert error.standard_error == pytest.approx(losses[~chosen].std(ddof=1) / np.sqrt(550))
    assert error.gap == pytest.approx(error.loss - error.search_loss)
    assert best.expected_loss == pytest.approx(losses.mean())
    assert "held out" in repr(best)
    assert "600" not in repr(error)


def test_weighted_draws_are_held_out_with_their_weights():
    draws, weights = make_draws(20, 100, 3, rng=4), np.random.default_rng(1).random(100)
    error = pt.estimate(draws, weights=weights, search=pt.Search(max_draws=30), rng=1).held_out
    sample = pt.as_sample(draws, weights=weights)
    _, chosen = some_draws(sample, 30, np.random.default_rng(1))
    best = pt.estimate(draws, weights=weights, search=pt.Search(max_draws=30), rng=1)
    losses = pt.distances(best.labels, draws)
    assert error.loss == pytest.approx(np.average(losses[~chosen], weights=sample.draw_weights[~chosen]))


def test_all_draws_leave_none_to_hold_out():
    assert pt.estimate([[0, 0, 1], [0, 1, 1]], search=pt.Search(max_draws=2), rng=1).held_out is None
    with pytest.raises(ValueError, match="max_draws must be at least 1"):
        pt.Search(max_draws=0)


def test_copies_of_items_need_a_linear_loss():
    from partita import _core

    sample = pt.as_sample([[0, 0, 1]])
    with pytest.raises(ValueError, match="only linear losses"):
        _core.search(
            problem_of(sample, pt.NVI(), np.array([1, 2, 3], np.uint32)), "search", _core.SearchOptions(), None
        )
