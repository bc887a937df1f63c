"""Chains in threads: short turns for every chain, checkpoints, and Ctrl-C that keeps what there is."""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from partita._validate import check_n_jobs
from partita.models.chain import Chain, smallest_unsigned
from partita.models.checkpoint import Part, Plan, Run, RunFormatError, create_run, open_run
from partita.models.progress import Reporter, reporter

TURN_SECONDS = 0.1
CHECKPOINT_SECONDS = 5.0


class Sampler(Protocol):
    """What the core's samplers offer. All that a chain will be follows from its state."""

    @property
    def sweeps(self) -> int:
        """Sweeps done since the start."""

    @property
    def stat_names(self) -> Sequence[str]:
        """Columns of the statistics; `log_density` and `n_clusters` are among them."""

    def advance(self, sweeps: int, warmup: int, thin: int) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Sweeps on, without the GIL. Returns the labels (draws, items) and statistics (draws, names) after
        every sweep s > warmup with (s - warmup) divisible by thin."""

    def state(self) -> bytes:
        """Everything that the next sweep depends on, the random numbers' state included."""

    def restore(self, state: bytes) -> None:
        """Goes back to a state; refuses one that does not fit the data."""


class Model(Protocol):
    """What a model offers so that its runs can be written and resumed."""

    def params(self) -> dict[str, Any]:
        """Settings that JSON can hold; `from_params` gives the model back."""

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> Self: ...

    def samplers(self, inputs: Mapping[str, NDArray[Any]], plan: Plan) -> Sequence[Sampler]:
        """One sampler a chain, at its start; chain c draws from stream (plan.seed, c)."""


class Registry:
    """The models that `resume` knows, by class name."""

    classes: ClassVar[dict[str, type[Model]]] = {}

    @classmethod
    def add(cls, model: type[Any]) -> type[Any]:
        cls.classes[model.__name__] = model
        return model


def sample_model(
    model: Model,
    inputs: Mapping[str, NDArray[Any]],
    plan: Plan,
    *,
    path: str | os.PathLike[str] | None = None,
    n_jobs: int = -1,
    progress: bool = False,
) -> Chain:
    """Runs every chain of a model from its start; writes it as it grows if there is a path."""
    samplers = model.samplers(inputs, plan)
    run = None
    if path is not None:
        names = tuple(samplers[0].stat_names)
        run = create_run(path, type(model).__name__, model.params(), plan, names, inputs)
    jobs = [_Job(chain, sampler, plan, run) for chain, sampler in enumerate(samplers)]
    return _finish(model, inputs, plan, jobs, run, n_jobs, progress)


def resume(path: str | os.PathLike[str], *, n_jobs: int = -1, progress: bool = False) -> Chain:
    """Goes on with a run that was killed or stopped; the finished chain is as if nothing had happened.

    Parameters
    ----------
    path : the directory given as `path` to a model's `sample`.
    n_jobs : threads; −1 is one for each core.
    progress : show a progress line.

    Returns
    -------
    Chain : the same, bit for bit, as the chain of a run that was never interrupted.

    Examples
    --------
    >>> import tempfile, numpy as np, partita as pt
    >>> folder = tempfile.mkdtemp()
    >>> X = np.array([[0.0], [0.1], [5.0]])
    >>> chain = pt.models.GaussianDPM().sample(X, draws=5, chains=1, rng=1, path=folder + "/run.partita")
    >>> bool((pt.models.resume(folder + "/run.partita").labels == chain.labels).all())
    True
    """
    run = open_run(path)
    if run.model not in Registry.classes:
        raise RunFormatError(f"{run.path} holds a run of {run.model!r}, which this partita does not know")
    model = Registry.classes[run.model].from_params(run.params)
    inputs = run.inputs()
    samplers = model.samplers(inputs, run.plan)
    jobs = [_Job(chain, sampler, run.plan, run) for chain, sampler in enumerate(samplers)]
    for job in jobs:
        job.restore(run.parts(job.chain))
    return _finish(model, inputs, run.plan, jobs, run, n_jobs, progress)


