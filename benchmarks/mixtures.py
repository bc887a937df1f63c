"""Mixtures of tables: the cost of a cell of each kind, chains that arrive, and a large table.

    python -m benchmarks.mixtures [--rivals] [--large]

Times are CPU seconds of one core, so that other work on the machine does not count; ratios are within one run.
`--rivals` adds scikit-learn's variational mixture on 20,000 × 10 numbers with 20 separated clusters, ten seeds;
`--large` adds 1,000,000 rows × 20 mixed columns.
"""

from __future__ import annotations

import resource
import sys
import time
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

import partita as pt
from partita.models import MixtureDPM

CLUSTERS, COLUMNS = 20, 10


def seconds_per_cell(table: Mapping[str, Any], families: str | None = None, sweeps: int = 60) -> float:
    """CPU nanoseconds per cell and cluster of a sweep, the start apart."""
    model = MixtureDPM(families, alpha=1.0, split_merge=0)
    rows = len(next(iter(table.values())))
    from partita.models.mixtures.cells import encode
    from partita.models.mixtures.raw import read_raw
    from partita.models.mixtures.schema import choose_schema
    from partita.models.plan import make_plan

    raw = read_raw(table)
    (sampler,) = model.samplers(encode(raw, choose_schema(raw, families)), make_plan(sweeps, 0, 1, 1, 1))
    sampler.advance(5, 0, 1)
    started = time.process_time()
    _, stats = sampler.advance(sweeps, 0, 1)
    clusters = stats[:, list(sampler.stat_names).index("n_clusters")].mean()
    return (time.process_time() - started) / sweeps / rows / len(table) / clusters * 1e9


def tables(rows: int = 4000) -> dict[str, tuple[dict[str, Any], str | None]]:
    """The same clusters seen through columns of each kind."""
    rng = np.random.default_rng(1)
    labels = rng.integers(CLUSTERS, size=rows)
    numbers = rng.normal(0, 8, (CLUSTERS, COLUMNS))[labels] + rng.normal(size=(rows, COLUMNS))
    favourite = rng.integers(8, size=(CLUSTERS, COLUMNS))[labels]
    levels = np.where(rng.random((rows, COLUMNS)) < 0.9, favourite, rng.integers(8, size=(rows, COLUMNS)))
    counts = rng.poisson(rng.gamma(1, 10, (CLUSTERS, COLUMNS))[labels])
    gaps = rng.random((rows, COLUMNS)) < 0.5
    return {
        "gaussian": (_columns(numbers), None),
        "gaussian, half missing": (_columns(np.where(gaps, np.nan, numbers)), None),
        "categorical": (_columns(levels), "categorical"),
        "categorical, half missing": (_columns(np.where(gaps, np.nan, levels)), "categorical"),
        "count": (_columns(counts), "count"),
    }


def _columns(cells: np.ndarray) -> dict[str, Any]:
    return {f"x{j}": cells[:, j].astype(float) for j in range(cells.shape[1])}


def cost_of_cells() -> None:
    costs = {name: seconds_per_cell(*table) for name, table in tables().items()}
    for name, cost in costs.items():
        print(f"{name:<28} {cost:6.2f} ns per cell and cluster, {cost / costs['gaussian']:.2f} of a gaussian cell")


def arriving(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """20 separated clusters in 20,000 × 10 numbers, and their labels."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(CLUSTERS, size=20_000)
    return rng.normal(0, 8, (CLUSTERS, COLUMNS))[labels] + rng.normal(size=(20_000, COLUMNS)), labels


def chains_that_arrive(seeds: int = 10) -> None:
    from sklearn.mixture import BayesianGaussianMixture

    for seed in range(seeds):
        X, truth = arriving(seed)
        started = time.process_time()
        chain = pt.models.GaussianDPM("diag").sample(X, draws=1, warmup=1000, chains=4, rng=seed, n_jobs=1)
        ours = (time.process_time() - started) / 4
        started = time.process_time()
        BayesianGaussianMixture(
            n_components=40, weight_concentration_prior_type="dirichlet_process", random_state=seed
        ).fit(X)
        theirs = time.process_time() - started
        nmi = min(pt.nmi(truth, labels) for labels in chain.labels[:, -1])
        clusters = chain.n_clusters[:, -1].tolist()
        print(f"seed {seed}: clusters {clusters}, NMI >= {nmi:.4f}; {ours:.1f} s per chain, scikit-learn {theirs:.1f}")


def large_table(rows: int = 1_000_000) -> None:
    rng = np.random.default_rng(1)
    labels = rng.integers(CLUSTERS, size=rows)
    table: dict[str, Any] = {}
    for j in range(5):
        table[f"number{j}"] = rng.normal(0, 8, CLUSTERS)[labels] + rng.normal(size=rows)
        table[f"count{j}"] = rng.poisson(rng.gamma(1, 10, CLUSTERS)[labels]).astype(float)
    for j in range(10):
        table[f"level{j}"] = rng.integers(8, size=CLUSTERS)[labels].astype(float)
    families = {name: "count" if name.startswith("count") else "categorical" for name in table if name[0] != "n"}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    MixtureDPM(families).sample(table, draws=2, warmup=8, chains=1, rng=1, n_jobs=1)
    seconds = time.process_time() - started
    smallest = rows * (5 * 8 + 5 * 4 + 10) / 2**20
    used = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 2**10
    print(f"{rows:,} x 20: start and 10 sweeps in {seconds:.0f} s; {used:.0f} MB beside {smallest:.0f} MB of the table")


def main() -> None:
    warnings.simplefilter("ignore")
    cost_of_cells()
    if "--rivals" in sys.argv:
        chains_that_arrive()
    if "--large" in sys.argv:
        large_table()


if __name__ == "__main__":
    main()
