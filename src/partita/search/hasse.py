"""Method "hasse": Wade & Ghahramani's greedy search over neighbours in the Hasse diagram."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, islice
from math import comb
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from partita import _core
from partita._validate import check_count, check_n_jobs
from partita.losses import VI, Binder, Loss, core_sample, expected_loss
from partita.partitions import canonical
from partita.sample import PartitionSample
from partita.search.draws import find_draw
from partita.search.found import Found, RunRow
from partita.search.limits import cluster_limit, complete, within_limit
from partita.similarity import complete_similarity, vi_lower_bound

if TYPE_CHECKING:
    from partita.estimate import Search

Labels = NDArray[np.int64]
Floats = NDArray[np.float64]
Parts = list[NDArray[np.int64]]


@dataclass(frozen=True)
class Objective:
    """What the search lowers: of a partition, of all its merges (inf unless left < right), of some splits."""

    value: Callable[[Labels], float]
    merges: Callable[[Labels], Floats]
    splits: Callable[[Labels, Parts], Floats]


def find_hasse(
    sample: PartitionSample,
    loss: Loss,
    search: Search,
    rng: np.random.Generator,
    criterion: str = "expected-loss",
    neighbours: int | None = None,
    max_steps: int = 1000,
) -> Found:
    """From the last and the best draw, go to the best of the l closest neighbours, up and down, while it pays.

    l is `neighbours`, by default the number of items; closeness is the loss itself, and ties for the last
    places are broken at random. The criterion
    "lower-bound" is that of equation 4, in place of the expected VI.
    """
    closest = sample.n_items if neighbours is None else check_count(neighbours, "neighbours", minimum=1)
    objective = _objective(sample, loss, criterion, search.n_jobs)
    if criterion == "lower-bound":
        best_draw = min(sample.labels[within_limit(sample, search)].astype(np.int64), key=objective.value)
    else:
        best_draw = find_draw(sample, loss, search, rng).labels
    runs, best = [], (np.inf, np.zeros(sample.n_items, np.int64))
    last = sample.index[complete(sample)[sample.index]][-1]
    starts = {"last draw": sample.labels[last], "best draw": best_draw}
    for name, start in starts.items():
        began = time.perf_counter()
        walk = _Walk(objective, _spread(loss), closest, cluster_limit(sample, search), rng)
        labels, value, steps = walk.run(start.astype(np.int64), max_steps)
        exact = float(expected_loss(labels, sample, loss))
        runs.append(RunRow(name, steps, steps, exact, int(labels.max()) + 1, time.perf_counter() - began))
        if value < best[0]:
            best = (value, labels)
    return Found(best[1], tuple(runs), criterion=best[0])


def _objective(sample: PartitionSample, loss: Loss, criterion: str, n_jobs: int) -> Objective:
    if criterion == "expected-loss":
        return _expected(sample, loss, n_jobs)
    if criterion != "lower-bound":
        raise ValueError(f"criterion must be 'expected-loss' or 'lower-bound', not {criterion!r}")
    if loss != VI():
        raise ValueError(f"criterion='lower-bound' is a bound on the expected VI; the loss is {loss}")
    return _lower_bound(complete_similarity(sample))


def _expected(sample: PartitionSample, loss: Loss, n_jobs: int) -> Objective:
    native, view, threads = loss._native(sample.n_items), core_sample(sample), check_n_jobs(n_jobs)

    def merges(labels: Labels) -> Floats:
        return cast(Floats, _core.merge_losses(labels.astype(np.uint32), view, native, threads))

    def splits(labels: Labels, parts: Parts) -> Floats:
        starts, items = np.cumsum([0, *map(len, parts)], dtype=np.int64), np.concatenate(parts)
        return cast(Floats, _core.split_losses(labels.astype(np.uint32), view, native, starts, items, threads))

    return Objective(lambda labels: float(expected_loss(labels, sample, loss)), merges, splits)


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

    return Objective(lambda labels: vi_lower_bound(labels, psm), merges, splits)


def _spread(loss: Loss) -> Callable[[Floats], Floats]:
    """φ with which the distance of covering partitions is φ(p + q) - φ(p) - φ(q), up to a factor."""
    if isinstance(loss, Binder):
        return lambda size: size * size
    if isinstance(loss, VI):
        return lambda size: size * np.log2(np.maximum(size, 1))
    raise ValueError(f"method 'hasse' knows Binder's loss and VI, not {loss}")


@dataclass(frozen=True)
class _Walk:
    objective: Objective
    spread: Callable[[Floats], Floats]
    closest: int
    max_clusters: int
    rng: np.random.Generator

    def run(self, labels: Labels, max_steps: int) -> tuple[Labels, float, int]:
        value = self.objective.value(labels)
        for step in range(max_steps):
            after, neighbour = min((self._best_merge(labels), self._best_split(labels)), key=lambda found: found[0])
            if not after < value - 1e-12:  # strict, so that the walk ends
                return labels, value, step
            labels, value = canonical(neighbour), after
        return labels, value, max_steps

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
        """Parts that can leave their cluster, closest splits first."""
        clusters = np.split(np.argsort(labels, kind="stable"), np.cumsum(np.bincount(labels))[:-1])
        kinds = [
            (float(self._split_distance(len(members), size)), k, size)
            for k, members in enumerate(clusters)
            for size in range(1, len(members) // 2 + 1)
        ]
        keys = np.array([distance for distance, _, _ in kinds]).round(9)
        for index in np.lexsort((self.rng.random(keys.size), keys)):
            _, k, size = kinds[index]
            yield from self._parts(clusters[k], size)

    def _split_distance(self, whole: int, part: int) -> np.float64:
        all_, one, other = self.spread(np.array([whole, part, whole - part], np.float64))
        return np.float64(all_ - one - other)

    def _parts(self, members: NDArray[np.int64], size: int) -> Iterator[NDArray[np.int64]]:
        """All parts of this size, once each; a random choice of them when there are more than can be used."""
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
            if part_.tobytes() not in seen:
                seen.add(part_.tobytes())
                yield part_
