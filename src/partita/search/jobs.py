"""One call of the core's search as data, so that it can be sent to a worker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita import _core
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
