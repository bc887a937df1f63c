"""The default search where draws have noise: a few large clusters, and many items that are alone.

Some of the items are searched first, as in `multilevel`, with lists of cells. The clusters of two or more items that
are found then have a column of cells each, whereas an item that is alone has none: under VI and Binder's loss it adds
nothing to any sum, in a draw and in the estimate (cpp/draws/noise.cpp). Items move between the clusters and out of them
until no move lowers the loss. Clusters that the chosen items did not show are searched among those that are alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita import _core
from partita.draws.sample import PartitionSample
from partita.losses.base import Loss
from partita.search.deadline import NEVER, Deadline
from partita.search.jobs import NOISE, Engine, Job, Report, Runs, run_here
from partita.search.method import SEARCH
from partita.search.multilevel import CARRIED, best_distinct, representatives, restricted, started_at
from partita.search.settings import Search

#: With fewer items than this, all are searched at once.
MANY_ITEMS = 6_000
COARSE_ITEMS = 3_000
#: How often clusters are searched among the items that are alone.
ROUNDS = 2
#: Seconds for the first look at all items after Ctrl-C.
STOPPED = 0.1
ALONE = np.uint32(2**32 - 2)


def has_much_noise(sample: PartitionSample, loss: Loss, search: Search) -> bool:
    """Whether the search works on some of the items first, and on noise apart."""
    is_free = search.max_clusters is None or search.max_clusters >= sample.n_items
    return sample.noise is not None and is_free and loss.additive is not None and sample.n_items >= MANY_ITEMS


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
    items = representatives(sample, COARSE_ITEMS, rng)
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
    among = alone if alone.size <= COARSE_ITEMS else alone[representatives(sample, COARSE_ITEMS, rng, alone)]
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
