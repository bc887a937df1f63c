"""Clique partitioning by cutting planes: the linear program behind exact Binder estimates and their bounds.

A partition is a 0-1 vector x over pairs of items that obeys x_ij + x_ik - x_jk <= 1 for all triples. The
program minimises Σ c_ij x_ij over 0 <= x <= 1 and adds these triangles only when the solution violates them.
A fractional solution that obeys all triangles is cut off by stars, Σ_j x_ij - Σ_{j<k} x_jk <= 1 over the leaves j, k of
a center i, before HiGHS has to branch. Under a limit on clusters, clique inequalities say how many pairs of some
items are together.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from partita._support.arrays import Floats, Ints, Labels
from partita._support.optional import optional
from partita.partitions.labels import canonical
from partita.search.clique_cuts import (
    STEP_MARGIN,
    VIOLATION,
    CliqueInequality,
    Stars,
    all_triangles,
    common_step,
    raised,
    violated_inequalities,
    violated_stars,
    violated_triangles,
)
from partita.search.deadline import Deadline

#: Takes a lower bound, as often as there is a new one.
Tell = Callable[[float], None]

#: Stars are added while they raise the bound by this share of its distance from the value of the start.
STAR_GAIN = 0.01
#: A value within this distance of 0 or 1 counts as whole.
WHOLE = 1e-5
#: With at most this many items, a program that has to branch gets all triangles at once.
FEW = 40
#: Triangles added in a round, for each item: adding few at a time takes many more rounds (docs/bounds.md).
ROWS_PER_ITEM = 300
#: Rounds, of those that raise the optimum, for which a row may stay slack before it is dropped.
PATIENCE = 6
#: A partition is proven if the bound is within this relative distance of its value.
MEETS = 1e-8
#: A pair is fixed if its reduced cost exceeds the slack by more than this.
FIX_MARGIN = 1e-6
#: Seconds to wait for HiGHS to stop after Ctrl-C; after that it is left to end by itself.
CANCEL_SECONDS = 1.0


@dataclass(frozen=True)
class Cliques:
    """State of the cutting planes: a lower bound on Σ c_ij x_ij, the last solution x, and whether it is optimal."""

    bound: float
    x: Floats  # (n, n), symmetric, zero diagonal
    proven: bool
    interrupted: bool

    def labels(self) -> Labels:
        """The partition of a proven solution; otherwise the components of pairs with x_ij > 1/2."""
        from scipy.sparse.csgraph import connected_components

        return canonical(connected_components(csr_array(self.x > 0.5), directed=False)[1])


@dataclass(frozen=True, eq=False)
class SizeLimit:
    """The sum of `of_item`, the (n,) sizes of the items, is at most `limit` in every cluster."""

    of_item: Ints
    limit: int


def solve_cliques(
    cost: Floats,
    until: Deadline,
    start: Labels,
    max_clusters: int | None = None,
    rows_per_round: int | None = None,
    *,
    apart: NDArray[np.bool_] | None = None,
    sizes: SizeLimit | None = None,
    may_branch: bool = True,
    tell: Tell | None = None,
) -> Cliques:
    """Minimise Σ_{i<j} cost_ij x_ij over partitions, until proven, interrupted or at the deadline.

    `start`, a good partition that obeys all limits, is proven optimal, and the work ends, if the bound reaches its
    value. `may_branch` allows branch and bound if cutting planes do not suffice, which can take very long; `tell` hears
    the lower bound after each round.
    """
    known = np.equal.outer(start, start) & ~np.eye(len(cost), dtype=bool)
    upper = float(cost[known].sum()) / 2
    nothing = Cliques(float(np.minimum(cost, 0).sum()) / 2, known.astype(np.float64), False, False)
    per_round = rows_per_round or ROWS_PER_ITEM * len(cost)
    best = nothing
    try:
        program = _Program(cost, max_clusters)
        if apart is not None:
            program.keep_apart(apart)
        if sizes is not None:
            program.limit_sizes(sizes)
        for best in _rounds(program, nothing, upper, until, per_round, may_branch):
            if tell is not None:
                tell(best.bound)
            if best.bound >= upper - MEETS * (1 + abs(upper)):
                return replace(best, x=known.astype(np.float64), proven=True)
    except KeyboardInterrupt:
        return replace(best, interrupted=True)
    return best


def _rounds(
    program: _Program, known: Cliques, upper: float, until: Deadline, per_round: int, may_branch: bool = True
) -> Iterator[Cliques]:
    """The state after each round of cuts, until the solution is proven or the time limit is reached."""
    yield known
    branching, before = False, -np.inf  # the bound when stars were added last
    while not known.proven:
        finished = program.solve(until)
        if finished or not branching:
            bound = min(upper, raised(program.branched_bound() if branching else program.safe_bound(), program.step))
            known = replace(known, bound=max(known.bound, bound))
        if not finished:
            yield known
            return
        known = replace(known, x=program.matrix())
        triangles = violated_triangles(known.x, per_round, max(VIOLATION, program.infeasibility()))
        cliques = [] if branching else program.violated_inequalities(known.x)
        if len(triangles) or cliques:
            if not branching:
                program.fix(upper)
            program.drop_slack_rows()
            if len(triangles):
                program.add(triangles)
            if cliques:
                program.add_inequalities(cliques)
        elif branching or program.is_whole():
            known = replace(known, proven=True)
        elif len(stars := _paying_stars(known, before, upper, per_round)):
            before = known.bound
            program.fix(upper)
            program.drop_slack_rows()
            program.add_stars(stars)
        elif not may_branch:
            yield known
            return
        else:
            branching = True
            program.branch()
        yield known


def _paying_stars(known: Cliques, before: float, upper: float, count: int) -> Stars:
    """Violated stars; none if those added last, when the bound was `before`, raised it too little."""
    pays = known.bound - before > STAR_GAIN * (upper - known.bound)
    return violated_stars(known.x, count if pays else 0)


def _start(thread: threading.Thread, done: threading.Event) -> None:
    """Starts a thread; if the system has none, `done` is set and the error is raised."""
    try:
        thread.start()
    except RuntimeError:
        done.set()
        raise


class _Program:
    """The linear program in HiGHS, with a copy of its rows from which safe bounds are computed."""

    def __init__(self, cost: Floats, max_clusters: int | None) -> None:
        highspy = optional("highspy", "exact Binder estimates need HiGHS", "exact")
        self.n = len(cost)
        self.left, self.right = np.triu_indices(self.n, 1)
        self.index = np.zeros((self.n, self.n), np.int32)
        self.index[self.left, self.right] = self.index[self.right, self.left] = np.arange(self.left.size)
        self.cost = cost[self.left, self.right]
        self.step = common_step(cost)
        self.highs: Any = highspy.Highs()
        self.highs.setOptionValue("output_flag", False)
        self.highs.setOptionValue("threads", 1)
        self.highs.HandleUserInterrupt = True
        self.rows = csr_array((0, self.left.size))
        self.upper = np.zeros(0)
        self.idle = np.zeros(0, np.int64)
        self.fixed_rows = 0
        self.last_optimum = -np.inf  # when slack rows were counted last
        self.values, self.row_values, self.duals = np.zeros(self.left.size), np.zeros(0), np.zeros(0)
        self.fixed_at = np.full(self.left.size, np.nan)
        self._add_columns(self.cost)
        self.max_clusters = None if max_clusters is None or max_clusters >= self.n else max_clusters
        if self.max_clusters is not None:
            self._limit_clusters(self.max_clusters)

    def solve(self, until: Deadline) -> bool:
        """Solves the program; returns whether it finished before the deadline."""
        if (left := until.left) <= 0:
            return False
        self.highs.setOptionValue("time_limit", self.highs.getRunTime() + left)
        self._run()
        self._keep_solution()
        return str(self.highs.getModelStatus()).endswith("kOptimal")

    def _run(self) -> None:
        """Runs HiGHS in a separate thread, so that this thread receives signals and can cancel the run.

        HiGHS may take long to stop. Ctrl-C does not wait for that; any other exception does. The thread is not a
        daemon, because the interpreter must not exit while HiGHS is running.
        """
        done = threading.Event()
        failures: list[BaseException] = []

        def work() -> None:
            try:
                self.highs.run()
            except BaseException as failure:
                failures.append(failure)
            finally:
                done.set()

        try:
            _start(threading.Thread(target=work), done)
            while not done.wait(0.1):
                pass
        except BaseException as error:
            self.highs.cancelSolve()
            done.wait(CANCEL_SECONDS if isinstance(error, KeyboardInterrupt) else None)
            raise
        if failures:
            raise failures[0]

    def _keep_solution(self) -> None:
        """Copies the solution, which HiGHS drops when the program changes; missing duals become 0, which is valid."""
        solution = self.highs.getSolution()
        self.values = np.asarray(solution.col_value)[: self.left.size]
        self.row_values = np.asarray(solution.row_value)
        duals = np.minimum(np.asarray(solution.row_dual), 0)
        self.duals = duals if duals.size == self.upper.size else np.zeros(self.upper.size)

    def infeasibility(self) -> float:
        """How far `matrix` may be from obeying the rows: a triangle that it violates by more is not among them."""
        clipped = np.abs(self.values - np.clip(self.values, 0, 1)).max(initial=0)
        return 2 * float((self.row_values - self.upper).max(initial=0) + 3 * clipped)  # twice, to be above rounding

    def matrix(self) -> Floats:
        """The solution; rounded only if all of it is whole, because rounding alone can violate rows that it obeys."""
        values = np.rint(self.values) if self.is_whole() else np.clip(self.values, 0, 1)
        x = np.zeros((self.n, self.n))
        x[self.left, self.right] = x[self.right, self.left] = values
        return x

    def is_whole(self) -> bool:
        return bool((np.minimum(self.values, 1 - self.values) < WHOLE).all())

    def safe_bound(self) -> float:
        """The dual value, a lower bound whatever the solver's tolerances: upper·y + Σ min over x of (c - yA) x."""
        reduced, fixed = self._reduced_cost(), self._is_fixed()
        least = np.minimum(reduced, 0)
        least[: self.left.size] = np.where(fixed, reduced[: self.left.size] * self.fixed_at, least[: self.left.size])
        return float(self.upper @ self.duals + least.sum())

    def keep_apart(self, apart: NDArray[np.bool_]) -> None:
        """Fixes to 0 the pairs that no partition may join."""
        columns = np.flatnonzero(apart[self.left, self.right]).astype(np.int32)
        if columns.size:
            never = np.zeros(columns.size)
            self.highs.changeColsBounds(columns.size, columns, never, never)
            self.fixed_at[columns] = 0.0

    def fix(self, upper: float) -> None:
        """Fixes pairs on which all better partitions agree: a change costs more than the gap from bound to start."""
        reduced = self._reduced_cost()[: self.left.size]
        sure = (np.abs(reduced) > upper - self.safe_bound() + FIX_MARGIN) & ~self._is_fixed()
        columns = np.flatnonzero(sure).astype(np.int32)
        if columns.size:
            value = (reduced[columns] < 0).astype(np.float64)
            self.highs.changeColsBounds(columns.size, columns, value, value)
            self.fixed_at[columns] = value

    def _is_fixed(self) -> NDArray[np.bool_]:
        return cast("NDArray[np.bool_]", ~np.isnan(self.fixed_at))

    def _reduced_cost(self) -> Floats:
        cost = np.concatenate([self.cost, np.zeros(self.rows.shape[1] - self.cost.size)])
        return cast(Floats, cost - self.rows.T @ self.duals)

    def branched_bound(self) -> float:
        return float(self.highs.getInfo().mip_dual_bound)

    def branch(self) -> None:
        """Declares the pairs integer, so that HiGHS branches; a small program gets all triangles at once."""
        import highspy

        columns = np.arange(self.left.size, dtype=np.int32)
        kinds = np.full(columns.size, int(highspy.HighsVarType.kInteger), np.uint8)
        self.highs.changeColsIntegrality(columns.size, columns, kinds)
        self.highs.setOptionValue("mip_rel_gap", 0.0)
        # values of whole solutions are multiples of the step: within less than one, the best is known
        self.highs.setOptionValue("mip_abs_gap", max(1e-9, (1 - STEP_MARGIN) * self.step - 1e-6))
        if self.n <= FEW:
            self.add(all_triangles(self.n))

    def add(self, triangles: Ints) -> None:
        i, j, k = triangles.T
        columns = np.column_stack([self.index[i, j], self.index[i, k], self.index[j, k]])
        values = np.tile([1.0, 1.0, -1.0], len(triangles))
        self._add_rows(columns.ravel(), values, np.arange(0, columns.size + 1, 3), np.ones(len(triangles)))

    def add_stars(self, stars: Stars) -> None:
        left, right, values = zip(*stars.rows(), strict=True)
        columns = self.index[np.concatenate(left), np.concatenate(right)]
        starts = np.concatenate([[0], np.cumsum([row.size for row in values])])
        self._add_rows(columns, np.concatenate(values), starts, np.ones(len(stars)))

    def violated_inequalities(self, x: Floats) -> list[CliqueInequality]:
        return [] if self.max_clusters is None else violated_inequalities(x, self.max_clusters)

    def add_inequalities(self, cliques: list[CliqueInequality]) -> None:
        pairs = [self.index[np.ix_(c.items, c.items)][np.triu_indices(c.items.size, 1)] for c in cliques]
        columns = np.concatenate(pairs).astype(np.int64)
        starts = np.concatenate([[0], np.cumsum([row.size for row in pairs])])
        upper = np.array([-float(clique.pairs) for clique in cliques])
        self._add_rows(columns, np.full(columns.size, -1.0), starts, upper)

    def drop_slack_rows(self) -> None:
        """Drops rows that stay slack while the optimum rises: at the same optimum they could come back without end."""
        optimum = float(self.cost @ self.values)
        if not self.upper.size or optimum <= self.last_optimum + MEETS * (1 + abs(optimum)):
            return
        self.last_optimum = optimum
        slack = self.upper - self.row_values
        self.idle = np.where(slack > 1e-7, self.idle + 1, 0)
        self.idle[: self.fixed_rows] = 0
        idle = self.idle > PATIENCE
        if idle.any():
            gone = np.flatnonzero(idle).astype(np.int32)
            self.highs.deleteRows(gone.size, gone)
            self.rows, self.upper, self.idle = self.rows[~idle], self.upper[~idle], self.idle[~idle]
            self.duals = self.duals[~idle]

    def limit_sizes(self, sizes: SizeLimit) -> None:
        """w_i + Σ_{j≠i} w_j x_ij <= limit for each i, with w the sizes: no cluster is larger than the limit."""
        others = ~np.eye(self.n, dtype=bool)
        columns = self.index[others].astype(np.int64)
        values = np.broadcast_to(sizes.of_item, (self.n, self.n))[others].astype(np.float64)
        starts = np.arange(0, columns.size + 1, self.n - 1)
        self._add_rows(columns, values, starts, sizes.limit - sizes.of_item.astype(np.float64))
        self.fixed_rows += self.n

    def _limit_clusters(self, limit: int) -> None:
        """r_i >= 1 - Σ_{j<i} x_ji is 1 for the first item of a cluster; the sum of r is at most the limit."""
        pairs = self.left.size
        self._add_columns(np.zeros(self.n))
        self.rows = csr_array((0, pairs + self.n))
        columns, starts = [], [0]
        for i in range(self.n):
            columns += [*self.index[:i, i], pairs + i]
            starts.append(len(columns))
        columns += range(pairs, pairs + self.n)
        starts.append(len(columns))
        values = np.full(len(columns), -1.0)
        values[starts[-2] :] = 1.0
        self._add_rows(np.array(columns), values, np.array(starts), np.array([-1.0] * self.n + [limit]))
        self.fixed_rows = self.n + 1

    def _add_columns(self, cost: Floats) -> None:
        none: Any = np.zeros(0, np.int32)
        count = cost.size
        self.highs.addCols(count, cost, np.zeros(count), np.ones(count), 0, none, none, np.zeros(0))

    def _add_rows(self, columns: Ints, values: Floats, starts: Ints, upper: Floats) -> None:
        count = upper.size
        block = csr_array((values, columns, starts), shape=(count, self.rows.shape[1]))
        lower = np.full(count, -np.inf)
        self.highs.addRows(
            count, lower, upper, columns.size, starts[:-1].astype(np.int32), columns.astype(np.int32), values
        )
        from scipy.sparse import vstack

        self.rows = csr_array(vstack([self.rows, block]))
        self.upper = np.concatenate([self.upper, upper])
        self.idle = np.concatenate([self.idle, np.zeros(count, np.int64)])
        self.duals = np.concatenate([self.duals, np.zeros(count)])
