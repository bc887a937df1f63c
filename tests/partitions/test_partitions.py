"""Partitions and their lattice, against brute force over all partitions."""

from __future__ import annotations

from collections import Counter
from itertools import islice, product
from math import lgamma

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import partita as pt
from support import reference as ref
from support.strategies import partitions

pairs_of_four = list(product(ref.all_partitions(4), repeat=2))


def as_tuple(labels) -> tuple[int, ...]:
    return tuple(np.asarray(labels).tolist())


# --- canonical labels -------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 2**63 - 1), min_size=1, max_size=30))
def test_canonical_labels_are_those_of_first_appearance(labels):
    assert as_tuple(pt.canonical(labels)) == ref.canonical(labels)


@given(partitions())
def test_canonical_is_idempotent_and_blind_to_names(single):
    (labels,) = single
    once = pt.canonical(labels)
    assert as_tuple(pt.canonical(once)) == as_tuple(once)
    assert as_tuple(pt.canonical([7 * label + 3 for label in labels])) == as_tuple(once)
    assert as_tuple(pt.canonical([f"cluster {label}" for label in labels])) == as_tuple(once)


def test_canonical_takes_what_a_user_has():
    expected = (0, 1, 0, 2)
    labels = np.array([5, 2, 5, 9])
    read_only = labels.copy()
    read_only.setflags(write=False)
    strided = np.repeat(labels, 3)[::3]
    for form in (
        labels,
        labels.tolist(),
        labels.astype(float),
        labels.astype(np.uint8),
        strided,
        read_only,
        np.array(["e", "b", "e", "i"]),
        np.array([2**63 - 1, 0, 2**63 - 1, 2**62]),
        np.array([2**63, 0, 2**63, 2**62], dtype=np.uint64),
    ):
        assert as_tuple(pt.canonical(form)) == expected
    assert as_tuple(pt.canonical([True, False, True])) == (0, 1, 0)


def test_canonical_leaves_its_argument_alone():
    labels = np.array([3, 3, 1])
    pt.canonical(labels)
    assert labels.tolist() == [3, 3, 1]


# --- clusters and sizes -----------------------------------------------------------------------------


@given(partitions())
def test_clusters_and_labels_are_two_forms_of_one_thing(single):
    (labels,) = single
    clusters = pt.partitions.labels_to_clusters(labels)
    assert [list(map(int, cluster)) for cluster in clusters] == ref.clusters(labels)
    assert as_tuple(pt.partitions.clusters_to_labels(clusters)) == ref.canonical(labels)


@given(partitions())
def test_sizes_follow_the_canonical_labels(single):
    (labels,) = single
    assert as_tuple(pt.partitions.cluster_sizes(labels)) == tuple(map(len, ref.clusters(labels)))


@pytest.mark.parametrize("clusters", [[[0, 1], [1, 2]], [[0, 1], [3]], [[0], []], [[0, -1]]])
def test_clusters_that_are_no_partition_are_refused(clusters):
    with pytest.raises(ValueError):
        pt.partitions.clusters_to_labels(clusters)


# --- lattice ----------------------------------------------------------------------------------------


def test_meet_join_refines_and_covers_by_brute_force():
    for x, y in pairs_of_four:
        assert as_tuple(pt.meet(x, y)) == ref.meet(x, y)
        assert as_tuple(pt.join(x, y)) == ref.join(x, y)
        assert pt.refines(x, y) is ref.refines(x, y)
        assert pt.covers(x, y) is ref.covers(x, y)


def test_brute_force_would_notice_swapped_arguments():
    assert any(pt.refines(y, x) is not ref.refines(x, y) for x, y in pairs_of_four)
    assert any(pt.covers(y, x) is not ref.covers(x, y) for x, y in pairs_of_four)
    assert any(as_tuple(pt.meet(x, y)) != ref.join(x, y) for x, y in pairs_of_four)


@given(partitions(3, max_items=40))
def test_lattice_laws(triple):
    x, y, z = triple
    meet, join = pt.meet, pt.join
    for op in (meet, join):
        assert as_tuple(op(x, x)) == ref.canonical(x)
        assert as_tuple(op(x, y)) == as_tuple(op(y, x))
        assert as_tuple(op(x, op(y, z))) == as_tuple(op(op(x, y), z))
    assert as_tuple(meet(x, join(x, y))) == as_tuple(join(x, meet(x, y))) == ref.canonical(x)
    assert pt.refines(meet(x, y), x)
    assert pt.refines(x, join(x, y))


@given(partitions(2, max_items=40))
def test_refining_is_having_the_finer_one_as_meet(pair):
    x, y = pair
    assert pt.refines(x, y) == (as_tuple(pt.meet(x, y)) == ref.canonical(x))
    assert pt.refines(x, y) == (as_tuple(pt.join(x, y)) == ref.canonical(y))
    assert pt.refines(x, y) == ref.refines(x, y)


@pytest.mark.parametrize("function", [pt.meet, pt.join, pt.refines, pt.covers, pt.align_labels])
def test_partitions_of_different_lengths_are_refused_with_both_lengths(function):
    with pytest.raises(ValueError, match=r"(?s)3.*5|5.*3"):
        function([0, 1, 1], [0, 0, 1, 1, 2])


