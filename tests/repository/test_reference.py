"""The reference against itself: each oracle in a second form, so that a slip in it does not hide."""

from __future__ import annotations

from itertools import product
from math import comb, log2

import numpy as np
import pytest
from hypothesis import given

from support import reference as ref
from support.strategies import partitions, positive, samples

pairs_of_four = list(product(ref.all_partitions(4), repeat=2))
pairs_of_five = list(product(ref.all_partitions(5), repeat=2))


def test_partitions_are_counted_by_bell_and_stirling_numbers():
    assert [ref.bell(n) for n in range(11)] == [1, 1, 2, 5, 15, 52, 203, 877, 4140, 21147, 115975]
    for n in range(1, 8):
        found = ref.all_partitions(n)
        assert len(set(found)) == len(found) == ref.bell(n)
        assert all(ref.canonical(c) == c for c in found)
        for k in range(1, n + 1):
            assert sum(max(c) == k - 1 for c in found) == ref.stirling2(n, k)


@given(partitions(2), positive, positive)
def test_binder_by_pairs_is_binder_by_counts(xy, a, b):
    truth, estimate = xy
    table = ref.contingency(truth, estimate) / len(truth)
    squares = [(m**2).sum() for m in (table.sum(axis=1), table.sum(axis=0), table)]
    assert ref.binder(truth, estimate, a, b) == pytest.approx(
        a * squares[0] + b * squares[1] - (a + b) * squares[2], abs=1e-12
    )


@given(partitions(2), positive, positive)
def test_vi_is_a_weighted_sum_of_conditional_entropies(xy, a, b):
    truth, estimate = xy
    joint = ref.joint_entropy(truth, estimate)
    conditional = a * (joint - ref.entropy(truth)) + b * (joint - ref.entropy(estimate))
    assert ref.vi(truth, estimate, a, b) == pytest.approx(conditional, abs=1e-10)


@given(partitions(2))
def test_information_is_the_divergence_of_the_table_from_independence(xy):
    p = ref.contingency(*xy) / len(xy[0])
    product_of_margins = np.outer(p.sum(axis=1), p.sum(axis=0))
    divergence = sum(q * log2(q / r) for q, r in zip(p.ravel(), product_of_margins.ravel(), strict=True) if q > 0)
    assert ref.information(*xy) == pytest.approx(divergence, abs=1e-12)


def test_adjusted_rand_by_pairs_is_adjusted_rand_by_binomials():
    for x, y in pairs_of_five:
        table = ref.contingency(x, y)
        cells, rows, columns = (
            sum(comb(int(m), 2) for m in counts.ravel()) for counts in (table, table.sum(axis=1), table.sum(axis=0))
        )
        expected = rows * columns / comb(5, 2)
        if x != y:
            assert ref.adjusted_rand(x, y) == pytest.approx((cells - expected) / ((rows + columns) / 2 - expected))


def test_normalised_losses_are_the_plain_ones_divided():
    for x, y in pairs_of_five:
        if x != y:
            assert ref.nvi(x, y) == pytest.approx(ref.vi(x, y) / ref.joint_entropy(x, y))
            assert ref.nid(x, y) == pytest.approx(ref.info_distance(x, y) / max(ref.entropy(x), ref.entropy(y)))


def test_meet_is_the_pair_of_labels_and_join_the_connected_components():
    for x, y in pairs_of_four:
        assert ref.meet(x, y) == ref.canonical(list(zip(x, y, strict=True)))
        linked = np.equal.outer(x, x) | np.equal.outer(y, y)
        reachable = np.linalg.matrix_power(linked.astype(int), 4) > 0
        assert ref.join(x, y) == ref.canonical([tuple(row) for row in reachable.tolist()])


def test_covering_is_refinement_by_one_cluster():
    for x, y in pairs_of_five:
        assert ref.covers(x, y) == (ref.refines(y, x) and max(y) == max(x) + 1)


@given(samples(), positive, positive)
def test_lau_green_is_binder_up_to_a_constant(sample, a, b):
    draws, weights = sample
    psm = ref.similarity(draws, weights)
    n = len(draws[0])
    constant = a * (psm.sum() - n) / n**2
    for estimate in (draws[0], [0] * n, list(range(n))):
        gain = 2 * (a + b) / n**2 * ref.lau_green(estimate, psm, a, b)
        loss = ref.expected_loss(estimate, draws, lambda x, y: ref.binder(x, y, a, b), weights)
        assert loss == pytest.approx(constant - gain, abs=1e-9)


@given(samples())
def test_expected_binder_loss_is_the_distance_to_the_similarity_matrix(sample):
    draws, weights = sample
    psm = ref.similarity(draws, weights)
    for estimate in (draws[0], draws[-1]):
        together = np.equal.outer(estimate, estimate)
        # W&G: the absolute difference; ERRATA: R&F eq. 13 lacks the bars.
        assert ref.expected_loss(estimate, draws, ref.binder, weights) == pytest.approx(np.abs(together - psm).mean())


@given(samples())
def test_jensen_keeps_the_lower_bound_below_the_expected_vi(sample):
    draws, weights = sample
    psm = ref.similarity(draws, weights)
    for estimate in draws:
        expected = ref.expected_loss(estimate, draws, ref.vi, weights)
        bound = ref.vi_lower_bound(estimate, psm)
        assert bound <= bound + ref.own_term(draws, weights) <= expected + 1e-12


@given(partitions())
def test_one_draw_makes_the_lower_bound_and_pear_exact(single):
    (draw,) = single
    psm = ref.similarity([draw])
    n = len(draw)
    for estimate in (draw, [0] * n, list(range(n))):
        bound = ref.vi_lower_bound(estimate, psm) + ref.own_term([draw])
        assert bound == pytest.approx(ref.vi(draw, estimate), abs=1e-12)
        assert ref.pear(estimate, psm) == pytest.approx(ref.adjusted_rand(draw, estimate), abs=1e-12)
