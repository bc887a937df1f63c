"""The similarity matrix and the criteria that are built on it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import partita as pt
from support import reference as ref
from support.strategies import gappy_samples, positive, random_sample, samples


@given(samples())
def test_similarity_is_the_weighted_share_of_draws_that_join_a_pair(sample):
    rows, weights = sample
    found = pt.similarity(pt.as_sample(rows, weights=weights), dtype=np.float64)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, ref.similarity(rows, weights), rtol=0, atol=1e-12)
    single = pt.similarity(pt.as_sample(rows, weights=weights), dtype=np.float32)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, ref.similarity(rows, weights), rtol=0, atol=1e-6)


def test_a_fault_in_the_weights_is_seen():
    rows, weights = [[0, 0, 1], [0, 1, 1]], [3.0, 1.0]
    found = pt.similarity(pt.as_sample(rows, weights=weights))
    with pytest.raises(AssertionError):
        np.testing.assert_allclose(found, ref.similarity(rows), atol=1e-6)


@given(gappy_samples())
def test_with_gaps_only_draws_that_label_both_items_speak(sample):
    rows, weights = sample
    found = pt.similarity(pt.as_sample(rows, weights=weights, missing=-1), dtype=np.float64)
    np.testing.assert_allclose(found, ref.similarity(rows, weights), rtol=0, atol=1e-12)


def test_the_matrix_is_symmetric_with_ones_on_the_diagonal():
    rows, weights = random_sample(150, 80, np.random.default_rng(5))
    found = pt.similarity(pt.as_sample(rows, weights=weights), dtype=np.float64)
    assert (found == found.T).all()
    assert np.diag(found) == pytest.approx(np.ones(150))
    assert found.min() >= 0
    assert found.max() <= 1 + 1e-12
    one_hot = sum(w * np.equal.outer(row, row) for w, row in zip(weights / weights.sum(), rows, strict=True))
    np.testing.assert_allclose(found, one_hot, rtol=0, atol=1e-12)


def test_a_block_is_that_part_of_the_matrix():
    rows, weights = random_sample(40, 25, np.random.default_rng(8))
    sample = pt.as_sample(rows, weights=weights)
    whole = pt.similarity(sample)
    items, columns = [3, 17, 18, 39], np.arange(40)
    np.testing.assert_array_equal(pt.similarity(sample, items=items), whole[np.ix_(items, items)])
    np.testing.assert_array_equal(pt.similarity(sample, items=(items, columns)), whole[items])


def test_a_pair_that_no_draw_labels_has_no_similarity():
    found = pt.similarity(pt.as_sample([[0, -1, 1], [-1, 0, 0]], missing=-1))
    np.testing.assert_array_equal(found, [[1, np.nan, 0], [np.nan, 1, 1], [0, 1, 1]])


@pytest.mark.parametrize("items", [[40], [-1], [0.5], [[1, 2]]])
def test_items_that_are_not_there_are_refused(items):
    rows, _ = random_sample(40, 5, np.random.default_rng(8))
    with pytest.raises(ValueError, match="items"):
        pt.similarity(rows, items=items)


@pytest.mark.parametrize("rows", [[[0]], [[0, 0, 0]], [[0, 1, 2]], [[0], [0]]])
def test_small_samples(rows):
    np.testing.assert_array_equal(pt.similarity(rows), ref.similarity(rows))


# --- criteria ---------------------------------------------------------------------------------------


def candidates(rows) -> list[list[int]]:
    n = len(rows[0])
    return [rows[0], rows[-1], [0] * n, list(range(n))]


@given(samples())
def test_vi_lower_bound_is_equation_4_in_bits(sample):
    rows, weights = sample
    psm = ref.similarity(rows, weights)
    for estimate in candidates(rows):
        bound = pt.vi_lower_bound(estimate, psm)
        assert bound == pytest.approx(ref.vi_lower_bound(estimate, psm), abs=1e-11)
        expected = pt.expected_loss(estimate, pt.as_sample(rows, weights=weights), "vi")
        assert bound + ref.own_term(rows, weights) <= expected + 1e-11


@given(samples(), positive, positive)
def test_lau_green_ranks_estimates_as_binder_does(sample, a, b):
    rows, weights = sample
    n = len(rows[0])
    psm = ref.similarity(rows, weights)
    draws = pt.as_sample(rows, weights=weights)
    gains = [pt.lau_green(c, psm, a=a, b=b) for c in candidates(rows)]
    assert gains == pytest.approx([ref.lau_green(c, psm, a, b) for c in candidates(rows)], abs=1e-10)
    losses = [pt.expected_loss(c, draws, pt.Binder(a=a, b=b)) for c in candidates(rows)]
    constants = [loss + 2 * (a + b) / n**2 * gain for loss, gain in zip(losses, gains, strict=True)]
    assert constants == pytest.approx([constants[0]] * len(constants), abs=1e-9)


@given(samples())
def test_pear_is_equation_6(sample):
    rows, weights = sample
    psm = ref.similarity(rows, weights)
    for estimate in candidates(rows):
        assert pt.pear(estimate, psm) == pytest.approx(ref.pear(estimate, psm), abs=1e-9)


def test_with_one_draw_pear_is_the_adjusted_rand_index():
    draw = [0, 0, 1, 1, 1, 2]
    psm = pt.similarity([draw], dtype=np.float64)
    for estimate in ref.all_partitions(6):
        assert pt.pear(estimate, psm) == pytest.approx(pt.adjusted_rand(draw, estimate), abs=1e-12)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_pear_is_one_for_certain_extremes(n):
    assert pt.pear([0] * n, np.ones((n, n))) == 1.0
    assert pt.pear(list(range(n)), np.eye(n)) == 1.0


def test_criteria_take_a_single_precision_matrix():
    rows, weights = random_sample(25, 30, np.random.default_rng(9))
    psm = pt.similarity(pt.as_sample(rows, weights=weights), dtype=np.float32)
    double = psm.astype(float)
    for criterion in (pt.vi_lower_bound, pt.lau_green, pt.pear):
        assert criterion(rows[0], psm) == pytest.approx(criterion(rows[0], double), abs=1e-4)


FAULTS = {
    "vi_lower_bound": lambda c, psm: -ref.vi_lower_bound(c, psm),
    "lau_green": lambda c, psm: ref.lau_green(c, 1 - psm),
    "pear": lambda c, psm: ref.pear(c, psm.T**2),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_in_a_criterion_is_seen(name):
    rows, weights = random_sample(8, 6, np.random.default_rng(10))
    psm = ref.similarity(rows.tolist(), weights)
    fault, criterion = FAULTS[name], getattr(pt, name)
    assert any(criterion(c, psm) != pytest.approx(fault(c.tolist(), psm), abs=1e-6) for c in rows)


@pytest.mark.parametrize("criterion", [pt.vi_lower_bound, pt.lau_green, pt.pear])
@pytest.mark.parametrize("psm", [np.ones((3, 3)), np.ones((4, 3)), np.ones(4)], ids=["small", "not square", "flat"])
def test_criteria_need_a_matrix_of_the_partitions_size(criterion, psm):
    with pytest.raises(ValueError, match=r"psm|similarity"):
        criterion([0, 0, 1, 1], psm)


def test_criteria_refuse_what_is_no_probability():
    psm = np.eye(3)
    psm[0, 1] = np.nan
    for criterion in (pt.vi_lower_bound, pt.lau_green, pt.pear):
        with pytest.raises(ValueError, match=r"(?i)nan"):
            criterion([0, 0, 1], psm)


@pytest.mark.parametrize("weight", ["a", "b"])
def test_lau_green_needs_positive_weights(weight):
    with pytest.raises(ValueError, match=rf"\b{weight}\b"):
        pt.lau_green([0, 0], np.eye(2), **{weight: 0.0})


# --- the published draws ----------------------------------------------------------------------------


def test_galaxy_draws_hold_the_papers_number_of_distinct_partitions(shared):
    with np.load(shared / "reference" / "draws" / "galaxy.npz") as file:
        draws = file["draws"]
    sample = pt.as_sample(draws)
    assert (sample.n_draws, sample.n_items) == (10_000, 82)
    assert sample.n_unique == 9_636
    assert sample.labels.shape == (9_636, 82)
    subset = draws[::500]
    assert pt.distances(draws[0], subset, "vi") == pytest.approx(
        [ref.vi(row, draws[0].tolist()) for row in subset.tolist()], abs=1e-11
    )
    assert pt.distances(draws[0], subset, "binder") == pytest.approx(
        [ref.binder(row, draws[0].tolist()) for row in subset.tolist()], abs=1e-11
    )


@pytest.mark.parametrize("function", [pt.pear, pt.vi_lower_bound, pt.lau_green])
@pytest.mark.parametrize("value", [2.0, -0.5, np.nan])
def test_entries_that_are_no_probabilities_are_named(function, value):
    with pytest.raises(ValueError, match=rf"psm\[0, 1\] is {value}, but every pair needs a probability"):
        function([0, 1], [[1, value], [value, 1]])


@pytest.mark.parametrize("function", [pt.pear, pt.vi_lower_bound, pt.lau_green])
def test_a_similarity_matrix_that_is_not_symmetric_is_an_error(function):
    with pytest.raises(ValueError, match=r"psm\[0, 1\] is 0\.5, but psm\[1, 0\] is 0\.4: the matrix must be symmetric"):
        function([0, 1], [[1, 0.5], [0.4, 1]])


@pytest.mark.parametrize("n_draws", [1, 31, 32, 65, 8160, 8170])
def test_draws_are_counted_across_the_blocks_of_the_fast_loop(n_draws):
    """Labels of one byte are compared 32 at a time, and counters of one byte overflow after 255 of these."""
    rng = np.random.default_rng(n_draws)
    labels = rng.integers(2, size=(n_draws, 7))
    labels[:, 1] = labels[:, 0]  # together in every draw
    expected = (labels[:, :, None] == labels[:, None, :]).mean(axis=0)
    np.testing.assert_allclose(pt.similarity(labels), expected, atol=1e-12)
