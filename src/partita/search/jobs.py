"""One call of the core's search as data, so that it can be sent to a worker, and what is told of its progress."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita import _core
from partita._support.hints import plural
from partita._support.progress import progress_bar
from partita._support.tolerance import TIE
from partita.draws.sample import PartitionSample
from partita.losses.base import Loss
from partita.losses.problem import core_problem, core_sample

#: The method of a job that refines starts in which items may be alone.
NOISE = "noise"


class Runs(NamedTuple):
    """The runs of a job, whether Ctrl-C ended them early, and how many starts were made."""

    runs: list[_core.Run]
    interrupted: bool
    n_started: int


#: Executes the runs of one stage of a search, and returns them in order.
StageExecutor = Callable[[_core.Stage], list[_core.Run]]
#: Called with the expected loss and the number of clusters of each run as it ends.
Report = Callable[[float, int], None]


@dataclass(frozen=True, eq=False)
class Job:
    """A search of a sample, or the refinement of `starts`; `copies` counts the equal items that each represents."""

    method: str
    sample: PartitionSample
    loss: Loss
    options: _core.SearchOptions
    copies: NDArray[np.uint32] | None = None
    starts: NDArray[np.uint32] | None = None

    def __sizeof__(self) -> int:
        return int(self.sample.labels.nbytes)  # so that Dask knows the cost of moving it

    def run(self, report: Report | None = None, execute_stage: StageExecutor | None = None) -> Runs:
        """Executes the job; `execute_stage` makes its runs somewhere else than on threads of this process."""
        problem = self._problem()
        if self.method == NOISE and self.starts is not None:
            return Runs(*_core.refine_with_noise(problem, self.starts, self.options, report))
        if self.starts is not None:
            return Runs(*_core.refine(problem, self.starts, self.options, report, execute_stage))
        return Runs(*_core.search(problem, self.method, self.options, report, execute_stage))

    def _problem(self) -> _core.Problem:
        if self.copies is None:
            return core_problem(self.sample, self.loss)
        native = self.loss._native(int(self.copies.sum()))
        return _core.Problem(core_sample(self.sample), native, self.copies)


#: Executes jobs: in this process, or on the workers of a cluster.
Engine = Callable[[Job, Report | None], Runs]


def run_here(job: Job, report: Report | None) -> Runs:
    """Executes a job on threads of this process."""
    return job.run(report)


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
