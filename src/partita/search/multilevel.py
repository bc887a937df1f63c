"""The default search for many items: first a search of representative items, then a refinement on all items.

The items are sorted by their labels in a few draws, so that neighbours in this order mostly share clusters. Every n-th
item represents its neighbours, so each group in these draws is represented in proportion to its size. The partitions
found for the representatives are extended to all items, each other item joining the cluster that suits it best, and
then refined on all items.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita import _core
from partita.draws.sample import PartitionSample, as_sample
from partita.losses.base import Loss
from partita.search.deadline import NEVER, Deadline
from partita.search.jobs import Engine, Job, Report, Runs, run_here
from partita.search.method import SEARCH

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
