"""The cutting planes alone: any start leads to the optimum, a good one ends the work, Ctrl-C is answered."""

from __future__ import annotations

import signal
import time

import numpy as np
import pytest

import reference as ref
from interrupts import signal_when_in
from partita.search.clique_lp import VIOLATION, _Program, solve_cliques, violated_triangles

pytest.importorskip("highspy")


def random_costs(n, rng):
    cost = rng.normal(size=(n, n))
    cost = np.triu(cost, 1)
    return cost + cost.T


def value(labels, cost):
    together = np.equal.outer(np.asarray(labels), np.asarray(labels))
    return float(np.triu(cost * together, 1).sum())


def soon():
    return time.monotonic() + 60


def test_every_start_leads_to_the_optimum():
    """A pair that is fixed wrongly would cut the optimum off; few rows per round make many rounds."""
    rng = np.random.default_rng(1)
    for n in (2, 4, 6, 7, 7, 7):
        cost = random_costs(n, rng)
        partitions = ref.all_partitions(n)
        best = min(value(p, cost) for p in partitions)
        for start in (np.zeros(n, np.int64), np.arange(n), np.array(partitions[int(rng.integers(len(partitions)))])):
            solved = solve_cliques(cost, soon(), start, rows_per_round=2)
            assert solved.proven
            assert value(solved.labels(), cost) == pytest.approx(best, abs=1e-6)
            assert solved.bound == pytest.approx(best, abs=1e-6)


def plain_triangles(x):
    n = len(x)
    excess = {
        (i, j, k): x[i, j] + x[i, k] - x[j, k] - 1
        for i in range(n)
        for j in range(n)
        for k in range(j + 1, n)
        if i not in (j, k)
    }
    return sorted((triple for triple in excess if excess[triple] > VIOLATION), key=lambda t: (-excess[t], t))


def fractional(n, rng):
    """Symmetric, in [0, 1], many entries whole, many halves, the others anything."""
    x = np.triu(rng.choice([0.0, 1.0, 0.5, np.nan], size=(n, n)), 1)
    x = np.where(np.isnan(x), rng.uniform(size=(n, n)), x)
    x = np.triu(x, 1)
    return x + x.T


@pytest.mark.parametrize("n", [0, 1, 2, 3, 9, 63, 64, 65, 70])
def test_the_most_violated_triangles_come_first(n):
    x = fractional(n, np.random.default_rng(n))
    every = plain_triangles(x)
    for count in (0, 1, 7, len(every), len(every) + 5):
        assert [tuple(row) for row in violated_triangles(x, count).tolist()] == every[:count]


def test_a_violation_below_single_precision_is_seen():
    x = np.array([[0, 1, 0.5], [1, 0, 0.5 - 2 * VIOLATION], [0.5, 0.5 - 2 * VIOLATION, 0]])
    assert violated_triangles(x, 9).tolist() == [[0, 1, 2]]
    x[1, 2] = x[2, 1] = 0.5 - VIOLATION / 2
    assert violated_triangles(x, 9).size == 0


def test_a_limit_on_clusters_is_obeyed_from_every_start():
    rng = np.random.default_rng(2)
    for _ in range(4):
        cost = random_costs(6, rng)
        allowed = [p for p in ref.all_partitions(6) if max(p) < 2]
        best = min(value(p, cost) for p in allowed)
        for start in (np.zeros(6, np.int64), np.array(allowed[5])):
            solved = solve_cliques(cost, soon(), start, max_clusters=2, rows_per_round=2)
            assert solved.proven
            assert value(solved.labels(), cost) == pytest.approx(best, abs=1e-6)


def test_without_time_the_start_and_a_valid_bound_remain():
    rng = np.random.default_rng(3)
    cost = random_costs(7, rng)
    start = np.array([0, 0, 1, 1, 2, 2, 2])
    solved = solve_cliques(cost, time.monotonic() - 1, start)
    assert not solved.proven
    assert solved.labels().tolist() == start.tolist()
    assert solved.bound <= min(value(p, cost) for p in ref.all_partitions(7))


def test_a_bound_holds_wherever_the_time_ends(monkeypatch):
    """After each number of rounds, rows of the last one not yet solved included."""
    cost = random_costs(8, np.random.default_rng(6))
    best = min(value(p, cost) for p in ref.all_partitions(8))
    solve = _Program.solve
    for rounds in range(6):
        left = iter(range(rounds))
        monkeypatch.setattr(_Program, "solve", lambda *args, left=left: next(left, None) is not None and solve(*args))
        assert solve_cliques(cost, soon(), np.zeros(8, np.int64), rows_per_round=1).bound <= best + 1e-9


@pytest.mark.parametrize("n", [38, 130], ids=["branching", "linear program"])
def test_ctrl_c_is_answered(n):
    cost = random_costs(n, np.random.default_rng(4))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    watcher = signal_when_in("solve_cliques")
    try:
        solved = solve_cliques(cost, soon(), np.zeros(n, np.int64))
    finally:
        watcher.join()
        signal.signal(signal.SIGINT, before)
    assert solved.interrupted
    assert not solved.proven
    assert solved.bound < 0
