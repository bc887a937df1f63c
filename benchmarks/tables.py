"""Tables at size: the whole command beside its sampling, sweeps per minute, memory over cells, curves, and select;
and a table beside a network of the same items.

    python -m benchmarks.tables [command] [sweeps] [curves] [select] [sources]   # by default all
    python -m benchmarks.tables sweeps --rows 1000000 --columns 100
    python -m benchmarks.tables command --default-chains   # 4 chains of 1,000 + 1,000 sweeps instead of 20 + 20

Each part runs in a process of its own, on one core, and prints CPU and wall seconds and its peak memory.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import partita as pt

CLUSTERS = 8
DRAWS = WARMUP = 20
PARTS = ["command", "sweeps", "curves", "select", "sources"]


def planted(rows: int, columns: int, seed: int = 1):
    """Gaussian clusters; half of the columns tell nothing."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(0, 2, (CLUSTERS, columns))
    centres[:, columns // 2 :] = 0
    labels = rng.integers(CLUSTERS, size=rows)
    for start in range(0, rows, 10_000):
        own = labels[start : start + 10_000]
        yield centres[own] + rng.normal(size=(len(own), columns))


def write_table(path: str, rows: int, columns: int) -> None:
    import pyarrow
    from pyarrow import csv

    names = [f"x{j}" for j in range(columns)]
    schema = pyarrow.schema([(name, pyarrow.float32()) for name in names])
    with csv.CSVWriter(path, schema, write_options=csv.WriteOptions(quoting_style="none")) as writer:
        for block in planted(rows, columns):
            cells = [pyarrow.array(column.astype(np.float32)) for column in block.round(3).T]
            writer.write(pyarrow.table(cells, schema=schema))


class Timed:
    """CPU and wall seconds since it was made."""

    def __init__(self) -> None:
        self.wall, self.cpu = time.perf_counter(), time.process_time()

    def __str__(self) -> str:
        return f"{time.process_time() - self.cpu:.1f} CPU s, {time.perf_counter() - self.wall:.1f} s"


def peak() -> float:
    """Peak memory of this process, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0


def command(rows: int, columns: int, default_chains: bool = False) -> None:
    """The whole command, and the sampling in it."""
    with tempfile.TemporaryDirectory() as folder:
        table, out = str(Path(folder) / "table.csv"), str(Path(folder) / "out")
        subprocess.run(
            [sys.executable, "-c", f"from benchmarks.tables import write_table as w; w({table!r}, {rows}, {columns})"],
            check=True,
        )
        words = ["cluster", table, "--out", out, "--jobs", "1"]
        words += [] if default_chains else ["--draws", str(DRAWS), "--warmup", str(WARMUP)]
        words += ["--chains", "1"] if rows * columns > 50_000_000 else []
        code = f"""
import resource, time
from partita.cli import app
from partita.models.mixtures.dpm import MixtureDPM
sample, spent = MixtureDPM.sample, []
def timed(*given, **more):
    start = time.process_time()
    try: return sample(*given, **more)
    finally: spent.append(time.process_time() - start)
MixtureDPM.sample = timed
import sys; sys.argv = ["partita", *{words!r}, "--seed", "1"]
try: app()
except SystemExit: pass
whole, cells = time.process_time(), 8 * {rows} * {columns}
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(f"whole {{whole:.1f}} CPU s, sampling {{spent[0]:.1f}}, ratio {{whole / spent[0]:.2f}}")
print(f"peak {{peak / cells:.2f}} times the cells")
"""
        subprocess.run([sys.executable, "-c", code], check=True)


def sweeps(rows: int, columns: int) -> None:
    X = np.empty((rows, columns))
    start = 0
    for block in planted(rows, columns):
        X[start : start + len(block)] = block
        start += len(block)
    X.flags.writeable = False
    model, seconds = pt.models.MixtureDPM(), []
    for draws in (1, 1 + DRAWS // 4):
        clock = time.process_time()
        model.sample(X, draws=draws, warmup=WARMUP // 4, chains=1, n_jobs=1, rng=1)
        seconds.append(time.process_time() - clock)
    each = (seconds[1] - seconds[0]) / (DRAWS // 4)
    print(f"{60 / each:.1f} sweeps per minute and core after the first; start {seconds[0]:.1f} CPU s")
    print(f"peak {peak() / X.nbytes:.2f} times the cells")


def curves(subjects: int = 5000, visits: int = 10) -> None:
    rng = np.random.default_rng(1)
    who, when = np.repeat(np.arange(subjects), visits), np.tile(np.arange(float(visits)), subjects)
    own = who % 4
    y = np.sin(when * (own + 1) / 3) * 3 + own + rng.normal(0, 0.5, len(who))
    model, clock = pt.models.MixtureDPM(curves=pt.models.Curves("who", "when")), Timed()
    chain = model.sample({"who": who, "when": when, "y": y}, draws=500, warmup=500, chains=1, n_jobs=1, rng=1)
    print(f"1,000 sweeps of {subjects:,} x {visits} visits: {clock}; {chain.n_clusters.mean():.1f} clusters")


def select(rows: int = 5000, columns: int = 40) -> None:
    X, spent = np.concatenate(list(planted(rows, columns))), {}
    for chosen in (False, True):
        clock = time.process_time()
        pt.models.MixtureDPM(select=chosen).sample(X, draws=100, warmup=100, chains=1, n_jobs=1, rng=1)
        spent[chosen] = time.process_time() - clock
    plain, selecting = spent[False], spent[True]
    print(f"{rows:,} x {columns}: {plain:.1f} CPU s, with select {selecting:.1f}, ratio {selecting / plain:.2f}")


def sources(items: int = 90, repetitions: int = 20) -> None:
    """Three clusters by a table and a network together, and by each alone; either may be clear, weak or unrelated."""
    network, table = pt.models.StochasticBlockModel(directed=False), pt.models.MixtureDPM()
    both = pt.models.LayeredBlockModel({"network": network, "table": table})
    inside, apart = {"clear": 0.35, "weak": 0.22, "unrelated": 0.14}, {"clear": 3.0, "weak": 1.8, "unrelated": 0.0}
    between = {"clear": 0.05, "weak": 0.10, "unrelated": 0.14}
    z = np.arange(items) % 3
    for ties, cells in (("weak", "weak"), ("unrelated", "weak"), ("unrelated", "clear"), ("clear", "unrelated")):
        found = []
        for seed in range(repetitions):
            rng = np.random.default_rng(seed)
            linked = np.triu(rng.random((items, items)) < np.where(z[:, None] == z, inside[ties], between[ties]), 1)
            means = apart[cells] * np.array([[0, 0, 0], [1, 0, 1], [0, 1, 0]])[z]
            data = {"network": (linked | linked.T).astype(int), "table": rng.normal(means, 1.0)}
            fit = both.maximize(data, rng=1)
            alone = (network.maximize(data["network"], rng=1), table.maximize(data["table"], rng=1))
            recovered = [pt.adjusted_rand(each.labels, z) for each in (fit, *alone)]
            found.append([*recovered, *fit.evidence.values()])
        recovery, evidence = np.mean(found, axis=0)[:3], np.array(found)[:, 3:].T
        said = "; ".join(f"{own.mean():.1f} ({own.min():.1f} to {own.max():.1f})" for own in evidence)
        print(f"{ties} network, {cells} table: adjusted Rand index together {recovery[0]:.2f},", end=" ")
        print(f"network {recovery[1]:.2f}, table {recovery[2]:.2f}; evidence {said}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=PARTS, default=[])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--default-chains", action="store_true")
    given = parser.parse_args()
    parts = given.parts or PARTS
    if len(parts) > 1:
        for part in parts:
            print(f"{part}:", flush=True)
            sizes = ["--rows", str(given.rows), "--columns", str(given.columns)]
            subprocess.run([sys.executable, "-m", "benchmarks.tables", part, *sizes], check=True, env=os.environ)
        return
    sized = (given.rows, given.columns)
    {
        "command": lambda: command(*sized, given.default_chains),
        "sweeps": lambda: sweeps(*sized),
        "curves": curves,
        "select": select,
        "sources": sources,
    }[parts[0]]()


if __name__ == "__main__":
    main()
