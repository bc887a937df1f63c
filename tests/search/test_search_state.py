"""A state's predictions against the losses recomputed from scratch, for every loss, with and without gaps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import partita as pt
from partita import _core
from partita.losses.losses import as_loss
from partita.losses.problem import core_problem
from support.strategies import SEARCHED

N_LOG_N = np.array([0.0] + [n * np.log2(n) for n in range(1, 40)])
LOSSES = {
    **{name: as_loss(name) for name in SEARCHED},
    "binder-weighted": pt.Binder(a=0.5, b=1.5),
    "vi-weighted": pt.VI(a=1.7, b=0.3),
    "custom": pt.CustomLoss(N_LOG_N, N_LOG_N, N_LOG_N, lambda joint, estimate, draw: estimate + draw - 2 * joint),
}


@st.composite
def problems(draw, gaps=False):
    """A weighted sample, a partition, an item and a seed for the moves."""
    seed = draw(st.integers(0, 2**32 - 1))
    n, n_draws = draw(st.integers(2, 12)), draw(st.integers(1, 6))
    rng = np.random.default_rng(seed)
    labels = rng.integers(draw(st.integers(1, 5)), size=(n_draws, n))
    if gaps:
        labels[rng.random(labels.shape) < 0.3] = -1
        labels[:, 0] = 0  # no draw is empty
    sample = pt.as_sample(labels, weights=rng.random(n_draws) + 0.1, missing=-1 if gaps else None)
    return sample, pt.canonical(rng.integers(4, size=n)), rng


def state_of(sample, loss, partition, max_clusters=30):
    state = _core.cell_state(core_problem(sample, loss), max_clusters)
    state.assign(partition.astype(np.uint32))
    return state


def recomputed(state, sample, loss):
    return pt.expected_loss(pt.canonical(state.labels), sample, loss)


def check_scores(sample, partition, rng, loss, shift=0.0):
    """Differences between the scores of an item are the differences of the expected losses."""
    state = state_of(sample, loss, partition)
    item = int(rng.integers(sample.n_items))
    scores = state.score(item)
    losses = []
    for cluster in range(len(scores)):
        moved = partition.copy()
        moved[item] = cluster
        losses.append(pt.expected_loss(pt.canonical(moved), sample, loss))
    own = partition[item]
    predicted = scores - scores[own] + shift * (np.arange(len(scores)) != own)
    scale = max(1.0, np.abs(losses).max())
    np.testing.assert_allclose(predicted, np.array(losses) - losses[own], atol=2e-6 * scale)
    np.testing.assert_allclose(state.score_precisely(item) - state.score_precisely(item)[own], scores - scores[own],
                               atol=2e-6 * scale)  # fmt: skip


@pytest.mark.parametrize("name", LOSSES)
@given(problems())
@settings(max_examples=40, deadline=None)
def test_predicted_change_of_a_move_is_the_recomputed_one(name, problem):
    check_scores(*problem, LOSSES[name])


@pytest.mark.parametrize("name", LOSSES)
@given(problems(gaps=True))
@settings(max_examples=25, deadline=None)
def test_predicted_change_of_a_move_with_gaps(name, problem):
    check_scores(*problem, LOSSES[name])


@pytest.mark.parametrize("name", ["nvi", "id", "nid", "omari"])
@pytest.mark.parametrize("partition", [[0, 0, 0, 0, 0, 0], [0, 1, 2, 3, 4, 5], [0, 0, 0, 0, 0, 1], [0, 1, 0, 0, 2, 2]])
def test_draws_of_one_cluster_and_of_singletons_are_scored_without_dividing_by_zero(name, partition):
    draws = [[0] * 6, [0, 1, 2, 3, 4, 5], [0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 0, 1]]
    sample = pt.as_sample(draws, weights=[0.4, 0.3, 0.2, 0.1])
    for seed in range(3):
        check_scores(sample, pt.canonical(partition), np.random.default_rng(seed), LOSSES[name])
    state = state_of(sample, LOSSES[name], pt.canonical(partition))
    check_merges(state, sample, LOSSES[name])


@pytest.mark.parametrize("name", LOSSES)
@given(problems())
@settings(max_examples=20, deadline=None)
def test_predicted_change_of_a_merge_is_the_recomputed_one(name, problem):
    sample, partition, _ = problem
    check_merges(state_of(sample, LOSSES[name], partition), sample, LOSSES[name])


def check_merges(state, sample, loss):
    """The change of every merge of two clusters is the difference of the expected losses."""
    labels = state.labels.astype(np.int64)
    before, clusters = pt.expected_loss(pt.canonical(labels), sample, loss), labels.max() + 1
    changes = np.asarray(state.merge_changes()).reshape(clusters, clusters)
    for keep in range(clusters):
        for gone in range(keep + 1, clusters):
            merged = pt.canonical(np.where(labels == gone, keep, labels))
            change = pt.expected_loss(merged, sample, loss) - before
            np.testing.assert_allclose(changes[keep, gone], change, atol=4e-6 * max(1.0, abs(before)))


def test_a_wrong_prediction_would_be_noticed():
    sample = pt.as_sample([[0, 0, 1, 1], [0, 1, 1, 1]])
    with pytest.raises(AssertionError):
        check_scores(sample, pt.canonical([0, 0, 1, 1]), np.random.default_rng(1), pt.VI(), shift=1e-3)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("gaps", [False, True])
def test_value_follows_moves_merges_and_reallocations(name, gaps):
    loss, rng = LOSSES[name], np.random.default_rng(5)
    labels = rng.integers(4, size=(7, 15))
    if gaps:
        labels[rng.random(labels.shape) < 0.2] = -1
        labels[:, 0] = 0
    sample = pt.as_sample(labels, missing=-1 if gaps else None)
    state = state_of(sample, loss, pt.canonical(rng.integers(5, size=15)))
    for _ in range(60):
        item = int(rng.integers(15))
        state.move(item, int(rng.integers(len(state.score(item)))))
        assert state.value == pytest.approx(recomputed(state, sample, loss), rel=1e-5, abs=1e-6)
    before = pt.canonical(state.labels)
    items = rng.permutation(15)[:6]
    for item in items:
        state.remove(int(item))
    for item in items:
        state.insert(int(item), int(np.argmin(state.score(int(item)))))
    assert state.value == pytest.approx(recomputed(state, sample, loss), rel=1e-5, abs=1e-6)
    state.assign(before.astype(np.uint32))
    changes, value = state.merge_changes(), state.value
    for k in range(state.n_clusters):
        for other in range(k + 1, state.n_clusters):
            merged = np.where(before == other, k, before)
            truth = pt.expected_loss(pt.canonical(merged), sample, loss)
            assert value + changes[k, other] == pytest.approx(truth, rel=1e-6, abs=1e-6)
    state.merge(0, 1)
    assert state.value == pytest.approx(recomputed(state, sample, loss), rel=1e-6, abs=1e-6)


def test_a_table_grows_with_the_number_of_clusters():
    sample = pt.as_sample(np.random.default_rng(1).integers(3, size=(5, 40)))
    state = state_of(sample, pt.VI(), np.zeros(40, np.int64), max_clusters=40)
    for item in range(1, 40):
        state.move(item, state.n_clusters)
    assert state.n_clusters == 40
    assert state.value == pytest.approx(recomputed(state, sample, pt.VI()), rel=1e-6)


def test_no_new_cluster_beyond_the_limit():
    sample = pt.as_sample([[0, 0, 1, 1]])
    assert len(state_of(sample, pt.VI(), pt.canonical([0, 0, 1, 1]), max_clusters=2).score(0)) == 2
    assert len(state_of(sample, pt.VI(), pt.canonical([0, 0, 1, 1]), max_clusters=3).score(0)) == 3
