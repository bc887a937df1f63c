"""The default search for many items: search on items that stand for those that agree with them, then refine on all.

Items in the order of their labels in a few draws agree with their neighbours. Every so-many-th in this order stands
for its neighbours, so that each group that these draws show is there in its share. The partitions found for them are
completed, each other item joining the cluster that suits it best, and refined on all items.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita import _core
from partita.losses import Loss
from partita.sample import PartitionSample, as_sample
from partita.search.jobs import Engine, Job, Report, Runs, run_here

COARSE_ITEMS = 20_000
#: Fewer items are searched all at once.
MANY_ITEMS = 60_000
ORDERING_DRAWS = 4
CARRIED = 2
_NOWHERE = np.uint32(2**32 - 1)


def is_large(sample: PartitionSample) -> bool:
    """Whether the items are so many that the search works on some of them first."""
    return sample.n_items >= MANY_ITEMS


def search_levels(
    sample: PartitionSample,
    loss: Loss,
    options: dict[str, Any],
    rng: np.random.Generator,
    engine: Engine = run_here,
    report: Report | None = None,
    n_coarse: int | None = None,
) -> Runs:
    """The runs on all items, after a search on `n_coarse` of them."""
    items = representatives(sample, COARSE_ITEMS if n_coarse is None else n_coarse, rng)
    runs, interrupted = engine(Job("search", _restricted(sample, items), loss, options), report)
    best = best_distinct(runs, CARRIED)
    starts = np.full((len(best), sample.n_items), _NOWHERE)
    for start, run in zip(starts, best, strict=True):
        start[items] = run.labels
    refined, stopped = engine(Job("search", sample, loss, options, starts=starts), report)
    return refined, interrupted or stopped


def representatives(sample: PartitionSample, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Items, spread evenly over all items in the order of their labels in a few random draws."""
    draws = rng.choice(sample.n_unique, min(ORDERING_DRAWS, sample.n_unique), replace=False)
    order = np.lexsort([sample.labels[draw] for draw in draws])
    step = sample.n_items / count
    places = (rng.random() * step + step * np.arange(count)).astype(np.int64)
    return np.sort(order[np.minimum(places, sample.n_items - 1)])


def _restricted(sample: PartitionSample, items: NDArray[np.int64]) -> PartitionSample:
    """The draws of some items; draws that label none of them are left out."""
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
