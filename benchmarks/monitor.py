"""How early a monitor stops, and how often it is wrong: 20 posteriors, each from several places of its draws.

`python -m benchmarks.monitor` prints one row per posterior and writes benchmarks/results/monitor.csv. The settings of
the rule were chosen on these posteriors; `--fresh` judges it on 20 others. A stop is wrong
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
from partita.datasets import load_galaxies, load_house_votes, load_old_faithful, make_draws

RESULTS = Path(__file__).parent / "results"
#: items, draws, clusters and doubt of `make_draws`
MADE = [
    (30, 4000, 3, 0.05), (60, 4000, 4, 0.1), (100, 4000, 5, 0.2), (150, 4000, 8, 0.1), (300, 2000, 10, 0.05),
    (50, 4000, 6, 0.3),
]  # fmt: skip
#: The same of the posteriors on which nothing was chosen.
FRESH_MADE = [
    (40, 4000, 5, 0.15),
    (80, 4000, 3, 0.25),
    (120, 4000, 12, 0.2),
    (200, 2000, 6, 0.3),
    (70, 4000, 7, 0.4),
    (45, 3000, 2, 0.1),
]
#: Items, clusters and distance between neighbouring centres of simulated Gaussian mixtures in the plane.
FRESH_MIXTURES = [(60, 3, 3.0), (90, 3, 5.0), (100, 5, 4.0), (150, 4, 3.5), (120, 6, 5.0), (50, 2, 2.5)]
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


Posteriors = Iterator[tuple[str, Callable[[], NDArray[np.int64]]]]


def posteriors() -> Posteriors:
    """Names, and functions that give (chains, draws, items) labels."""
    yield from _made(MADE)
    yield "galaxies, GaussianDPM", lambda: _gaussian(load_galaxies().data / 1000, "diag")
    yield "Old Faithful, GaussianDPM", lambda: _gaussian(load_old_faithful().data, "full")
    if REFERENCE.is_dir():
        for network in ("karate", "dolphins", "polbooks"):
            yield f"{network}, SBM", lambda network=network: _network(network)
        for name in ("galaxy", "iris", "cls15", "gaskins_like", "simce_like"):
            yield name, lambda name=name: reference_draws(name)[None]
        for name, step in (("galaxy", 2), ("iris", 3), ("cls15", 4), ("gaskins_like", 2)):
            yield f"{name}, items 0, {step}, ...", lambda name=name, step=step: reference_draws(name)[None, :, ::step]


def fresh_posteriors() -> Posteriors:
    """Posteriors that played no part when the rule was made."""
    yield from _made(FRESH_MADE)
    for n, k, apart in FRESH_MIXTURES:
        name = f"mixture of {k} Gaussians {apart} apart, {n} items, GaussianDPM"
        yield name, lambda n=n, k=k, apart=apart: _gaussian(_mixture(n, k, apart), "full")
    yield "house votes, every fourth item, MixtureDPM", _votes
    if REFERENCE.is_dir():
        for name, columns in (("glass", range(9)), ("ecoli", range(1, 8))):
            yield f"{name}, GaussianDPM", lambda name=name, columns=columns: _gaussian(_table(name, columns), "diag")
            third = f"{name}, every third item, GaussianDPM"
            yield third, lambda name=name, columns=columns: _gaussian(_table(name, columns)[::3], "diag")
        for network in ("football", "jazz", "french_blogs"):
            yield f"{network}, SBM", lambda network=network: _network(network)


def _made(designs: list[tuple[int, int, int, float]]) -> Posteriors:
    for n, draws, k, doubt in designs:
        name = f"make_draws {n} items, {k} clusters, doubt {doubt}"
        yield name, lambda n=n, draws=draws, k=k, doubt=doubt: make_draws(n, draws, k, doubt=doubt, rng=n)[None]


def _mixture(n: int, k: int, apart: float) -> NDArray[np.float64]:
    """Points around k centres on a circle."""
    rng = np.random.default_rng(n)
    angles = 2 * np.pi * np.arange(k) / k
    centres = apart / (2 * np.sin(np.pi / k)) * np.column_stack([np.cos(angles), np.sin(angles)])
    return centres[np.arange(n) % k] + rng.normal(size=(n, 2))


def _votes() -> NDArray[np.int64]:
    table = load_house_votes().data[::4].astype(str)
    return pt.models.MixtureDPM().sample(table, draws=2000, warmup=500, chains=4, rng=1).labels


def _table(name: str, columns: range) -> NDArray[np.float64]:
    """Columns of a data set, standardised."""
    path = REFERENCE.parents[1] / "data" / f"{name}.csv"
    values = np.loadtxt(path, delimiter=",", skiprows=1, usecols=columns)
    kept = values[:, values.std(axis=0) > 0]
    return (kept - kept.mean(axis=0)) / kept.std(axis=0)


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
    parser.add_argument("--fresh", action="store_true")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore", pt.MixingWarning)
    RESULTS.mkdir(exist_ok=True)
    rows = []
    with (RESULTS / ("monitor_fresh.csv" if options.fresh else "monitor.csv")).open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(field.name for field in fields(Row))
        for name, draws in fresh_posteriors() if options.fresh else posteriors():
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
