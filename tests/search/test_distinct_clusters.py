"""Clusters that repeat between draws, stored once: the same values, scores and merges, and the same answers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import partita as pt
from partita import _core
from partita.datasets import make_draws
from partita.search.result import Compression
from support.native import options_of, problem_of

ALWAYS, NEVER = _core.Sharing.always, _core.Sharing.never
LINEAR = {"vi": pt.VI(), "vi .3": pt.VI(a=0.3, b=1.7), "binder": pt.Binder(), "binder 1.6": pt.Binder(a=1.6, b=0.4)}


def product_draws(rng, n_regions, n_local, region_items, n_draws):
    """Draws of regions that do not depend on each other, each with a few local partitions."""
    local = rng.integers(3, size=(n_regions, n_local, region_items))
    chosen = rng.integers(n_local, size=(n_draws, n_regions))
    labels = local[np.arange(n_regions), chosen] + 3 * np.arange(n_regions)[:, None]
    return labels.reshape(n_draws, -1)


def count_distinct(labels):
    """Distinct clusters, as sets of items."""
    return len({tuple(np.flatnonzero(row == k)) for row in labels for k in np.unique(row)})


@st.composite
def problems(draw):
    """A weighted sample in which clusters repeat, how many items each item stands for, a partition, and a generator."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    size = (draw(st.integers(1, 3)), draw(st.integers(1, 4)), draw(st.integers(1, 4)))
    labels = product_draws(rng, *size, draw(st.integers(1, 12)))
    n_draws, n_items = labels.shape
    sample = pt.as_sample(labels, weights=rng.random(n_draws) + 0.1)
    copies = rng.integers(1, draw(st.integers(1, 3)) + 1, size=n_items).astype(np.uint32)
    return sample, copies, pt.canonical(rng.integers(4, size=n_items)), rng


def state_of(sample, copies, loss, partition, sharing=ALWAYS):
    state = _core.cell_state(problem_of(sample, loss, copies, sharing), 30)
    state.assign(partition.astype(np.uint32))
    return state


def all_items(sample, copies):
    """The sample in which every copy is an item of its own."""
    return pt.as_sample(np.repeat(sample.labels, copies, axis=1), weights=sample.weights)


