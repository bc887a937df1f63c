"""The default search for many items: first a search of representative items, then a refinement on all items.

The items are sorted by their labels in a few draws, so that neighbours in this order mostly share clusters. Every n-th
item represents its neighbours, so each group in these draws is represented in proportion to its size. The partitions
found for the representatives are extended to all items, each other item joining the cluster that suits it best, and
then refined on all items.

Where draws have noise, with a few large clusters and many items that are alone, the clusters of two or more items that
are found for the representatives have a column of cells each, whereas an item that is alone has none: under VI and
Binder's loss it adds nothing to any sum, in a draw and in the estimate (cpp/draws/noise.cpp). Items move between the
clusters and out of them until no move lowers the loss. Clusters that the representatives did not show are searched
among those that are alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita import _core
from partita.draws.sample import PartitionSample, as_sample
from partita.losses.base import Loss
from partita.search.deadline import NEVER, Deadline
from partita.search.jobs import NOISE, Engine, Job, Report, Runs, run_here
from partita.search.method import SEARCH
from partita.search.settings import Search

COARSE_ITEMS = 20_000
#: With fewer items than this, all are searched at once.
MANY_ITEMS = 60_000
ORDERING_DRAWS = 4
CARRIED = 2
#: The label of an item that joins a cluster later.
UNPLACED = np.uint32(2**32 - 1)


def is_large(sample: PartitionSample) -> bool:
    """Whether there are so many items that the search works on some of them first."""
    return sample.n_items >= MANY_ITEMS


def search_levels(
    sample: PartitionSample,
    loss: Loss,
    options: _core.SearchOptions,
    rng: np.random.Generator,
    engine: Engine = run_here,
    report: Report | None = None,
    n_coarse: int | None = None,
    until: Deadline = NEVER,
) -> Runs:
    """The runs on all items, after a search of `n_coarse` of them, which gets half of the remaining time."""
    items = representatives(sample, COARSE_ITEMS if n_coarse is None else n_coarse, rng)
    coarse = engine(Job(SEARCH.name, restricted(sample, items), loss, options.within(until.left / 2)), report)
    starts = started_at(items, [run.labels for run in best_distinct(coarse.runs, CARRIED)], sample.n_items)
    then = options.within(until.left)
    refined = engine(Job(SEARCH.name, sample, loss, then, starts=starts), report)
    return Runs(refined.runs, coarse.interrupted or refined.interrupted, coarse.n_started)


def started_at(items: NDArray[np.int64], partitions: list[NDArray[np.uint32]], n_items: int) -> NDArray[np.uint32]:
    """Partitions of some of the items, to be extended to all: (partitions, items)."""
    starts = np.full((len(partitions), n_items), UNPLACED)
    for start, labels in zip(starts, partitions, strict=True):
        start[items] = labels
    return starts


def representatives(
    sample: PartitionSample, count: int, rng: np.random.Generator, among: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """Evenly spaced items in the order of their labels in a few random draws; places in `among`, if that is given."""
    draws = rng.choice(sample.n_unique, min(ORDERING_DRAWS, sample.n_unique), replace=False)
    order = np.lexsort([sample.labels[draw] if among is None else sample.labels[draw][among] for draw in draws])
    step = order.size / count
    places = (rng.random() * step + step * np.arange(count)).astype(np.int64)
    return np.sort(order[np.minimum(places, order.size - 1)])


def restricted(sample: PartitionSample, items: NDArray[np.int64]) -> PartitionSample:
    """The draws restricted to some items; draws that label none of them are left out."""
    labels = np.stack([row[items] for row in sample.labels])
    kept = labels.max(axis=1) >= 0
    return as_sample(labels[kept], weights=sample.weights[kept], missing=-1)


def best_distinct(runs: list[_core.Run], most: int) -> list[_core.Run]:
    """Up to `most` runs with different partitions, best first."""
    best: list[_core.Run] = []
    for run in sorted(runs, key=lambda run: run.loss):
        if len(best) < most and not any(np.array_equal(run.labels, other.labels) for other in best):
            best.append(run)
    return best


#: With fewer items than this, all are searched at once.
MANY_WITH_NOISE = 6_000
COARSE_WITH_NOISE = 3_000
#: How often clusters are searched among the items that are alone.
ROUNDS = 2
#: Seconds for the first look at all items after Ctrl-C.
STOPPED = 0.1
ALONE = np.uint32(2**32 - 2)


def has_much_noise(sample: PartitionSample, loss: Loss, search: Search) -> bool:
    """Whether the search works on some of the items first, and on noise apart."""
    is_free = search.max_clusters is None or search.max_clusters >= sample.n_items
    return sample.noise is not None and is_free and loss.additive is not None and sample.n_items >= MANY_WITH_NOISE


def search_with_noise(
    sample: PartitionSample,
    loss: Loss,
    options: _core.SearchOptions,
    rng: np.random.Generator,
    engine: Engine = run_here,
    report: Report | None = None,
    until: Deadline = NEVER,
) -> Runs | None:
    """The runs on all items; None if there are too many clusters of two or more items for tables of cells."""
    items = representatives(sample, COARSE_WITH_NOISE, rng)
    first = options.within(until.left / 2)
    coarse = engine(Job(SEARCH.name, restricted(sample, items), loss, first), report)
    best = best_distinct(coarse.runs, 1 if coarse.interrupted else CARRIED)
    starts = started_at(items, [_clusters(run.labels) for run in best], sample.n_items)
    runs: list[Any] = []
    interrupted = coarse.interrupted
    for _ in range(1 + ROUNDS):
        left = STOPPED if interrupted else until.left
        found = engine(Job(NOISE, sample, loss, options.within(left), starts=starts), report)
        if not found.runs:
            return None
        runs += found.runs
        interrupted |= found.interrupted
        more = None if interrupted or until.is_past else _with_new_clusters(runs, sample, loss, first, rng, engine)
        if more is None:
            break
        starts = more[None, :]
    return Runs(runs, interrupted, coarse.n_started)


def _clusters(labels: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Labels of the clusters of two or more items, numbered from 0; the others are alone."""
    shared = np.bincount(labels) > 1
    return np.where(shared[labels], (np.cumsum(shared) - 1)[labels], ALONE).astype(np.uint32)


def _with_new_clusters(
    runs: list[Any],
    sample: PartitionSample,
    loss: Loss,
    options: _core.SearchOptions,
    rng: np.random.Generator,
    engine: Engine,
) -> NDArray[np.uint32] | None:
    """The best partition so far with clusters of items that were alone; None if there are none."""
    start = _clusters(min(runs, key=lambda run: run.loss).labels)
    alone = np.flatnonzero(start == ALONE)
    if alone.size < 2:
        return None
    among = alone if alone.size <= COARSE_WITH_NOISE else alone[representatives(sample, COARSE_WITH_NOISE, rng, alone)]
    part = restricted(sample, among)
    if not (part.n_clusters < part.n_items).any():
        return None
    found = min(engine(Job(SEARCH.name, part, loss, options), None).runs, key=lambda run: run.loss)
    new = _clusters(found.labels)
    if (new == ALONE).all():
        return None
    first = int(start[start < ALONE].max(initial=0)) + 1
    start[among] = np.where(new == ALONE, ALONE, new + np.uint32(first))
    return start
