"""Cluster editing: graphs of the PACE challenge 2021 as pair probabilities of 0 and 1, solved with a proof.

    python -m benchmarks.cluster_editing FOLDER [--seconds 10] [--count 40]

FOLDER has the challenge's files exact001.gr and so on (PACE-challenge/Cluster-Editing-PACE-2021-instances), in its
format: a line `p cep NODES EDGES`, then two nodes per line. The best partition adds and removes the fewest edges so
that each component is complete: Binder's loss, in pairs. The challenge gave its solvers 30 minutes per graph.
"""

from __future__ import annotations

import argparse
import math
import time
from pathlib import Path

import numpy as np

import partita as pt
from benchmarks.record import write_result


def read_graph(path: Path) -> np.ndarray:
    """The 0-1 matrix of edges."""
    lines = path.read_text(encoding="utf-8").splitlines()
    (header,) = (line for line in lines if line.startswith("p"))
    adjacency = np.zeros((int(header.split()[2]),) * 2)
    edges = np.array([line.split() for line in lines if line and line[0] not in "pc"], dtype=int).reshape(-1, 2) - 1
    adjacency[edges[:, 0], edges[:, 1]] = adjacency[edges[:, 1], edges[:, 0]] = 1
    np.fill_diagonal(adjacency, 1)
    return adjacency


def edits(labels: np.ndarray, adjacency: np.ndarray) -> int:
    """Pairs in which the partition and the graph differ."""
    return int(np.triu(np.equal.outer(labels, labels) != (adjacency > 0), 1).sum())


def solve(path: Path, seconds: float) -> dict[str, object]:
    adjacency = read_graph(path)
    wall, cpu = time.monotonic(), time.process_time()
    best = pt.estimate(pt.as_similarity(adjacency), "binder", "exact", pt.Search(seconds=seconds, n_jobs=1), rng=1)
    wall, cpu = time.monotonic() - wall, time.process_time() - cpu
    count = edits(best.labels, adjacency)
    low = count if best.proven else math.ceil(best.bound(0.1).value / best.expected_loss * count - 1e-6)
    return {
        "graph": path.stem,
        "nodes": len(adjacency),
        "edits": count,
        "at least": low,
        "proven": "yes" if best.proven else "no",
        "wall s": f"{wall:.2f}",
        "CPU s": f"{cpu:.2f}",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=10.0, help="time limit for each graph")
    parser.add_argument("--count", type=int, default=40, help="only the first graphs")
    options = parser.parse_args()
    rows = []
    for path in sorted(options.folder.glob("exact*.gr"))[: options.count]:
        rows.append(solve(path, options.seconds))
        print(*rows[-1].values(), flush=True)
    proven = sum(row["proven"] == "yes" for row in rows)
    print(f"{proven} of {len(rows)} proven within {options.seconds:g} s")
    command = f"python -m benchmarks.cluster_editing FOLDER --seconds {options.seconds:g} --count {options.count}"
    write_result("cluster_editing", rows, command=command, note="the time limit is for each graph; one thread")


if __name__ == "__main__":
    main()
