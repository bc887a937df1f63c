"""Progress of a search: a bar on request, or the user's own function."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from partita._support.hints import plural
from partita._support.progress import progress_bar
from partita._support.tolerance import TIE

#: Called with the expected loss and the number of clusters of each run as it ends.
Report = Callable[[float, int], None]


@contextmanager
def reporting(progress: Any, runs: int) -> Iterator[Report | None]:
    """The function to call when a run ends: none, the user's own, or that of a bar with the best loss so far."""
    if callable(progress):
        yield progress
    elif not progress:
        yield None
    else:
        best, ended = BestSoFar(), 0

        def report(loss: float, clusters: int) -> None:
            nonlocal ended
            ended += 1
            update(completed=ended, total=max(runs, ended), description=best.after(loss, clusters))

        with progress_bar("searching", runs) as update:
            yield report


@dataclass
class BestSoFar:
    """The best of the runs that have ended, and how many of them reached it."""

    loss: float = math.inf
    clusters: int = 0
    reached: int = 0

    def after(self, loss: float, clusters: int) -> str:
        """The text to show after another run has ended.

        >>> best = BestSoFar()
        >>> best.after(0.5, 3), best.after(0.75, 9)
        ('best 0.5 with 3 clusters, reached 1 time', 'best 0.5 with 3 clusters, reached 1 time')
        """
        rounding = 0.0 if math.isinf(self.loss) else TIE * abs(self.loss)
        if loss < self.loss - rounding:
            self.loss, self.clusters, self.reached = loss, clusters, 0
            rounding = TIE * abs(loss)
        self.reached += loss <= self.loss + rounding
        return f"best {self.loss:.6g} with {plural(self.clusters, 'cluster')}, reached {plural(self.reached, 'time')}"
