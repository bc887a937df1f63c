"""Certificates: never above the enumerated optimum, and as tight as they are said to be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from partita import _core
from partita.draws.sample import as_sample
from partita.estimation.estimate import Estimate, estimate
from partita.losses.expected import expected_loss
from partita.losses.losses import ID, LOSSES, VI, Binder, as_loss
from partita.losses.problem import core_sample
from partita.partitions.lattice import enumerate_partitions
from partita.proofs.bounds import below_information_distance, lower_bound, with_proof
from partita.search.settings import Search
from support import reference as ref
from support.strategies import random_sample


def as_estimate(labels, sample, loss):
    kind = as_loss(loss)
    return Estimate(np.asarray(labels), float(expected_loss(labels, sample, kind)), kind, "given", sample)


def rows_bound(sample, loss, seconds, threads=1, **options):
    return _core.row_bound(core_sample(sample), loss.a, loss.b, seconds, threads, **options)


def kinds(sample, anchored):
    """Kinds of clusters: every item an anchor, or a few of them, or only the size classes."""
    if anchored == "some":
        return {"anchors": list(range(0, sample.n_items, 3))}
    return {"anchors": list(range(sample.n_items)) if anchored == "all" else []}


@pytest.mark.parametrize("anchored", ["all", "some", "none"])
@pytest.mark.parametrize("loss", [VI(), VI(0.5, 1.5), VI(1.5, 0.5)], ids=str)
@pytest.mark.parametrize("count", [20, pytest.param(70, marks=pytest.mark.slow)])
def test_rows_are_never_above_the_optimum(loss, anchored, count):
    rng = np.random.default_rng(17)
    tighter = 0
    for _ in range(count):
        rows, weights = random_sample(int(rng.integers(1, 9)), int(rng.integers(1, 12)), rng)
        sample = as_sample(rows, weights)
        best = estimate(sample, loss, "enumerate").expected_loss
        value, rows_only, *_ = rows_bound(sample, loss, 1.0, max_passes=200, **kinds(sample, anchored))
        assert value <= best + 1e-9
        assert rows_only <= value
        tighter += value > rows_only + 1e-6
    assert tighter > count / 20


STOPS = (*range(1, 13), 20, 21, 22, 30, 41, 60, 101, 140)


def problems(count, rng):
    """Small samples, some with weights of zero, and VI with ratios of its weights over three decades."""
    for _ in range(count):
        rows, weights = random_sample(int(rng.integers(1, 8)), int(rng.integers(1, 14)), rng)
        if rng.random() < 0.3:
            weights[rng.integers(len(weights), size=len(weights) // 2)] = 0
        yield as_sample(rows, weights), VI(10 ** rng.uniform(-1.5, 1.5), 1)


@pytest.mark.parametrize("anchored", ["all", "some", "none"])
@pytest.mark.parametrize("count", [60, pytest.param(2000, marks=pytest.mark.slow)])
def test_rows_are_never_above_the_optimum_wherever_they_stop(count, anchored):
    """A busy machine cut the passes short, and kinds were skipped that the last step had made the least."""
    for sample, loss in problems(count, np.random.default_rng(1)):
        best = estimate(sample, loss, "enumerate").expected_loss
        options = kinds(sample, anchored)
        bounds = [rows_bound(sample, loss, 1e-9, **options)]  # not one pass
        bounds += [rows_bound(sample, loss, 1e9, **options, max_passes=stop) for stop in STOPS]
        assert max(value for value, *_ in bounds) <= best + 1e-9


def test_anchors_close_the_gap_that_symmetry_and_transitivity_leave():
    sample = as_sample(np.random.default_rng(3).integers(3, size=(6, 7)))
    best = estimate(sample, "vi", "enumerate").expected_loss
    assert rows_bound(sample, VI(), 1.0)[0] < 0.97 * best
    assert rows_bound(sample, VI(), 1.0, anchors=list(range(7)))[0] > 0.985 * best


def test_the_mean_distance_of_two_draws_counts_where_it_is_larger():
    """Draws that are far from each other, and no time for rows."""
    rng = np.random.default_rng(4)
    sample = as_sample(rng.integers(4, size=(30, 70)))
    est = as_estimate(sample.labels[0].astype(np.int64), sample, "vi")
    pairs = [ref.vi(x, y) for x in sample.labels.tolist() for y in sample.labels.tolist()]
    assert est.bound(1e-9).value >= np.mean(pairs) / 2 - 1e-9


def test_rows_of_one_draw_are_exact():
    draw = [0, 0, 0, 1, 1, 2]
    assert rows_bound(as_sample([draw]), VI(), 0.02)[0] == pytest.approx(0, abs=1e-8)


def test_rows_without_multipliers_are_at_most_the_sum_of_the_best_rows():
    """Step by step: the minimum of a_i(S) over all sets S that hold i bounds what any relaxation can give."""
    rng = np.random.default_rng(3)
    rows, weights = random_sample(6, 5, rng)
    w = ref.weights_of(rows, weights)
    total = 0.0
    for i in range(6):
        values = []
        for bits in range(2**6):
            members = {j for j in range(6) if bits >> j & 1}
            if i not in members:
                continue
            clusters = [{j for j in range(6) if row[j] == row[i]} for row in rows]
            together = [np.log2(len(t)) - 2 * np.log2(len(members & t)) for t in clusters]
            values.append(np.log2(len(members)) + w @ together)
        total += min(values)
    bound = rows_bound(as_sample(rows, weights), VI(), 1e-9)[1]
    assert bound <= total / 6 + 1e-9
    assert bound >= 0.9 * total / 6 - 0.02


@pytest.mark.parametrize("loss", [*LOSSES, Binder(0.5, 2)], ids=str)
def test_every_bound_is_below_every_partition(loss):
    rng = np.random.default_rng(23)
    for _ in range(6):
        rows, weights = random_sample(6, 7, rng)
        sample = as_sample(rows, weights)
        best = estimate(sample, loss, "enumerate")
        worse = as_estimate(sample.labels[0].astype(np.int64), sample, loss)
        for est in (as_estimate(best.labels, sample, loss), worse):
            bound = lower_bound(est, 0.05)
            assert bound.value <= best.expected_loss + 1e-9
            assert est.expected_loss * (1 - bound.gap) == pytest.approx(bound.value, rel=1e-7, abs=1e-9)
            assert not bound.proven or est.expected_loss == pytest.approx(best.expected_loss, abs=1e-7)


def test_binder_and_zero_one_prove_the_best():
    rng = np.random.default_rng(5)
    rows, weights = random_sample(8, 9, rng)
    sample = as_sample(rows, weights)
    for loss, method in (("binder", "enumerate"), ("zero-one", "map")):
        bound = estimate(sample, loss, method).bound(5)
        assert bound.proven
        assert bound.gap == 0
        assert "provably optimal" in bound.in_words()


def test_a_proof_is_the_estimates_own():
    """The command's JSON had proven: false beside bound.proven: true."""
    rows = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]]
    best = replace(estimate(rows, "binder", search=Search(max_clusters=2), rng=1), proven=False)
    assert any("as many clusters as were allowed" in sentence for sentence in best.notes)
    proved = with_proof(best, best.bound())
    assert (best.proven, proved.proven, proved.gap, proved.cautions) == (False, True, 0.0, ())
    unknown = estimate([[0, 0, 1], [0, 1, 2], [0, 1, 0]], "nid", rng=1)
    assert with_proof(unknown, None) is unknown
    hard = estimate(np.random.default_rng(1).integers(4, size=(50, 12)), "vi", rng=1)
    bound = hard.bound(0.1)
    assert not bound.proven
    assert with_proof(hard, bound).gap == bound.gap


