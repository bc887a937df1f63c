"""Mixtures of tables: the cost of a cell of each kind, chains that arrive, and a large table.

    python -m benchmarks.mixtures [--rivals [SEED ...]] [--wide] [--large] [--maximize]

Times are CPU seconds of one core, so that other work on the machine does not count; ratios are within one run. Without
an argument, the cost of cells. `--rivals` runs chains and scikit-learn's variational mixture on 20,000 × 10 numbers
with 20 separated clusters, for seeds 0 to 9 or those given, into benchmarks/results/mixtures.csv; `--wide` runs
200,000 × 10 beside 20,000 × 10; `--large` 1,000,000 rows × 20 mixed columns; `--maximize` finds the largest ICL of two
tables.
"""

from __future__ import annotations

import csv
import sys
import time
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

import partita as pt
from benchmarks.record import RESULTS, write_result
from partita import _core
from partita.models import MixtureDPM
from partita.models.mixtures.base import core_columns
from partita.models.mixtures.base_measure import partition_prior
from partita.models.mixtures.cells import encode
from partita.models.mixtures.raw import read_raw
from partita.models.mixtures.schema import choose_schema

CLUSTERS, COLUMNS = 20, 10


def nanoseconds_per_cell(cells: np.ndarray, families: str | None, labels: np.ndarray, sweeps: int = 60) -> float:
    """CPU time of a sweep that begins at the true clusters, and so knows no item that stays, for each cluster and each
    cell of a table of `COLUMNS` columns: one with fewer columns, or with gaps, is compared as a whole."""
    model = MixtureDPM(families, alpha=1.0)
    raw = read_raw({f"x{j}": cells[:, j] for j in range(cells.shape[1])})
    inputs = encode(raw, choose_schema(raw, families))
    prior = partition_prior(model, len(cells))
    columns = core_columns(model._base(inputs), inputs)
    sampler = _core.MixtureColumnsSampler(columns, prior, 0.0, 1, 1, 0, labels.astype(np.uint32))
    sampler.advance(1, 0, 1)  # the first sweep also computes every cluster from its items
    state, seconds = sampler.state(), []
    for _ in range(sweeps):
        sampler.restore(state)
        started = time.process_time()
        sampler.advance(1, 0, 1)
        seconds.append(time.process_time() - started)
    return float(np.median(seconds)) / (len(cells) * COLUMNS * CLUSTERS) * 1e9


def tables(rows: int = 4000) -> tuple[dict[str, tuple[np.ndarray, str | None]], np.ndarray]:
    """The same clusters seen through columns of each kind, and their labels."""
    rng = np.random.default_rng(1)
    labels = rng.integers(CLUSTERS, size=rows)
    means, noise = rng.normal(size=(CLUSTERS, COLUMNS))[labels], rng.normal(size=(rows, COLUMNS))
    near, apart = 2 * means + noise, 8 * means + noise  # many clusters within reach, and none
    favourite = rng.integers(8, size=(CLUSTERS, COLUMNS))[labels]
    levels = np.where(rng.random((rows, COLUMNS)) < 0.9, favourite, rng.integers(8, size=(rows, COLUMNS)))
    counts = rng.poisson(rng.gamma(1, 10, (CLUSTERS, COLUMNS))[labels])
    gaps = rng.random((rows, COLUMNS)) < 0.5
    return {
        "gaussian": (near, None),
        "gaussian, half missing": (np.where(gaps, np.nan, near), None),
        "gaussian, apart": (apart, None),
        "gaussian, apart, half missing": (np.where(gaps, np.nan, apart), None),
        "categorical": (levels.astype(float), "categorical"),
        "categorical, half missing": (np.where(gaps, np.nan, levels), "categorical"),
        "count": (counts.astype(float), "count"),
        "gaussian, 5 columns": (near[:, :5], None),
        "gaussian, apart, 5 columns": (apart[:, :5], None),
        "categorical, 5 columns": (levels[:, :5].astype(float), "categorical"),
    }, labels


def cost_of_cells() -> None:
    kinds, labels = tables()
    costs = {name: nanoseconds_per_cell(*table, labels) for name, table in kinds.items()}
    for name, cost in costs.items():
        print(f"{name:<30} {cost:6.2f} ns per cell and cluster, {cost / costs['gaussian']:.2f} of a gaussian cell")


