"""Shares of the expected VI(a, b) for the items, such that no cluster costs less than the shares of its items.

Expected VI(a, b) is a constant plus the sum of f(S) over the clusters S of the estimate. Numbers u with u(S) <= f(S)
for every S give the lower bound Σ u_i. Under a limit of K clusters, u(S) <= f(S) + λ with a price λ >= 0 per cluster
gives the lower bound Σ u_i - λ K. Here u and λ are found for a pool of clusters S: the bound is the cost of the
estimate, and there is as much room f(S) + λ - u(S) as possible. That it holds outside the pool is proven elsewhere
(`set_partition`).
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array, hstack, identity

from partita import _core
from partita._support.arrays import Floats, Labels
from partita._support.tolerance import TIE
from partita.search.deadline import Deadline

Cluster = frozenset[int]

#: Room f(S) + λ - u(S) beyond this many bits per item by which S differs from a cluster of the estimate counts no more.
ENOUGH_ROOM = 1.0
#: How far the shares may be from those of the estimate's own rows, in bits; tried one after the other.
DISTANCES = (0.5, 1.0, 2.0, 4.0)
#: What a cluster that costs less than its shares counts, in relation to room.
VIOLATION_COST = 1e3
#: Rounds of a program and of searches for clusters that it lacks.
MAX_ROUNDS = 100


@dataclass(frozen=True)
class Shares:
    """Shares u of the items, and the price λ per cluster under a limit on clusters; 0 without a limit."""

    of_items: Floats
    per_cluster: float
    max_clusters: int | None

    @property
    def total(self) -> float:
        """What the shares bound: Σ u_i - λ K."""
        return float(self.of_items.sum()) - self.per_cluster * (self.max_clusters or 0)

    def lowered_to(self, total: float) -> Shares:
        """The shares with another total; every item loses the same."""
        less = (self.total - total) / len(self.of_items)
        return replace(self, of_items=self.of_items - less)


class ClusterDuals:
    """The linear program for the shares, and its pool of clusters.

    It starts from the shares `own`, which sum to f(S) over each cluster of the estimate; `unit` is the size of a bit,
    (a + b) / 2.
    """

    def __init__(
        self,
        costs: _core.ClusterCosts,
        labels: Labels,
        own: Floats,
        unit: float,
        n_jobs: int,
        max_clusters: int | None = None,
    ) -> None:
        self.costs, self.own, self.unit, self.n_jobs, self.max_clusters = costs, own, unit, n_jobs, max_clusters
        self.n = len(labels)
        self.part = 1 / np.bincount(labels)[labels]  # of its cluster that each item is: it pays this part of the price
        self.clusters = [frozenset(np.flatnonzero(labels == k).tolist()) for k in np.unique(labels)]
        self.pool: dict[Cluster, float] = {}
        for cluster in self.clusters:
            self.add(cluster)
            for item in range(self.n):
                self.add(frozenset([item]))
                self.add(cluster ^ {item})

    def add(self, cluster: Cluster) -> bool:
        """Whether the cluster is new to the pool."""
        if not cluster or cluster in self.pool:
            return False
        self.pool[cluster] = self.costs.cost(sorted(cluster))
        return True

    def solve(self, starts: Labels, until: Deadline, below: float = 0.0) -> Shares | None:
        """Shares that no cluster violates, as far as searches find; None if there are none, or no time.

        The searches begin at the clusters of some draws; `below` is how far the total of the shares is below the cost
        of the estimate.
        """
        for distance in DISTANCES:
            for round_ in range(MAX_ROUNDS):
                if until.is_past:
                    return None
                shares, violation = self._program(self.own.sum() - below, distance * self.unit, until)
                if shares is None or violation > TIE * self.unit:
                    break
                if not self._search(shares, starts[round_ % len(starts)], until):
                    return shares
        return None

    def _search(self, shares: Shares, draw: Labels, until: Deadline) -> bool:
        """Adds clusters with less room than wanted, as far as time allows; whether one of them is violated."""
        items = list(range(self.n))
        alone = [[item] for item in items]
        together = [np.flatnonzero(draw == draw[item]).tolist() for item in items]
        found = self.costs.descend(shares.of_items, alone + together, items + items, until.left, self.n_jobs)
        violated = False
        for members, reduced in found:
            cluster, room = frozenset(members), reduced + shares.per_cluster
            if room < self._room(cluster):
                violated |= self.add(cluster) and room < -TIE * self.unit
        return violated

    def _room(self, cluster: Cluster) -> float:
        """The room that is wanted for a cluster: none for those of the estimate."""
        return ENOUGH_ROOM * self.unit * min(len(cluster), *(len(cluster ^ other) for other in self.clusters))

    def _program(self, total: float, distance: float, until: Deadline) -> tuple[Shares | None, float]:
        """The shares, which have this total, and how far the pool is violated in all.

        Variables are the shares without the item's part of the price, for every cluster its room, up to what is wanted,
        and its violation, and the price. With a price, the shares of all items of a cluster of the estimate and its
        cost are larger by the same amount.
        """
        pool = list(self.pool)
        rooms = np.array([self._room(cluster) for cluster in pool])
        columns = np.concatenate([sorted(cluster) for cluster in pool])
        starts = np.cumsum([0, *map(len, pool)])
        members = csr_array((np.ones(columns.size), columns, starts), shape=(len(pool), self.n))
        each = identity(len(pool), format="csr")
        weights = np.where(rooms > 0, -self.unit / np.maximum(rooms, self.unit), 0.0)
        priced = csr_array((members @ self.part - 1)[:, None])
        free = 0 if self.max_clusters is None else self.max_clusters - len(self.clusters)
        bounds = np.zeros((self.n + 2 * len(pool) + 1, 2))
        bounds[: self.n] = np.column_stack([self.own - distance, self.own + distance])
        bounds[self.n : -len(pool) - 1, 1] = rooms
        bounds[-len(pool) - 1 : -1, 1] = np.inf
        bounds[-1, 1] = 0.0 if self.max_clusters is None else np.inf
        totals = np.zeros((1, len(bounds)))
        totals[0, : self.n] = 1
        totals[0, -1] = -free
        solution = _solved(
            until,
            c=np.concatenate([np.zeros(self.n), weights, np.full(len(pool), VIOLATION_COST), [0.0]]),
            A_ub=hstack([members, each, -each, priced]),
            b_ub=np.array([self.pool[cluster] for cluster in pool]),
            A_eq=totals,
            b_eq=[total],
            bounds=bounds,
        )
        if solution is None:
            return None, np.inf
        price = max(float(solution[-1]), 0.0)
        shares = Shares(solution[: self.n] + price * self.part, price, self.max_clusters)
        return shares, float(solution[-len(pool) - 1 : -1].sum())


def _solved(until: Deadline, **program: Any) -> Floats | None:
    """The solution of a linear program, or None. It has a thread of its own, so that Ctrl-C does not wait for it."""
    from scipy.optimize import linprog

    options = {"time_limit": max(until.left, 0.01), "primal_feasibility_tolerance": 1e-9}
    pool = ThreadPoolExecutor(1)
    try:
        future: Future[Any] = pool.submit(linprog, method="highs", options=options, **program)
        while True:
            try:
                result = future.result(timeout=0.1)
                break
            except NotYet:
                continue
    finally:
        pool.shutdown(wait=False)
    return np.asarray(result.x) if result.status == 0 else None