class _Job:
    """One chain under way."""

    def __init__(self, chain: int, sampler: Sampler, plan: Plan, run: Run | None) -> None:
        self.chain, self.sampler, self.plan, self.run = chain, sampler, plan, run
        self.busy = False
        self.sweeps = sampler.sweeps  # after the last turn: the sampler itself may be sweeping in another thread
        self.parts: list[tuple[NDArray[Any], NDArray[np.float64]]] = []
        self.unwritten = 0
        self.written_sweeps = 0
        self.checkpoint_at = time.monotonic() + CHECKPOINT_SECONDS
        self.turn = 1

    @property
    def finished(self) -> bool:
        return self.sweeps >= self.plan.sweeps

    @property
    def draws(self) -> int:
        return max(0, self.sweeps - self.plan.warmup) // self.plan.thin

    def restore(self, parts: list[Part]) -> None:
        if not parts:
            return
        self.sampler.restore(parts[-1].state)
        self.parts = [(part.labels, part.stats) for part in parts if len(part.labels)]
        self.sweeps = self.written_sweeps = self.sampler.sweeps

    def take_turn(self) -> None:
        """A tenth of a second of sweeps, so that chains keep pace and Ctrl-C is answered."""
        sweeps = min(self.turn, self.plan.sweeps - self.sweeps)
        started = time.monotonic()
        labels, stats = self.sampler.advance(sweeps, self.plan.warmup, self.plan.thin)
        ended = time.monotonic()
        self.sweeps += sweeps
        self.turn = max(1, min(2 * self.turn, int(sweeps * TURN_SECONDS / max(ended - started, 1e-6))))
        if len(labels):
            self.parts.append((smallest_unsigned(labels), stats))
            self.unwritten += 1
        if self.finished or ended >= self.checkpoint_at:
            self.write()

    def write(self) -> None:
        """Brings the draws since the last checkpoint, and the state, to the disk."""
        if self.run is None or self.sweeps == self.written_sweeps:
            return
        fresh = self.parts[len(self.parts) - self.unwritten :]
        n_stats = len(self.sampler.stat_names)
        labels = np.concatenate([part[0] for part in fresh]) if fresh else np.empty((0, 0), np.uint8)
        stats = np.concatenate([part[1] for part in fresh]) if fresh else np.empty((0, n_stats))
        try:
            self.run.append(self.chain, Part(labels, stats, self.sampler.state(), self.sweeps))
        except OSError as error:
            raise OSError(error.errno, self._trouble(error)) from error
        self.unwritten, self.written_sweeps = 0, self.sweeps
        self.checkpoint_at = time.monotonic() + CHECKPOINT_SECONDS

    def _trouble(self, error: OSError) -> str:
        assert self.run is not None
        place = str(self.run.path)
        return (
            f"{place}: a checkpoint of chain {self.chain} could not be written ({error.strerror}); what was "
            f"written before is whole: make room, then partita.resume({place!r}) goes on from there"
        )


class _Crew:
    """Threads that give the chain furthest behind its next turn."""

    def __init__(self, jobs: list[_Job], n_threads: int) -> None:
        self.jobs = jobs
        self.lock = threading.Lock()
        self.stop = False
        self.failure: BaseException | None = None
        self.threads = [threading.Thread(target=self._work, daemon=True) for _ in range(n_threads)]
        self.working = n_threads
        self.done = threading.Event()

    def run(self, report: Reporter) -> bool:
        """Until every chain is done; False if Ctrl-C came first.

        The threads say themselves when they end: a join that Ctrl-C interrupts may take a running thread for ended.
        """
        completed = True
        for thread in self.threads:
            thread.start()
        while not self.done.is_set():
            try:
                self.done.wait(TURN_SECONDS)
                report(self.jobs)
            except KeyboardInterrupt:
                completed, self.stop = False, True
        if self.failure is not None:
            raise self.failure
        return completed or all(job.finished for job in self.jobs)

    def _work(self) -> None:
        try:
            while (job := self._next()) is not None:
                job.take_turn()
                job.busy = False
        except BaseException as failure:
            self.failure, self.stop = failure, True
        finally:
            with self.lock:
                self.working -= 1
                if self.working == 0:
                    self.done.set()

    def _next(self) -> _Job | None:
        with self.lock:
            waiting = [job for job in self.jobs if not (job.busy or job.finished)]
            if self.stop or not waiting:
                return None
            job = min(waiting, key=lambda job: job.sweeps)
            job.busy = True
            return job


def _finish(
    model: Model,
    inputs: Mapping[str, NDArray[Any]],
    plan: Plan,
    jobs: list[_Job],
    run: Run | None,
    n_jobs: int,
    progress: bool,
) -> Chain:
    crew = _Crew(jobs, min(len(jobs), check_n_jobs(n_jobs)))
    with reporter(plan, progress) as report:
        complete = crew.run(report)
    if not complete:
        for job in jobs:
            job.write()
        _tell_stopped(jobs, run)
    return _collect(model, inputs, plan, jobs, complete)


def _tell_stopped(jobs: list[_Job], run: Run | None) -> None:
    draws = min(job.draws for job in jobs)
    where = f"; partita.resume({str(Path(run.path))!r}) goes on" if run is not None else ""
    if draws == 0:
        raise KeyboardInterrupt(f"stopped before every chain had a draw{where}")
    warnings.warn(f"stopped by Ctrl-C after {draws} draws a chain{where}", stacklevel=4)


def _collect(model: Model, inputs: Mapping[str, NDArray[Any]], plan: Plan, jobs: list[_Job], complete: bool) -> Chain:
    draws = min(job.draws for job in jobs)
    labels = np.stack([np.concatenate([part[0] for part in job.parts])[:draws] for job in jobs])
    stats = np.stack([np.concatenate([part[1] for part in job.parts])[:draws] for job in jobs])
    names = jobs[0].sampler.stat_names
    by_name = {name: np.ascontiguousarray(stats[:, :, column]) for column, name in enumerate(names)}
    attrs = {"model": type(model).__name__, "seed": plan.seed, "warmup": plan.warmup, "thin": plan.thin}
    attrs["complete"] = complete
    chain = Chain(smallest_unsigned(labels), by_name, model, dict(inputs), attrs)
    # a model of two partitions, such as the latent block model, tells them apart here
    return model.finish_chain(chain) if hasattr(model, "finish_chain") else chain
