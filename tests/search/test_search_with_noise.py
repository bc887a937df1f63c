"""The search of many items with noise: large clusters in tables, items that are alone without a column."""

from __future__ import annotations

import signal
import time

import numpy as np
import pytest

import partita as pt
from partita.search import multilevel
from support import interrupts


def planted(n: int, draws: int, rng: np.random.Generator, *, gaps: bool = False, small: int = 0) -> np.ndarray:
    """Copies of four clusters, a small fifth one and noise, with errors; labels are missing if there are gaps (-2)."""
    truth = rng.integers(0, 4, n)
    truth[rng.random(n) < 0.3] = -1
    truth[:small] = 4
    labels = np.where(rng.random((draws, n)) < 0.1, rng.integers(-1, 4, (draws, n)), truth)
    return np.where(rng.random((draws, n)) < 0.2, -2, labels) if gaps else labels


@pytest.fixture
def few_items(monkeypatch):
    """So few that the test is quick."""
    monkeypatch.setattr(multilevel, "MANY_WITH_NOISE", 50)
    monkeypatch.setattr(multilevel, "COARSE_WITH_NOISE", 150)


@pytest.mark.parametrize("loss", [pt.VI(), pt.Binder(), pt.VI(a=0.5, b=1), pt.Binder(a=2, b=1)])
@pytest.mark.parametrize("gaps", [False, True])
def test_equals_the_search_of_all_items_at_once(few_items, monkeypatch, loss, gaps):
    rng = np.random.default_rng(3)
    draws, weights = planted(400, 15, rng, gaps=gaps), rng.gamma(3.0, size=15)
    sample = pt.as_sample(draws, weights, missing=-2 if gaps else None, noise=-1)
    best = pt.estimate(sample, loss, rng=1, check_draws=False)
    assert best.runs[0].start == "coarse"
    assert min(run.loss for run in best.runs) == pytest.approx(best.expected_loss, rel=1e-9)
    monkeypatch.setattr(multilevel, "MANY_WITH_NOISE", 10_000)
    whole = pt.estimate(sample, loss, rng=1, check_draws=False)
    assert best.expected_loss <= whole.expected_loss * (1 + 1e-9)


def test_a_small_cluster_that_the_chosen_items_do_not_show_is_found(few_items):
    draws = planted(2_000, 20, np.random.default_rng(4), small=15)
    best = pt.estimate(pt.as_sample(draws, noise=-1), rng=1, check_draws=False)
    assert best.n_clusters == 5
    assert np.bincount(best.labels[:15] + 1).argmax() > 0


def test_no_move_of_a_single_item_is_left(few_items):
    draws = planted(120, 9, np.random.default_rng(5))
    sample = pt.as_sample(draws, noise=-1)
    best = pt.estimate(sample, rng=1, check_draws=False)
    for item in range(0, 120, 7):
        moved = np.repeat(best.partition[None, :], best.n_clusters + 1, axis=0)
        moved[:, item] = [*range(best.n_clusters), 10_000]
        assert (pt.expected_loss(moved, sample) >= best.expected_loss - 1e-9).all()


def test_a_limit_on_clusters_is_obeyed(few_items):
    draws = planted(200, 9, np.random.default_rng(6))
    sample = pt.as_sample(draws, noise=-1)
    best = pt.estimate(sample, rng=1, check_draws=False, search=pt.Search(max_clusters=6, runs=2))
    assert best.partition.max() < 6


@pytest.mark.slow
def test_a_hundred_thousand_items():
    draws = planted(100_000, 30, np.random.default_rng(7))
    best = pt.estimate(pt.as_sample(draws, noise=-1), rng=1, check_draws=False)
    assert best.n_clusters == 4
    assert min(run.loss for run in best.runs) == pytest.approx(best.expected_loss, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("worked", [1.0, 2.0])
def test_ctrl_c_ends_a_large_search_with_noise(worked):
    """Seconds of the processors after the signal: looking at all clusters for merges took 2.0 and 4.5."""
    draws = pt.as_sample(np.random.default_rng(0).integers(-1, 40, (2000, 8000)), noise=-1)
    heard = []

    def hear(*_):
        heard.append(time.process_time())
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, hear)
    try:
        interrupts.signal_when_in("search_with_noise", worked=worked)
        with pytest.warns(RuntimeWarning, match="interrupted"):
            found = pt.estimate(draws, rng=1)
        assert time.process_time() - heard[0] < 1.5
    finally:
        signal.signal(signal.SIGINT, before)
    assert found.interrupted