def test_words_tell_what_is_known():
    rows = [[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 1]]
    unknown = as_estimate([0, 0, 1, 1], as_sample([[0, 1, 1, -1]], missing=-1), "omari").bound(1)
    assert "No lower bound is available" in unknown.in_words()
    bound = as_estimate([0, 0, 0, 0], as_sample(rows), "vi").bound(0.1)
    assert "smaller by more than" in str(bound)
    assert not bound.proven


def test_vi_and_a_constant_are_below_the_information_distance():
    """At every partition and for every slope; the slope 1/2 is half of VI or better."""
    rng = np.random.default_rng(9)
    partitions = np.array(list(enumerate_partitions(6)))
    nearest = []
    for _ in range(8):
        rows, weights = random_sample(6, 8, rng)
        sample = as_sample(rows, weights)
        exact = expected_loss(partitions, sample, "id")
        lines = [below_information_distance(sample, slope) for slope in (0.05, 0.3, 0.5, 0.8)]
        values = np.array([expected_loss(partitions, sample, below) + constant for below, constant in lines])
        assert (values <= exact + 1e-9).all()
        nearest.append(values.min(axis=1).max() / exact.min())
    assert np.median(nearest) > 0.9


def test_the_bound_on_the_information_distance_is_well_above_half_of_that_on_vi():
    """Draws that split one of two clusters at random: the estimate has less entropy than any of them."""
    rng = np.random.default_rng(9)
    sample = as_sample(np.where(np.arange(20) < 10, 0, 1 + rng.integers(2, size=(40, 20))))
    est = estimate(sample, ID(), rng=1)
    half = rows_bound(sample, VI(), 1.0)[0] / 2
    assert 1.1 * half <= est.bound(2.0).value <= est.expected_loss


