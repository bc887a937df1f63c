"""The search for the partition of largest exact ICL, as both block models run it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._validate import check_n_jobs
from partita.models.block_core import seed_from

LARGE = 3000  # nodes above which random starts are not worth their time
SMALL = 500  # nodes up to which annealing is cheap
TINY = 200  # nodes up to which a climb is so cheap that none is left out
MOST_ANNEALS, ANNEAL_SWEEPS = 4, 500
MOST_GENERATIONS = 50
MOST_START_CLUSTERS = 256


def search_partition(
    native: Any, starts: NDArray[np.uint32], most: tuple[int, int], restarts: int, rng: np.random.Generator, n_jobs: int
) -> tuple[NDArray[np.uint32], float, NDArray[np.float64], bool]:
    """The core's search from given starts: labels, ICL, the ICL of each climb, whether it was stopped."""
    n_nodes = starts.shape[1]
    climbs = max(restarts, len(starts)) if n_nodes <= LARGE else max(len(starts), 1)
    labels, icl, run_icl, _, interrupted = native.maximize(
        starts,
        *most,
        climbs,
        trial_climbs=climbs if n_nodes <= TINY else len(starts) + 1,
        random_clusters=min(start_clusters(n_nodes), max(most)),
        generations=MOST_GENERATIONS,
        most_anneals=MOST_ANNEALS if n_nodes <= SMALL else 0,
        anneal_sweeps=ANNEAL_SWEEPS,
        seed=seed_from(rng),
        threads=check_n_jobs(n_jobs),
    )
    return labels, icl, run_icl, interrupted


def start_clusters(n_nodes: int) -> int:
    """Clusters of a start: more than are likely to be there, since clusters merge more easily than they split."""
    return min(n_nodes, max(20, math.isqrt(4 * n_nodes)), MOST_START_CLUSTERS)