def arriving(seed: int, rows: int = 20_000) -> tuple[np.ndarray, np.ndarray]:
    """20 separated clusters in this many rows of 10 numbers, and their labels."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(CLUSTERS, size=rows)
    return rng.normal(0, 8, (CLUSTERS, COLUMNS))[labels] + rng.normal(size=(rows, COLUMNS)), labels


def wide_chains() -> None:
    """Four chains of the default warm-up on 20,000 rows, and on ten times as many."""
    costs = []
    for rows in (20_000, 200_000):
        X, truth = arriving(0, rows)
        started = time.process_time()
        chain = pt.models.GaussianDPM("diag").sample(X, draws=1, warmup=1000, chains=4, rng=0, n_jobs=1)
        costs.append((time.process_time() - started) / 4)
        nmi = min(pt.nmi(truth, labels) for labels in chain.labels[:, -1])
        clusters = " ".join(map(str, chain.n_clusters[:, -1].tolist()))
        print(f"{rows:,} x 10: clusters {clusters}, least NMI {nmi:.4f}; {costs[-1]:.1f} s per chain", flush=True)
    print(f"ten times the rows cost {costs[1] / costs[0]:.1f} times as much")


def largest_icl() -> None:
    """`maximize` of the votes of the House (gaps are a level) and of a simulated table of categories."""
    from importlib.resources import files

    rows = [line.split(",") for line in (files("partita.datasets") / "house_votes_84.csv").read_text().split()]
    votes = dict(zip(rows[0], np.array(rows[1:]).T.tolist(), strict=True))
    votes.pop("party")
    cells, _ = tables(8000)[0]["categorical"]
    levels = {f"x{j}": column for j, column in enumerate(cells.T)}
    for name, table in (("house votes, 435 x 16", votes), ("8,000 x 10 of 8 levels, 20 clusters", levels)):
        for seed in range(3):
            started = time.process_time()
            fit = MixtureDPM("categorical").maximize(table, rng=seed, n_jobs=1)
            print(f"{name}: ICL {fit.icl:.2f}, {fit.n_clusters} clusters; {time.process_time() - started:.1f} s")


def chains_that_arrive(seeds: Iterable[int]) -> None:
    """Four chains of the default warm-up and scikit-learn's variational mixture for each seed."""
    from sklearn.mixture import BayesianGaussianMixture

    for seed in seeds:
        X, truth = arriving(seed)
        started = time.process_time()
        chain = pt.models.GaussianDPM("diag").sample(X, draws=1, warmup=1000, chains=4, rng=seed, n_jobs=1)
        ours = (time.process_time() - started) / 4
        started = time.process_time()
        rival = BayesianGaussianMixture(
            n_components=40, weight_concentration_prior_type="dirichlet_process", random_state=seed
        ).fit(X)
        theirs = time.process_time() - started
        row = {
            "seed": seed,
            "clusters": " ".join(map(str, chain.n_clusters[:, -1].tolist())),
            "least NMI": f"{min(pt.nmi(truth, labels) for labels in chain.labels[:, -1]):.4f}",
            "CPU s per chain": f"{ours:.1f}",
            "scikit-learn NMI": f"{pt.nmi(truth, rival.predict(X)):.4f}",
            "scikit-learn CPU s": f"{theirs:.1f}",
        }
        print(row, flush=True)
        _write_seed(row)


def _write_seed(row: dict[str, Any]) -> None:
    """Adds a row to benchmarks/results/mixtures.csv, instead of an older one of the same seed."""
    path = RESULTS / "mixtures.csv"
    older: list[dict[str, Any]] = []
    if path.exists():
        lines = (line for line in path.read_text().splitlines() if not line.startswith("#"))
        older = [own for own in csv.DictReader(lines) if own["seed"] != str(row["seed"])]
    rows = sorted([*older, row], key=lambda own: int(own["seed"]))
    write_result("mixtures", rows, data="20,000 x 10 numbers, 20 clusters", note="CPU seconds, one thread")


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
    before = _memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    seconds, clusters = [], 0
    for warmup in (1, 9):
        started = time.process_time()
        chain = MixtureDPM(families).sample(table, draws=1, warmup=warmup, chains=1, rng=1, n_jobs=1)
        seconds.append(time.process_time() - started)
        clusters = chain.n_clusters[0, -1]
        del chain
    rate = 8 * 60 / (seconds[1] - seconds[0])
    smallest = rows * (5 * 8 + 5 * 1 + 10) / 2**20  # the counts are below 255
    used = _memory("VmHWM") - before
    print(
        f"{rows:,} x 20: reading and 2 sweeps {seconds[0]:.0f} s, then {rate:.0f} sweeps a minute at"
        f" {clusters} clusters; at most {used:.0f} MB more than the table itself, {used / smallest:.1f}"
        f" times the {smallest:.0f} MB that its cells take in their smallest types"
    )


def _memory(name: str) -> float:
    """Megabytes of this process: VmRSS now, VmHWM at most (Linux)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 2**10 for line in lines if line.startswith(name))


def main() -> None:
    warnings.simplefilter("ignore")
    if len(sys.argv) == 1:
        cost_of_cells()
    if "--rivals" in sys.argv:
        chains_that_arrive([int(text) for text in sys.argv if text.isdigit()] or range(10))
    if "--wide" in sys.argv:
        wide_chains()
    if "--maximize" in sys.argv:
        largest_icl()
    if "--large" in sys.argv:
        large_table()


if __name__ == "__main__":
    main()
