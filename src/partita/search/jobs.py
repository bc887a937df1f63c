"""One call of the core's search, as data: what a worker needs to do one run of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita import _core
from partita.losses import Loss, core_sample
from partita.sample import PartitionSample

#: The runs, and whether Ctrl-C ended them early.
Runs = tuple[list[_core.Run], bool]
#: Does the runs of one stage of a search, and gives them back in order.
DoStage = Callable[[_core.Stage], list[_core.Run]]
Report = Callable[[float, int], None]


@dataclass(frozen=True, eq=False)
class Job:
    """A search of a sample, or with `starts` the refinement of partitions; `copies` counts equal items."""

    method: str
    sample: PartitionSample
    loss: Loss
    options: dict[str, Any]
    copies: NDArray[np.uint32] | None = None
    starts: NDArray[np.uint32] | None = None

    def __sizeof__(self) -> int:
        return int(self.sample.labels.nbytes)  # so that Dask knows what it costs to move

    def run(self, report: Report | None = None, do_stage: DoStage | None = None) -> Runs:
        """Does the job; `do_stage` does its runs elsewhere than on threads of this process."""
        options = _core.SearchOptions()
        for name, value in self.options.items():
            setattr(options, name, value)
        n_items = self.sample.n_items if self.copies is None else int(self.copies.sum())
        sample, native = core_sample(self.sample), self.loss._native(n_items)
        if self.starts is not None:
            return _core.refine(sample, native, self.starts, options, report, do_stage)
        return _core.search(sample, native, self.method, options, report, do_stage, self.copies)


#: Where jobs are done: here, or by the workers of a cluster.
Engine = Callable[[Job, Report | None], Runs]


def run_here(job: Job, report: Report | None) -> Runs:
    """On threads of this process."""
    return job.run(report)
