"""Methods "search", "salso" and "greedy": the searches of the native core."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from partita import _core
from partita._validate import check_n_jobs
from partita.losses import Loss, ZeroOne
from partita.sample import PartitionSample
from partita.search.compression import compress, keeps_equal_items_together
from partita.search.found import Compression, Found, RunRow
from partita.search.jobs import Engine, Job, run_here
from partita.search.limits import cluster_limit
from partita.search.map import find_map
from partita.search.memory import check_memory
from partita.search.multilevel import is_large, search_levels
from partita.search.progress import reporting

if TYPE_CHECKING:
    from partita.estimate import Search


def find_search(sample: PartitionSample, loss: Loss, search: Search, rng: np.random.Generator) -> Found:
    """The default: starts on part of the draws, merges, splits and crossings, then all draws (docs/searching.md)."""
    return find_native("search", sample, loss, search, rng)


def find_salso(sample: PartitionSample, loss: Loss, search: Search, rng: np.random.Generator) -> Found:
    """Algorithm 1 of Dahl, Johnson & Müller (2021), to the letter."""
    return find_native("salso", sample, loss, search, rng)


def find_greedy(sample: PartitionSample, loss: Loss, search: Search, rng: np.random.Generator) -> Found:
    """Algorithm 1 of Rastelli & Friel (2018), from random partitions of up to max_clusters groups."""
    return find_native("greedy", sample, loss, search, rng)


def find_native(
    method: str,
    sample: PartitionSample,
    loss: Loss,
    search: Search,
    rng: np.random.Generator,
    engine: Engine = run_here,
) -> Found:
    """A search of the core, done where the engine does it."""
    if isinstance(loss, ZeroOne):  # no move of one item tells where the mode is
        return find_map(sample, loss, search, rng)
    runs, interrupted, group = search_runs(method, sample, loss, search, rng, engine)
    best = min(runs, key=lambda run: run.loss)
    rows = tuple(RunRow(r.start, r.sweeps, r.moves, r.loss, r.clusters, r.seconds, tuple(r.trace)) for r in runs)
    labels = (best.labels if group is None else best.labels[group]).astype(np.int64)
    compression = Compression(items=len(labels) / len(best.labels), clusters=best.clusters_a_row)
    return Found(labels, rows, interrupted=interrupted, compression=compression)


def search_runs(
    method: str, sample: PartitionSample, loss: Loss, search: Search, rng: np.random.Generator, engine: Engine
) -> tuple[list[_core.Run], bool, NDArray[np.int64] | None]:
    """All runs, whether Ctrl-C ended them, and where equal items became one, which item of the runs each one is."""
    options = native_options(sample, search, rng)
    check_memory(sample, options["max_clusters"], options["threads"])
    equal = compress(sample) if method == "search" and keeps_equal_items_together(loss) else None
    with reporting(search.progress, search.runs) as report:
        if equal is not None:
            runs = engine(Job(method, equal.sample, loss, options, copies=equal.copies), report)
        elif method == "search" and is_large(sample):
            runs = search_levels(sample, loss, options, rng, engine, report)
        else:
            runs = engine(Job(method, sample, loss, options), report)
    return *runs, None if equal is None else equal.group


def native_options(sample: PartitionSample, search: Search, rng: np.random.Generator) -> dict[str, Any]:
    """The settings as the core takes them, with the next seed of the generator."""
    limit = cluster_limit(sample, search)
    is_given = search.max_clusters is not None and np.isfinite(search.max_clusters)
    return {
        "runs": search.runs,
        "seconds": np.inf if search.seconds is None else search.seconds,
        "max_clusters": limit,
        # without a limit a random start has as many groups as the largest draw: more would only be merged again
        "start_groups": limit if is_given else min(limit, int(sample.n_clusters.max())),
        "zealous": search.zealous,
        "p_sequential": search.p_sequential,
        "threads": check_n_jobs(search.n_jobs),
        "seed": int(rng.integers(2**63)),
    }
