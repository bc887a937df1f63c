"""Draws handed to a user's function while chains run, which may end the run."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
