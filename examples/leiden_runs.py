"""
A hundred Leiden runs of one data set
=====================================

Ten resolutions with ten seeds each, on the 700 blood cells that come with scanpy (`pbmc68k_reduced`). It needs scanpy,
leidenalg and igraph, which partita itself does not need: `pip install scanpy leidenalg igraph`. The labels that it
writes are those of `partita.datasets.load_leiden_runs`.
"""

import sys

import pandas as pd
import scanpy as sc

RESOLUTIONS = (0.2, 0.3, 0.4, 0.6, 0.8, 1.0, 1.2, 1.5, 2.0, 2.5)
SEEDS = range(10)

cells = sc.datasets.pbmc68k_reduced()  # with its own graph of neighbours
for resolution in RESOLUTIONS:
    for seed in SEEDS:
        key = f"leiden_{resolution}_{seed}"
        sc.tl.leiden(cells, resolution, random_state=seed, key_added=key, flavor="leidenalg")

runs = cells.obs.filter(like="leiden_").astype(int)
runs.index = pd.Index([f"cell{n}" for n in range(len(runs))], name="item")
runs.to_csv(sys.argv[1] if len(sys.argv) > 1 else "leiden.csv.gz")
print(runs.nunique().groupby(lambda key: key.split("_")[1]).agg(["min", "max"]))
