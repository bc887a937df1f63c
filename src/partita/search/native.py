"""Methods "search", "salso" and "greedy": the searches of the native core."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from partita import _core
from partita._validate import check_n_jobs
from partita.losses import Loss, ZeroOne, core_sample
from partita.sample import PartitionSample
from partita.search.found import Found, RunRow
from partita.search.limits import cluster_limit
from partita.search.map import find_map
from partita.search.memory import check_memory
from partita.search.progress import Report, reporting

if TYPE_CHECKING:
    from partita.estimate import Search


def find_search(sample: PartitionSample, loss: Loss, search: Search, rng: np.random.Generator) -> Found:
    """The default: starts on part of the draws, merges, splits and crossings, then all draws (docs/searching.md)."""
    return _find("search", sample, loss, search, rng)


def find_salso(sample: PartitionSample, loss: Loss, search: Search, rng: np.random.Generator) -> Found:
    """Algorithm 1 of Dahl, Johnson & Müller (2021), to the letter."""
    return _find("salso", sample, loss, search, rng)


def find_greedy(sample: PartitionSample, loss: Loss, search: Search, rng: np.random.Generator) -> Found:
    """Algorithm 1 of Rastelli & Friel (2018), from random partitions of up to max_clusters groups."""
    return _find("greedy", sample, loss, search, rng)


def _find(method: str, sample: PartitionSample, loss: Loss, search: Search, rng: np.random.Generator) -> Found:
    if isinstance(loss, ZeroOne):  # no move of one item tells where the mode is
        return find_map(sample, loss, search, rng)
    options = _options(sample, search, rng)
    check_memory(sample, options.max_clusters, options.threads)
    native = loss._native(sample.n_items)
    with reporting(search.progress, search.runs) as report:
        runs, interrupted = _core.search(core_sample(sample), native, method, options, _plain(report))
    best = min(runs, key=lambda run: run.loss)
    rows = tuple(RunRow(r.start, r.sweeps, r.moves, r.loss, r.clusters, r.seconds, tuple(r.trace)) for r in runs)
    return Found(best.labels.astype(np.int64), rows, interrupted=interrupted)


def _options(sample: PartitionSample, search: Search, rng: np.random.Generator) -> _core.SearchOptions:
    options = _core.SearchOptions()
    options.runs = search.runs
    options.seconds = np.inf if search.seconds is None else search.seconds
    options.max_clusters = cluster_limit(sample, search)
    # without a limit a random start has as many groups as the largest draw: more would only be merged again
    options.start_groups = min(options.max_clusters, int(sample.n_clusters.max()))
    if search.max_clusters is not None and np.isfinite(search.max_clusters):
        options.start_groups = options.max_clusters
    options.zealous = search.zealous
    options.p_sequential = search.p_sequential
    options.threads = check_n_jobs(search.n_jobs)
    options.seed = int(rng.integers(2**63))
    return options


def _plain(report: Report | None) -> Callable[[float, int], None] | None:
    return None if report is None else report
