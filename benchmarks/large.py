"""Searches past one machine's comfort: a million items, 50,000 draws, two workers, draws in shards, equal clusters.

    python -m benchmarks.large items 1000000       # one point, in this process
    python -m benchmarks.large                     # all points, each in a process of its own; writes results/large.csv

Every point prints wall seconds, CPU seconds of the process and its peak memory.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import partita as pt
from benchmarks.data import reference_draws
from benchmarks.record import write_result
from benchmarks.sample import memory_in_bytes

if TYPE_CHECKING:  # Dask is loaded only where it is measured: it would count in the peaks of the others
    from partita.distributed.pool import DaskPool

GROWTH = (62_500, 250_000, 1_000_000)


class GeneratedDraws:
    """Draws that exist only while they are read: item i is in its own cluster or, with its doubt, in a rival one.

    Draws s and t are equal where s and t are equal modulo `n_distinct`.
    """

    dtype = np.dtype(np.uint8)

    def __init__(self, n_draws: int, n_items: int, n_clusters: int, n_distinct: int | None = None) -> None:
        self.shape = (n_draws, n_items)
        self._n_distinct = n_distinct or n_draws
        rng = np.random.default_rng(1)
        shares = rng.dirichlet(np.full(n_clusters, 5.0))
        self._base = rng.choice(n_clusters, n_items, p=shares).astype(np.uint8)
        self._rival = rng.integers(n_clusters, size=n_items, dtype=np.uint8)
        self._doubt = rng.beta(0.5, 4.5, n_items).astype(np.float32)

    def __getitem__(self, rows: slice) -> NDArray[np.uint8]:
        return np.stack([self._row(row % self._n_distinct) for row in range(*rows.indices(self.shape[0]))])

    def _row(self, number: int) -> NDArray[np.uint8]:
        moved = np.random.default_rng((2, number)).random(self.shape[1], dtype=np.float32) < self._doubt
        return np.where(moved, self._rival, self._base)


def items(n_items: int, n_draws: int = 100, n_clusters: int = 30) -> dict[str, Any]:
    """The estimate under VI from generated draws, reading included."""
    best, seconds, cpu = _timed(lambda: pt.estimate(GeneratedDraws(n_draws, n_items, n_clusters), rng=1))
    return {"seconds": seconds, "cpu": cpu, "loss": best.expected_loss, "clusters": best.n_clusters, **_peak()}


def noise(n_items: int = 1_000_000, runs: int = 100) -> dict[str, Any]:
    """The consensus of runs in which a sixth of the items is noise, most of them in most runs; reading included."""
    rng = np.random.default_rng(1)
    labels = np.ascontiguousarray(GeneratedDraws(runs, n_items, 30)[:runs].T.astype(np.int8))
    often = np.where(rng.random(n_items) < 1 / 6, rng.beta(4, 1, n_items), rng.beta(0.5, 12, n_items))
    for run in range(runs):
        labels[rng.random(n_items) < often, run] = -1

    def find() -> NDArray[np.intp]:
        return pt.ensembles.consensus(pt.ensembles.as_base(labels, noise=-1), rng=1)

    found, seconds, cpu = _timed(find)
    right = np.mean((found < 0) == (often >= 0.5))
    return {"seconds": seconds, "cpu": cpu, "clusters": int(found.max()) + 1, "right": float(right), **_peak()}


def draws(n_draws: int = 50_000, n_items: int = 110_000, n_distinct: int = 500) -> dict[str, Any]:
    """An estimate from 256 of many draws of which few are distinct, with its error on the others."""
    many = GeneratedDraws(n_draws, n_items, 30, n_distinct)
    best, seconds, cpu = _timed(lambda: pt.estimate(many, search=pt.Search(max_draws=256), rng=1))
    error = best.held_out
    return {
        "seconds": seconds,
        "cpu": cpu,
        "loss": best.expected_loss,
        "held_out": error.loss,
        "standard_error": error.standard_error,
        "gap": error.gap,
        **_peak(),
    }


def workers(runs: int = 64, repeats: int = 3) -> dict[str, Any]:
    """Runs a second of the search of large.npz on one and on two Dask workers of one thread, in turn."""
    from partita.distributed.pool import connected

    sample = pt.as_sample(reference_draws("large"))
    with connected(workers=1) as one, connected(workers=2) as two:

        def search(pool: DaskPool) -> Any:
            return pt.distributed.estimate(sample, search=pt.Search(runs=runs), rng=1, client=pool.client)

        first, second = _in_turn(lambda: search(one), lambda: search(two), repeats)
    return {
        "one_worker": first,
        "two_workers": second,
        "runs_a_second": round(runs / second, 1),
        "ratio": round(first / second, 2),
    }


class ThreadPool:
    """Tasks on threads of this process, in place of a `DaskPool`."""

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads

    def share(self, value: Any, worker: int | None = None) -> _Held:
        return _Held(value)

    def map(
        self, function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]], stopped: Callable[[], bool] | None = None
    ) -> list[Any]:
        with ThreadPoolExecutor(self.n_threads) as threads:
            return list(threads.map(lambda task: function(*(_value(argument) for argument in task)), tasks))


@dataclass(frozen=True, eq=False)
class _Held:
    value: Any


def _value(argument: Any) -> Any:
    return argument.value if isinstance(argument, _Held) else argument


def shards(repeats: int = 5, threads: int = 2) -> dict[str, Any]:
    """The sharded search of large.npz on threads of this process and on as many Dask workers, in turn."""
    from partita.distributed.pool import connected
    from partita.distributed.shards import search_shards

    sample = pt.as_sample(reference_draws("large"))

    def search(pool: DaskPool | ThreadPool) -> Any:
        rng = np.random.default_rng(1)
        return search_shards(sample, pt.VI(), pt.Search(n_jobs=threads), rng, pool, threads)

    with connected(workers=threads) as pool:
        here, there = _in_turn(lambda: search(ThreadPool(threads)), lambda: search(pool), repeats)
        plain, _ = _in_turn(lambda: pt.estimate(sample, search=pt.Search(n_jobs=threads), rng=1), lambda: None, repeats)
    return {"on_threads": here, "on_workers": there, "ratio": round(there / here, 2), "without_shards": plain}


def _in_turn(one: Callable[[], Any], two: Callable[[], Any], repeats: int) -> tuple[float, float]:
    """Median seconds of two pieces of work, done in turn, after each was done once: a machine is not always as fast."""
    one()
    two()
    seconds = [(_timed(one)[1], _timed(two)[1]) for _ in range(repeats)]
    return float(np.median([pair[0] for pair in seconds])), float(np.median([pair[1] for pair in seconds]))


def regions(sharing: str, n_regions: int = 20, n_local: int = 5, n_draws: int = 5_000) -> dict[str, Any]:
    """The search of regions of 20 items that do not depend on each other, each with a few local partitions.

    Draws share the rows of equal clusters ("where_it_pays", as always) or have rows of their own ("never").
    """
    from partita import _core
    from partita.losses.problem import core_sample
    from partita.search.core import native_options

    rng = np.random.default_rng(1)
    local = rng.integers(3, size=(n_regions, n_local, 20)) + 3 * np.arange(n_regions)[:, None, None]
    chosen = rng.integers(n_local, size=(n_draws, n_regions))
    sample = pt.as_sample(local[np.arange(n_regions), chosen].reshape(n_draws, -1))
    options = native_options(sample, pt.Search(n_jobs=1), rng)
    native = pt.VI()._native(sample.n_items)
    problem = _core.Problem(core_sample(sample), native, None, _core.Sharing[sharing])
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before = memory_in_bytes("VmRSS")
    (runs, *_), seconds, cpu = _timed(lambda: _core.search(problem, "search", options, None))
    best = min(runs, key=lambda run: run.loss)
    grown = round((memory_in_bytes("VmHWM") - before) / 1e6)
    return {
        "seconds": seconds,
        "cpu": cpu,
        "loss": best.loss,
        "clusters_per_row": best.clusters_per_row,
        "grown_mb": grown,
    }


def _timed(work: Callable[[], Any]) -> tuple[Any, float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return result, round(time.perf_counter() - wall, 2), round(time.process_time() - cpu, 2)


def _peak() -> dict[str, float]:
    return {"peak_gb": round(memory_in_bytes("VmHWM") / 1e9, 2)}


POINTS: dict[str, Callable[..., dict[str, Any]]] = {
    "items": items,
    "noise": noise,
    "draws": draws,
    "workers": workers,
    "shards": shards,
    "regions": regions,
}


def measured(name: str, *arguments: Any) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.large", name, *map(str, arguments)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    facts: dict[str, Any] = json.loads(answer.stdout.splitlines()[-1])
    print(name, *arguments, facts, flush=True)
    return {"point": " ".join(map(str, (name, *arguments))), **facts}


def main() -> None:
    rows = [measured("items", n) for n in GROWTH]
    growth = np.log(rows[-1]["cpu"] / rows[0]["cpu"]) / np.log(GROWTH[-1] / GROWTH[0])
    print(f"CPU seconds grow as items^{growth:.2f} (target at most 1.1)")
    rows.append(measured("noise"))
    rows.append(measured("draws"))
    rows.append(measured("workers"))
    print(f"two workers: {rows[-1]['ratio']} times the runs (target 1.6)")
    rows.append(measured("shards"))
    print(f"shards on workers: {rows[-1]['ratio']} times the time (target at most 1.43)")
    rows += [measured("regions", sharing) for sharing in ("never", "where_it_pays")]
    print(f"equal clusters once: {rows[-2]['cpu'] / rows[-1]['cpu']:.1f} times faster, "
          f"{rows[-2]['grown_mb'] / max(rows[-1]['grown_mb'], 1):.0f} times less memory")  # fmt: skip
    columns = dict.fromkeys(name for row in rows for name in row)
    write_result("large", [{name: row.get(name, "") for name in columns} for row in rows])


if __name__ == "__main__":
    if len(sys.argv) > 1:
        name, *arguments = sys.argv[1:]
        print(json.dumps(POINTS[name](*(int(a) if a.isdigit() else a for a in arguments))))
    else:
        main()
