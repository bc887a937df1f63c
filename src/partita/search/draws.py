"""Methods "draws" and "map": the draw of least expected loss, and the most frequent one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from partita import _core
from partita._support.arrays import Floats
from partita._support.tolerance import TIE
from partita._support.validate import check_n_jobs
from partita.draws.sample import PartitionSample
from partita.losses.base import AdditiveLoss, Loss
from partita.losses.expected import pairwise_distances, unique_distances
from partita.losses.problem import core_problem
from partita.pairs.similarity import complete_similarity, sums_within
from partita.search.deadline import Deadline
from partita.search.result import RunRow, SearchResult
from partita.search.settings import Search, cluster_limit, complete, within_limit

#: All draws are compared with each other if that reads at most this many labels, in less than a millisecond; or this
#: many, in a few hundredths of a second, if no second run led to the best partition.
FEW_LABELS, MANY_LABELS = 200_000, 20_000_000
#: With fewer runs, the best partition does not count as reached twice.
MANY_RUNS = 4


def find_draw(sample: PartitionSample, loss: Loss, search: Search, rng: np.random.Generator) -> SearchResult:
    """Best distinct draw (Dahl 2006, whose least-squares criterion is Binder's loss); the first of several equal ones.

    Draws are scored in the order of a lower bound on their loss, so that most of them need not be scored. At the time
    limit the best draw scored so far is returned; at least one is scored.
    """
    until = Deadline.after(search.seconds)
    rows = np.flatnonzero(within_limit(sample, search))
    floor = _floors(sample, loss, search.n_jobs, until)[rows]
    best, best_row = np.inf, -1
    for place in np.argsort(floor, kind="stable"):
        if floor[place] > best or (best_row >= 0 and until.is_past):
            break
        row = int(rows[place])
        value = float(unique_distances(sample.labels[row], sample, loss, search.n_jobs) @ sample.weights)
        if (value, row) < (best, best_row):
            best, best_row = value, row
    return SearchResult(sample.labels[best_row].astype(np.int64))


def no_worse_than_draws(found: SearchResult, sample: PartitionSample, loss: Loss, search: Search) -> SearchResult:
    """The result, or the best draw if that is better by more than rounding error.

    The result of few runs may be worse than a draw from which no run started. Few draws are always compared; more, if
    only one run led to the best partition; very many are not.
    """
    compared = float(sample.n_unique) ** 2 * sample.n_items
    if found.proven or found.interrupted:
        return found
    if compared > FEW_LABELS and (compared > MANY_LABELS or not loss.is_distance or _is_reached_again(found)):
        return found
    rows = np.flatnonzero(complete(sample) & (sample.n_clusters <= cluster_limit(sample, search)))
    if not rows.size:
        return found
    losses = _losses_of_draws(rows, sample, loss, search.n_jobs)
    reached = _loss_of(found.labels, sample, loss, search.n_jobs)
    least = float(losses.min())
    if not least < reached - TIE * max(abs(reached), abs(least)):
        return found
    row = int(rows[losses.argmin()])
    run = RunRow("draw", 0, 0, least, int(sample.n_clusters[row]), 0.0)
    return replace(found, labels=sample.labels[row].astype(np.int64), runs=(*found.runs, run))


def _is_reached_again(found: SearchResult) -> bool:
    """Whether several of many runs led to the best loss; a single run may list it several times."""
    if (found.n_runs or len(found.runs)) < MANY_RUNS:
        return False
    losses = np.array([run.loss for run in found.runs])
    best = losses.min(initial=np.inf)
    return bool((losses <= best + TIE * abs(best)).sum() > 1)


def _loss_of(labels: NDArray[Any], sample: PartitionSample, loss: Loss, n_jobs: int) -> float:
    return float(unique_distances(labels, sample, loss, n_jobs) @ sample.weights)


def _losses_of_draws(rows: NDArray[np.intp], sample: PartitionSample, loss: Loss, n_jobs: int) -> Floats:
    if not loss.is_distance:  # may be nonzero between a partition and itself
        return np.array([_loss_of(sample.labels[row], sample, loss, n_jobs) for row in rows])
    losses: Floats = sample.weights @ pairwise_distances(sample, loss, n_jobs=n_jobs)
    return losses[rows]


def _floors(sample: PartitionSample, loss: Loss, n_jobs: int, until: Deadline) -> Floats:
    """A lower bound on the expected loss of each draw; the loss itself, minus rounding, if that is quick."""
    if not loss.is_distance:
        return np.full(sample.n_unique, -np.inf)
    if sample.has_gaps or (additive := loss.additive) is None:
        return np.zeros(sample.n_unique)
    one_by_one = float(sample.n_unique) ** 2 * sample.n_items
    problem, threads = core_problem(sample, loss), check_n_jobs(n_jobs)
    losses = cast(Floats, _core.expected_losses_of_draws(problem, one_by_one, threads, until.left))
    if losses.size:
        return losses - TIE * loss.unit
    return np.zeros(sample.n_unique) if until.is_past else _jensen(sample, additive)


def _jensen(sample: PartitionSample, loss: AdditiveLoss) -> Floats:
    """Jensen's bound for VI, the loss itself for Binder; zero if the similarity matrix is larger than the draws."""
    if sample.n_items > sample.n_unique:
        return np.zeros(sample.n_unique)
    psm = complete_similarity(sample)
    sizes = np.array([np.bincount(row)[row] for row in sample.labels.astype(np.int64)], np.float64)
    within = np.array([sums_within(row, psm) for row in sample.labels.astype(np.int64)])
    sizes, within = loss.per_item(sizes), loss.per_item(within)
    of_draws = sample.weights @ sizes.sum(axis=1)
    floor: Floats = loss.a * of_draws + (loss.b * sizes - (loss.a + loss.b) * within).sum(axis=1)
    return floor / float(sample.n_items**loss.exponent) - TIE * loss.unit


def find_map(
    sample: PartitionSample, loss: Loss, search: Search, rng: np.random.Generator, log_density: Any = None
) -> SearchResult:
    """The draw that occurs most often, or the draw of highest log density if `log_density` is given.

    The modal draw minimises the expected 0-1 loss. Its criterion is its weight, or its log density.
    """
    allowed = within_limit(sample, search)
    if log_density is None:
        row = int(np.argmax(np.where(allowed, sample.weights, -1)))
        return SearchResult(sample.labels[row].astype(np.int64), criterion=float(sample.weights[row]))
    density = np.asarray(log_density, np.float64).ravel()
    if density.size != sample.n_draws:
        raise ValueError(f"log_density has {density.size} values, but there are {sample.n_draws} draws")
    if np.isnan(density).any():
        raise ValueError(f"log_density[{int(np.argmax(np.isnan(density)))}] is NaN")
    draw = int(np.argmax(np.where(allowed[sample.index], density, -np.inf)))
    return SearchResult(sample.labels[sample.index[draw]].astype(np.int64), criterion=float(density[draw]))
