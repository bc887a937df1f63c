"""The runs of a search on the workers of a cluster: every worker follows the same search and makes some of its runs.

A search goes through stages of runs that do not depend on each other. To make some of a stage's runs, a worker starts
the same search, receives the runs of the previous stages, and stops after its own. So the answer is the same as on one
machine for any number of workers, and the runs of a worker that died are repeated by another.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from partita import _core
from partita._support.validate import check_count, seed_and_generator
from partita.distributed.pool import DaskPool, Shared, connected
from partita.models.chains.chain import Chain
from partita.models.chains.plan import only_chain
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


def sample_chains(
    model: Any,
    data: Any,
    *,
    chains: int = 4,
    rng: Any = None,
    client: Any = None,
    workers: int | None = None,
    **options: Any,
) -> Chain:
    """Chains of a model, sampled by the workers of a Dask cluster.

    The chains are those of ``model.sample(data, chains=chains, rng=rng)`` with the same integer `rng`, starts included,
    on any number of workers.

    Parameters
    ----------
    model : a model with `sample`, such as `models.GaussianDPM()`
        The model to sample.
    data : what `model.sample` takes
        The data.
    chains : int
        Number of chains.
    rng : None, int or numpy Generator
        Seed or source of random numbers; the same seed gives the same result.
    client, workers
        As for `estimate`.
    **options
        Other arguments of `model.sample`, such as ``draws`` and ``warmup``.

    Returns
    -------
    Chain

    Examples
    --------
    >>> from distributed import Client
    >>> from partita.models import GaussianDPM
    >>> with Client(processes=False, n_workers=1, dashboard_address="127.0.0.1:0", set_as_default=False) as client:
    ...     chain = sample_chains(GaussianDPM(), [[0.0], [0.1], [5.0]], chains=2, draws=5, rng=1, client=client)
    >>> chain.labels.shape
    (2, 5, 3)
    """
    check_count(chains, "chains", minimum=1)
    seed, generator = seed_and_generator(rng)
    settings = {**options, "chains": chains, "rng": int(generator.integers(2**63)) if seed is None else seed}
    with connected(client, workers) as pool:
        shared = pool.share((model, data, settings))
        return _side_by_side(pool.map(one_chain, [(shared, number) for number in range(chains)]))


def one_chain(shared: tuple[Any, Any, dict[str, Any]], number: int) -> Chain:
    """One of the chains; runs on a worker."""
    model, data, settings = shared
    with only_chain(number):
        chain: Chain = model.sample(data, n_jobs=1, **settings)
    return chain


def _side_by_side(parts: list[Chain]) -> Chain:
    first = parts[0]
    stats = {name: np.concatenate([part.stats[name] for part in parts]) for name in first.stats}
    labels = np.concatenate([part.labels for part in parts])
    joint: dict[str, Any] = {"labels": labels, "stats": stats}
    if hasattr(first, "columns"):  # of a latent block model, which clusters the columns too
        joint["columns"] = np.concatenate([part.columns for part in parts])  # type: ignore[attr-defined]
    return replace(first, **joint)
