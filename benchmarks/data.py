"""The draws that benchmarks run on: the reference draws where the shared folder is there, generated ones else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from partita.datasets import make_draws

REFERENCE = Path(__file__).parents[2] / "shared" / "reference" / "draws"
#: name: (items, draws, clusters) of a stand-in of the same size
STAND_INS = {
    "iris": (150, 1000, 9),
    "galaxy": (82, 10_000, 5),
    "cls15": (400, 500, 13),
    "gaskins_like": (200, 2000, 11),
    "simce_like": (1072, 1000, 10),
    "large": (5000, 1000, 25),
}


def reference_draws(name: str) -> NDArray[np.int64]:
    """(draws, items) labels of a reference data set."""
    path = REFERENCE / f"{name}.npz"
    if path.exists():
        labels: NDArray[np.int64] = np.load(path)["draws"].astype(np.int64)
        return labels
    n_items, n_draws, n_clusters = STAND_INS[name]
    return make_draws(n_items, n_draws, n_clusters, rng=1)
