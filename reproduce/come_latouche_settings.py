"""Settings 1–3 of Côme & Latouche (2015): NMI by β of the exact ICL and of its rivals, as a table.

    python reproduce/come_latouche_settings.py --graphs 20 --out settings.csv

The paper has 20 graphs for each β in 0.45, 0.43, …, 0.01; --quick takes 3 graphs and five values of β.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from partita.agreement import nmi
from partita.models import StochasticBlockModel, affiliation_vb, variational_em

EPSILON = 0.01
SETTINGS = {1: (100, 5, False), 2: (100, 5, True), 3: (500, 10, False)}  # nodes, clusters, hub cluster
METHODS: dict[str, Callable[..., np.ndarray]] = {
    "exact ICL": lambda X, k, rng: StochasticBlockModel().maximize(X, k_max=k, restarts=10, rng=rng).labels,
    "mixer": lambda X, k, rng: variational_em(X, range(2, k + 1), restarts=3, rng=rng).labels,
    "vbmod": lambda X, k, rng: affiliation_vb(X, range(2, k + 1), restarts=3, rng=rng).labels,
}
K_UP = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=20)
    parser.add_argument("--settings", type=int, nargs="*", default=[1, 2, 3], choices=list(SETTINGS))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    betas = np.array([0.45, 0.35, 0.25, 0.17, 0.09]) if arguments.quick else np.arange(0.45, 0, -0.02)
    graphs = 3 if arguments.quick else arguments.graphs
    rows = []
    print("setting  beta  " + "  ".join(METHODS))
    for setting in arguments.settings:
        for beta in betas:
            scores = mean_scores(setting, float(beta), graphs)
            rows.append([setting, round(float(beta), 2), *scores])
            print(f"{setting:7}  {beta:.2f}  " + "  ".join(f"{score:9.3f}" for score in scores), flush=True)
    if arguments.out is not None:
        with arguments.out.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([["setting", "beta", *METHODS], *rows])


def mean_scores(setting: int, beta: float, graphs: int) -> list[float]:
    """Mean NMI of each method over graphs that all methods share."""
    scores = [
        [nmi(labels, method(X, K_UP, seed)) for method in METHODS.values()]
        for seed, (X, labels) in enumerate(make_graphs(setting, beta, graphs))
    ]
    return np.mean(scores, axis=0).tolist()


def make_graphs(setting: int, beta: float, graphs: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Directed graphs without loops; cluster 0 is the hub if the setting has one."""
    n, k, hub = SETTINGS[setting]
    for graph in range(graphs):
        rng = np.random.default_rng([setting, round(100 * beta), graph])
        labels = rng.integers(k, size=n)
        linked = labels[:, None] == labels
        if hub:
            linked = linked | (labels == 0)[:, None] | (labels == 0)
        X = (rng.random((n, n)) < np.where(linked, beta, EPSILON)).astype(float)
        np.fill_diagonal(X, 0)
        yield X, labels


if __name__ == "__main__":
    main()