# --- counting ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", range(1, 9))
def test_enumeration_gives_every_partition_once(n):
    found = [as_tuple(c) for c in pt.enumerate_partitions(n)]
    assert len(found) == ref.bell(n)
    assert set(found) == set(ref.all_partitions(n))


def test_enumeration_is_lazy():
    found = list(islice(pt.enumerate_partitions(200), 5))
    assert len({as_tuple(c) for c in found}) == 5
    assert all(isinstance(c, np.ndarray) and c.shape == (200,) and c.dtype.kind in "iu" for c in found)


def test_enumerated_partitions_can_be_kept_and_changed():
    kept = list(pt.enumerate_partitions(4))
    kept[0][:] = 9
    assert len({as_tuple(c) for c in kept}) == 15


def test_bell_and_stirling_numbers_are_exact_integers():
    assert [pt.bell(n) for n in range(26)] == [ref.bell(n) for n in range(26)]
    assert pt.bell(50) == 185724268771078270438257767181908917499221852770  # more than 10^47, as SALSO Section 4 says
    for n in range(13):
        assert [pt.stirling2(n, k) for k in range(n + 2)] == [ref.stirling2(n, k) for k in range(n + 2)]
    assert sum(pt.stirling2(60, k) for k in range(61)) == pt.bell(60)
    assert isinstance(pt.bell(60), int)


@pytest.mark.parametrize("call", [lambda: pt.bell(-1), lambda: pt.stirling2(-1, 2), lambda: pt.stirling2(3, -1)])
def test_negative_counts_are_refused(call):
    with pytest.raises(ValueError, match="-1"):
        call()


# --- random partitions ------------------------------------------------------------------------------


def frequencies(sampler, n: int, count: int) -> list[int]:
    rng = np.random.default_rng(20_240_229)
    seen = Counter(as_tuple(sampler(n, rng)) for _ in range(count))
    assert set(seen) <= set(ref.all_partitions(n))
    return [seen[c] for c in ref.all_partitions(n)]


def crp_probability(labels: tuple[int, ...], alpha: float) -> float:
    """Γ(α)/Γ(α+n) α^k Π Γ(n_j) (Wade & Ghahramani, Section 2.1)."""
    sizes = Counter(labels).values()
    log_p = lgamma(alpha) - lgamma(alpha + len(labels)) + len(sizes) * np.log(alpha) + sum(map(lgamma, sizes))
    return float(np.exp(log_p))


@pytest.mark.parametrize("alpha", [0.5, 1.0, 3.0])
def test_crp_partitions_follow_their_law(alpha):
    observed = frequencies(lambda n, rng: pt.partitions.random_crp(n, alpha, rng), 4, 4000)
    law = np.array([crp_probability(c, alpha) for c in ref.all_partitions(4)])
    assert law.sum() == pytest.approx(1)
    assert stats.chisquare(observed, 4000 * law / law.sum()).pvalue > 1e-4


def test_uniform_partitions_follow_their_law():
    observed = frequencies(pt.partitions.random_uniform, 4, 4000)
    assert stats.chisquare(observed).pvalue > 1e-4


def test_the_law_test_can_fail():
    observed = frequencies(pt.partitions.random_uniform, 4, 4000)
    law = np.array([crp_probability(c, 1.0) for c in ref.all_partitions(4)])
    assert stats.chisquare(observed, 4000 * law / law.sum()).pvalue < 1e-6


@pytest.mark.parametrize(
    "sampler", [lambda n, rng: pt.partitions.random_crp(n, 1.0, rng), pt.partitions.random_uniform]
)
def test_random_partitions_repeat_with_their_seed(sampler):
    assert as_tuple(sampler(60, 7)) == as_tuple(sampler(60, np.random.default_rng(7)))
    assert as_tuple(sampler(60, 7)) != as_tuple(sampler(60, 8))
    labels = as_tuple(sampler(60, 7))
    assert labels == ref.canonical(labels)
    assert as_tuple(sampler(1, 7)) == (0,)


@pytest.mark.parametrize("alpha", [0.0, -1.0, float("nan")])
def test_crp_needs_a_positive_concentration(alpha):
    with pytest.raises(ValueError, match="alpha"):
        pt.partitions.random_crp(5, alpha, 1)


# --- names of clusters ------------------------------------------------------------------------------


@given(partitions(2, max_items=7))
def test_aligned_labels_name_the_same_clusters_with_the_best_overlap(pair):
    x, y = ref.canonical(pair[0]), pair[1]
    aligned = as_tuple(pt.align_labels(x, y))
    assert ref.canonical(aligned) == ref.canonical(y)
    assert sum(u == v for u, v in zip(x, aligned, strict=True)) == ref.best_overlap(x, y)


def test_aligned_labels_of_a_renaming_are_the_original():
    x = [0, 0, 1, 2, 2, 3]
    assert as_tuple(pt.align_labels(x, [5, 5, 0, 1, 1, 2])) == tuple(x)


def test_items_without_a_label_keep_none_and_colours_stay():
    """Matched against the whole of x, though the first cluster of x has no labelled item in y."""
    assert pt.align_labels([0, 1, 1, 2, 2], [-1, 0, 0, 1, 2]).tolist() == [-1, 1, 1, 2, 3]
    assert pt.align_labels([0, 0, 1], [1, -1, 0]).tolist() == [0, -1, 1]
    with pytest.raises(ValueError, match="x has 2 items, but y has 3"):
        pt.align_labels([0, 1], [0, -1, 1])
