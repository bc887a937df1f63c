"""Gaps that `est.bound()` proves on the reference draws, by loss, and how they fall with time.

`python -m benchmarks.bounds --seconds 60 --data iris,galaxy --losses vi,omari` prints a table and writes it to
benchmarks/results/bounds.csv, where rows of other data and losses stay; `--data iris:80,iris:80:1` takes 80 of the
items, chosen with the seeds 0 and 1. CPU seconds count, because other work may share the machine: "gap after 10 s" is
on the clock, and the column of CPU seconds says how much of it the bound had.
"""

from __future__ import annotations

import argparse
import csv
import time

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import reference_draws
from benchmarks.record import RESULTS, write_result
from partita.draws.sample import as_sample
from partita.estimation.estimate import estimate
from partita.losses.expected import pairwise_distances
from partita.losses.losses import LOSSES, as_loss
from partita.search.settings import Search

DATA = ("galaxy", "iris", "gaskins_like", "cls15")
#: The mean distance between two draws is taken from this many of them.
MEAN_OF = 1000


def some_items(data: str) -> NDArray[np.int64]:
    """The draws of a set; `name:count:seed` takes some of its items, chosen at random."""
    name, count, seed = [*data.split(":"), "", ""][:3]
    draws = reference_draws(name)
    chosen = np.random.default_rng(int(seed or 0)).permutation(draws.shape[1])[: int(count or draws.shape[1])]
    return draws[:, np.sort(chosen)]


def earlier(name: str, rows: list[dict[str, str]], keys: tuple[str, ...] = ("data", "loss")) -> list[dict[str, str]]:
    """What the file has of other data and losses."""
    path = RESULTS / f"{name}.csv"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    new = [[row[key] for key in keys] for row in rows]
    kept = csv.DictReader(line for line in lines if not line.startswith("#"))
    return [row for row in kept if [row[key] for key in keys] not in new]


def row(data: str, loss: str, seconds: float, threads: int) -> dict[str, str]:
    sample = as_sample(some_items(data))
    best = estimate(sample, loss, search=Search(n_jobs=threads), rng=1)
    gaps: list[str] = []
    wall, cpu = time.perf_counter(), time.process_time()
    bound = best.bound(seconds, progress=lambda at, now: gaps.append(f"{at:.0f} s: {now.gap:.2%}"))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    few = as_sample(sample.labels[:: -(-sample.n_unique // MEAN_OF)])
    half = few.weights @ pairwise_distances(few, loss) @ few.weights / 2 if as_loss(loss).is_metric else 0.0
    return {
        "data": data, "loss": loss, "expected loss": f"{best.expected_loss:.6f}", "bound": f"{bound.value:.6f}",
        "gap": "proven" if bound.proven else f"{bound.gap:.2%}", "method": bound.method,
        "gap of half the mean distance": f"{1 - half / best.expected_loss:.1%}", "on the way": ", ".join(gaps),
        "wall s": f"{wall:.1f}", "CPU s": f"{cpu:.1f}",
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--data", default=",".join(DATA))
    parser.add_argument("--losses", default=",".join(LOSSES))
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    rows = []
    for data in given.data.split(","):
        for loss in given.losses.split(","):
            rows.append(row(data, loss, given.seconds, given.threads))
            print(" | ".join(rows[-1].values()), flush=True)
    write_result(
        "bounds", earlier("bounds", rows) + rows, note="the command gave the last rows; others are of earlier ones"
    )


if __name__ == "__main__":
    main()
