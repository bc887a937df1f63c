"""Methods "search", "salso" and "greedy": the searches of the native core."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from partita import _core
from partita._support.memory import free_bytes
from partita._support.validate import check_n_jobs
from partita.draws.sample import PartitionSample
from partita.losses.base import Loss
from partita.losses.problem import core_problem
from partita.search.constraints import GIVEN, check_starts_within
from partita.search.deadline import Deadline
from partita.search.draws import find_map, no_worse_than_draws
from partita.search.equal_items import compress
from partita.search.jobs import Engine, Job, Runs, reporting, run_here
from partita.search.method import GREEDY, SALSO, SEARCH, CoreSearch
from partita.search.multilevel import has_much_noise, is_large, search_levels, search_with_noise
from partita.search.result import Compression, RunRow, SearchResult
from partita.search.settings import Search, cluster_limit

Starts = tuple[NDArray[np.int64], ...]
#: The core searches with lists of the nonempty cells instead of tables (docs/many_clusters.md).
SPARSE = _core.StateKind.sparse


def find_search(
    sample: PartitionSample, loss: Loss, search: Search, rng: np.random.Generator, starts: Starts = ()
) -> SearchResult:
    """The default: starts, merges, splits and crossings on some of the draws, then on all draws (docs/searching.md)."""
    return find_native(SEARCH, sample, loss, search, rng, starts=starts)


def find_salso(
    sample: PartitionSample, loss: Loss, search: Search, rng: np.random.Generator, starts: Starts = ()
) -> SearchResult:
    """Algorithm 1 of Dahl, Johnson & Müller (2022), exactly as published."""
    return find_native(SALSO, sample, loss, search, rng, starts=starts)


def find_greedy(
    sample: PartitionSample, loss: Loss, search: Search, rng: np.random.Generator, starts: Starts = ()
) -> SearchResult:
    """Algorithm 1 of Rastelli & Friel (2018), from random partitions of up to max_clusters groups."""
    return find_native(GREEDY, sample, loss, search, rng, starts=starts)


def find_native(
    core: CoreSearch,
    sample: PartitionSample,
    loss: Loss,
    search: Search,
    rng: np.random.Generator,
    engine: Engine = run_here,
    starts: Starts = (),
) -> SearchResult:
    """A search of the core, executed by the engine."""
    if not loss.needs_search:  # moves of single items give no direction towards the mode
        return find_map(sample, loss, search, rng)
    check_starts_within(starts, cluster_limit(sample, search))
    (runs, interrupted, n_runs), group = search_runs(core, sample, loss, search, rng, engine, starts)
    best = min(runs, key=lambda run: run.loss)
    rows = tuple(as_row(run) for run in runs)
    labels = (best.labels if group is None else best.labels[group]).astype(np.int64)
    compression = Compression(items=len(labels) / len(best.labels), clusters=best.clusters_per_row)
    proven = best.start == "components"  # all components are small, and each was solved
    gap = 0.0 if proven else None
    found = SearchResult(labels, rows, None, interrupted, proven, gap, compression, n_runs)
    if not core.coarsens:
        return found
    if starts:
        found = _refined(found, sample, loss, search, rng, engine, starts)
    return no_worse_than_draws(found, sample, loss, search)


def as_row(run: _core.Run) -> RunRow:
    """A run of the core."""
    return RunRow(run.start, run.sweeps, run.moves, run.loss, run.clusters, run.seconds, tuple(run.trace))


def _refined(
    found: SearchResult,
    sample: PartitionSample,
    loss: Loss,
    search: Search,
    rng: np.random.Generator,
    engine: Engine,
    starts: Starts,
) -> SearchResult:
    """The better of the result so far and the given starts after refinement."""
    options = native_options(sample, search, rng)
    runs, interrupted, _ = engine(Job(SEARCH.name, sample, loss, options, starts=np.array(starts, np.uint32)), None)
    best = min(runs, key=lambda run: run.loss)
    rows = (*found.runs, *(replace(as_row(run), start=GIVEN) for run in runs))
    better = best.loss < min(run.loss for run in found.runs)
    labels = best.labels.astype(np.int64) if better else found.labels
    return replace(found, labels=labels, runs=rows, interrupted=found.interrupted or interrupted)


def search_runs(
    core: CoreSearch,
    sample: PartitionSample,
    loss: Loss,
    search: Search,
    rng: np.random.Generator,
    engine: Engine,
    starts: Starts = (),
) -> tuple[Runs, NDArray[np.int64] | None]:
    """The runs, and the item of the runs that represents each item (None if equal items were not combined)."""
    until = Deadline.after(search.seconds)
    options = native_options(sample, search, rng)
    if not core.coarsens:
        options.starts = [start.tolist() for start in starts]
    problem = core_problem(sample, loss)
    state = problem.state if core.coarsens or problem.state == SPARSE else _core.StateKind.dense
    _check_memory(problem, state, options)
    sparse = state == SPARSE
    with reporting(search.progress, search.most_runs) as report:
        if core.coarsens and sparse and has_much_noise(sample, loss, search):
            found = search_with_noise(sample, loss, options, rng, engine, report, until=until)
            if found is not None:
                return found, None
        equal = compress(sample) if core.coarsens and loss.additive else None
        if equal is not None:
            runs = engine(Job(core.name, equal.sample, loss, options, copies=equal.copies), report)
        elif core.coarsens and is_large(sample) and not sparse:
            runs = search_levels(sample, loss, options, rng, engine, report, until=until)
        else:
            runs = engine(Job(core.name, sample, loss, options), report)
    return runs, None if equal is None else equal.group


def with_default_limit(sample: PartitionSample, loss: Loss, search: Search) -> Search:
    """The settings of "search": without a limit on clusters by default where they are many and small.

    There no draw may have as many clusters as the best partition. Clusters are many and small where the core searches
    with lists of cells, which depends neither on the order of the draws nor on that of the items.
    """
    if search.max_clusters is not None or not loss.needs_search or core_problem(sample, loss).state != SPARSE:
        return search
    return replace(search, max_clusters=math.inf)


def _check_memory(problem: _core.Problem, state: _core.StateKind, options: _core.SearchOptions) -> None:
    """Raises an error for a search that would need more memory than is free."""
    free = free_bytes()
    needed = problem.bytes_needed(state, options.max_clusters, options.threads)
    if free is not None and needed > free:
        raise MemoryError(
            f"the search needs about {needed / 2**30:.1f} GiB, but {free / 2**30:.1f} GiB are free; use fewer draws "
            f"(thin=), fewer threads (n_jobs=) or fewer clusters (max_clusters=)"
        )


def native_options(sample: PartitionSample, search: Search, rng: np.random.Generator) -> _core.SearchOptions:
    """The settings in the form that the core needs, with the next seed from the generator."""
    limit = cluster_limit(sample, search)
    is_given = search.max_clusters is not None and np.isfinite(search.max_clusters)
    options = _core.SearchOptions()
    options.runs = search.most_runs
    options.adapts = search.runs is None
    options.seconds = np.inf if search.seconds is None else search.seconds
    options.max_clusters = limit
    # without a limit, random starts have as many groups as the draw with the most clusters: more would be merged
    options.start_groups = limit if is_given else min(limit, int(sample.n_clusters.max()))
    options.zealous = search.zealous
    options.p_sequential = search.p_sequential
    options.threads = check_n_jobs(search.n_jobs)
    options.seed = int(rng.integers(2**63))
    return options
