"""The modified VI of Wade & Ghahramani: its search against all partitions, and where the walk begins."""

import numpy as np
import pytest

import partita as pt
from partita.datasets import make_draws


def test_the_search_finds_the_least_of_all_partitions():
    every = np.array(list(pt.enumerate_partitions(7)))
    for seed in range(5):
        draws = make_draws(7, 30, 3, doubt=0.4, rng=seed)
        psm = np.mean([row[:, None] == row for row in draws], axis=0)
        values = [
            np.mean(np.log2((y[:, None] == y).sum(1)) - 2 * np.log2((psm * (y[:, None] == y)).sum(1))) for y in every
        ]
        best = pt.estimate(draws, method="lower-bound", rng=1)
        assert best.criterion == pytest.approx(min(values), abs=1e-6)
        assert best.criterion == pytest.approx(
            values[int(np.argmin(np.abs(every - best.labels).sum(axis=1)))], abs=1e-6
        )
        assert best.expected_loss == pytest.approx(float(pt.expected_loss(best.labels, draws)))


def test_it_is_never_above_the_walk():
    draws = make_draws(40, 80, 5, doubt=0.3, rng=1)
    psm = pt.similarity(draws)
    walk = pt.estimate(draws, method="hasse", criterion="lower-bound", rng=1)
    best = pt.estimate(draws, method="lower-bound", rng=1)
    assert pt.vi_lower_bound(best.labels, psm) <= pt.vi_lower_bound(walk.labels, psm) + 1e-9


def test_where_the_walk_begins():
    draws = make_draws(12, 30, 3, doubt=0.3, rng=1)
    both = pt.estimate(draws, method="hasse", rng=1)
    assert [run.start for run in both.runs] == ["last draw", "best draw"]
    for begin in ("last", "best"):
        walk = pt.estimate(draws, method="hasse", begin=begin, rng=1)
        assert [run.start for run in walk.runs] == [f"{begin} draw"]
    given = pt.estimate(draws, method="hasse", start=[0] * 12, rng=1)
    assert [run.start for run in given.runs] == ["given"]


def test_bad_input():
    draws = make_draws(6, 20, 2, rng=1)
    with pytest.raises(ValueError, match="begin must be one of both, last, best, but it is 'first'"):
        pt.estimate(draws, method="hasse", begin="first")
    with pytest.raises(ValueError, match="exclude each other"):
        pt.estimate(draws, method="hasse", begin="last", start=[0] * 6)
    with pytest.raises(ValueError, match="bound on the expected VI; the loss is Binder"):
        pt.estimate(draws, "binder", method="lower-bound")
    with pytest.raises(ValueError, match="does not support max_clusters=2"):
        pt.estimate(draws, method="lower-bound", search=pt.Search(max_clusters=2))
