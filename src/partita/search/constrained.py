"""Estimates from draws under constraints: Binder's loss by pair probabilities, others by a search of the draws."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

import numpy as np

from partita import _core
from partita._support.arrays import Labels
from partita.draws.sample import PartitionSample
from partita.losses.base import Loss
from partita.losses.losses import Binder
from partita.losses.problem import core_problem
from partita.search.components import MAX_ENUMERATED, solve_parts
from partita.search.constraints import GIVEN, Resolved, native_restrictions
from partita.search.core import as_row, find_search, native_options, with_default_limit
from partita.search.deadline import Deadline
from partita.search.enumerate import MAX_ITEMS, QUICK_LOSSES, are_few, best_of_all
from partita.search.jobs import reporting
from partita.search.pair_graph import PairSearch, Parts
from partita.search.result import SearchResult
from partita.search.settings import Search, cluster_limit, explicit_limit

Starts = tuple[Labels, ...]


def search_constrained(
    sample: PartitionSample, loss: Loss, search: Search, rng: np.random.Generator, constraints: Resolved, starts: Starts
) -> SearchResult:
    """The best partition found among those that obey the constraints."""
    _check_combination(loss, search)
    if _is_by_pairs(loss, sample):
        return _pair_result(_pair_search(sample, search, constraints, starts).find(loss, rng))
    if are_few(sample, sample.n_items, constraints.n_atoms, QUICK_LOSSES):
        return best_of_all(sample, loss, search, constraints)
    return _by_search(sample, loss, search, rng, constraints, starts)


def exact_constrained(
    sample: PartitionSample, loss: Loss, search: Search, rng: np.random.Generator, constraints: Resolved, starts: Starts
) -> SearchResult:
    """The best partition that obeys: of small components by enumeration, Binder's loss also by linear programs."""
    _check_combination(loss, search)
    if not _is_by_pairs(loss, sample):
        if loss.additive and (parts := solve_parts(sample, loss, None, search.n_jobs, constraints)).all_solved:
            return SearchResult(parts.partition(), proven=True, gap=0.0)
        what = "draws that label every item" if loss.pairwise else f"Binder's loss, not {loss}"
        small = f", or components of at most {MAX_ENUMERATED} items" if loss.additive else ""
        raise ValueError(f"method 'exact' under constraints needs {what}{small}")
    return _pair_result(_pair_search(sample, search, constraints, starts).prove(loss, rng))


def enumerate_constrained(
    sample: PartitionSample, loss: Loss, search: Search, rng: np.random.Generator, constraints: Resolved, starts: Starts
) -> SearchResult:
    """The best of all partitions of the atoms that obey the constraints and the limit on clusters."""
    _check_loss(loss)
    if constraints.n_atoms > MAX_ITEMS:
        raise ValueError(f"method 'enumerate' takes at most {MAX_ITEMS} items, but there are {constraints.n_atoms}")
    return best_of_all(sample, loss, search, constraints)


def _check_combination(loss: Loss, search: Search) -> None:
    _check_loss(loss)
    if search.max_clusters is not None and np.isfinite(search.max_clusters):
        raise ValueError(
            f"max_clusters={search.max_clusters} cannot be combined with constraints, which may need more clusters;"
            f" method 'enumerate' can, for at most {MAX_ITEMS} items"
        )


def _check_loss(loss: Loss) -> None:
    if not loss.needs_search:
        raise ValueError("the best partition under the zero-one loss is a draw, which need not obey the constraints")


def _is_by_pairs(loss: Loss, sample: PartitionSample) -> TypeGuard[Binder]:
    """Pair probabilities determine Binder's loss, so components can be searched, and proven, one by one."""
    return loss.pairwise is not None and not sample.has_gaps


def _pair_search(sample: PartitionSample, search: Search, constraints: Resolved, starts: Starts) -> PairSearch:
    from partita.pairs.similarity import similarity

    return PairSearch(similarity(sample, sparse=True, n_jobs=search.n_jobs), search, constraints, starts)


def _pair_result(found: tuple[Parts, float | None]) -> SearchResult:
    parts, _ = found
    proven = bool(parts.proven.all())
    return SearchResult(parts.labels, interrupted=parts.interrupted, proven=proven, gap=0.0 if proven else None)


def _by_search(
    sample: PartitionSample,
    loss: Loss,
    search: Search,
    rng: np.random.Generator,
    constraints: Resolved,
    starts: tuple[Labels, ...],
) -> SearchResult:
    """The unconstrained estimate if it obeys; otherwise the best of runs from it, from draws, and from single atoms.

    No partition that obeys is better than the best of all, so that a constraint that does not bind costs nothing.
    """
    until = Deadline.after(search.seconds)
    half = None if search.seconds is None else search.seconds / 2
    how = with_default_limit(sample, loss, replace(search, seconds=half))
    free = find_search(sample, loss, how, rng)
    near = constraints.repaired(free.labels)
    within = free.labels.max() + 1 < cluster_limit(sample, how) or explicit_limit(sample, how) is None
    if free.interrupted or (not starts and within and constraints.broken_by(free.labels) is None):
        return replace(free, labels=near)
    return _runs_from([*starts, near], sample, loss, until.limit(search), rng, constraints)


def _runs_from(
    starts: list[Labels],
    sample: PartitionSample,
    loss: Loss,
    search: Search,
    rng: np.random.Generator,
    constraints: Resolved,
) -> SearchResult:
    """The best of runs from the starts, the last of which is the unconstrained estimate after repair."""
    options = native_options(sample, search, rng)
    options.runs = max(search.most_runs, len(starts))
    # one more than can be used: where a limit binds, the search merges clusters that constraints may keep apart
    options.max_clusters = sample.n_items + 1
    problem, begun = core_problem(sample, loss), [start.tolist() for start in starts]
    with reporting(search.progress, options.runs) as report:
        runs, interrupted, n_runs = _core.search_constrained(
            problem, *native_restrictions(constraints), begun, options, report
        )
    best = min(runs, key=lambda run: run.loss)
    given = "unconstrained" if len(starts) == 1 else GIVEN
    rows = tuple(replace(as_row(run), start=given if run.start == GIVEN else run.start) for run in runs)
    return SearchResult(best.labels.astype(np.int64), rows, interrupted=interrupted, n_runs=n_runs)
