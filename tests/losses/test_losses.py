"""Every loss against the papers' formulas (reference.py), scikit-learn and itself."""

from __future__ import annotations

import ctypes
import ctypes.util
from contextlib import nullcontext
from dataclasses import fields
from itertools import product
from math import log, log2

import numpy as np
import pytest
from hypothesis import given
from scipy import LowLevelCallable
from sklearn import metrics

import partita as pt
from support import reference as ref
from support.strategies import gappy_samples, partitions, positive, random_sample, samples

EXACT = 1e-11  # losses are at most log2(n) times a weight; this is a few units in the last place of their terms

NAMES = list(pt.losses.LOSSES)
pairs_of_four = list(product(ref.all_partitions(4), repeat=2))


def weighted(name: str, a: float, b: float) -> tuple[object, ref.Loss]:
    """The package's loss and the reference's, with weights where the loss has them."""
    kind, formula = pt.losses.LOSSES[name], ref.LOSSES[name]
    if fields(kind):
        return kind(a=a, b=b), lambda x, y: formula(x, y, a, b)
    return kind(), formula


def assert_same_losses(loss, formula: ref.Loss, pairs) -> None:
    for truth, estimate in pairs:
        assert pt.partition_loss(truth, estimate, loss) == pytest.approx(formula(truth, estimate), abs=EXACT)


def test_the_registry_holds_the_papers_losses():
    assert set(NAMES) == set(ref.LOSSES)


# --- two partitions ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_every_pair_of_partitions_of_four_items(name):
    for a, b in [(1.0, 1.0), (0.5, 1.5), (3.0, 0.25)]:
        assert_same_losses(*weighted(name, a, b), pairs_of_four)


@pytest.mark.parametrize("name", NAMES)
@given(pair=partitions(2, max_items=40), a=positive, b=positive)
def test_any_pair_of_partitions(name, pair, a, b):
    assert_same_losses(*weighted(name, a, b), [pair])


@pytest.mark.parametrize("name", NAMES)
def test_the_formula_of_another_loss_is_seen(name):
    loss, _ = weighted(name, 2.0, 1.0)
    for other in NAMES:
        if other != name:
            with pytest.raises(AssertionError):
                assert_same_losses(loss, weighted(other, 2.0, 1.0)[1], pairs_of_four)


@pytest.mark.parametrize("name", ["binder", "vi"])
def test_weights_the_wrong_way_round_are_seen(name):
    loss, formula = weighted(name, 2.0, 1.0)
    with pytest.raises(AssertionError):
        assert_same_losses(loss, lambda x, y: formula(y, x), pairs_of_four)


