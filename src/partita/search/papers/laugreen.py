"""Method "laugreen": Lau & Green's item-swapping heuristic for Binder's loss."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from partita._support.arrays import Labels
from partita.draws.sample import PartitionSample
from partita.losses.base import Loss
from partita.losses.expected import expected_loss
from partita.losses.losses import Binder
from partita.pairs.similarity import complete_similarity, lau_green
from partita.partitions.labels import canonical
from partita.search.constraints import GIVEN, check_starts_within
from partita.search.deadline import NEVER, Deadline
from partita.search.result import RunRow, SearchResult
from partita.search.settings import Search, cluster_limit, complete

#: Rounding error of the sum of an item's gains, relative to their magnitude.
ROUNDING = 1e-13
#: The deadline is checked once per this many items.
ITEMS_PER_CLOCK_CHECK = 64


def find_laugreen(
    sample: PartitionSample, loss: Loss, search: Search, rng: np.random.Generator, starts: tuple[Labels, ...] = ()
) -> SearchResult:
    """Items are moved in turn to where Σ_{i<j} 1{c_i = c_j} (π_ij - b/(a + b)) is largest, until none moves.

    The runs start from one cluster, from all singletons if the limit on clusters allows it, and from random draws; or
    from the given partitions instead. For losses other than Binder's, the criterion has a = b = 1. At the time limit
    the best partition so far is returned.
    """
    until = Deadline.after(search.seconds)
    weights = loss.pairwise or Binder()
    psm = complete_similarity(sample)
    limit = cluster_limit(sample, search)
    check_starts_within(starts, limit)
    gain = psm - weights.b / (weights.a + weights.b)
    runs: list[RunRow] = []
    best, best_labels = -np.inf, np.zeros(sample.n_items, np.int64)
    for name, start in until.while_time(_starts(sample, limit, search.most_runs, rng, starts)):
        began = time.perf_counter()
        labels, sweeps, moves = swap_items(gain, start, limit, until)
        score = lau_green(labels, psm, weights.a, weights.b)
        exact = float(expected_loss(labels, sample, loss))
        runs.append(RunRow(name, sweeps, moves, exact, int(labels.max()) + 1, time.perf_counter() - began))
        if score > best:
            best, best_labels = score, labels
    return SearchResult(best_labels, tuple(runs), criterion=best)


def swap_items(
    gain: NDArray[np.float64], start: Labels, max_clusters: int, until: Deadline = NEVER
) -> tuple[Labels, int, int]:
    """Local optimum of Σ_{i<j} 1{c_i = c_j} gain_ij under moves of one item, and the numbers of sweeps and moves.

    Every move raises the sum by more than ROUNDING times the magnitude of the compared sums, so the sweeps end. At the
    deadline the items stay where they are.
    """
    n = start.size
    labels = start.copy()
    mass = np.zeros((n, n + 1))
    np.add.at(mass.T, labels, gain)
    magnitude = np.abs(gain).sum(axis=1)
    sizes = np.bincount(labels, minlength=n + 1)
    sweeps = moves = 0
    moved = True
    while moved:
        moved, sweeps = False, sweeps + 1
        for i in range(n):
            if i % ITEMS_PER_CLOCK_CHECK == 0 and until.is_past:
                return canonical(labels), sweeps, moves
            own = labels[i]
            score = np.where(sizes > 0, mass[i], -np.inf)
            score[own] = mass[i, own] - gain[i, i]
            if (sizes > 0).sum() - (sizes[own] == 1) < max_clusters:
                empty = own if sizes[own] == 1 else int(np.argmin(sizes))
                score[empty] = 0.0
            target = int(np.argmax(score))
            if score[target] > score[own] + ROUNDING * magnitude[i]:
                mass[:, own] -= gain[:, i]
                mass[:, target] += gain[:, i]
                sizes[own] -= 1
                sizes[target] += 1
                labels[i] = target
                moved, moves = True, moves + 1
    return canonical(labels), sweeps, moves


def _starts(
    sample: PartitionSample, limit: int, runs: int, rng: np.random.Generator, given: tuple[Labels, ...]
) -> list[tuple[str, Labels]]:
    if given:
        return [(GIVEN, labels) for labels in given]
    n = sample.n_items
    starts = [("one cluster", np.zeros(n, np.int64))]
    if limit >= n:
        starts.append(("singletons", np.arange(n)))
    allowed = np.flatnonzero(complete(sample) & (sample.n_clusters <= limit))
    chosen = rng.choice(allowed, min(allowed.size, max(0, runs - len(starts))), replace=False)
    return starts + [(f"draw {row}", sample.labels[row].astype(np.int64)) for row in chosen]
