"""The runs of a search on the workers of a cluster: every worker follows the same search and makes some of its runs.

A search goes through stages of runs that do not depend on each other. To make some of a stage's runs, a worker starts
the same search, receives the runs of the previous stages, and stops after its own. So the answer is the same as on one
machine for any number of workers, and the runs of a worker that died are repeated by another.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace

from partita import _core
from partita.distributed.pool import DaskPool, Shared
from partita.search.jobs import Engine, Job, Report, Runs

#: Runs are sent in blocks, because a task costs 10 to 20 ms: the minimum per thread, and the maximum size.
BLOCKS_PER_THREAD = 3
MAX_RUNS_PER_BLOCK = 4


class _Done(Exception):
    """Leaves a search after the requested runs."""


def engine_on(pool: DaskPool) -> Engine:
    """Does the jobs of a search on a pool of workers."""

    def engine(job: Job, report: Report | None) -> Runs:
        shared = pool.share(replace(job, options=job.options.within(math.inf)))  # the client has the clock
        history: list[Shared] = []

        def execute_stage(stage: _core.Stage) -> list[_core.Run]:
            blocks = _blocks(stage.n_runs, pool.n_threads)
            answers = pool.map(some_runs, [(block, shared, *history) for block in blocks], lambda: stage.stopped)
            runs: list[_core.Run] = []
            for block, answer in zip(blocks, answers, strict=True):
                runs += [_core.Run() for _ in block] if answer is None else answer
            if stage.n_runs and not any(run.clusters for run in runs):
                runs[0] = stage.run(0)  # an answer even if there was no time
            history.append(pool.share(runs))
            return runs

        return job.run(report, execute_stage)

    return engine


def _blocks(n_runs: int, n_threads: int) -> list[range]:
    """The numbers of the runs in blocks, so that threads end together and none loses much with its worker."""
    length = min(max(n_runs // (BLOCKS_PER_THREAD * max(n_threads, 1)), 1), MAX_RUNS_PER_BLOCK)
    return [range(begin, min(begin + length, n_runs)) for begin in range(0, n_runs, length)]


def some_runs(block: range, job: Job, *history: list[_core.Run]) -> list[_core.Run]:
    """The runs of the block, of the stage after those in the history."""
    stages = iter(history)
    found: list[_core.Run] = []

    def execute_stage(stage: _core.Stage) -> list[_core.Run]:
        for runs in stages:
            return runs
        found.extend(stage.run(index) for index in block)
        raise _Done

    with suppress(_Done):
        job.run(None, execute_stage)
    return found