def test_gaps_leave_only_what_is_valid():
    sample = as_sample([[0, 0, -1], [0, 1, 1]], missing=-1)
    assert as_estimate([0, 0, 1], sample, "id").bound(0.1).method == "none"
    for loss in ("vi", "binder"):  # few items: all partitions are looked at
        bound = as_estimate([0, 0, 1], sample, loss).bound(0.1)
        best = min(expected_loss(labels, sample, loss) for labels in enumerate_partitions(3))
        assert bound.method == "components"
        assert bound.value == pytest.approx(best)
    large = as_sample([[0] * 15 + [-1], list(range(16))], missing=-1)
    assert as_estimate([0] * 16, large, "vi").bound(0.1).method == "none"


def test_seconds_must_be_positive():
    with pytest.raises(ValueError, match="seconds must be a positive number"):
        estimate([[0, 1]], rng=1).bound(0)


def test_answer_without_a_deadline_does_not_depend_on_threads():
    rng = np.random.default_rng(2)
    sample = as_sample(rng.integers(3, size=(40, 20)))
    assert rows_bound(sample, VI(), 1e-9, 1)[1] == rows_bound(sample, VI(), 1e-9, 3)[1]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "best"), [("galaxy", 0.93937391), ("iris", 1.6466470)])
def test_vi_bound_on_the_reference_draws(shared, name, best):
    sample = as_sample(np.load(shared / f"reference/draws/{name}.npz")["draws"])
    value = rows_bound(sample, VI(), 60, 2)[0]
    assert 0.94 * best <= value <= best


def test_exact_estimate_within_a_bound_on_clusters_proves_nothing_beyond_it():
    rng = np.random.default_rng(8)
    rows, weights = random_sample(7, 9, rng)
    sample = as_sample(rows, weights)
    few = estimate(sample, "nvi", "enumerate", Search(max_clusters=2))
    best = estimate(sample, "nvi", "enumerate")
    assert few.bound(0.1).max_clusters == 2
    assert replace(few, proven=False).bound(0.1).value <= best.expected_loss + 1e-9


@pytest.mark.parametrize("loss", LOSSES)
def test_a_bound_shows_plain_numbers(loss):
    assert "np." not in repr(estimate([[0, 0, 1], [0, 1, 1], [0, 1, 2]], loss, rng=1).bound(1))
