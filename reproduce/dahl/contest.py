"""Searches on one posterior sample under one loss: what each reaches, and the CPU seconds that it takes."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import partita as pt

LOSSES: dict[str, pt.Loss] = {
    "Binder": pt.Binder(),
    "Binder(2)": pt.Binder(2.0, 1.0),
    "omARI": pt.OneMinusARI(),
    "VI": pt.VI(),
    "VI(0.5)": pt.VI(0.5, 1.0),
    "NVI": pt.NVI(),
    "ID": pt.ID(),
    "NID": pt.NID(),
}
GREEDY_EPL = ("Binder", "VI", "NVI", "NID")  # the losses of Table 2, those of R&F's package
SAME = 1e-9  # relative: expected losses that differ by less are equal
PILOT, MAX_RUNS = 2, 500


@dataclass(frozen=True)
class Reached:
    """The end of one search."""

    loss: float
    clusters: int
    seconds: float  # of CPU, one thread

    def beats(self, other: Reached) -> bool:
        return self.loss < other.loss - SAME * abs(other.loss)


def reach(sample: pt.PartitionSample, loss: pt.Loss, seed: int, method: str = "salso", **settings: float) -> Reached:
    begun = time.process_time()
    found = pt.estimate(sample, loss, method, pt.Search(n_jobs=1, **settings), rng=seed)  # type: ignore[arg-type]
    return Reached(found.expected_loss, found.n_clusters, time.process_time() - begun)


def reach_in(
    seconds: float, sample: pt.PartitionSample, loss: pt.Loss, seed: int, method: str = "salso", **settings: float
) -> Reached:
    """As many runs as take so many CPU seconds, by what a few of them take. (A clock would stop on other work.)"""
    pilot = reach(sample, loss, seed, method, runs=PILOT, **settings)
    runs = min(max(1, round(PILOT * seconds / pilot.seconds)), MAX_RUNS)
    return reach(sample, loss, seed + 1, method, runs=runs, **settings)


def contest(sample: pt.PartitionSample, name: str, seed: int) -> dict[str, Reached]:
    """Every search of Tables 2 to 4. SALSO has ten zealous updates and sequential allocation in half of its starts."""
    loss = LOSSES[name]
    four = reach(sample, loss, seed, runs=4)
    found = {
        "SALSO, 4 runs": four,
        "SALSO, 1 run": reach(sample, loss, seed + 10, runs=1),
        "SALSO, unconstrained": reach(sample, loss, seed + 20, runs=1, max_clusters=math.inf),
        "R&F, equal time": reach_in(four.seconds, sample, loss, seed + 30, "greedy"),
        "no zealous updates": reach_in(four.seconds, sample, loss, seed + 40, zealous=0),
        "no sequential allocation": reach_in(four.seconds, sample, loss, seed + 50, p_sequential=0.0),
        "default search": reach(sample, loss, seed + 60, "search"),
        "default search, equal time": reach_in(four.seconds, sample, loss, seed + 80, "search"),
    }
    if name in GREEDY_EPL:
        found["R&F"] = reach(sample, loss, seed + 70, "greedy", runs=1, max_clusters=sample.n_items)
    return found
