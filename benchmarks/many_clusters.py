"""Many small clusters: time against items, both states side by side, and a million items.

Clusters have 1, 2 or 3 items (70, 20 and 10 %) and every draw moves 3 % of the labels at random, which connects nearly
all items into one component. Run with `python -m benchmarks.many_clusters [small|growth|million|mixed]`.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import partita as pt
from benchmarks.record import write_result
from benchmarks.search import salso_of
from partita import _core
from partita.search.core import native_options
from partita.search.jobs import Job

NOTE = "CPU seconds of one run under VI, the core alone; R's salso in the same session; ratio: its seconds over ours"


def small_clusters(n: int, n_draws: int, seed: int = 0, moved: float = 0.03) -> NDArray[np.int32]:
    """Draws of clusters of 1 to 3 items, with a share of the labels moved at random."""
    rng = np.random.default_rng(seed)
    base = np.repeat(np.arange(n, dtype=np.int32), rng.choice([1, 2, 3], n, p=[0.7, 0.2, 0.1]))[:n]
    rng.shuffle(base)
    return _moved(base, n_draws, moved, rng)


def mixed_clusters(large: int, size: int, pairs: int, n_draws: int, seed: int = 0) -> NDArray[np.int32]:
    """Some clusters of one size beside many of two."""
    base = np.concatenate([np.repeat(np.arange(large), size), large + np.repeat(np.arange(pairs), 2)]).astype(np.int32)
    rng = np.random.default_rng(seed)
    rng.shuffle(base)
    return _moved(base, n_draws, 0.03, rng)


def _moved(base: NDArray[np.int32], n_draws: int, share: float, rng: np.random.Generator) -> NDArray[np.int32]:
    draws = np.tile(base, (n_draws, 1))
    for draw in draws:
        places = np.flatnonzero(rng.random(base.size) < share)
        draw[places] = base[rng.integers(base.size, size=places.size)]
    return draws


def searched(
    sample: pt.PartitionSample, loss: pt.losses.Loss, runs: int, state: str, method: str = "search"
) -> tuple[float, float, float]:
    """CPU seconds, wall seconds and loss of a search on one kind of state."""
    options = native_options(sample, pt.Search(runs=runs), np.random.default_rng(1))
    options.state = getattr(_core.StateKind, state)
    cpu, wall = time.process_time(), time.perf_counter()
    best = min(Job(method, sample, loss, options).run()[0], key=lambda run: run.loss)
    return time.process_time() - cpu, time.perf_counter() - wall, best.loss


def timed(sample: pt.PartitionSample, loss: pt.losses.Loss, runs: int, state: str, method: str = "search") -> str:
    """What `searched` gives, as a line."""
    cpu, wall, reached = searched(sample, loss, runs, state, method)
    return f"{method:<7}{state:<14}{runs:>3} runs  cpu {cpu:8.2f} s  wall {wall:8.2f} s  loss {reached:.6f}"


def small() -> None:
    """500 to 2,000 items × 200 draws: one run beside one of R's salso, sixteen runs, the paper's algorithm."""
    rows: list[dict[str, float | str]] = []
    for n in (500, 1000, 2000):
        sample = pt.as_sample(small_clusters(n, 200))
        print(f"{n} items × 200 draws, {sample.n_clusters.mean():.0f} clusters")
        for runs, method in ((1, "search"), (16, "search"), (1, "salso")):
            print("  ", timed(sample, pt.VI(), runs, "sparse", method), flush=True)
        rival = salso_of(sample.to_numpy().astype(np.int64), "vi", pt.VI(), runs=1)
        if rival is not None:
            rows += beside_salso(n, sample, *rival)
            print("  ", *rows[-2:], sep="\n   ", flush=True)
    if rows:
        write_result("many_clusters", rows, note=NOTE)


def beside_salso(
    n: int, sample: pt.PartitionSample, seconds: float, partition: NDArray[np.int64]
) -> list[dict[str, float | str]]:
    """One run of our search and of our SALSO, the quickest of three, beside one run of R's salso."""
    theirs = float(pt.expected_loss(partition, sample, "vi"))
    rows: list[dict[str, float | str]] = []
    for method in ("search", "salso"):
        ours, reached = min(searched(sample, pt.VI(), 1, "where_it_pays", method)[::2] for _ in range(3))
        rows.append(
            {
                "items": n,
                "method": method,
                "reached": round(reached, 6),
                "salso_loss": round(theirs, 6),
                "seconds": round(ours, 4),
                "salso_seconds": round(seconds, 3),
                "ratio": round(seconds / ours, 1),
            }
        )
    return rows


def growth() -> None:
    """1,000 to 100,000 items × 100 draws, and the exponent between neighbours."""
    before = None
    for n in (1000, 10_000, 100_000):
        sample = pt.as_sample(small_clusters(n, 100))
        begun = time.process_time()
        print(f"{n:>9} items", timed(sample, pt.VI(), 4, "sparse"), flush=True)
        took = time.process_time() - begun
        if before is not None:
            print(f"           exponent {np.log10(took / before):.2f}")
        before = took


def million(n: int = 1_000_000) -> None:
    """All of `estimate`, from labels to the answer, with its peak of memory."""
    draws = small_clusters(n, 100)
    begun, cpu = time.perf_counter(), time.process_time()
    best = pt.estimate(draws, "vi", rng=1, check_draws=False)
    wall, cpu = time.perf_counter() - begun, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{n} items × 100 draws: wall {wall:.1f} s  cpu {cpu:.1f} s  {peak:.2f} GiB  {best.n_clusters} clusters")


def mixed() -> None:
    """Cases between the two states: the default against each of them."""
    cases = {
        "3 clusters of 3,000 and 1,000 of 2": mixed_clusters(3, 3000, 1000, 100),
        "200 clusters of 50": mixed_clusters(200, 50, 0, 100),
        "50 clusters of 100": mixed_clusters(50, 100, 0, 100),
    }
    for name, draws in cases.items():
        sample = pt.as_sample(draws)
        print(name)
        for state in ("where_it_pays", "dense", "sparse"):
            print("  ", timed(sample, pt.VI(), 1, state), flush=True)


PARTS: dict[str, Callable[[], None]] = {"small": small, "growth": growth, "million": million, "mixed": mixed}

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
