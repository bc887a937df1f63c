"""How early a monitor stops, and how often it is wrong: 20 posteriors, each from several places of its draws.

`python -m benchmarks.monitor` prints one row per posterior and writes benchmarks/results/monitor.csv. A stop is wrong
if the expected loss of its partition over all draws is above that of their estimate by more than the tolerance, and
with `--tolerance 0` if it is another partition. Draws are turned around a circle, so that each start sees them in
another order.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import partita as pt
from benchmarks.data import REFERENCE, reference_draws
from partita.datasets import load_galaxies, load_old_faithful, make_draws

RESULTS = Path(__file__).parent / "results" / "monitor.csv"
#: items, draws, clusters and doubt of `make_draws`
MADE = [
    (30, 4000, 3, 0.05), (60, 4000, 4, 0.1), (100, 4000, 5, 0.2), (150, 4000, 8, 0.1), (300, 2000, 10, 0.05),
    (50, 4000, 6, 0.3),
]  # fmt: skip
BLOCK = 25
EARLY = 0.3
SAME = 1e-9


@dataclass(frozen=True)
class Row:
    """One posterior: how many starts stopped, wrongly, at the same partition, and right with at most 30 % of the draws.

    `median_share` is the share of the draws at the stop, 1 for starts that never stop.
    """

    posterior: str
    draws: int
    items: int
    starts: int
    settled: int
    wrong: int
    same: int
    early: int
    median_share: float
    cpu_seconds: float


def posteriors() -> Iterator[tuple[str, Callable[[], NDArray[np.int64]]]]:
    """Names, and functions that give (chains, draws, items) labels."""
    for n, draws, k, doubt in MADE:
        name = f"make_draws {n} items, {k} clusters, doubt {doubt}"
        yield name, lambda n=n, draws=draws, k=k, doubt=doubt: make_draws(n, draws, k, doubt=doubt, rng=n)[None]
    yield "galaxies, GaussianDPM", lambda: _gaussian(load_galaxies().data / 1000, "diag")
    yield "Old Faithful, GaussianDPM", lambda: _gaussian(load_old_faithful().data, "full")
    if REFERENCE.is_dir():
        for network in ("karate", "dolphins", "polbooks"):
            yield f"{network}, SBM", lambda network=network: _network(network)
        for name in ("galaxy", "iris", "cls15", "gaskins_like", "simce_like"):
            yield name, lambda name=name: reference_draws(name)[None]
        for name, step in (("galaxy", 2), ("iris", 3), ("cls15", 4), ("gaskins_like", 2)):
            yield f"{name}, items 0, {step}, ...", lambda name=name, step=step: reference_draws(name)[None, :, ::step]


def _gaussian(data: NDArray[np.float64], covariance: str) -> NDArray[np.int64]:
    model = pt.models.GaussianDPM(covariance=covariance)
    return model.sample(data, draws=2000, warmup=500, chains=4, rng=1).labels


def _network(name: str) -> NDArray[np.int64]:
    edges = np.loadtxt(REFERENCE.parents[1] / "data" / f"{name}_edges.csv", delimiter=",", skiprows=1, dtype=np.int64)
    size = edges[:, :2].max() + 1
    matrix = np.zeros((size, size), np.int64)
    matrix[edges[:, 0], edges[:, 1]] = matrix[edges[:, 1], edges[:, 0]] = 1
    model = pt.models.StochasticBlockModel(directed=False)
    return model.sample(matrix, draws=2000, warmup=500, chains=4, rng=1).labels


def simulate(name: str, draws: NDArray[np.int64], starts: int, tolerance: float = 0.01) -> Row:
    """A monitor fed from several places of the draws, against the estimate of all of them."""
    began = time.process_time()
    best = pt.estimate(draws, check_draws=False, rng=1)
    chains, length, items = draws.shape
    stops, shares = [], []
    for start in range(starts):
        turned = np.roll(draws, -(start * length // starts), axis=1)
        watched = pt.monitor(tolerance=tolerance, rng=start)
        stopped = next((end for end in range(BLOCK, length, BLOCK) if watched.feed(turned[:, end - BLOCK : end])), None)
        shares.append(1.0 if stopped is None else watched.checks[-1].n_draws / (chains * length))
        if stopped is not None:
            same = pt.partition_loss(best.labels, watched.checks[-1].labels) < SAME
            cost = float(pt.expected_loss(watched.checks[-1].labels, draws))
            right = same if tolerance == 0 else cost <= (1 + tolerance) * best.expected_loss
            stops.append((not right, same, right and shares[-1] <= EARLY))
    counts = np.sum(stops, axis=0).astype(int).tolist() if stops else [0, 0, 0]
    seconds = time.process_time() - began
    return Row(name, chains * length, items, starts, len(stops), *counts, float(np.median(shares)), seconds)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--starts", type=int, default=8)
    parser.add_argument("--tolerance", type=float, default=0.01)
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore", pt.MixingWarning)
    RESULTS.parent.mkdir(exist_ok=True)
    rows = []
    with RESULTS.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(field.name for field in fields(Row))
        for name, draws in posteriors():
            rows.append(simulate(name, draws(), options.starts, options.tolerance))
            writer.writerow([f"{v:.4g}" if isinstance(v, float) else v for v in astuple(rows[-1])])
            file.flush()
            print(rows[-1], flush=True)
    settled = sum(row.settled for row in rows)
    early = sum(row.early > options.starts / 2 for row in rows)
    print(f"{early} of {len(rows)} posteriors stop right with at most {EARLY:.0%} of the draws, from most starts; "
          f"{sum(row.wrong for row in rows)} of {settled} stops wrong, "
          f"{sum(row.same for row in rows)} at the same partition")  # fmt: skip


if __name__ == "__main__":
    main()
