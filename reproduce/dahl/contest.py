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
MAX_RUNS = 500
SHORT, TRIAL = 0.005, 5  # seconds of a run, and runs that show what a short one takes
FURTHER = 10**9  # between the seeds of the runs of one search, which are above those of all first runs

FOUR, ONE, FREE = "SALSO, 4 runs", "SALSO, 1 run", "SALSO, unconstrained"
GREEDY, GREEDY_FREE = "R&F, equal time", "R&F"
NOT_ZEALOUS, NOT_SEQUENTIAL = "no zealous updates", "no sequential allocation"
OURS, OURS_IN_TIME = "default search", "default search, equal time"
SEARCHES = (FOUR, ONE, FREE, GREEDY, NOT_ZEALOUS, NOT_SEQUENTIAL, OURS_IN_TIME, GREEDY_FREE, OURS)


@dataclass(frozen=True)
class Reached:
    """The end of one search."""

    loss: float
    clusters: int
    seconds: float  # of CPU, one thread

    def beats(self, other: Reached) -> bool:
        return self.loss < other.loss - SAME * abs(other.loss)


#: What each search reached on one sample.
Contest = dict[str, Reached]


def reach(sample: pt.PartitionSample, loss: pt.Loss, seed: int, method: str = "salso", **settings: float) -> Reached:
    search = pt.Search(n_jobs=1, **settings)  # type: ignore[arg-type]
    begun = time.process_time()
    found = pt.estimate(sample, loss, method, search, rng=seed, check_draws=False)
    return Reached(found.expected_loss, found.n_clusters, time.process_time() - begun)


def reach_in(
    seconds: float, sample: pt.PartitionSample, loss: pt.Loss, seed: int, method: str = "salso", **settings: float
) -> Reached:
    """As many runs as fit into this many CPU seconds, by what those so far took. (A clock would stop on other work.)"""
    best = reach(sample, loss, seed, method, runs=1, **settings)
    if best.seconds < SHORT:
        runs = short_runs(seconds, best.seconds, reach(sample, loss, seed, method, runs=TRIAL, **settings).seconds)
        return reach(sample, loss, seed, method, runs=runs, **settings)
    runs, spent = 1, best.seconds
    while (more := min(round(runs * (seconds / spent - 1)), MAX_RUNS - runs)) >= 1:
        found = reach(sample, loss, seed + FURTHER * runs, method, runs=more, **settings)
        best = min(best, found, key=lambda reached: reached.loss)
        runs, spent = runs + more, spent + found.seconds
    return Reached(best.loss, best.clusters, spent)


def short_runs(seconds: float, one: float, trial: float) -> int:
    """How many short runs fit: a call costs about as much as a run, so that one call has to make them all.

    >>> short_runs(0.010, one=0.002, trial=0.010)  # the cost of a call is 0, that of a run 0.002
    5
    >>> short_runs(0.010, one=0.002, trial=0.006)  # 0.001 each
    9
    """
    per_run = max((trial - one) / (TRIAL - 1), one / TRIAL)
    return min(max(1, 1 + round((seconds - one) / per_run)), MAX_RUNS)


def contest(
    sample: pt.PartitionSample, name: str, seed: int, *, without_parts: bool = True, ours: bool = True
) -> Contest:
    """Every search of Tables 2 to 4. SALSO has ten zealous updates and sequential allocation in half of its starts.

    `without_parts`: SALSO without one or the other too, which the paper has no table of. `ours`: our default search
    too, whose 16 runs cost more than all the others together.
    """
    loss = LOSSES[name]
    four = reach(sample, loss, seed, runs=4)
    found = {
        FOUR: four,
        ONE: reach(sample, loss, seed + 10, runs=1),
        FREE: reach(sample, loss, seed + 20, runs=1, max_clusters=math.inf),
        GREEDY: reach_in(four.seconds, sample, loss, seed + 30, "greedy"),
    }
    if without_parts:
        found[NOT_ZEALOUS] = reach_in(four.seconds, sample, loss, seed + 40, zealous=0)
        found[NOT_SEQUENTIAL] = reach_in(four.seconds, sample, loss, seed + 50, p_sequential=0.0)
    if name in GREEDY_EPL:
        found[GREEDY_FREE] = reach(sample, loss, seed + 70, "greedy", runs=1, max_clusters=sample.n_items)
    if ours:
        found[OURS] = reach(sample, loss, seed + 60, "search")
        found[OURS_IN_TIME] = reach_in(four.seconds, sample, loss, seed + 80, "search")
    return found
