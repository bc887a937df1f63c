"""Splink's own clustering of the pairs of `benchmarks.linkage`, in an environment that has Splink.

    python -m benchmarks.linkage 1000000 5000000 1000 DIR   # writes DIR/pairs.parquet and DIR/person.npy
    python benchmarks/splink_clusters.py DIR                # there: pip install splink

Prints wall and CPU seconds and pairwise F1 of connected components at two thresholds.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np


def main(folder: Path) -> None:
    import duckdb
    from splink import DuckDBAPI
    from splink.clustering import cluster_pairwise_predictions_at_threshold

    person = np.load(folder / "person.npy")
    database = duckdb.connect()
    nodes = database.sql(f"select range as record from range({person.size})").to_arrow_table()
    columns = '"left" as record_l, "right" as record_r, probability as match_probability'
    edges = database.sql(f"select {columns} from '{folder / 'pairs.parquet'}'").to_arrow_table()
    for threshold in (0.5, 0.9):
        wall, cpu = time.perf_counter(), time.process_time()
        api = DuckDBAPI()
        found = cluster_pairwise_predictions_at_threshold(
            api.register(nodes), api.register(edges), api, "record", threshold_match_probability=threshold
        )
        table = found.as_duckdbpyrelation().order("record").fetchnumpy()
        spent = f"{time.perf_counter() - wall:.1f} s, {time.process_time() - cpu:.1f} CPU s"
        cluster = np.unique(np.asarray(table["cluster_id"]), return_inverse=True)[1]
        print(
            f"Splink at {threshold}: {spent}; {cluster.max() + 1:,} clusters; F1 {f1(cluster, person):.4f}", flush=True
        )


def f1(cluster, person) -> float:
    """Pairwise F1."""

    def pairs(labels) -> float:
        sizes = np.unique(labels, return_counts=True)[1].astype(float)
        return float((sizes * (sizes - 1)).sum())

    return 2 * pairs(cluster * (person.max() + 1) + person) / (pairs(cluster) + pairs(person))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
