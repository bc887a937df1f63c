"""The search for the partition of largest exact ICL, as both block models run it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._core import EvolutionPlan, NetworkPlan, NetworkRun, NetworkStart, Rearrangements
from partita._support.validate import check_choice, check_n_jobs
from partita.models.networks.core import seed_from
from partita.models.search_runs import Runs
from partita.search.deadline import LAST_MOMENT, NEVER, Deadline

SMALL = 500  # nodes up to which annealing is cheap
MEDIUM = 3000  # nodes up to which random starts are worth their time, and clusters are swept before they are merged
REHEAT_SWEEPS = {"small": 20, "medium": 0, "large": 0}  # of children that are not crossings; 0: there are none
MAX_GENERATIONS = 50
SURVIVORS = 5  # of a generation, in networks that are not small
MAX_START_CLUSTERS = 256
MAX_GROUPS = 3  # that cross their runs apart
GROUP_RUNS = {"small": 3, "medium": 10, "large": 10}  # the least runs of a group: crossings need variety
ALGORITHMS = ("search", "come-latouche")

#: How runs start, in turn: what is sure to be good first, and kinds that err in different ways beside each other.
#: "uneven": networks of medium size under degree correction. A node of few edges costs little in any cluster, so that
#: climbs leave such nodes where they are; in a cluster of their own, a periphery, they may be worth much more.
CYCLES = {
    "small": ("spectral", "annealed", "communities", "annealed", "annealed", "spectral", "annealed", "annealed"),
    "medium": ("spectral", "random", "communities", "random"),
    "uneven": ("spectral", "periphery", "communities", "random"),
    "large": ("spectral", "communities"),
}
MAX_SPECTRAL = 8  # starts of one kind that differ little
RESOLUTIONS = (4.0, 1.0, 16.0, 2.0, 0.5)  # of communities, in turn
#: Clusters of spectral starts, as multiples of `start_clusters`, in turn.
WIDTHS = (1.0, 0.5, 1.5)
#: Share of the nodes that a start of the kind "periphery" has in a cluster apart, at most, in turn.
PERIPHERIES = (0.2, 0.1, 0.3)
#: What the core makes itself; all other kinds are partitions that it is given.
STARTS = {
    "communities": NetworkStart.communities,
    "annealed": NetworkStart.annealed,
    "random": NetworkStart.random,
}


@dataclass(frozen=True)
class Effort:
    """How long a search goes on: sweeps of an annealed start, runs that end the search if they agree (the first, of
    three kinds), generations without a better solution."""

    anneal_sweeps: int
    trial_runs: int
    patience: int


#: By the size of a network. "even", "uneven": small networks whose edges have no values but counts, without and with
#: degree correction. They cool faster, since further runs gain more than further sweeps. Under degree correction a
#: network that cools too fast ends as a single cluster; without it, more runs must agree, since short ones may meet
#: beside the best.
EFFORTS = {
    "small": Effort(200, 3, 8),
    "even": Effort(80, 6, 6),
    "uneven": Effort(140, 3, 8),
    "medium": Effort(200, 3, 3),
    "large": Effort(200, 3, 2),
}


#: By the size of a network; "uneven" as in `CYCLES`.
REARRANGE = {
    "small": Rearrangements(runs=1, children=1, best=4),
    "medium": Rearrangements(runs=2, children=2, best=16, clusters=5),
    "uneven": Rearrangements(runs=2, children=4, best=32),
    "large": Rearrangements(runs=1, children=1, best=4),
}


@dataclass(frozen=True)
class Limits:
    """What a user allows a search: the most clusters of each side, threads, time, and which algorithm."""

    most: tuple[int, int]
    n_jobs: int = -1
    until: Deadline = NEVER
    algorithm: str = "search"


def size_of(n_nodes: int) -> str:
    """Which kinds of starts and how many groups a network is given."""
    return "small" if n_nodes <= SMALL else "medium" if n_nodes <= MEDIUM else "large"


def start_kinds(
    n_nodes: int, restarts: int, n_given: int, *, partitions: bool = True, uneven: bool = False
) -> list[str]:
    """The kind of each run's start: those that are given, then the kinds of the network's size in turn.

    `partitions` says whether there is something to see: a network of a few nodes or without edges has only random
    starts. `uneven` says whether nodes of a cluster may differ in degree.

    >>> start_kinds(10_000, 4, 1)
    ['given', 'spectral', 'communities', 'spectral']
    """
    size = size_of(n_nodes)
    cycle = CYCLES["uneven" if uneven and size == "medium" else size] if partitions else ("random",)
    kinds = ["given"] * n_given
    for at in range(max(restarts - n_given, 0)):
        kind = cycle[at % len(cycle)]
        worn_out = kind == "spectral" and kinds.count("spectral") >= MAX_SPECTRAL
        kinds.append("communities" if worn_out else kind)
    return kinds


def search_partition(
    native: Any,
    starts: NDArray[np.uint32],
    kinds: list[str],
    limits: Limits,
    rng: np.random.Generator,
    effort: Effort | None = None,
) -> tuple[NDArray[np.uint32], float, Runs]:
    """The core's search: labels, ICL, and what its runs came to.

    `starts` has the partitions of the runs whose kind is "given", "spectral", "periphery" or "k-means", in their order;
    `effort` is by default that of the size.
    """
    n_nodes, size = starts.shape[1], size_of(starts.shape[1])
    effort = effort or EFFORTS[size]
    as_printed = limits.algorithm == "come-latouche"  # makes every run
    turns = count()
    resolutions = [RESOLUTIONS[next(turns) % len(RESOLUTIONS)] if kind == "communities" else 1.0 for kind in kinds]
    evolution = EvolutionPlan(
        trial_runs=len(kinds) if as_printed else min(effort.trial_runs, len(kinds)),
        groups=1 if as_printed else min(MAX_GROUPS, max(1, len(kinds) // GROUP_RUNS[size])),
        generations=MAX_GENERATIONS,
        patience=effort.patience,
        seed=seed_from(rng),
        threads=check_n_jobs(limits.n_jobs),
        survivors=len(kinds) if n_nodes <= SMALL else SURVIVORS,
    )
    plan = NetworkPlan(
        evolution,
        max_rows=limits.most[0],
        max_columns=limits.most[1],
        runs=[NetworkRun(STARTS.get(k, NetworkStart.given), at) for k, at in zip(kinds, resolutions, strict=True)],
        random_clusters=min(start_clusters(n_nodes), max(limits.most)),
        anneal_sweeps=effort.anneal_sweeps,
        reheat_sweeps=REHEAT_SWEEPS[size],
        rearrange=REARRANGE["uneven" if "periphery" in kinds else size],
        merge_first=n_nodes > MEDIUM,
        as_printed=as_printed,
    )
    found = native.maximize(starts, plan, max(limits.until.left, LAST_MOMENT))
    return found[0], found[1], Runs.of(kinds, found)


def network_effort(n_nodes: int, *, plain: bool, uneven: bool) -> Effort:
    """How long the search of a network goes on: `plain` says whether edges have no values but counts, `uneven` whether
    nodes of a cluster may differ in degree.

    >>> network_effort(100, plain=True, uneven=False).anneal_sweeps
    80
    """
    size = size_of(n_nodes)
    return EFFORTS[("uneven" if uneven else "even") if plain and size == "small" else size]


def start_clusters(n_nodes: int) -> int:
    """Clusters of a start: more than are likely to be there, since clusters merge more easily than they split."""
    return min(n_nodes, max(20, math.isqrt(4 * n_nodes)), MAX_START_CLUSTERS)


def start_widths(count: int, n_nodes: int, most: int) -> list[int]:
    """Numbers of clusters of the spectral starts: they differ, so that the starts differ."""
    clusters = start_clusters(n_nodes)
    return [max(1, min(round(clusters * WIDTHS[at % len(WIDTHS)]), most, n_nodes)) for at in range(count)]


def check_algorithm(algorithm: Any) -> str:
    """One of the algorithms of `maximize`."""
    return check_choice(algorithm, "algorithm", ALGORITHMS)
