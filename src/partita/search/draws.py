"""Method "draws": the sampled partition of least expected loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from partita import _core
from partita._validate import check_n_jobs
from partita.losses import VI, Binder, Loss, core_sample, unique_distances
from partita.sample import PartitionSample
from partita.search.found import Found
from partita.search.limits import within_limit
from partita.similarity import complete_similarity, sums_within

if TYPE_CHECKING:
    from partita.estimate import Search

Floats = NDArray[np.float64]

#: Taken off a floor, so that rounding does not hide a draw.
ROUNDING = 1e-9


def find_draw(sample: PartitionSample, loss: Loss, search: Search, rng: np.random.Generator) -> Found:
    """Best distinct draw (Dahl 2006, whose least squares is Binder's loss); the first where several are.

    Draws are scored in the order of a lower bound on their loss, so that most need no scoring.
    """
    rows = np.flatnonzero(within_limit(sample, search))
    floor = _floors(sample, loss, search.n_jobs)[rows]
    best, best_row = np.inf, -1
    for place in np.argsort(floor, kind="stable"):
        if floor[place] > best:
            break
        row = int(rows[place])
        value = float(unique_distances(sample.labels[row], sample, loss, search.n_jobs) @ sample.weights)
        if (value, row) < (best, best_row):
            best, best_row = value, row
    return Found(sample.labels[best_row].astype(np.int64))


def _floors(sample: PartitionSample, loss: Loss, n_jobs: int) -> Floats:
    """A lower bound on the expected loss of each draw, the loss itself but for rounding where that is quick."""
    if sample.has_gaps or not isinstance(loss, VI | Binder):
        return np.zeros(sample.n_unique)
    one_by_one = float(sample.n_unique) ** 2 * sample.n_items
    native, threads = loss._native(sample.n_items), check_n_jobs(n_jobs)
    losses = cast(Floats, _core.expected_losses_of_draws(core_sample(sample), native, one_by_one, threads))
    return losses - ROUNDING if losses.size else _jensen(sample, loss)


def _jensen(sample: PartitionSample, loss: VI | Binder) -> Floats:
    """Jensen's bound for VI, the loss itself for Binder; zero where the similarity matrix is larger than the draws."""
    if sample.n_items > sample.n_unique:
        return np.zeros(sample.n_unique)
    psm, n = complete_similarity(sample), sample.n_items
    sizes = np.array([np.bincount(row)[row] for row in sample.labels.astype(np.int64)], np.float64)
    within = np.array([sums_within(row, psm) for row in sample.labels.astype(np.int64)])
    if isinstance(loss, VI):
        sizes, within = np.log2(sizes), np.log2(within)
    else:
        n = n**2
    of_draws = sample.weights @ sizes.sum(axis=1)
    floor: Floats = loss.a * of_draws + (loss.b * sizes - (loss.a + loss.b) * within).sum(axis=1)
    return floor / n - ROUNDING
