"""What the papers prove of the losses: Wade & Ghahramani 3.1 to 3.7; Dahl, Johnson & Müller Theorems 1, 2.

Small cases are checked over all partitions, larger ones at random. Every distance comes from the package.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from math import isqrt, log2

import numpy as np
import pytest
from hypothesis import given

import partita as pt
from support import reference as ref
from support.strategies import partitions, positive

METRICS = [pt.VI(), pt.Binder()]
QUASIMETRICS = [cls(a=a, b=b) for cls in (pt.VI, pt.Binder) for a, b in [(0.3, 1.0), (2.0, 0.5), (1.0, 7.0)]]
TIE = 1e-9

each_metric = pytest.mark.parametrize("loss", METRICS, ids=repr)
each_quasimetric = pytest.mark.parametrize("loss", QUASIMETRICS, ids=repr)


@cache
def matrix(loss, n: int) -> np.ndarray:
    """Element [s, t]: the loss of estimate t for truth s, over all partitions of n items."""
    every = np.array(ref.all_partitions(n))
    return np.stack([pt.distances(estimate, every, loss) for estimate in every], axis=1)


def triangle_holds(d: np.ndarray) -> bool:
    return all((d <= d[:, [k]] + d[[k], :] + TIE).all() for k in range(len(d)))


def only_diagonal_is_zero(d: np.ndarray) -> bool:
    off = ~np.eye(len(d), dtype=bool)
    return bool((np.diag(d) == 0).all() and (d[off] > TIE).all())


def one(n: int) -> list[int]:
    return [0] * n


def zero(n: int) -> list[int]:
    return list(range(n))


# --- metrics and quasimetrics -----------------------------------------------------------------------


@each_metric
def test_property_3_1_metric(loss):
    d = matrix(loss, 6)
    assert only_diagonal_is_zero(d)
    assert np.abs(d - d.T).max() < TIE
    assert triangle_holds(d)


@each_quasimetric
def test_theorems_1_and_2_quasimetric(loss):
    d = matrix(loss, 6)
    assert only_diagonal_is_zero(d)
    assert np.abs(d - d.T).max() > 0.01
    assert triangle_holds(d)


def test_the_triangle_test_can_fail():
    assert not triangle_holds(matrix(pt.VI(), 4) ** 4)
    assert not only_diagonal_is_zero(np.zeros((3, 3)))


@pytest.mark.parametrize("cls", [pt.VI, pt.Binder])
@given(triple=partitions(3, max_items=60), a=positive, b=positive)
def test_theorems_1_and_2_on_larger_partitions(cls, triple, a, b):
    x, y, z = triple
    loss = cls(a=a, b=b)

    def d(truth, estimate):
        return pt.partition_loss(truth, estimate, loss)

    assert d(x, y) >= 0
    assert (d(x, y) == 0) == ref.same(x, y)
    assert d(x, z) <= d(x, y) + d(y, z) + TIE
    # Exchanging the roles exchanges the prices of the two mistakes.
    assert d(x, y) == pytest.approx(pt.partition_loss(y, x, cls(a=b, b=a)), abs=TIE)


@pytest.mark.parametrize("cls", [pt.VI, pt.Binder])
def test_extreme_weights_lead_to_the_extreme_partitions(cls):
    """For fixed b, a → 0 gives all singletons and a → ∞ one cluster (Dahl et al., Section 3)."""
    draws = [[0, 0, 1, 1, 2], [0, 0, 0, 1, 1], [0, 1, 1, 2, 2]]
    every = np.array(ref.all_partitions(5))

    def best(a: float) -> list[int]:
        return every[np.argmin(pt.expected_loss(every, draws, cls(a=a, b=1.0)))].tolist()

    assert best(1e-6) == zero(5)
    assert best(1e6) == one(5)


# --- lattice ----------------------------------------------------------------------------------------


@each_metric
def test_the_example_under_figures_2_and_3(loss):
    c, c_hat = [0, 0, 1, 1], [0, 1, 2, 1]
    assert pt.partition_loss(c, c_hat, loss) == pytest.approx(1.5 if loss == pt.VI() else 0.375, abs=1e-14)
    top, meet = one(4), pt.meet(c, c_hat)
    assert meet.tolist() == zero(4)

    def height(partition):
        return pt.partition_loss(partition, top, loss)

    stretched = [height(meet), height(c), height(c_hat)]
    assert stretched == pytest.approx([2.0, 1.0, 1.5] if loss == pt.VI() else [0.75, 0.5, 0.625])
    assert pt.partition_loss([0, 1, 1, 1], top, pt.VI()) == pytest.approx(2 - 3 / 4 * log2(3))


@each_metric
def test_property_3_2_vertical_alignment(loss):
    every = ref.all_partitions(5)
    d = matrix(loss, 5)
    below = np.array([[pt.refines(x, y) for y in every] for x in every])
    for lowest, middle in zip(*np.nonzero(below), strict=True):
        higher = below[middle]
        sums = d[lowest, middle] + d[middle, higher]
        assert np.abs(d[lowest, higher] - sums).max() < TIE


@each_metric
@given(triple=partitions(3, max_items=60))
def test_property_3_2_on_larger_partitions(loss, triple):
    lowest = pt.meet(pt.meet(triple[0], triple[1]), triple[2])
    middle = pt.meet(triple[0], triple[1])
    parts = pt.partition_loss(lowest, middle, loss) + pt.partition_loss(middle, triple[0], loss)
    assert pt.partition_loss(lowest, triple[0], loss) == pytest.approx(parts, abs=TIE)


@each_metric
@given(pair=partitions(2, max_items=60))
def test_property_3_3_horizontal_alignment(loss, pair):
    x, y = pair
    meet = pt.meet(x, y)
    parts = pt.partition_loss(x, meet, loss) + pt.partition_loss(y, meet, loss)
    assert pt.partition_loss(x, y, loss) == pytest.approx(parts, abs=TIE)


def test_alignment_is_with_the_meet_not_the_join():
    x, y = [0, 0, 1, 1], [0, 1, 2, 1]
    join = pt.join(x, y)
    parts = pt.partition_loss(x, join, "vi") + pt.partition_loss(y, join, "vi")
    assert parts != pytest.approx(pt.partition_loss(x, y, "vi"), abs=0.01)


@each_metric
def test_property_3_4_bounds(loss):
    for n in range(1, 7):
        bound = log2(n) if loss == pt.VI() else 1 - 1 / n
        assert pt.partition_loss(one(n), zero(n), loss) == pytest.approx(bound, abs=TIE)
        assert matrix(loss, n).max() == pytest.approx(bound, abs=TIE)


@each_metric
@given(pair=partitions(2, max_items=100))
def test_property_3_4_on_larger_partitions(loss, pair):
    n = len(pair[0])
    assert pt.partition_loss(*pair, loss) <= (log2(n) if loss == pt.VI() else 1 - 1 / n) + TIE


# --- neighbours -------------------------------------------------------------------------------------


def splits_into_singleton(labels, label: int) -> set[tuple[int, ...]]:
    fresh = max(labels) + 1
    members = [i for i, other in enumerate(labels) if other == label]
    return {ref.canonical([fresh if i == chosen else c for i, c in enumerate(labels)]) for chosen in members}


def merges(labels, names: list[int]) -> set[tuple[int, ...]]:
    pairs = [(u, v) for u in names for v in names if u < v]
    return {ref.canonical([u if c == v else c for c in labels]) for u, v in pairs}


def closest_by_property_3_5(labels) -> set[tuple[int, ...]]:
    sizes = Counter(labels)
    singles = [label for label, size in sizes.items() if size == 1]
    if len(singles) >= 2:
        twos = [label for label, size in sizes.items() if size == 2]
        return merges(labels, singles).union(*(splits_into_singleton(labels, label) for label in twos))
    smallest = min(size for size in sizes.values() if size > 1)
    return set().union(*(splits_into_singleton(labels, c) for c, size in sizes.items() if size == smallest))


@each_metric
@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_property_3_5_closest_partitions(loss, n):
    every = ref.all_partitions(n)
    for labels, row in zip(every, matrix(loss, n), strict=True):
        others = [(value, other) for value, other in zip(row, every, strict=True) if other != labels]
        least = min(others)[0]
        assert {other for value, other in others if value < least + TIE} == closest_by_property_3_5(labels)


@pytest.mark.parametrize("n", [4, 9, 50])
def test_merging_singletons_or_splitting_a_pair_is_the_least_loss(n):
    pair = [0, 0, *range(1, n - 1)]
    for truth, estimate in [(zero(n), pair), (pair, zero(n))]:
        assert pt.partition_loss(truth, estimate, "vi") == pytest.approx(2 / n)
        assert pt.partition_loss(truth, estimate, "binder") == pytest.approx(2 / n**2)


# --- the two extremes -------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "k"), [(n, k) for n in (4, 6, 9, 12, 36, 100) for k in range(2, n + 1) if n % k == 0])
def test_property_3_6_equal_clusters(n, k):
    """For k ≥ 2; at k = 1 the printed inequality for Binder's loss is false."""
    equal = [i // (n // k) for i in range(n)]
    to_one, to_zero = (pt.partition_loss(end, equal, "binder") for end in (one(n), zero(n)))
    assert to_one == pytest.approx(1 - 1 / k)
    assert to_zero == pytest.approx(1 / k - 1 / n)
    assert to_one > to_zero
    to_one, to_zero = (pt.partition_loss(end, equal, "vi") for end in (one(n), zero(n)))
    assert to_one == pytest.approx(log2(k))
    assert to_zero == pytest.approx(log2(n) - log2(k), abs=TIE)
    if k * k <= n:
        assert to_one <= to_zero + TIE
    if k * k >= n:
        assert to_one >= to_zero - TIE


def test_property_3_6_needs_two_clusters():
    assert pt.partition_loss(one(6), one(6), "binder") < pt.partition_loss(zero(6), one(6), "binder")


@pytest.mark.parametrize("n", [4, 16, 36, 64, 100])
def test_property_3_7_two_clusters_between_the_extremes(n):
    small = (n - isqrt(n)) // 2
    labels = [0] * small + [1] * (n - small)
    to_one, to_zero = (pt.partition_loss(end, labels, "binder") for end in (one(n), zero(n)))
    assert to_one == pytest.approx(to_zero)
    if n > 4:  # Under VI one cluster is the better estimate.
        assert pt.partition_loss(one(n), labels, "vi") < pt.partition_loss(zero(n), labels, "vi")
    shifted = [0] * (small + 1) + [1] * (n - small - 1)
    assert pt.partition_loss(one(n), shifted, "binder") != pytest.approx(pt.partition_loss(zero(n), shifted, "binder"))
