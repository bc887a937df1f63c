"""Bounds from matched draws and for one minus ARI: never above the enumerated optimum, tight on small samples."""

from __future__ import annotations

import signal
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from partita import _core
from partita.draws.sample import as_sample
from partita.estimation.estimate import estimate
from partita.losses.expected import expected_loss, pairwise_distances
from partita.losses.losses import as_loss
from partita.losses.problem import core_sample
from partita.proofs import ari_bounds, bounds, matched_draws, work
from partita.proofs.bounds import lower_bound
from partita.search.settings import Search
from support.strategies import random_sample

METRICS = ("vi", "nvi", "id", "nid", "binder")


def problems(count, rng):
    """Small samples with weights, some of them zero."""
    for _ in range(count):
        rows, weights = random_sample(int(rng.integers(1, 8)), int(rng.integers(1, 14)), rng)
        if rng.random() < 0.3:
            weights[rng.integers(len(weights), size=len(weights) // 2)] = 0
        yield as_sample(rows, weights)


def matched(sample, loss):
    return matched_draws.matched_distance(sample, as_loss(loss))


def by_intervals(sample, labels=None):
    labels = sample.labels[0].astype(np.int64) if labels is None else labels
    return ari_bounds.adjusted_rand_bound(sample, labels, 5.0)


def shares_of_the_optimum(bound, loss, count, seed=1):
    """The bound as a share of the least expected loss, for every problem whose least loss is not 0."""
    shares = []
    for sample in problems(count, np.random.default_rng(seed)):
        best = estimate(sample, loss, "enumerate").expected_loss
        value = bound(sample)
        assert best > 1e-9 or value <= 1e-9
        if best > 1e-9:
            shares.append(value / best)
    return np.array(shares)


@pytest.mark.parametrize("loss", METRICS)
@pytest.mark.parametrize("count", [40, pytest.param(2000, marks=pytest.mark.slow)])
def test_matched_draws_are_never_above_the_optimum_and_near_it(loss, count):
    shares = shares_of_the_optimum(lambda sample: matched(sample, loss), loss, count)
    assert shares.max() <= 1 + 1e-8
    assert shares.mean() > 0.8


@pytest.mark.parametrize("count", [25, pytest.param(2000, marks=pytest.mark.slow)])
def test_intervals_are_never_above_the_optimum_and_near_it(count):
    shares = shares_of_the_optimum(by_intervals, "omari", count)
    assert shares.max() <= 1 + 1e-8
    assert shares.mean() > 0.97


def test_a_seeded_fault_is_found(monkeypatch):
    monkeypatch.setattr(
        ari_bounds._BinderProblem, "_ends", lambda at: (at.node.middle,)
    )  # not the ends of the interval
    assert shares_of_the_optimum(by_intervals, "omari", 25).max() > 1 + 1e-6
    heavy = shares_of_the_optimum(lambda sample: 1.2 * matched(sample, "nvi"), "nvi", 40)
    assert heavy.max() > 1 + 1e-6


def test_matching_is_at_least_half_the_mean_distance():
    for sample in problems(40, np.random.default_rng(2)):
        distances = pairwise_distances(sample, "nid")
        half = sample.weights @ distances @ sample.weights / 2
        assert matched(sample, "nid") >= half * (1 - 1e-8) - 1e-12


def test_matching_in_blocks_is_valid(monkeypatch):
    monkeypatch.setattr(matched_draws, "BLOCK", 4)
    shares = shares_of_the_optimum(lambda sample: matched(sample, "nvi"), "nvi", 40)
    assert shares.max() <= 1 + 1e-8


def noisy_draws(noise):
    rng = np.random.default_rng(3)
    return np.where(rng.random((30, 15)) < noise, rng.integers(3, size=(30, 15)), np.repeat([0, 1, 2], 5))


def test_one_minus_ari_is_nearly_proven_by_its_bound():
    """The bound of the search's own estimate, from pairs one by one and with linear programs."""
    best = estimate(noisy_draws(0.15), "omari", rng=1)
    bound = lower_bound(replace(best, proven=False), 20)
    assert bound.method == "intervals of pairs"
    assert bound.gap < 0.01


def test_bound_of_one_minus_ari_counts_every_number_of_pairs():
    """Estimates at both extremes, where the index is 0/0 for some draws."""
    for rows in ([[0, 1, 2], [0, 1, 2]], [[0, 0, 0], [0, 0, 0]], [[0, 1], [0, 0]], [[0]], [[0, 0, 0], [0, 1, 2]]):
        sample = as_sample(rows)
        best = estimate(sample, "omari", "enumerate")
        assert by_intervals(sample, best.labels) <= best.expected_loss + 1e-9


def test_ctrl_c_leaves_a_valid_bound(monkeypatch):
    rows = np.random.default_rng(5).integers(3, size=(20, 12))
    best = estimate(rows, "omari", rng=1)
    calls = []

    def interrupted(node, counts, seconds):
        calls.append(node)
        if len(calls) > 3:
            raise KeyboardInterrupt
        return real(node, counts, seconds)

    real = ari_bounds._improved
    monkeypatch.setattr(ari_bounds, "_improved", interrupted)
    assert by_intervals(best.sample, best.labels) <= expected_loss(best.labels, best.sample, "omari")
    assert len(calls) == 4


@pytest.mark.parametrize("loss", ["vi", "binder", "omari", "id"])
def test_progress_is_told_and_the_last_bound_is_no_smaller(loss, monkeypatch):
    monkeypatch.setattr(work.Marks, "is_due", lambda marks, seconds: True)
    best = estimate(noisy_draws(0.4), loss, rng=1)
    told = []
    last = lower_bound(best, 1.0, progress=lambda seconds, bound: told.append((seconds, bound.value)))
    assert told
    assert [seconds for seconds, _ in told] == sorted(seconds for seconds, _ in told)
    assert max(value for _, value in told) <= last.value + 1e-9


def test_progress_on_request_is_printed(capsys, monkeypatch):
    monkeypatch.setattr(work.Marks, "is_due", lambda marks, seconds: True)
    best = estimate(noisy_draws(0.4), "omari", rng=1)
    lower_bound(best, 0.5, progress=True)
    printed = capsys.readouterr().err
    assert printed.startswith("after 0 s: No partition has an expected loss that is smaller by more than")


def test_rows_end_when_the_bound_is_enough():
    sample = as_sample(np.random.default_rng(4).integers(3, size=(30, 14)))
    value, _, passes, *_ = _core.row_bound(core_sample(sample), 1.0, 1.0, 1e9, 1, enough=0.1)
    assert value >= 0.1
    assert passes <= 30


def test_bounds_on_the_way_are_valid():
    """Rows that are certified after a second and go on."""
    sample = as_sample(np.random.default_rng(6).integers(3, size=(12, 8)))
    best = estimate(sample, "vi", "enumerate").expected_loss
    told = []
    last, *_ = _core.row_bound(core_sample(sample), 1.0, 1.0, 1.6, 1, anchors=list(range(8)), report=told.append)
    assert len(told) >= 3  # rows alone, after a second, the last one
    assert told == sorted(told)
    assert told[-1] == last <= best + 1e-9


@pytest.mark.parametrize("stage", ["_by_matching", "_by_loss"])
def test_ctrl_c_gives_the_bound_so_far(stage, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    best = estimate(noisy_draws(0.4), "nid", rng=1)
    monkeypatch.setattr(bounds, stage, interrupted)
    found = best.bound(1)
    assert (found.value == 0) == (stage == "_by_matching")
    assert found.value <= best.expected_loss


@pytest.mark.parametrize("loss", ["vi", "id"])
def test_ctrl_c_ends_all_stages(loss):
    """One component after the other, or one line after the other: none starts after Ctrl-C."""
    rows = np.random.default_rng(1).integers(12, size=(300, 160))
    best = estimate(np.hstack([rows[:, :80], rows[:, 80:] + 12]), loss, search=Search(runs=1), rng=1)
    timer = threading.Timer(1.0, signal.raise_signal, [signal.SIGINT])
    timer.start()
    started = time.monotonic()
    found = best.bound(1000)
    timer.join()
    assert time.monotonic() - started < 60
    assert 0 <= found.value <= best.expected_loss


def test_ctrl_c_does_not_wait_for_the_first_rows():
    """Before the first bound there is nothing to keep: what is left of the first passes, seconds, is not done."""
    sample = as_sample(np.random.default_rng(7).integers(12, size=(500, 400)))
    sent = []

    def send():
        sent.append(time.process_time())
        signal.raise_signal(signal.SIGINT)

    threading.Timer(0.5, send).start()
    value, *_, interrupted = _core.row_bound(core_sample(sample), 1.0, 1.0, 1000.0, 1)
    assert interrupted
    assert value == 0
    assert time.process_time() - sent[0] < 1
