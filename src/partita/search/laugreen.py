"""Method "laugreen": Lau & Green's item-swapping heuristic for Binder's loss."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from partita.losses import Binder, Loss, expected_loss
from partita.partitions import canonical
from partita.sample import PartitionSample
from partita.search.found import Found, RunRow
from partita.search.limits import cluster_limit, complete
from partita.similarity import complete_similarity, lau_green

if TYPE_CHECKING:
    from partita.estimate import Search

Labels = NDArray[np.int64]


def find_laugreen(sample: PartitionSample, loss: Loss, search: Search, rng: np.random.Generator) -> Found:
    """Items in turn go where Σ_{i<j} 1{c_i = c_j} (π_ij - b/(a + b)) is largest, until none moves.

    The runs start at one cluster, at all singletons if the bound on clusters allows it, and at random draws.
    Losses other than Binder's leave the criterion at a = b = 1.
    """
    weights = loss if isinstance(loss, Binder) else Binder()
    psm = complete_similarity(sample)
    limit = cluster_limit(sample, search)
    gain = psm - weights.b / (weights.a + weights.b)
    runs, best, best_labels = [], -np.inf, np.zeros(sample.n_items, np.int64)
    for name, start in _starts(sample, limit, search.runs, rng):
        began = time.perf_counter()
        labels, sweeps, moves = swap_items(gain, start, limit)
        score = lau_green(labels, psm, weights.a, weights.b)
        exact = float(expected_loss(labels, sample, loss))
        runs.append(RunRow(name, sweeps, moves, exact, int(labels.max()) + 1, time.perf_counter() - began))
        if score > best:
            best, best_labels = score, labels
    return Found(best_labels, tuple(runs), criterion=best)


def swap_items(gain: NDArray[np.float64], start: Labels, max_clusters: int) -> tuple[Labels, int, int]:
    """Local optimum of Σ_{i<j} 1{c_i = c_j} gain_ij by moves of one item; with the sweeps and moves made."""
    n = start.size
    labels = start.copy()
    mass = np.zeros((n, n + 1))
    np.add.at(mass.T, labels, gain)
    sizes = np.bincount(labels, minlength=n + 1)
    sweeps = moves = 0
    moved = True
    while moved:
        moved, sweeps = False, sweeps + 1
        for i in range(n):
            own = labels[i]
            score = np.where(sizes > 0, mass[i], -np.inf)
            score[own] = mass[i, own] - gain[i, i]
            if (sizes > 0).sum() - (sizes[own] == 1) < max_clusters:
                empty = own if sizes[own] == 1 else int(np.argmin(sizes))
                score[empty] = 0.0
            target = int(np.argmax(score))
            if score[target] > score[own] + 1e-12:  # strict, so that sweeps end
                mass[:, own] -= gain[:, i]
                mass[:, target] += gain[:, i]
                sizes[own] -= 1
                sizes[target] += 1
                labels[i] = target
                moved, moves = True, moves + 1
    return canonical(labels), sweeps, moves


def _starts(sample: PartitionSample, limit: int, runs: int, rng: np.random.Generator) -> list[tuple[str, Labels]]:
    n = sample.n_items
    starts = [("one cluster", np.zeros(n, np.int64))]
    if limit >= n:
        starts.append(("singletons", np.arange(n)))
    allowed = np.flatnonzero(complete(sample) & (sample.n_clusters <= limit))
    chosen = rng.choice(allowed, min(allowed.size, max(0, runs - len(starts))), replace=False)
    return starts + [(f"draw {row}", sample.labels[row].astype(np.int64)) for row in chosen]
