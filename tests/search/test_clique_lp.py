"""The cutting planes alone: any start leads to the optimum, a good one ends the work, Ctrl-C is answered."""

from __future__ import annotations

import signal

import numpy as np
import pytest

from partita.search import clique_lp
from partita.search.clique_cuts import (
    CLIQUE_VIOLATION,
    STAR_VIOLATION,
    VIOLATION,
    common_step,
    least_pairs_together,
    violated_inequalities,
    violated_stars,
    violated_triangles,
)
from partita.search.clique_lp import _Program, solve_cliques
from partita.search.deadline import Deadline
from support import reference as ref
from support.interrupts import signal_when_in

pytest.importorskip("highspy")


def random_costs(n, rng):
    cost = rng.normal(size=(n, n))
    cost = np.triu(cost, 1)
    return cost + cost.T


def value(labels, cost):
    together = np.equal.outer(np.asarray(labels), np.asarray(labels))
    return float(np.triu(cost * together, 1).sum())


def soon():
    return Deadline.after(60)


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


def star_excess(x, center, leaves):
    inside = sum(x[j, k] for j in leaves for k in leaves if j < k)
    return sum(x[center, j] for j in leaves) - inside - 1


def listed(stars):
    ends = zip(stars.begins[:-1], stars.begins[1:], strict=True)
    return [(int(i), stars.leaves[a:b].tolist()) for i, (a, b) in zip(stars.centers, ends, strict=True)]


def test_stars_are_violated_and_the_most_violated_come_first():
    rng = np.random.default_rng(5)
    for n in (0, 1, 4, 9, 20):
        x = fractional(n, rng)
        stars = listed(violated_stars(x, 1000))
        excess = [star_excess(x, *star) for star in stars]
        assert all(value > STAR_VIOLATION for value in excess)
        assert excess == sorted(excess, reverse=True)
        assert all(center not in leaves and len(set(leaves)) == len(leaves) for center, leaves in stars)
        assert listed(violated_stars(x, 3)) == stars[:3]
    assert len(stars) > 20


def test_a_star_that_obeys_all_triangles_is_found():
    """A center that is with each of three leaves by half, and the leaves apart: the usual fractional corner."""
    x = np.zeros((4, 4))
    x[0, 1:] = x[1:, 0] = 0.5
    assert violated_triangles(x, 9).size == 0
    assert listed(violated_stars(x, 9)) == [(0, [1, 2, 3])]


def test_no_partition_violates_a_star():
    for p in ref.all_partitions(6):
        x = np.equal.outer(np.array(p), np.array(p)).astype(float)
        assert len(violated_stars(x, 9)) == 0
        for center in range(6):
            for leaves in ([1, 2, 3], [0, 2, 4, 5], [0, 1, 2, 3, 4, 5]):
                assert star_excess(x, center, [j for j in leaves if j != center]) <= 0


def test_rows_of_stars_have_the_coefficients_of_their_pairs():
    x = fractional(9, np.random.default_rng(8))
    stars = violated_stars(x, 50)
    for (center, leaves), (left, right, values) in zip(listed(stars), stars.rows(), strict=True):
        assert float(values @ x[left, right]) - 1 == pytest.approx(star_excess(x, center, leaves))


def together(labels):
    return np.equal.outer(np.array(labels), np.array(labels)) & ~np.eye(len(labels), dtype=bool)


@pytest.mark.parametrize("limit", [1, 2, 3, 5])
def test_the_least_number_of_pairs_together_is_that_of_the_best_partition(limit):
    for n in range(1, 8):
        fewest = min(together(p).sum() / 2 for p in ref.all_partitions(n) if max(p) < limit)
        assert least_pairs_together(n, limit) == fewest


def clique_shortfall(x, clique):
    return clique.pairs - x[np.ix_(clique.items, clique.items)].sum() / 2


def test_clique_inequalities_are_violated_and_no_partition_within_the_limit_violates_one():
    rng = np.random.default_rng(6)
    for n, limit in ((4, 1), (5, 2), (6, 2), (6, 3), (7, 3), (7, 4)):
        x = 0.2 * fractional(n, rng)
        cliques = violated_inequalities(x, limit)
        assert cliques
        assert all(clique_shortfall(x, clique) > CLIQUE_VIOLATION for clique in cliques)
        for p in ref.all_partitions(n):
            exceeds = max(p) >= limit
            assert exceeds or all(clique_shortfall(together(p), clique) <= 0 for clique in cliques)
            assert exceeds == bool(violated_inequalities(together(p).astype(float), limit))


