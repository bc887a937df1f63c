"""as_sample and read_draws on 20,000 x 500 labels: time against np.unique on canonical rows, and peak memory."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from partita.datasets import make_draws
from partita.draws.io import read_draws, write_draws
from partita.draws.sample import as_sample

N_ITEMS, N_DRAWS, N_CLUSTERS = 500, 20_000, 40
REPEATS = 5


def draws() -> np.ndarray:
    """As int64, the widest labels a sampler is likely to write."""
    return make_draws(N_ITEMS, N_DRAWS, N_CLUSTERS, rng=1)


def best_time(work: Callable[[], Any]) -> float:
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def extra_memory() -> dict[str, int]:
    """Bytes that as_sample takes at its peak beyond what was in use before; run in a process of its own."""
    labels = draws()
    as_sample(labels[:1000])  # what is loaded once is not counted
    before = memory_in_bytes("VmRSS")
    as_sample(labels)
    return {"extra": memory_in_bytes("VmHWM") - before, "input": labels.nbytes}


def memory_in_bytes(field: str) -> int:
    """From Linux itself: ru_maxrss would count the memory of the parent process too."""
    for line in Path("/proc/self/status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == field:
            return int(value.split()[0]) * 1024
    raise KeyError(field)


def measured_memory() -> dict[str, int]:
    answer = subprocess.run(
        [sys.executable, "-m", "benchmarks.sample", "--memory"], capture_output=True, text=True, check=True
    )
    result: dict[str, int] = json.loads(answer.stdout)
    return result


def main() -> list[dict[str, str]]:
    labels = draws()
    canonical = as_sample(labels).to_numpy().astype(np.int64)
    ours = best_time(lambda: as_sample(labels))
    unique = best_time(lambda: np.unique(canonical, axis=0, return_inverse=True, return_counts=True))
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/draws.csv"
        write_draws(path, labels)
        reading = best_time(lambda: read_draws(path))
        loadtxt = best_time(lambda: np.loadtxt(path, np.int64, delimiter=",", skiprows=1))
    memory = measured_memory()
    size = f"{N_DRAWS:,} x {N_ITEMS}"
    rows = [
        speed_row(f"as_sample of {size} int64 labels", ours, "np.unique(axis=0)", unique, "at least 5"),
        speed_row(f"read_draws of a csv file of {size}", reading, "np.loadtxt", loadtxt, "none set"),
        memory_row("as_sample, extra memory at its peak", memory["extra"], "input", memory["input"], "at most 1.2"),
    ]
    for row in rows:
        print(f"{row['what']}: {row['ours']}; {row['other']} {row['theirs']}; {row['ratio']} (target {row['target']})")
    return rows


def speed_row(what: str, ours: float, other: str, theirs: float, target: str) -> dict[str, str]:
    times = {"ours": f"{ours:.3f} s", "other": other, "theirs": f"{theirs:.3f} s"}
    return {"what": what, **times, "ratio": f"{theirs / ours:.1f} times as fast", "target": target}


def memory_row(what: str, ours: int, other: str, theirs: int, target: str) -> dict[str, str]:
    sizes = {"ours": f"{ours / 1e6:.0f} MB", "other": other, "theirs": f"{theirs / 1e6:.0f} MB"}
    return {"what": what, **sizes, "ratio": f"{ours / theirs:.2f} times the memory", "target": target}


if __name__ == "__main__":
    if "--memory" in sys.argv:
        print(json.dumps(extra_memory()))
    else:
        main()
