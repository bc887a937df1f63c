"""The sparse state against the dense one: the same scores, merges and values, for every loss, with gaps, weights and
copies."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import partita as pt
from partita import _core
from support.native import problem_of

LOSSES = {
    "binder": pt.Binder(),
    "binder-weighted": pt.Binder(a=0.5, b=1.5),
    "vi": pt.VI(),
    "vi-weighted": pt.VI(a=1.7, b=0.3),
    "nvi": pt.NVI(),
    "id": pt.ID(),
    "nid": pt.NID(),
    "omari": pt.OneMinusARI(),
}
LINEAR = [name for name in LOSSES if name.startswith(("binder", "vi"))]
#: The dense state keeps the gains of losses that are not linear in single precision.
SINGLE, DOUBLE = 2e-7, 1e-9


@st.composite
def problems(draw, gaps=False):
    """A weighted sample, a partition and a generator; sometimes of rows that are too long to be read on the fly."""
    seed = draw(st.integers(0, 2**32 - 1))
    n, n_draws = draw(st.integers(2, 12) | st.just(80)), draw(st.integers(1, 6))
    rng = np.random.default_rng(seed)
    labels = rng.integers(draw(st.sampled_from([1, 2, 5, n])), size=(n_draws, n))
    if gaps:
        labels[rng.random(labels.shape) < 0.3] = -1
        labels[:, 0] = 0  # no draw is empty
    weights = rng.random(n_draws) + 0.1
    if n_draws > 1:
        weights[0] = rng.choice([0.0, 1.0])
    sample = pt.as_sample(labels, weights=weights, missing=-1 if gaps else None)
    return sample, pt.canonical(rng.integers(draw(st.sampled_from([2, 4, n])), size=n)), rng


def both(sample, loss, limit, copies=None):
    problem = problem_of(sample, loss, copies)
    return _core.cell_state(problem, limit), _core.SparseState(problem, limit)


def changed_alike(states, n_items, rng):
    """The same random changes to both states: moves, merges, items taken out and put back."""
    for _ in range(6):
        item = int(rng.integers(n_items))
        target = int(rng.integers(len(states[0].score(item))))
        for state in states:
            state.move(item, target)
    if states[0].n_clusters > 2:
        keep, gone = map(int, rng.choice(states[0].n_clusters, 2, replace=False))
        for state in states:
            state.merge(keep, gone)
    out = rng.choice(n_items, n_items // 3, replace=False)
    for state in states:
        for item in out:
            state.remove(int(item))
    for item in out[: n_items // 6]:
        target = int(rng.integers(len(states[0].score(int(item)))))
        for state in states:
            state.insert(int(item), target)


def compare(dense, sparse, n_items, tolerance, shift):
    """Everything that a search asks of the two states."""
    assert np.array_equal(dense.labels, sparse.labels)
    dense.refresh()
    assert sparse.value + shift == pytest.approx(dense.value, abs=DOUBLE)
    sparse.refresh()
    assert sparse.value == pytest.approx(dense.value, abs=DOUBLE)
    for item in range(n_items):
        expected = dense.score_precisely(item)
        np.testing.assert_allclose(sparse.score(item), expected, atol=tolerance)
        compare_candidates(sparse, item, expected, tolerance)
    changes = dense.merge_changes()
    if tolerance > DOUBLE:  # changes in single precision are trusted down to this share of the value, and not below
        tolerance += _core.SINGLE_ROUNDING * dense.value
    np.testing.assert_allclose(np.triu(sparse.merge_changes(), 1), np.triu(changes, 1), atol=tolerance)
    compare_merges(sparse, changes, tolerance)


def compare_candidates(sparse, item, expected, tolerance):
    """Candidates have the scores of the whole row, and none of the others is better."""
    clusters, scores = sparse.candidates(item)
    assert len(set(clusters.tolist())) == len(clusters)
    np.testing.assert_allclose(scores, expected[clusters], atol=tolerance)
    assert scores.min() <= expected.min() + tolerance


def compare_merges(sparse, changes, tolerance):
    """Merges that are named have the changes of the table; no other merge lowers the value."""
    symmetric = np.triu(changes, 1) + np.triu(changes, 1).T
    for cluster in range(sparse.n_clusters):
        others, named = sparse.merges_of(cluster)
        np.testing.assert_allclose(named, symmetric[cluster, others], atol=tolerance)
        unnamed = np.setdiff1d(np.arange(sparse.n_clusters), [*others, cluster])
        assert (symmetric[cluster, unnamed] >= -tolerance).all()


def check(sample, partition, rng, loss, copies=None, shift=0.0):
    states = both(sample, loss, sample.n_items, copies)
    tolerance = DOUBLE if isinstance(loss, pt.Binder | pt.VI) else SINGLE
    for state in states:
        state.assign(partition.astype(np.uint32))
    compare(*states, sample.n_items, tolerance, shift)
    changed_alike(states, sample.n_items, rng)
    compare(*states, sample.n_items, tolerance, shift)


@pytest.mark.parametrize("name", LOSSES)
@given(problems())
@settings(max_examples=30, deadline=None)
def test_both_states_agree(name, problem):
    check(*problem, LOSSES[name])


@pytest.mark.parametrize("name", LOSSES)
@given(problems(gaps=True))
@settings(max_examples=20, deadline=None)
def test_both_states_agree_with_gaps(name, problem):
    check(*problem, LOSSES[name])


@pytest.mark.parametrize("name", LINEAR)
@given(problems())
@settings(max_examples=20, deadline=None)
def test_both_states_agree_on_items_that_count_for_several(name, problem):
    sample, partition, rng = problem
    check(sample, partition, rng, LOSSES[name], copies=rng.integers(1, 4, sample.n_items).astype(np.uint32))


def test_a_disagreement_would_be_noticed():
    sample = pt.as_sample([[0, 0, 1, 1], [0, 1, 1, 1]])
    with pytest.raises(AssertionError):
        check(sample, pt.canonical([0, 0, 1, 1]), np.random.default_rng(1), pt.VI(), shift=1e-6)


@pytest.mark.parametrize("name", LOSSES)
def test_where_the_limit_forbids_a_new_cluster_a_smallest_one_takes_its_place(name):
    rng = np.random.default_rng(3)
    sample = pt.as_sample(rng.integers(8, size=(5, 14)))
    dense, sparse = both(sample, LOSSES[name], 6)
    partition = pt.canonical(rng.integers(6, size=14)).astype(np.uint32)
    for state in (dense, sparse):
        state.assign(partition)
    for item in range(14):
        expected = dense.score_precisely(item)
        assert sparse.candidates(item)[1].min() == pytest.approx(expected.min(), abs=SINGLE)
