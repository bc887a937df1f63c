"""The runs of a search on the workers of a cluster: every worker follows the same search and does some of its runs.

A search goes through stages of runs that do not depend on each other. To do one run, a worker starts the same search,
is handed the runs of the stages before, and stops after its own. So the answer is that of one machine, whatever the
number of workers, and a run whose worker died is simply done by another.
"""

from __future__ import annotations

from contextlib import suppress

from partita import _core
from partita.distributed.pool import Pool, Shared
from partita.search.jobs import Engine, Job, Report, Runs


class _Done(Exception):
    """Leaves a search after the run that was wanted."""


def engine_on(pool: Pool) -> Engine:
    """Does the jobs of a search on a pool of workers."""

    def engine(job: Job, report: Report | None) -> Runs:
        shared = pool.share(job)
        history: list[Shared] = []

        def do_stage(stage: _core.Stage) -> list[_core.Run]:
            tasks = [(index, shared, *history) for index in range(stage.n_runs)]
            runs = [_core.Run() if run is None else run for run in pool.map(one_run, tasks, lambda: stage.stopped)]
            if stage.n_runs and not any(run.clusters for run in runs):
                runs[0] = stage.run(0)  # an answer even when there was no time
            history.append(pool.share(runs))
            return runs

        return job.run(report, do_stage)

    return engine


def one_run(index: int, job: Job, *history: list[_core.Run]) -> _core.Run:
    """Run number `index` of the stage after those in the history."""
    stages = iter(history)
    found: list[_core.Run] = []

    def do_stage(stage: _core.Stage) -> list[_core.Run]:
        for runs in stages:
            return runs
        found.append(stage.run(index))
        raise _Done

    with suppress(_Done):
        job.run(None, do_stage)
    return found[0]
