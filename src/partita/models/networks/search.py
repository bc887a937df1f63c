"""The search for the partition of largest exact ICL, as both block models run it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._core import NetworkPlan, NetworkStart, network_start_kinds
from partita._support.validate import check_choice, check_n_jobs
from partita.models.networks.core import seed_from
from partita.models.search_runs import Runs
from partita.search.deadline import LAST_MOMENT, NEVER, Deadline

ALGORITHMS = ("search", "come-latouche")


@dataclass(frozen=True)
class Limits:
    """What a user allows a search: the most clusters of each side, threads, time, and which algorithm."""

    most: tuple[int, int]
    n_jobs: int = -1
    until: Deadline = NEVER
    algorithm: str = "search"


def start_kinds(
    n_nodes: int, restarts: int, n_given: int, *, partitions: bool = True, uneven: bool = False
) -> list[str]:
    """The kind of each run's start: those that are given, then the kinds of the network's size in turn.

    `partitions` says whether there is something to see: a network of a few nodes or without edges has only random
    starts. `uneven` says whether nodes of a cluster may differ in degree.

    >>> start_kinds(10_000, 4, 1)
    ['given', 'spectral', 'communities', 'spectral']
    """
    kinds = network_start_kinds(n_nodes, restarts, n_given, partitions, uneven)
    return [kind.name.replace("_", "-") for kind in kinds]


def search_partition(
    native: Any,
    starts: NDArray[np.uint32],
    kinds: list[str],
    limits: Limits,
    rng: np.random.Generator,
    *,
    plain: bool,
    uneven: bool,
) -> tuple[NDArray[np.uint32], float, Runs]:
    """The core's search: labels, ICL, and what its runs came to.

    `starts` has the partitions of the runs whose kind is "given", "spectral", "periphery" or "k-means", in their order;
    `plain` says whether edges have no values but counts, `uneven` whether nodes of a cluster may differ in degree.
    """
    plan = NetworkPlan(
        n_nodes=starts.shape[1],
        kinds=[NetworkStart[kind.replace("-", "_")] for kind in kinds],
        max_rows=limits.most[0],
        max_columns=limits.most[1],
        plain=plain,
        uneven=uneven,
        as_printed=limits.algorithm == "come-latouche",
        seed=seed_from(rng),
        threads=check_n_jobs(limits.n_jobs),
    )
    found = native.maximize(starts, plan, max(limits.until.left, LAST_MOMENT))
    return found[0], found[1], Runs.of(kinds, found)


def check_algorithm(algorithm: Any) -> str:
    """One of the algorithms of `maximize`."""
    return check_choice(algorithm, "algorithm", ALGORITHMS)