def check_state(sample, copies, partition, rng, loss, full=None):
    """Values, scores of an item and changes by merges are those of the expected loss of all items."""
    full = all_items(sample, copies) if full is None else full
    state = state_of(sample, copies, loss, partition)

    def truth(labels):
        return pt.expected_loss(pt.canonical(np.repeat(labels, copies)), full, loss)

    here = truth(partition)
    assert state.value == pytest.approx(here, rel=1e-9, abs=1e-9)
    item = int(rng.integers(sample.n_items))
    moved = np.tile(partition, (len(state.score(item)), 1))
    moved[np.arange(len(moved)), item] = np.arange(len(moved))
    losses = np.array([truth(labels) for labels in moved])
    for score, tolerance in ((state.score, 2e-6), (state.score_precisely, 1e-9)):
        scores = np.array(score(item))
        np.testing.assert_allclose(scores - scores[partition[item]], losses - here, atol=tolerance * max(1, here))
    changes = state.merge_changes()
    for k in range(state.n_clusters):
        for other in range(k + 1, state.n_clusters):
            merged = truth(np.where(partition == other, k, partition))
            assert here + changes[k, other] == pytest.approx(merged, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", LINEAR)
@given(problems())
@settings(max_examples=40, deadline=None)
def test_values_scores_and_merges_are_those_of_the_expected_loss(name, problem):
    check_state(*problem, LINEAR[name])


def test_a_wrong_weight_would_be_noticed():
    labels = [[0, 0, 1, 1, 2], [0, 0, 1, 2, 2], [0, 1, 2, 2, 2]]
    sample, other = pt.as_sample(labels, weights=[1, 2, 3]), pt.as_sample(labels, weights=[1, 2, 3.01])
    copies, rng = np.ones(5, np.uint32), np.random.default_rng(1)
    with pytest.raises(AssertionError):
        check_state(sample, copies, pt.canonical([0, 0, 1, 1, 1]), rng, pt.VI(), full=other)


@pytest.mark.parametrize("name", LINEAR)
@given(problems())
@settings(max_examples=25, deadline=None)
def test_changes_keep_the_value_that_every_draw_on_its_own_gives(name, problem):
    """The same moves and merges on both kinds of rows; a merge computes the value anew, in double precision."""
    sample, copies, partition, rng = problem
    states = [state_of(sample, copies, LINEAR[name], partition, sharing) for sharing in (ALWAYS, NEVER)]
    for _ in range(15):
        item = int(rng.integers(sample.n_items))
        cluster = int(rng.integers(len(states[0].score(item))))
        for state in states:
            state.move(item, cluster)
        assert states[0].value == pytest.approx(states[1].value, rel=1e-5, abs=1e-6)
    if states[0].n_clusters > 1:
        for state in states:
            state.merge(0, 1)
        assert states[0].value == pytest.approx(states[1].value, rel=1e-9, abs=1e-9)
    assert np.array_equal(states[0].labels, states[1].labels)
    scores = [state.score(0) for state in states]
    np.testing.assert_allclose(*scores, rtol=1e-5, atol=1e-6)


@given(problems())
@settings(max_examples=60, deadline=None)
def test_every_distinct_cluster_has_one_row(problem):
    sample, copies, partition, _ = problem
    state = state_of(sample, copies, pt.VI(), partition)
    assert state.clusters_per_row == pytest.approx(sample.n_clusters.sum() / count_distinct(sample.labels))
    assert state_of(sample, copies, pt.VI(), partition, NEVER).clusters_per_row == 1


def test_other_losses_and_draws_with_gaps_keep_rows_of_their_own():
    labels = product_draws(np.random.default_rng(1), 4, 3, 5, 200)
    one = np.ones(20, np.uint32)
    assert state_of(pt.as_sample(labels), one, pt.VI(), pt.canonical(labels[0])).clusters_per_row > 10
    labels[0, 0] = -1
    gaps = pt.as_sample(labels, missing=-1)
    assert state_of(gaps, one, pt.VI(), pt.canonical(labels[1])).clusters_per_row == 1
    for loss in (pt.NVI(), pt.OneMinusARI()):
        state = _core.cell_state(problem_of(pt.as_sample(labels[1:]), loss, sharing=ALWAYS), 9)
        assert state.clusters_per_row == 1


def rows_that_pay(labels):
    return _core.cell_state(problem_of(pt.as_sample(labels), pt.VI()), 9).clusters_per_row


def test_rows_are_shared_only_where_clusters_repeat_throughout():
    rng = np.random.default_rng(3)
    repeating, noise = product_draws(rng, 10, 5, 12, 300), make_draws(120, 300, 8, rng=3)
    assert rows_that_pay(repeating) > 10
    assert rows_that_pay(noise) == 1
    assert rows_that_pay(np.concatenate([repeating[:100], noise])) == 1  # the first part alone is no proof
    assert rows_that_pay(np.concatenate([noise[:100], repeating])) == 1


def runs_of(sample, loss, method, sharing, threads=1):
    options = options_of(sample, pt.Search(runs=4, n_jobs=threads))
    return _core.search(problem_of(sample, loss, sharing=sharing), method, options, None)[0]


@pytest.mark.parametrize(("method", "name"), [("search", "vi"), ("search", "vi .3"), ("salso", "binder")])
def test_a_search_of_independent_regions_is_no_worse_than_draw_by_draw(method, name):
    loss = LINEAR[name]
    sample = pt.as_sample(product_draws(np.random.default_rng(7), 12, 5, 8, 1_000))
    assert sample.n_unique > 950
    found, apart = (runs_of(sample, loss, method, kind) for kind in (_core.Sharing.where_it_pays, NEVER))
    for run in found:
        assert run.clusters_per_row == pytest.approx(sample.n_clusters.sum() / count_distinct(sample.labels[:200]))
        assert run.loss == pytest.approx(pt.expected_loss(run.labels, sample, loss), rel=1e-9)
    assert min(run.loss for run in found) <= min(run.loss for run in apart) * (1 + 1e-9)
    again = runs_of(sample, loss, method, _core.Sharing.where_it_pays, threads=2)
    assert [run.labels.tolist() for run in again] == [run.labels.tolist() for run in found]


def test_equal_items_and_equal_clusters_are_found_together():
    rng = np.random.default_rng(5)
    few = product_draws(rng, 6, 4, 3, 400)
    draws = np.repeat(few, 5, axis=1)[:, rng.permutation(90)]
    best = pt.estimate(draws, rng=1)
    assert best.compression.items >= 5
    assert best.compression.clusters > 10
    assert best.expected_loss == pytest.approx(min(run.loss for run in best.runs), rel=1e-9)


def test_the_estimate_reports_what_was_searched_as_one():
    draws = np.repeat(product_draws(np.random.default_rng(2), 8, 4, 10, 300), 2, axis=0)
    best = pt.estimate(draws, rng=1)
    sample = best.sample
    assert best.compression.items == 1
    assert best.compression.draws == pytest.approx(600 / sample.n_unique)
    assert best.compression.clusters == pytest.approx(sample.n_clusters.sum() / count_distinct(sample.labels))
    assert repr(best.compression).startswith("Compression: items 1, draws 2")
    assert pt.estimate(make_draws(50, 40, 4, rng=1), rng=1).compression == Compression()
