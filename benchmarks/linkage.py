"""Linkage at the size of a register: reading, the estimate, an update, a limit on size, beside connected components.

    python -m benchmarks.linkage [RECORDS] [PAIRS] [UPDATED] [DIR]   # by default 1000000 5000000 10000
    python -m benchmarks.linkage pairs RECORDS PAIRS UPDATED DIR     # only writes the files of pairs
    python -m benchmarks.linkage command DIR                         # the same problem with `partita link`
    python -m benchmarks.linkage memory RECORDS PAIRS                # predicted and taken by the rows of all pairs

Pairs are those of `benchmarks.pairs`, in a parquet file, which DIR keeps (`benchmarks/splink_clusters.py` takes it
too); files that are there are not made again. Prints wall and CPU seconds, components that are proven, pairwise
precision, recall and F1, and the peak memory.
"""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import partita as pt
from benchmarks.pairs import linkage_table, persons, timed
from partita.pairs.probabilities import predicted_bytes, symmetric_rows

MAX_SIZE = 5
SEED = 1


def pairwise(labels, person) -> str:
    """Precision, recall and F1 of pairs of records."""

    def pairs(x):
        sizes = np.bincount(np.unique(x, return_inverse=True)[1]).astype(np.float64)
        return float((sizes * (sizes - 1) / 2).sum())

    both = pairs(labels.astype(np.int64) * (person.max() + 1) + person)
    found, true = pairs(labels), pairs(person)
    return f"precision {both / found:.4f}, recall {both / true:.4f}, F1 {2 * both / (found + true):.4f}"


def told(est: pt.PairEstimate, person) -> None:
    parts = est.components
    print(f"  {parts.count:,} components, largest {parts.sizes.max():,}, {parts.count - parts.proven:,} not proven")
    print(f"  {est.n_clusters:,} clusters of up to {est.sizes.max():,}; {pairwise(est.labels, person)}")


def new_pairs(known, count: int):
    """Pairs of records that have one already, given by their names, and new records."""
    import pandas as pd

    rng = np.random.default_rng(2)
    fresh = [f"new {i}" for i in range(count)]
    return pd.DataFrame({"left": known, "right": fresh, "probability": rng.beta(2, 1, count)})


def write_problem(n_records: int, n_pairs: int, updated: int, folder: str) -> None:
    """The files of a problem, by a process of its own, so that its memory does not count."""
    place = Path(folder)
    if not (place / "more.csv").is_file():
        code = f"from benchmarks.linkage import write_pairs; write_pairs({folder!r}, {n_records}, {n_pairs}, {updated})"
        subprocess.run([sys.executable, "-c", code], check=True)


def write_pairs(folder: str, n_records: int, n_pairs: int, updated: int) -> None:
    """pairs.parquet, more.csv with the pairs of the update, and person.npy."""
    place = Path(folder)
    table = linkage_table(n_records, n_pairs, np.random.default_rng(SEED))
    table.to_parquet(place / "pairs.parquet", index=False)
    np.save(place / "person.npy", persons(n_records, np.random.default_rng(SEED)))
    known = np.random.default_rng(2).permutation(np.unique(table.left[: 20 * updated]))[:updated]
    new_pairs(known, updated).to_csv(place / "more.csv", index=False)


def peak() -> str:
    return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB"


def measure(folder: str) -> None:
    """The problem of a folder in Python."""
    from scipy.sparse.csgraph import connected_components

    with timed("read") as read:
        pairs = pt.as_similarity(f"{folder}/pairs.parquet")
    print(f"  {pairs.n_items:,} records, {pairs.n_pairs:,} pairs; memory {peak()}")
    items = np.arange(pairs.n_items) if pairs.names is None else np.array(pairs.names, np.int64)
    person = np.load(f"{folder}/person.npy")[items]
    with timed("binder") as solved:
        est = pt.estimate(pairs, "binder", rng=1)
    told(est, person)
    with timed("update") as changed:
        after = pt.update(est, f"{folder}/more.csv")
    share = changed.cpu / (read.cpu + solved.cpu)
    print(
        f"  {after.components.count - after.components.proven:,} components not proven;"
        f" {share:.1%} of reading and estimating, {changed.cpu / solved.cpu:.1%} of estimating"
    )
    del after
    with timed(f"binder, max_size={MAX_SIZE}") as bounded:
        limited = pt.estimate(pairs, "binder", constraints=pt.Constraints(max_size=MAX_SIZE), rng=1)
    told(limited, person)
    print(f"  {bounded.cpu / solved.cpu:.2f} times the CPU time without")
    del limited, est
    for threshold in (0.5, 0.9):
        with timed(f"connected components at {threshold}"):
            graph = pairs.to_scipy()
            graph.data[graph.data < threshold] = 0
            graph.eliminate_zeros()
            labels = connected_components(graph, directed=False)[1]
        print(f"  {labels.max() + 1:,} clusters; {pairwise(labels, person)}")
        del graph
    print(f"peak memory: {peak()}")


def command(folder: str) -> None:
    """The same with `partita link`: the first link, an update with all tables, and one with those that changed."""
    linked = Path(folder) / "linked"
    shutil.rmtree(linked, ignore_errors=True)
    calls = {
        "first link": [f"{folder}/pairs.parquet", "--loss", "binder", "--seed", "1", "--out", str(linked)],
        "update, all tables": [f"{folder}/more.csv", "--previous", str(linked)],
        "update, --tables changed": [f"{folder}/more.csv", "--previous", str(linked), "--tables", "changed"],
    }
    for name, words in calls.items():
        step_back = ["--step-back"] if "changed" in words else []
        spent = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "partita", "link", *words, *step_back, "--json"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        now = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = now.ru_utime + now.ru_stime - spent.ru_utime - spent.ru_stime
        wall = time.perf_counter() - began
        print(f"{name}: {wall:.1f} s, {cpu:.1f} CPU s; largest so far {now.ru_maxrss / 1e6:.2f} GB", flush=True)


def memory(n_records: int, n_pairs: int) -> None:
    """What the rows of all pairs take while they are made, beside the columns of the table."""
    rng = np.random.default_rng(SEED)
    low = rng.integers(n_records - 1, size=n_pairs)
    triples = (low, rng.integers(low + 1, n_records), rng.random(n_pairs))
    Path("/proc/self/clear_refs").write_text("5")  # begins a new peak
    before = peak_now()
    pairs = symmetric_rows(n_records, triples, None)
    predicted, taken = predicted_bytes(n_records, n_pairs) / 1e9, peak_now() - before
    print(f"{pairs.n_pairs:,} pairs: {predicted:.2f} GB predicted, {taken:.2f} GB taken")


def peak_now() -> float:
    """The largest memory since the peak was reset, in GB."""
    status = Path("/proc/self/status").read_text().splitlines()
    return int(next(line.split()[1] for line in status if line.startswith("VmHWM"))) / 1e6


def main(n_records: int = 1_000_000, n_pairs: int = 5_000_000, updated: int = 10_000, keep: str = "") -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_problem(n_records, n_pairs, updated, keep or folder)
        measure(keep or folder)


if __name__ == "__main__":
    given = sys.argv[1:]
    if given[:1] == ["pairs"]:
        write_problem(*map(int, given[1:4]), given[4])
    elif given[:1] == ["command"]:
        command(given[1])
    elif given[:1] == ["memory"]:
        memory(*map(int, given[1:3]))
    else:
        main(*map(int, given[:3]), *given[3:])
