"""What is told while chains run: draws to a user's function, which may end the run, and a line on the terminal."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.progress import progress_bar
from partita.models.chains.checkpoint import Plan

#: Gets the labels of the next draw of every chain, (chains, items), and, if its `hears_log_density` is true, their log
#: densities, (chains,); the run ends if it returns true.
Callback = Callable[..., object]


class Listener:
    """Calls a function with each draw that all chains have, once and in order, whichever chain was first.

    Where the run ends therefore follows from the draws alone, not from the speed of the threads: chains that are ahead
    when the function returns true are cut.
    """

    def __init__(self, callback: Callback) -> None:
        if not callable(callback):
            raise TypeError(f"callback must be a function, not {type(callback).__name__}")
        self.last: int | None = None  # draws of each chain up to the one after which the run ends
        self._callback = callback
        self._hears_log_density = getattr(callback, "hears_log_density", False)
        self._heard = 0
        self._parts: list[int] = []  # of each chain, how many of its parts are in the queue or heard
        self._queues: list[deque[tuple[NDArray[Any], ...]]] = []  # draws of each chain that have not been heard

    def hear(self, jobs: Sequence[Any]) -> bool:
        """Passes on the draws that are new; whether the run is to end."""
        if not self._queues:
            self._parts, self._queues = [0] * len(jobs), [deque() for _ in jobs]
        for chain, job in enumerate(jobs):
            fresh = job.parts[self._parts[chain] :]
            self._parts[chain] += len(fresh)
            for labels, stats in fresh:
                density = [stats[:, job.log_density]] if self._hears_log_density else []
                self._queues[chain].extend(zip(labels, *density, strict=True))
        while self.last is None and all(self._queues):
            self._heard += 1
            if self._callback(*map(np.stack, zip(*[queue.popleft() for queue in self._queues], strict=True))):
                self.last = self._heard
        return self.last is not None


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
