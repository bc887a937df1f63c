"""Method "hasse": Wade & Ghahramani's greedy search over neighbours in the Hasse diagram."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, islice
from math import comb
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from partita import _core
from partita._support.arrays import Floats, Labels
from partita._support.tolerance import ROUNDING
from partita._support.validate import check_choice, check_count, check_n_jobs
from partita.draws.sample import PartitionSample
from partita.losses.base import Loss
from partita.losses.expected import expected_loss
from partita.losses.losses import VI
from partita.losses.problem import core_problem
from partita.pairs.similarity import complete_similarity, vi_lower_bound
from partita.partitions.labels import canonical
from partita.search.constraints import GIVEN, check_starts_within
from partita.search.deadline import NEVER, Deadline
from partita.search.draws import find_draw
from partita.search.result import RunRow, SearchResult
from partita.search.settings import Search, cluster_limit, complete, within_limit

Parts = list[NDArray[np.int64]]

#: The draws at which a walk may begin.
BEGINNINGS = ("both", "last", "best")


@dataclass(frozen=True)
class Objective:
    """The criterion to be lowered: of a partition, of all its merges (inf unless left < right), and of given splits."""

    value: Callable[[Labels], float]
    merges: Callable[[Labels], Floats]
    splits: Callable[[Labels, Parts], Floats]
    is_expected_loss: bool = True


def find_hasse(
    sample: PartitionSample,
    loss: Loss,
    search: Search,
    rng: np.random.Generator,
    criterion: str = "expected-loss",
    neighbors: int | None = None,
    max_steps: int = 1000,
    begin: str = "both",
    starts: tuple[Labels, ...] = (),
) -> SearchResult:
    """Greedy search from the last and the best draw, or from `starts`: go to the best of the l closest neighbours.

    It ends when no neighbour is better. The neighbours are merges and splits, and l is `neighbors`, by default the
    number of items. Closeness is measured by the loss; ties for the last places are broken at random. The criterion
    "lower-bound" replaces the expected VI by equation 4. `begin` is "last", "best" or "both" draws; `start=` of
    `estimate` begins at a partition instead. At the time limit the best partition so far is returned.
    """
    check_choice(begin, "begin", BEGINNINGS)
    if starts and begin != "both":
        raise ValueError(f"begin={begin!r} and start= exclude each other")
    until = Deadline.after(search.seconds)
    closest = sample.n_items if neighbors is None else check_count(neighbors, "neighbors", minimum=1)
    check_starts_within(starts, cluster_limit(sample, search))
    objective = _objective(sample, loss, criterion, search.n_jobs, until)
    runs, best = [], (np.inf, np.zeros(sample.n_items, np.int64))
    begin_at = [(GIVEN, start) for start in starts] or [
        (name, draw)
        for name, draw in _last_and_best(sample, loss, search, rng, objective, until)
        if begin in ("both", name.split()[0])
    ]
    for name, start in begin_at:
        began = time.perf_counter()
        rounding = ROUNDING * loss.unit
        walk = _Walk(objective, _spread(loss), closest, cluster_limit(sample, search), rng, rounding, until)
        labels, value, steps = walk.run(start, max_steps)
        exact = float(expected_loss(labels, sample, loss))
        runs.append(RunRow(name, steps, steps, exact, int(labels.max()) + 1, time.perf_counter() - began))
        if value < best[0]:
            best = (value, labels)
    return SearchResult(best[1], tuple(runs), criterion=best[0])


def _last_and_best(
    sample: PartitionSample,
    loss: Loss,
    search: Search,
    rng: np.random.Generator,
    objective: Objective,
    until: Deadline,
) -> list[tuple[str, Labels]]:
    """The last draw that labels every item and the best of them, which is that of the objective."""
    if objective.is_expected_loss:
        best = find_draw(sample, loss, until.limit(search), rng).labels
    else:
        draws = sample.labels[within_limit(sample, search)].astype(np.int64)
        best = min(until.while_time(draws), key=objective.value)
    last = sample.index[complete(sample)[sample.index]][-1]
    return [("last draw", sample.labels[last].astype(np.int64)), ("best draw", best)]


def _objective(sample: PartitionSample, loss: Loss, criterion: str, n_jobs: int, until: Deadline) -> Objective:
    if criterion == "expected-loss":
        return _expected(sample, loss, n_jobs, until)
    if criterion != "lower-bound":
        raise ValueError(f"criterion must be 'expected-loss' or 'lower-bound', not {criterion!r}")
    if loss != VI():
        raise ValueError(f"criterion='lower-bound' is a bound on the expected VI; the loss is {loss}")
    return _lower_bound(complete_similarity(sample))


def _expected(sample: PartitionSample, loss: Loss, n_jobs: int, until: Deadline = NEVER) -> Objective:
    problem, threads = core_problem(sample, loss), check_n_jobs(n_jobs)

    def merges(labels: Labels) -> Floats:
        return _in_time(_core.merge_losses(labels.astype(np.uint32), problem, threads, until.left))

    def splits(labels: Labels, parts: Parts) -> Floats:
        starts, items = np.cumsum([0, *map(len, parts)], dtype=np.int64), np.concatenate(parts)
        losses = _core.split_losses(labels.astype(np.uint32), problem, starts, items, threads, until.left)
        return _in_time(losses)

    return Objective(lambda labels: float(expected_loss(labels, sample, loss)), merges, splits)


class _TimeIsUp(Exception):
    """Ends a walk at the time limit; its current partition is the result."""


def _in_time(losses: Any) -> Floats:
    """The losses from the core; an empty array means that the time limit was reached."""
    if not losses.size:
        raise _TimeIsUp
    return cast(Floats, losses)


def _lower_bound(psm: Floats) -> Objective:
    """Equation 4 over n: (1/n) Σ_i log |C_i| - 2 log Σ_{j in C_i} π_ij."""
    n = len(psm)

    def terms(inside: Floats) -> float:
        return float(len(inside) * np.log2(len(inside)) - 2 * np.log2(inside).sum())

    def merges(labels: Labels) -> Floats:
        one_hot = np.eye(labels.max() + 1)[labels]
        sizes, mass = one_hot.sum(axis=0), psm @ one_hot
        own = mass[np.arange(n), labels]
        cluster = sizes * np.log2(sizes) - 2 * (one_hot.T @ np.log2(own))
        half = one_hot.T @ np.log2(own[:, None] + mass)
        both = sizes[:, None] + sizes
        merged = both * np.log2(both) - 2 * (half + half.T)
        after = (cluster.sum() - cluster[:, None] - cluster + merged) / n
        return np.where(np.triu(np.ones_like(after), 1) > 0, after, np.inf)

    def splits(labels: Labels, parts: Parts) -> Floats:
        now = vi_lower_bound(labels, psm)
        after = np.empty(len(parts))
        for s, part in enumerate(parts):
            members = np.flatnonzero(labels == labels[part[0]])
            rest = np.setdiff1d(members, part, assume_unique=True)
            change = sum(terms(psm[np.ix_(side, side)].sum(axis=1)) for side in (part, rest))
            after[s] = now + (change - terms(psm[np.ix_(members, members)].sum(axis=1))) / n
        return after

    return Objective(lambda labels: vi_lower_bound(labels, psm), merges, splits, is_expected_loss=False)


def _spread(loss: Loss) -> Callable[[Floats], Floats]:
    """φ such that φ(p + q) - φ(p) - φ(q) is, up to a factor, the loss of splitting p + q items into p and q."""
    if loss.additive:
        return loss.additive.phi
    raise ValueError(f"method 'hasse' supports Binder's loss and VI, not {loss}")


@dataclass(frozen=True)
class _Walk:
    objective: Objective
    spread: Callable[[Floats], Floats]
    closest: int
    max_clusters: int
    rng: np.random.Generator
    rounding: float = 0.0
    until: Deadline = NEVER

    def run(self, labels: Labels, max_steps: int) -> tuple[Labels, float, int]:
        """Each step lowers the value by more than rounding error, so the walk ends."""
        value = self.objective.value(labels)
        for step in range(max_steps):
            try:
                after, neighbour = self._best_neighbour(labels)
            except _TimeIsUp:
                return labels, value, step
            if not after < value - self.rounding:
                return labels, value, step
            labels, value = canonical(neighbour), after
        return labels, value, max_steps

    def _best_neighbour(self, labels: Labels) -> tuple[float, Labels]:
        self._look_at_the_clock()
        found = self._best_merge(labels)
        self._look_at_the_clock()
        return min((found, self._best_split(labels)), key=lambda each: each[0])

    def _look_at_the_clock(self) -> None:
        if self.until.is_past:
            raise _TimeIsUp

    def _best_merge(self, labels: Labels) -> tuple[float, Labels]:
        sizes = np.bincount(labels).astype(np.float64)
        if sizes.size < 2:
            return np.inf, labels
        left, right = np.triu_indices(sizes.size, 1)
        distance = self.spread(sizes[left] + sizes[right]) - self.spread(sizes[left]) - self.spread(sizes[right])
        near = self._nearest(distance)
        after = self.objective.merges(labels)[left[near], right[near]]
        best = near[int(np.argmin(after))]
        return float(after.min()), np.where(labels == right[best], left[best], labels)

    def _best_split(self, labels: Labels) -> tuple[float, Labels]:
        parts = list(islice(self._splits(labels), self.closest))
        if not parts or labels.max() + 1 >= self.max_clusters:
            return np.inf, labels
        after = self.objective.splits(labels, parts)
        neighbour = labels.copy()
        neighbour[parts[int(np.argmin(after))]] = labels.max() + 1
        return float(after.min()), neighbour

    def _nearest(self, distance: Floats) -> NDArray[np.int64]:
        order = np.lexsort((self.rng.random(distance.size), distance.round(9)))
        return order[: self.closest]

    def _splits(self, labels: Labels) -> Iterator[NDArray[np.int64]]:
        """Subsets of clusters that can be split off, closest splits first."""
        clusters = np.split(np.argsort(labels, kind="stable"), np.cumsum(np.bincount(labels))[:-1])
        halves = np.array([len(members) // 2 for members in clusters])
        cluster = np.repeat(np.arange(len(clusters)), halves)
        part = np.arange(halves.sum()) - np.repeat(np.cumsum(halves) - halves, halves) + 1
        whole = np.bincount(labels)[cluster]
        keys = self._split_distance(whole, part).round(9)
        for index in np.lexsort((self.rng.random(keys.size), keys)):
            self._look_at_the_clock()
            yield from self._parts(clusters[cluster[index]], int(part[index]))

    def _split_distance(self, whole: NDArray[np.int64], part: NDArray[np.int64]) -> Floats:
        all_, one, other = (self.spread(size.astype(np.float64)) for size in (whole, part, whole - part))
        return all_ - one - other

    def _parts(self, members: NDArray[np.int64], size: int) -> Iterator[NDArray[np.int64]]:
        """All subsets of this size, each once; a random selection if there are more than can be used."""
        halves = 2 * size == len(members)
        if comb(len(members), size) <= 4 * self.closest:
            for part in combinations(members, size):
                if not halves or part[0] == members[0]:
                    yield np.array(part, np.int64)
            return
        seen: set[bytes] = set()
        while len(seen) < self.closest:
            part_ = np.sort(self.rng.choice(members, size, replace=False))
            if halves and part_[0] != members[0]:
                part_ = np.setdiff1d(members, part_)
            self._look_at_the_clock()
            if part_.tobytes() not in seen:
                seen.add(part_.tobytes())
                yield part_
