"""One line on the terminal while chains run: draws done, draws per second, clusters."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from partita._support.progress import progress_bar
from partita.models.chains.checkpoint import Plan

Reporter = Callable[[Sequence[Any]], None]


@contextmanager
def reporter(plan: Plan, wanted: bool) -> Iterator[Reporter]:
    """A function that shows where the chains are; it does nothing unless it is wanted."""
    if not wanted:
        yield lambda jobs: None
        return
    started = time.monotonic()
    with progress_bar("warmup", plan.sweeps * plan.chains) as update:
        already: list[int] = []

        def report(jobs: Sequence[Any]) -> None:
            already[:] = already or [sum(job.draws for job in jobs)]
            rate = (sum(job.draws for job in jobs) - already[0]) / max(time.monotonic() - started, 1e-9)
            done = sum(job.sweeps for job in jobs)
            update(completed=done, description=_describe(jobs, rate))

        yield report


def _describe(jobs: Sequence[Any], rate: float) -> str:
    draws = sum(job.draws for job in jobs)
    recent = [job.parts[-1] for job in jobs if job.parts]
    if not recent:
        return "warmup"
    column = list(jobs[0].sampler.stat_names).index("n_clusters")
    clusters = sum(float(stats[-1, column]) for _, stats in recent) / len(recent)
    return f"{draws} draws, {rate:,.0f} per second, {clusters:.1f} clusters"