@pytest.mark.parametrize("name", NAMES)
@given(pair=partitions(2, max_items=25), a=positive, b=positive)
def test_names_of_clusters_and_order_of_items_do_not_matter(name, pair, a, b):
    loss, _ = weighted(name, a, b)
    truth, estimate = map(np.array, pair)
    order = np.random.default_rng(len(truth)).permutation(len(truth))
    value = pt.partition_loss(truth, estimate, loss)
    renamed = pt.partition_loss(9 - truth % 9 + 10 * (truth // 9), [f"c{label}" for label in estimate], loss)
    assert renamed == pytest.approx(value, abs=EXACT)
    assert pt.partition_loss(truth[order], estimate[order], loss) == pytest.approx(value, abs=EXACT)


@pytest.mark.parametrize("name", NAMES)
@given(single=partitions(max_items=60), a=positive, b=positive)
def test_a_partition_has_no_loss_to_itself(name, single, a, b):
    (labels,) = single
    loss, _ = weighted(name, a, b)
    value = pt.partition_loss(labels, [label + 1 for label in labels], loss)
    assert value == 0.0
    assert isinstance(value, float)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n", [1, 2, 3, 7, 100, 1000])
def test_one_cluster_and_all_singletons(name, n):
    loss, formula = weighted(name, 0.7, 1.9)
    one, singletons = [0] * n, list(range(n))
    for truth, estimate in product((one, singletons), repeat=2):
        value = pt.partition_loss(truth, estimate, loss)
        assert np.isfinite(value)
        if n <= 100:
            assert value == pytest.approx(formula(truth, estimate), abs=EXACT)
        if n == 1 or truth is estimate:
            assert value == 0.0


@pytest.mark.parametrize("name", NAMES)
def test_no_loss_is_negative_and_normalised_ones_stay_in_their_range(name):
    rng = np.random.default_rng(3)
    for _ in range(100):
        n = int(rng.integers(1, 60))
        truth, estimate = (rng.integers(rng.integers(1, n + 1), size=n) for _ in range(2))
        value = pt.partition_loss(truth, estimate, name)
        assert value >= 0.0
        if name in ("nvi", "nid", "zero-one"):
            assert value <= 1.0


@pytest.mark.parametrize("name", NAMES)
def test_a_name_stands_for_the_loss_with_its_defaults(name):
    x, y = [0, 0, 1, 1, 2], [0, 1, 1, 1, 0]
    cls = pt.losses.LOSSES[name]
    assert pt.partition_loss(x, y, name) == pt.partition_loss(x, y, cls()) == pt.partition_loss(x, y, loss=name)
    assert pt.partition_loss(x, y) == pt.partition_loss(x, y, "vi")


def test_a_prices_what_is_split_and_b_what_is_joined():
    together, apart = [0, 0], [0, 1]
    assert pt.partition_loss(together, apart, pt.Binder(a=3, b=5)) == pytest.approx(2 / 4 * 3)
    assert pt.partition_loss(apart, together, pt.Binder(a=3, b=5)) == pytest.approx(2 / 4 * 5)
    assert pt.partition_loss(together, apart, pt.VI(a=3, b=5)) == pytest.approx(3)
    assert pt.partition_loss(apart, together, pt.VI(a=3, b=5)) == pytest.approx(5)


@given(partitions(2, max_items=40))
def test_scikit_learn_agrees(pair):
    x, y = pair
    if len(x) > 1:
        rand = metrics.rand_score(x, y)
        assert pt.partition_loss(x, y, "binder") == pytest.approx((1 - rand) * (len(x) - 1) / len(x), abs=EXACT)
    assert pt.partition_loss(x, y, "omari") == pytest.approx(1 - metrics.adjusted_rand_score(x, y), abs=1e-9)
    assert pt.adjusted_rand(x, y) == pytest.approx(metrics.adjusted_rand_score(x, y), abs=1e-9)
    mutual = metrics.mutual_info_score(x, y) / log(2)
    homogeneity, completeness, _ = metrics.homogeneity_completeness_v_measure(x, y)
    h_x, h_y = ref.entropy(x), ref.entropy(y)
    assert (1 - homogeneity) * h_x + (1 - completeness) * h_y == pytest.approx(pt.partition_loss(x, y, "vi"), abs=1e-9)
    assert pt.partition_loss(x, y, "id") == pytest.approx(max(h_x, h_y) - mutual, abs=1e-9)
    if max(h_x, h_y) > 0:
        nmi = metrics.normalized_mutual_info_score(x, y, average_method="max")
        assert pt.partition_loss(x, y, "nid") == pytest.approx(1 - nmi, abs=1e-9)
        assert pt.nmi(x, y) == pytest.approx(nmi, abs=1e-9)
        assert pt.partition_loss(x, y, "nvi") == pytest.approx(1 - mutual / (h_x + h_y - mutual), abs=1e-9)


# --- agreement with a truth -------------------------------------------------------------------------


@given(partitions(2, max_items=25))
def test_agreement_with_a_truth(pair):
    x, y = pair
    assert pt.adjusted_rand(x, y) == pytest.approx(ref.adjusted_rand(x, y), abs=EXACT)
    assert pt.nmi(x, y) == pytest.approx(ref.nmi(x, y), abs=EXACT)
    assert pt.f1(x, y) == pytest.approx(ref.f1(x, y), abs=EXACT)
    for agreement in (pt.adjusted_rand, pt.nmi, pt.f1):
        assert agreement(x, ref.canonical(x)) == pytest.approx(1.0, abs=1e-15)


def test_f1_averages_over_the_clusters_of_the_estimate():
    """P = (1 + 1 + 1)/3 and R = (2/4 + 2/4 + 2/2)/3 = 2/3, so F1 = 2·1·(2/3)/(1 + 2/3) = 0.8."""
    assert pt.f1([0, 0, 1, 1, 2, 2], [0, 0, 0, 0, 1, 1]) == pytest.approx(0.8)
    assert pt.f1([0, 0, 0, 0, 1, 1], [0, 0, 1, 1, 2, 2]) == pytest.approx(2 * 0.75 / 1.75)


# --- samples ----------------------------------------------------------------------------------------


def assert_same_expectation(sample, rows, weights, loss, formula) -> None:
    n = len(rows[0])
    for estimate in (rows[-1], [0] * n, list(range(n))):
        expected = ref.expected_loss(estimate, rows, formula, weights)
        assert pt.expected_loss(estimate, sample, loss) == pytest.approx(expected, abs=EXACT)
        found = pt.distances(estimate, sample, loss)
        assert found == pytest.approx(ref.distances(estimate, rows, formula), abs=EXACT)


@pytest.mark.parametrize("name", NAMES)
@given(sample=samples(), a=positive, b=positive)
def test_expected_loss_and_distances(name, sample, a, b):
    rows, weights = sample
    assert_same_expectation(pt.as_sample(rows, weights=weights), rows, weights, *weighted(name, a, b))


@pytest.mark.parametrize("name", NAMES)
@given(sample=gappy_samples(), a=positive, b=positive)
def test_a_draw_with_gaps_speaks_only_of_what_it_labels(name, sample, a, b):
    rows, weights = sample
    draws = pt.as_sample(rows, weights=weights, missing=-1)
    assert_same_expectation(draws, rows, weights, *weighted(name, a, b))


EXPECTATION_FAULTS = {
    "none": ([1.0, 5.0, 2.0], lambda x, y: ref.vi(x, y, 2.0, 1.0)),
    "unweighted": (None, lambda x, y: ref.vi(x, y, 2.0, 1.0)),
    "swapped": ([1.0, 5.0, 2.0], lambda x, y: ref.vi(y, x, 2.0, 1.0)),
    "n of all items": ([1.0, 5.0, 2.0], lambda x, y: ref.vi(x, y, 2.0, 1.0) * len(x) / 4),
}


@pytest.mark.parametrize("fault", EXPECTATION_FAULTS)
def test_a_fault_in_the_expectation_is_seen(fault):
    rows = [[0, 0, 1, -1], [0, 1, 2, 2], [0, 0, 0, 1]]
    sample = pt.as_sample(rows, weights=[1.0, 5.0, 2.0], missing=-1)
    with nullcontext() if fault == "none" else pytest.raises(AssertionError):
        assert_same_expectation(sample, rows, EXPECTATION_FAULTS[fault][0], pt.VI(a=2), EXPECTATION_FAULTS[fault][1])


@pytest.mark.parametrize("name", NAMES)
def test_many_candidates_are_answered_one_by_one(name):
    rows, _ = random_sample(30, 20, np.random.default_rng(1))
    many = pt.expected_loss(rows, rows, name)
    assert isinstance(many, np.ndarray)
    assert many.shape == (20,)
    assert many == pytest.approx([pt.expected_loss(row, rows, name) for row in rows], abs=EXACT)
    assert isinstance(pt.expected_loss(rows[0], rows, name), float)


@pytest.mark.parametrize("name", NAMES)
def test_distances_keep_the_order_and_number_of_the_draws(name):
    rows = [[0, 1, 1], [0, 0, 0], [5, 2, 2], [0, 1, 2], [1, 1, 1]]
    values = pt.distances([0, 0, 1], rows, name)
    assert values.shape == (5,)
    assert values == pytest.approx([pt.partition_loss(row, [0, 0, 1], name) for row in rows], abs=EXACT)
    assert np.average(values) == pytest.approx(pt.expected_loss([0, 0, 1], rows, name), abs=EXACT)


@pytest.mark.parametrize("name", NAMES)
@given(sample=samples(max_items=7), a=positive, b=positive)
def test_pairwise_distances_have_the_truth_in_rows(name, sample, a, b):
    rows, weights = sample
    loss, formula = weighted(name, a, b)
    sample = pt.as_sample(rows, weights=weights)
    matrix = pt.pairwise_distances(sample, loss)
    unique = sample.labels.tolist()
    assert matrix.shape == (len(unique), len(unique))
    expected = [[formula(truth, estimate) for estimate in unique] for truth in unique]
    np.testing.assert_allclose(matrix, expected, rtol=0, atol=EXACT)
    assert (np.diag(matrix) == 0.0).all()


@pytest.mark.parametrize("name", NAMES)
def test_repeating_all_draws_changes_nothing(name):
    rows, _ = random_sample(12, 15, np.random.default_rng(2))
    once = pt.expected_loss(rows[0], rows, name)
    assert pt.expected_loss(rows[0], np.tile(rows, (3, 1)), name) == pytest.approx(once, abs=EXACT)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("rows", [[[0]], [[0], [0]], [[0, 0, 0]], [[0, 1, 2]], [[0, 0], [0, 1]]])
def test_samples_of_one_item_one_draw_one_cluster_or_all_singletons(name, rows):
    n = len(rows[0])
    for estimate in ([0] * n, list(range(n))):
        expected = ref.expected_loss(estimate, rows, ref.LOSSES[name])
        assert pt.expected_loss(estimate, rows, name) == pytest.approx(expected, abs=EXACT)
        assert pt.distances(estimate, rows, name).shape == (len(rows),)
    assert np.isfinite(pt.pairwise_distances(rows, name)).all()


@pytest.mark.parametrize("name", NAMES)
def test_larger_samples_too(name):
    rng = np.random.default_rng(4)
    rows = rng.integers(0, 12, size=(20, 150))
    formula = ref.LOSSES[name]
    assert pt.distances(rows[0], rows, name) == pytest.approx(
        [formula(row, rows[0].tolist()) for row in rows.tolist()], abs=EXACT
    )


@pytest.mark.parametrize(("labels", "kind"), [(300, np.uint16), (70_000, np.uint32)])
def test_more_clusters_than_a_byte_holds(labels, kind):
    """All singletons against one cluster: log2(n) bits, whatever type holds the labels."""
    sample = pt.as_sample(np.arange(labels)[None, :])
    assert sample.labels.dtype == kind
    assert pt.expected_loss(np.zeros(labels, dtype=int), sample, "vi") == pytest.approx(log2(labels))
    assert pt.expected_loss(np.zeros(labels, dtype=int), sample, "binder") == pytest.approx(1 - 1 / labels)
    assert pt.expected_loss(np.arange(labels), sample, "vi") == 0.0


# --- the family (7) ---------------------------------------------------------------------------------


def x_log_x(counts):
    counts = np.asarray(counts, dtype=float)
    return counts * np.log2(np.where(counts > 0, counts, 1.0))


def rebuilt(name: str, n: int) -> pt.CustomLoss:
    """VI, NVI and Binder as members of the family: φ = m·log2 m or m² in all three sums."""
    if name == "binder":
        square = lambda m: np.asarray(m, dtype=float) ** 2  # noqa: E731
        return pt.CustomLoss(square, square, square, lambda joint, est, draw: (est + draw - 2 * joint) / n**2)
    if name == "vi":
        return pt.CustomLoss(x_log_x, x_log_x, x_log_x, lambda joint, est, draw: (est + draw - 2 * joint) / n)

    def f0(joint, est, draw):
        h_joint, h_est, h_draw = (log2(n) - np.asarray(total) / n for total in (joint, est, draw))
        information = h_est + h_draw - h_joint
        return np.where(h_joint > 1e-12, 1 - information / np.where(h_joint > 1e-12, h_joint, 1.0), 0.0)

    return pt.CustomLoss(x_log_x, x_log_x, x_log_x, f0)


@pytest.mark.parametrize("name", ["binder", "vi", "nvi"])
@given(sample=samples())
def test_custom_losses_rebuild_the_named_ones(name, sample):
    rows, weights = sample
    n = len(rows[0])
    draws = pt.as_sample(rows, weights=weights)
    custom = rebuilt(name, n)
    for estimate in (rows[0], [0] * n, list(range(n))):
        named = pt.expected_loss(estimate, draws, name)
        assert pt.expected_loss(estimate, draws, custom) == pytest.approx(named, abs=1e-9)
        assert pt.distances(estimate, draws, custom) == pytest.approx(pt.distances(estimate, draws, name), abs=1e-9)
        assert pt.partition_loss(rows[0], estimate, custom) == pytest.approx(
            pt.partition_loss(rows[0], estimate, name), abs=1e-9
        )
    np.testing.assert_allclose(
        pt.pairwise_distances(draws, custom), pt.pairwise_distances(draws, name), rtol=0, atol=1e-9
    )


F1 = lambda m: 2.0 * m**2  # noqa: E731
F2 = lambda m: 3.0 * m**3  # noqa: E731
F3 = lambda m: 5.0 * np.sqrt(m)  # noqa: E731
F0 = lambda joint, est, draw: joint + 100 * est + 10_000 * draw  # noqa: E731


@given(partitions(2))
def test_each_function_of_the_family_acts_on_its_own_counts(pair):
    draw, estimate = pair
    expected = ref.family(F1, F2, F3, F0)(draw, estimate)
    n = len(draw)
    tables = [np.array([f(m) for m in range(n + 1)]) for f in (F1, F2, F3)]
    assert pt.partition_loss(draw, estimate, pt.CustomLoss(F1, F2, F3, F0)) == pytest.approx(expected)
    assert pt.partition_loss(draw, estimate, pt.CustomLoss(*tables, F0)) == pytest.approx(expected)
    swapped = ref.family(F1, F3, F2, F0)(draw, estimate)
    assert n == 1 or swapped != pytest.approx(expected) or ref.same(sorted(estimate), sorted(draw))


@pytest.mark.parametrize("position", [0, 1, 2])
def test_a_function_that_prices_empty_cells_is_refused(position):
    """The double sum of eq. 7 runs over empty cells too; the package asks for functions that are 0 there."""
    functions = [F1, F2, F3]
    functions[position] = lambda m: np.ones(np.shape(m))
    with pytest.raises(ValueError, match=rf"f{position + 1}\(0\)"):
        pt.partition_loss([0, 0, 1], [0, 1, 1], pt.CustomLoss(*functions, F0))


def compiled_fma():
    """libm's fma(x, y, z) = x·y + z stands in for a user's compiled function."""
    path = ctypes.util.find_library("m")
    if path is None:
        pytest.skip("no libm to load")
    fma = ctypes.CDLL(path).fma
    fma.restype, fma.argtypes = ctypes.c_double, (ctypes.c_double,) * 3
    return LowLevelCallable(fma)


@pytest.mark.parametrize("method", ["search", "salso", "greedy"])
def test_a_compiled_f0_that_overflows_is_an_error(method):
    huge = np.arange(31.0) * 1e148
    loss = pt.CustomLoss(huge, huge, huge, compiled_fma())
    with pytest.raises(ValueError, match=r"f0\(.*\) is .*e\+.*; it must be finite, and its size at most 1e\+150"):
        pt.estimate(pt.datasets.make_draws(30, 50, rng=1), loss, method, rng=1)


def test_f0_may_be_compiled():
    square = lambda m: np.asarray(m, dtype=float) ** 2  # noqa: E731
    compiled = pt.CustomLoss(square, square, square, compiled_fma())
    plain = pt.CustomLoss(square, square, square, lambda joint, est, draw: joint * est + draw)
    rows, _ = random_sample(10, 12, np.random.default_rng(6))
    assert pt.distances(rows[0], rows, compiled) == pytest.approx(pt.distances(rows[0], rows, plain))
    assert pt.expected_loss(rows[0], rows, compiled) == pytest.approx(pt.expected_loss(rows[0], rows, plain))


def test_a_custom_loss_speaks_of_the_items_a_draw_labels():
    rows = [[0, 0, 1, -1], [0, 1, -1, -1], [0, 1, 1, 0]]
    custom = pt.CustomLoss(F1, F2, F3, F0)
    formula = ref.family(F1, F2, F3, F0)
    draws = pt.as_sample(rows, missing=-1)
    for estimate in ref.all_partitions(4):
        assert pt.distances(estimate, draws, custom) == pytest.approx(ref.distances(estimate, rows, formula))


def test_a_table_that_is_too_short_is_refused():
    short = np.arange(4.0)
    with pytest.raises(ValueError, match=r"(?s)f1.*(4|5|6)"):
        pt.partition_loss([0, 0, 0, 0, 0], [0, 0, 1, 1, 1], pt.CustomLoss(short, short, short, F0))


# --- bad input --------------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [pt.Binder, pt.VI])
@pytest.mark.parametrize("weight", ["a", "b"])
@pytest.mark.parametrize("value", [0.0, -1.5, float("nan"), float("inf")])
def test_weights_of_a_loss_are_positive_numbers(cls, weight, value):
    with pytest.raises(ValueError, match=rf"(?s)\b{weight}\b.*{value:g}"):
        cls(**{weight: value})


FUNCTIONS = {
    "partition_loss": lambda x, y, **kw: pt.partition_loss(x, y, **kw),
    "expected_loss": lambda x, y, **kw: pt.expected_loss(y, [x], **kw),
    "distances": lambda x, y, **kw: pt.distances(y, [x], **kw),
}


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_partitions_of_different_lengths_are_refused_with_both_lengths(function):
    with pytest.raises(ValueError, match=r"(?s)3.*5|5.*3"):
        function([0, 1, 1], [0, 0, 1, 1, 2])


@pytest.mark.parametrize("agreement", [pt.adjusted_rand, pt.nmi, pt.f1])
def test_agreement_needs_partitions_of_one_length(agreement):
    with pytest.raises(ValueError, match=r"(?s)3.*5|5.*3"):
        agreement([0, 1, 1], [0, 0, 1, 1, 2])


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_an_unknown_loss_is_answered_with_the_names(function):
    with pytest.raises(ValueError) as error:
        function([0, 1], [0, 0], loss="rand")
    assert "rand" in str(error.value)
    assert all(name in str(error.value) for name in NAMES)


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
@pytest.mark.parametrize("loss", [3, None, np.array([1.0])])
def test_a_loss_of_the_wrong_type_is_refused(function, loss):
    with pytest.raises(TypeError, match="loss"):
        function([0, 1], [0, 0], loss=loss)


BAD_LABELS = {
    "negative": ([0, -2, 1], "-2"),
    "NaN": ([0.0, float("nan"), 1.0], "(?i)nan"),
    "infinite": ([0.0, float("inf"), 1.0], "(?i)inf"),
    "fraction": ([0.0, 1.5, 1.0], "1.5"),
    "two dimensions": ([[[0, 1, 1]], [[0, 1, 1]]], "(?i)dimension"),
    "no items": ([], "(?i)empty|no items|zero items|0 items|at least one"),
}


@pytest.mark.parametrize(("labels", "message"), BAD_LABELS.values(), ids=BAD_LABELS)
@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_labels_that_are_no_partition_are_refused(function, labels, message):
    with pytest.raises((ValueError, TypeError), match=message):
        function([0, 1, 1], labels)


@pytest.mark.parametrize("labels", [[0, -2, 1], [0.0, float("nan"), 1.0], [0.0, 1.5, 1.0], []], ids=str)
@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("function", [pt.partition_loss, pt.meet, pt.join, pt.refines, pt.covers, pt.adjusted_rand])
def test_either_argument_is_checked(function, which, labels):
    arguments = [[0, 1, 1], [0, 1, 1]]
    arguments[which] = labels
    with pytest.raises(ValueError):
        function(*arguments)


@pytest.mark.parametrize("functions", [("x", F2, F3, F0), (F1, 3.0, F3, F0), (F1, F2, F3, [1.0, 2.0])])
def test_a_custom_loss_needs_tables_or_functions(functions):
    with pytest.raises((TypeError, ValueError), match=r"f[0-3]"):
        pt.partition_loss([0, 0, 1], [0, 1, 1], pt.CustomLoss(*functions))


@pytest.mark.parametrize("method", ["search", "salso", "draws"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_custom_loss_that_is_not_finite_is_an_error(method, value):
    """The search used to end the process (a division by zero) where no run had a loss."""
    square = np.arange(31.0) ** 2
    loss = pt.CustomLoss(square, square, square, lambda joint, estimate, draw: np.full(joint.shape, value))
    with pytest.raises(ValueError, match=rf"f0\(.*\) is {value}; it must be finite"):
        pt.estimate(pt.datasets.make_draws(30, 50, rng=1), loss, method, rng=1)


def test_a_custom_loss_of_another_shape_is_an_error():
    square = np.arange(4.0) ** 2
    with pytest.raises(ValueError, match="f0 must return one loss for each of"):
        pt.partition_loss([0, 0, 1], [0, 1, 1], pt.CustomLoss(square, square, square, lambda *sums: np.zeros(7)))


@pytest.mark.parametrize("name", [name for name in NAMES if pt.losses.as_loss(name).additive])
def test_an_additive_loss_is_the_sum_of_its_phi(name):
    loss = pt.losses.LOSSES[name](a=0.7, b=1.3)
    for x, y in pairs_of_four:
        table = np.zeros((4, 4))
        np.add.at(table, (list(x), list(y)), 1)
        of_x, of_y, both = (loss.phi(counts, 4).sum() for counts in (table.sum(axis=1), table.sum(axis=0), table))
        assert 0.7 * of_x + 1.3 * of_y - 2 * both == pytest.approx(pt.partition_loss(x, y, loss), abs=EXACT)
    sizes = np.arange(1.0, 5)
    assert loss.phi(sizes, 4) == pytest.approx(sizes * loss.per_item(sizes) / 4**loss.exponent, abs=EXACT)