def test_one_cluster_too_many_is_a_violated_inequality():
    cliques = violated_inequalities(np.zeros((4, 4)), 3)
    assert [(clique.items.tolist(), clique.pairs) for clique in cliques] == [([0, 1, 2, 3], 1)]
    assert violated_inequalities(np.zeros((3, 3)), 3) == []


def test_clique_inequalities_close_the_gap_that_a_limit_leaves(monkeypatch):
    """Without branching: most of the gap to the best partition that obeys the limit."""
    rng, gaps = np.random.default_rng(7), []
    for n, limit in ((6, 2), (7, 2), (7, 3), (8, 3)) * 3:
        cost = random_costs(n, rng) + 0.7 * (1 - np.eye(n))
        allowed = [p for p in ref.all_partitions(n) if max(p) < limit]
        best = min(allowed, key=lambda p: value(p, cost))
        least = value(best, cost)
        with_inequalities = solve_cliques(cost, soon(), np.array(best), limit, may_branch=False).bound
        with monkeypatch.context() as patch:
            patch.setattr(clique_lp, "violated_inequalities", lambda x, limit: [])
            without = solve_cliques(cost, soon(), np.array(best), limit, may_branch=False).bound
        assert without - 1e-6 <= with_inequalities <= least + 1e-6
        gaps.append((least - with_inequalities, least - without))
    assert sum(gap for gap, _ in gaps) < 0.3 * sum(gap for _, gap in gaps)


def test_costs_of_equal_draws_have_a_step():
    assert common_step(np.array([[0.0, 1.0], [-1.0, 0.0]])) == 1.0
    assert common_step(np.array([[0.0, 0.75], [-0.5, 0.0]])) == 0.25
    psm = np.random.default_rng(1).integers(0, 701, size=(30, 30)) / 700
    assert common_step(1 - 2 * psm) == pytest.approx(1 / 350)
    assert common_step(np.random.default_rng(1).normal(size=(5, 5))) == 0.0
    assert common_step(np.zeros((3, 3))) == 0.0


def test_whole_costs_with_many_ties_lead_to_the_optimum():
    """Cluster editing: the bound is raised to whole numbers, stars cut, HiGHS stops within less than one."""
    rng = np.random.default_rng(9)
    for n in (5, 7, 8, 8):
        cost = random_costs(n, rng)
        cost = np.sign(cost) * (1 - np.eye(n))
        best = min(value(p, cost) for p in ref.all_partitions(n))
        for start in (np.zeros(n, np.int64), np.arange(n)):
            solved = solve_cliques(cost, soon(), start)
            assert solved.proven
            assert solved.bound == best
            assert value(solved.labels(), cost) == best


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
    solved = solve_cliques(cost, Deadline.after(-1), start)
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


def test_a_small_value_is_not_rounded_off_a_triangle_that_holds():
    """Rounded, it violated a row that was there, which was added in each round without end."""
    program = _Program(np.zeros((3, 3)), None)
    program.add(np.array([[0, 1, 2]]))
    program.values = np.array([0.7, 0.3 + 3 * VIOLATION, 3 * VIOLATION])
    program.row_values = program.rows @ program.values
    assert violated_triangles(program.matrix(), 9).size == 0
    program.values = np.array([1 - VIOLATION, VIOLATION, 0.0])
    np.testing.assert_array_equal(program.matrix()[0], [0, 1, 0])


def test_rounds_end_with_a_solver_that_is_less_exact_than_the_cuts(monkeypatch):
    """The center of a star is with each of its leaves by half, and each time a bit more than the rows allow."""
    keep = _Program._keep_solution

    def keep_inexact(self):
        keep(self)
        self.values = self.values + 5 * VIOLATION
        self.row_values = self.rows @ self.values

    monkeypatch.setattr(_Program, "_keep_solution", keep_inexact)
    cost = np.full((4, 4), 2.0)
    cost[0] = cost[:, 0] = -1.0
    bounds = []
    solved = solve_cliques(cost, Deadline.after(5), np.arange(4), tell=bounds.append)
    assert len(bounds) < 10
    assert solved.proven
    assert solved.bound == pytest.approx(-1)


def test_slack_rows_are_dropped_only_while_the_optimum_rises():
    program = _Program(np.ones((3, 3)), None)
    program.add(np.array([[0, 1, 2], [1, 0, 2]]))
    program.row_values = np.array([0.0, 1.0])
    for _ in range(clique_lp.PATIENCE + 2):
        program.drop_slack_rows()
    assert program.upper.size == 2
    for step in range(clique_lp.PATIENCE):
        program.values = np.full(3, 0.1 * (step + 1))
        program.drop_slack_rows()
    assert program.upper.size == 1


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
