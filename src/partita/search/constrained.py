"""Estimates from draws under constraints: Binder's loss by pair probabilities, others by a search of the draws."""

from __future__ import annotations

from typing import TypeGuard

import numpy as np

from partita import _core
from partita._validate import check_n_jobs
from partita.losses import Binder, Loss, ZeroOne, core_sample, expected_loss
from partita.partitions import canonical, enumerate_partitions
from partita.sample import PartitionSample
from partita.search.constraints import NOTHING, Resolved
from partita.search.enumerate import MAX_ITEMS
from partita.search.limits import given_limit
from partita.search.pair_graph import PairSearch, Parts
from partita.search.progress import reporting
from partita.search.result import RunRow, SearchResult
from partita.search.settings import Search
from partita.search.starts import Labels

Starts = tuple[Labels, ...]


def search_constrained(
    sample: PartitionSample, loss: Loss, search: Search, rng: np.random.Generator, constraints: Resolved, starts: Starts
) -> SearchResult:
    """The best partition found among those that obey the constraints."""
    _check_combination(loss, search)
    if _is_by_pairs(loss, sample):
        return _pair_result(_pair_search(sample, search, constraints, starts).find(loss, rng))
    return _by_search(sample, loss, search, rng, constraints, starts)


def exact_constrained(
    sample: PartitionSample, loss: Loss, search: Search, rng: np.random.Generator, constraints: Resolved, starts: Starts
) -> SearchResult:
    """As `search_constrained`, with linear programs for the components that are not proven; Binder's loss only."""
    _check_combination(loss, search)
    if not _is_by_pairs(loss, sample):
        what = "draws that label every item" if isinstance(loss, Binder) else f"Binder's loss, not {loss}"
        raise ValueError(f"method 'exact' under constraints needs {what}")
    return _pair_result(_pair_search(sample, search, constraints, starts).prove(loss, rng))


def enumerate_constrained(
    sample: PartitionSample, loss: Loss, search: Search, rng: np.random.Generator, constraints: Resolved, starts: Starts
) -> SearchResult:
    """The best of all partitions of the atoms that obey the constraints and the limit on clusters."""
    _check_loss(loss)
    if constraints.n_atoms > MAX_ITEMS:
        raise ValueError(f"method 'enumerate' takes at most {MAX_ITEMS} items, but there are {constraints.n_atoms}")
    limit = given_limit(sample, search)
    best, least = None, np.inf
    for labels in enumerate_partitions(constraints.n_atoms):
        of_items = canonical(np.asarray(labels)[constraints.atom])
        if of_items.max() < limit and constraints.broken_by(of_items) is None:
            value = float(expected_loss(of_items, sample, loss, n_jobs=1))
            if value < least:
                best, least = of_items, value
    if best is None:
        raise ValueError(f"no partition into at most {limit} clusters obeys the constraints")
    return SearchResult(best, proven=True, gap=0.0)


def _check_combination(loss: Loss, search: Search) -> None:
    _check_loss(loss)
    if search.max_clusters is not None and np.isfinite(search.max_clusters):
        raise ValueError(
            f"max_clusters={search.max_clusters} cannot be combined with constraints, which may need more clusters;"
            f" method 'enumerate' can, for at most {MAX_ITEMS} items"
        )


def _check_loss(loss: Loss) -> None:
    if isinstance(loss, ZeroOne):
        raise ValueError("the best partition under the zero-one loss is a draw, which need not obey the constraints")


def _is_by_pairs(loss: Loss, sample: PartitionSample) -> TypeGuard[Binder]:
    """Pair probabilities determine Binder's loss, so components can be searched, and proven, one by one."""
    return isinstance(loss, Binder) and not sample.has_gaps


def _pair_search(sample: PartitionSample, search: Search, constraints: Resolved, starts: Starts) -> PairSearch:
    from partita.similarity import similarity

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
    options = _core.SearchOptions()
    options.runs, options.zealous = max(search.most_runs, len(starts)), search.zealous
    options.seconds = np.inf if search.seconds is None else search.seconds
    options.threads, options.seed = check_n_jobs(search.n_jobs), int(rng.integers(2**63))
    options.max_clusters = sample.n_items
    groups = [[] for _ in range(constraints.n_atoms)]  # type: list[list[int]]
    for item, atom in enumerate(constraints.atom.tolist()):
        groups[atom].append(item)
    native = loss._native(sample.n_items)
    given = [start.tolist() for start in starts]
    with reporting(search.progress, options.runs) as report:
        runs, interrupted, _ = _core.search_constrained(
            core_sample(sample), native, groups, rows_apart(constraints), given, options, report
        )
    best = min(runs, key=lambda run: run.loss)
    rows = tuple(RunRow(r.start, r.sweeps, r.moves, r.loss, r.clusters, r.seconds, tuple(r.trace)) for r in runs)
    return SearchResult(best.labels.astype(np.int64), rows, interrupted=interrupted, n_runs=len(rows))


def rows_apart(constraints: Resolved) -> list[list[int]]:
    """For each item, the items that it must not be with: those of `apart`, and those of the same source."""
    rows: list[list[int]] = [[] for _ in range(constraints.n_items)]
    for i, j in constraints.apart.tolist():
        rows[i].append(j)
        rows[j].append(i)
    if constraints.source is not None:
        known = np.flatnonzero(constraints.source != NOTHING)
        for source in np.unique(constraints.source[known]):
            items = known[constraints.source[known] == source].tolist()
            for item in items:
                rows[item] += [other for other in items if other != item]
    return rows
