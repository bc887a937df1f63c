"""One call of the core's search as data, so that it can be sent to a worker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita import _core
from partita.draws.sample import PartitionSample
from partita.losses.base import Loss
from partita.losses.expected import core_sample

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


def as_options(values: dict[str, Any]) -> _core.SearchOptions:
    """The core's options, set by name."""
    options = _core.SearchOptions()
    for name, value in values.items():
        setattr(options, name, value)
    return options


@dataclass(frozen=True, eq=False)
class Job:
    """A search of a sample, or the refinement of `starts`; `copies` counts the equal items that each represents."""

    method: str
    sample: PartitionSample
    loss: Loss
    options: dict[str, Any]
    copies: NDArray[np.uint32] | None = None
    starts: NDArray[np.uint32] | None = None

    def __sizeof__(self) -> int:
        return int(self.sample.labels.nbytes)  # so that Dask knows the cost of moving it

    def run(self, report: Report | None = None, execute_stage: StageExecutor | None = None) -> Runs:
        """Executes the job; `execute_stage` makes its runs somewhere else than on threads of this process."""
        options = as_options(self.options)
        n_items = self.sample.n_items if self.copies is None else int(self.copies.sum())
        sample, native = core_sample(self.sample), self.loss._native(n_items)
        if self.method == NOISE and self.starts is not None:
            return Runs(*_core.refine_with_noise(sample, native, self.starts, options, report))
        if self.starts is not None:
            return Runs(*_core.refine(sample, native, self.starts, options, report, execute_stage))
        return Runs(*_core.search(sample, native, self.method, options, report, execute_stage, self.copies))


#: Executes jobs: in this process, or on the workers of a cluster.
Engine = Callable[[Job, Report | None], Runs]


def run_here(job: Job, report: Report | None) -> Runs:
    """Executes a job on threads of this process."""
    return job.run(report)
