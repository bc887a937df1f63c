"""Linkage at the size of a register: reading, the estimate, an update, a limit on size, beside connected components.

    python -m benchmarks.linkage [RECORDS] [PAIRS] [UPDATED] [DIR]   # by default 1000000 5000000 10000

Pairs are those of `benchmarks.pairs`, in a parquet file, which DIR keeps for `benchmarks/splink_clusters.py`. Prints
wall and CPU seconds, components that are proven, pairwise precision, recall and F1, and the peak memory.
"""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import partita as pt
from benchmarks.pairs import linkage_table, persons, timed

MAX_SIZE = 5
SEED = 1


def write_pairs(path: str, n_records: int, n_pairs: int) -> None:
    """The pairs as a parquet file, by a process of its own, so that its memory does not count."""
    linkage_table(n_records, n_pairs, np.random.default_rng(SEED)).to_parquet(path, index=False)


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


def new_pairs(pairs: pt.Similarity, count: int):
    """Pairs of records that have one already and new records."""
    import pandas as pd

    rng = np.random.default_rng(2)
    known = rng.choice(pairs.n_items, count, replace=False)
    names = [str(i) if pairs.names is None else pairs.names[i] for i in known.tolist()]
    fresh = [f"new {i}" for i in range(count)]
    return pd.DataFrame({"left": names, "right": fresh, "probability": rng.beta(2, 1, count)})


def main(n_records: int = 1_000_000, n_pairs: int = 5_000_000, updated: int = 10_000, keep: str = "") -> None:
    from scipy.sparse.csgraph import connected_components

    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "pairs.parquet")
        code = f"from benchmarks.linkage import write_pairs; write_pairs({path!r}, {n_records}, {n_pairs})"
        subprocess.run([sys.executable, "-c", code], check=True)
        with timed("read"):
            pairs = pt.as_similarity(path)
        if keep:
            shutil.copy(path, Path(keep) / "pairs.parquet")
            np.save(Path(keep) / "person.npy", persons(n_records, np.random.default_rng(SEED)))
    items = np.arange(pairs.n_items) if pairs.names is None else np.array(pairs.names, np.int64)
    person = persons(n_records, np.random.default_rng(SEED))[items]
    print(f"{pairs.n_items:,} records, {pairs.n_pairs:,} pairs")
    with timed("binder"):
        est = pt.estimate(pairs, "binder", rng=1)
    told(est, person)
    with timed(f"binder, max_size={MAX_SIZE}"):
        limited = pt.estimate(pairs, "binder", constraints=pt.Constraints(max_size=MAX_SIZE), rng=1)
    told(limited, person)
    del limited
    for threshold in (0.5, 0.9):
        with timed(f"connected components at {threshold}"):
            graph = pairs.to_scipy()
            graph.data[graph.data < threshold] = 0
            graph.eliminate_zeros()
            labels = connected_components(graph, directed=False)[1]
        print(f"  {labels.max() + 1:,} clusters; {pairwise(labels, person)}")
        del graph
    more = new_pairs(pairs, updated)
    with timed(f"update with {updated:,} pairs"):
        after = pt.update(est, more)
    print(f"  {after.components.count - after.components.proven:,} components not proven")
    print(f"peak memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:4]), *sys.argv[4:])
