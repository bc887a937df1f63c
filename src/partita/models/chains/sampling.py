"""Chains in threads: short turns for every chain, checkpoints, and Ctrl-C that keeps what there is."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from partita import _core
from partita._support.errors import Resume, Sentence
from partita._support.validate import check_count, check_log_densities, check_n_jobs
from partita._support.warn import warn_user
from partita.estimation.convergence import warn_mixing
from partita.models.chains.chain import Chain, smallest_unsigned
from partita.models.chains.checkpoint import NoDrawsYetError, Part, Plan, Run, RunFormatError, create_run, open_run
from partita.models.chains.listener import Callback, Listener, Reporter, reporter
from partita.models.chains.plan import ONLY, check_room_for_draws
from partita.search.deadline import Deadline

TURN_SECONDS = 0.1
SLOW_SECONDS = 0.3  # of a turn: its sweep can be given up in the middle
CHECKPOINT_SECONDS = 5.0


class Sampler(Protocol):
    """What the core's samplers offer. All that a chain will be follows from its state.

    A sampler is made unstarted: its first sweep finds the start, unless a state was restored before it.
    """

    @property
    def sweeps(self) -> int:
        """Sweeps done since the start."""

    @property
    def stat_names(self) -> Sequence[str]:
        """Columns of the statistics; `log_density` and `n_clusters` are among them."""

    def advance(
        self, sweeps: int, warmup: int, thin: int, stop: _core.StopFlag | None = None
    ) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Sweeps on, without the GIL. Returns the labels (draws, items) and statistics (draws, names) after
        every sweep s > warmup with (s - warmup) divisible by thin. A stop in the middle of a sweep raises
        `_core.Stopped`, and the sampler must not be used then."""

    def state(self) -> bytes:
        """Everything that the next sweep depends on, the random numbers' state included."""

    def restore(self, state: bytes) -> None:
        """Goes back to a state; raises an error for one that does not fit the data."""


class Model(Protocol):
    """What a model offers so that its runs can be written and resumed."""

    def params(self) -> dict[str, Any]:
        """Settings that JSON can hold; `from_params` gives the model back."""

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> Self: ...

    def samplers(self, inputs: Mapping[str, NDArray[Any]], plan: Plan) -> Sequence[Sampler]:
        """One sampler per chain, not yet started; chain c draws from stream (plan.seed, c)."""


class Registry:
    """The models that `resume` knows, by class name."""

    classes: ClassVar[dict[str, type[Model]]] = {}
    #: Models of other packages, which are imported when a run of theirs is met.
    modules: ClassVar[dict[str, str]] = {"NBCEModel": "partita.ensembles.nbce"}

    @classmethod
    def add(cls, model: type[Any]) -> type[Any]:
        cls.classes[model.__name__] = model
        return model

    @classmethod
    def find(cls, name: str) -> type[Model] | None:
        """The model of this name, if there is one."""
        if name not in cls.classes and name in cls.modules:
            import_module(cls.modules[name])
        return cls.classes.get(name)


def sample_model(
    model: Model,
    inputs: Mapping[str, NDArray[Any]],
    plan: Plan,
    *,
    names: tuple[str, ...] | None = None,
    path: str | os.PathLike[str] | None = None,
    n_jobs: int = -1,
    progress: bool = False,
    callback: Callback | None = None,
) -> Chain:
    """Runs every chain of a model from its start; writes it as it grows if there is a path.

    `names` are those of the items, if they have any. `callback` gets the labels of each draw, (chains, items), in their
    order; the run ends after the first draw for which it returns true.
    """
    listener = None if callback is None else Listener(callback)
    samplers = model.samplers(inputs, plan)
    if (only := ONLY.get()) is not None:
        samplers, plan = samplers[only : only + 1], replace(plan, chains=1)
    check_room_for_draws(plan, samplers[0])
    if path is None:
        return _finish(_Work(model, inputs, plan, names), samplers, n_jobs, progress, listener)
    stat_names = tuple(samplers[0].stat_names)
    run = create_run(path, type(model).__name__, model.params(), plan, stat_names, inputs, names)
    with run.locked():
        return _finish(_Work(model, inputs, plan, names, run), samplers, n_jobs, progress, listener)


def resume(
    path: str | os.PathLike[str], draws: int | None = None, *, n_jobs: int = -1, progress: bool = False
) -> Chain:
    """Continues a run that was killed or stopped; the finished chain is that of an uninterrupted run.

    Parameters
    ----------
    path : path
        The directory that was given as `path` to a model's `sample`.
    draws : int, optional
        Continue until each chain has this many draws, if more are wanted than were planned.
    n_jobs : int
        Number of threads; −1 uses all cores. The result does not depend on it.
    progress : bool
        Show a progress line.

    Returns
    -------
    Chain
        Bit for bit that of a run that was never interrupted and was planned with this number of draws.

    Raises
    ------
    RunInUseError
        If another process is writing to the run; the message names it.
    RunFormatError
        If a file of the run is missing, damaged, or not what a run has.
    MemoryError
        If the draws cannot fit in the memory that is free.

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
    wanted = None if draws is None else check_count(draws, "draws", minimum=1)
    if wanted in (None, run.plan.draws) and run.is_complete():
        return _go_on(run, n_jobs, progress)  # only read, so that any number of processes may
    with run.locked():
        run = open_run(path)  # anew: another process may have gone on with it before the lock was ours
        return _go_on(run if wanted is None else run.extended(wanted), n_jobs, progress)


def _go_on(run: Run, n_jobs: int, progress: bool) -> Chain:
    model, inputs = _model_of(run), run.inputs()
    try:
        samplers = model.samplers(inputs, run.plan)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise RunFormatError(f"{run.path} has data that are not of a {run.model}: {error}") from error
    check_room_for_draws(run.plan, samplers[0])
    return _finish(_Work(model, inputs, run.plan, run.names, run), samplers, n_jobs, progress)


def read_chain(path: str | os.PathLike[str]) -> Chain:
    """The draws that the directory of a run holds, as many of each chain as the shortest has; nothing is sampled.

    >>> import tempfile, numpy as np, partita as pt
    >>> folder = tempfile.mkdtemp()
    >>> X = np.array([[0.0], [0.1], [5.0]])
    >>> chain = pt.models.GaussianDPM().sample(X, draws=5, chains=1, rng=1, path=folder + "/run.partita")
    >>> bool((read_chain(folder + "/run.partita").labels == chain.labels).all())
    True
    """
    run = open_run(path)
    parts = [
        [(part.labels, part.stats) for part in run.parts(chain) if len(part.labels)] for chain in range(run.plan.chains)
    ]
    if not all(parts):
        raise NoDrawsYetError(f"{run.path} is a run whose chains do not all have draws yet")
    draws = min(sum(len(labels) for labels, _ in own) for own in parts)
    return _collect(_Work(_model_of(run), run.inputs(), run.plan, run.names), parts, run.stat_names, draws)


def _model_of(run: Run) -> Model:
    kind = Registry.find(run.model)
    if kind is None:
        raise RunFormatError(f"{run.path} holds a run of {run.model!r}, which this partita does not know")
    try:
        return kind.from_params(run.params)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise RunFormatError(f"{run.path} has settings that are not of a {run.model}: {error}") from error


@dataclass(frozen=True, eq=False)
class _Work:
    """What the chains of one call share; `run` is their folder, if they are written."""

    model: Model
    inputs: Mapping[str, NDArray[Any]]
    plan: Plan
    names: tuple[str, ...] | None
    run: Run | None = None


class _Job:
    """One chain under way."""

    def __init__(self, chain: int, sampler: Sampler, work: _Work) -> None:
        self.chain, self.sampler = chain, sampler
        self.plan, self.run, self.model = work.plan, work.run, work.model
        self.busy = False
        self.sweeps = sampler.sweeps  # after the last turn: the sampler itself may be sweeping in another thread
        self.parts: list[tuple[NDArray[Any], NDArray[np.float64]]] = []
        self.log_density = list(sampler.stat_names).index("log_density")  # its column in the statistics
        self.unwritten = 0
        self.written_sweeps = 0
        self.until_checkpoint = Deadline.after(CHECKPOINT_SECONDS)
        self.turn = 1
        self.is_slow = True  # not known before the first turn
        self.given_up_at: bytes | None = None  # the state before a sweep that was not finished

    @property
    def finished(self) -> bool:
        return self.sweeps >= self.plan.sweeps

    @property
    def draws(self) -> int:
        return self.plan.draws_after(self.sweeps)

    def restore(self, parts: list[Part]) -> None:
        """Goes back to the last checkpoint, if it is one of this sampler."""
        assert self.run is not None
        where = f"{self.run.path}, chain {self.chain}"
        if tuple(self.sampler.stat_names) != self.run.stat_names:
            raise RunFormatError(f"{where}: the statistics are not those of a {self.run.model}")
        if not parts:
            return
        try:
            self.sampler.restore(parts[-1].state)
        except ValueError as error:
            raise RunFormatError(f"{where}: {error}") from None
        self.parts = [(part.labels, part.stats) for part in parts if len(part.labels)]
        n_items = self.sampler.advance(0, self.plan.warmup, self.plan.thin)[0].shape[1]
        if self.sampler.sweeps != parts[-1].sweeps or any(labels.shape[1] != n_items for labels, _ in self.parts):
            raise RunFormatError(f"{where}: the state does not fit the draws and the data")
        self.sweeps = self.written_sweeps = self.sampler.sweeps

    def take_turn(self, stop: _core.StopFlag) -> None:
        """A tenth of a second of sweeps, so that chains keep pace and Ctrl-C is answered.

        A sweep that takes longer is given up in the middle; a run then keeps the state from before it.
        """
        sweeps = min(self.turn, self.plan.sweeps - self.sweeps)
        state = self.sampler.state() if self.is_slow and self.run is not None and self.sweeps > 0 else None
        started = time.monotonic()
        try:
            watched = stop if self.is_slow else None
            labels, stats = self.sampler.advance(sweeps, self.plan.warmup, self.plan.thin, watched)
        except _core.Stopped:
            self.given_up_at = state
            return
        check_log_densities(stats[:, self.log_density], self.model.params())
        ended = time.monotonic()
        self.sweeps += sweeps
        self.is_slow = ended - started > SLOW_SECONDS
        self.turn = max(1, min(2 * self.turn, int(sweeps * TURN_SECONDS / max(ended - started, 1e-6))))
        if len(labels):
            self.parts.append((smallest_unsigned(labels), stats))
            self.unwritten += 1
        if self.finished or self.until_checkpoint.is_past:
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
            state = self.sampler.state() if self.given_up_at is None else self.given_up_at
            self.run.append(self.chain, Part(labels, stats, state, self.sweeps))
        except OSError as error:
            raise OSError(error.errno, self._trouble(error), str(self.run.path)) from error
        self.unwritten, self.written_sweeps = 0, self.sweeps
        self.until_checkpoint = Deadline.after(CHECKPOINT_SECONDS)

    def _trouble(self, error: OSError) -> Sentence:
        assert self.run is not None
        reason = os.strerror(error.errno) if error.errno else str(error)
        problem = f"a checkpoint of chain {self.chain} could not be written ({reason})"
        saved = "what was written before is whole: make room, then "
        return Sentence(f"{problem}; {saved}", Resume(str(self.run.path)), " continues from there")


class _ChainThreads:
    """Threads that give the chain furthest behind its next turn."""

    def __init__(self, jobs: list[_Job]) -> None:
        self.jobs = jobs
        self.lock = threading.Lock()
        self.stop = _core.StopFlag()

    def run(self, n_threads: int, report: Reporter, listener: Listener | None = None) -> bool:
        """Until every chain is done; False if Ctrl-C came first. Whatever is raised, the threads end before."""

        def poll() -> None:
            report(self.jobs)
            if listener is not None and listener.hear(self.jobs):
                self.stop.request()

        interrupted = _core.run_on_threads(self._work, n_threads, self.stop, poll)
        if listener is not None and not interrupted:
            listener.hear(self.jobs)
        return not interrupted or all(job.finished for job in self.jobs)

    def _work(self) -> None:
        while (job := self._next()) is not None:
            job.take_turn(self.stop)
            job.busy = False

    def _next(self) -> _Job | None:
        with self.lock:
            waiting = [job for job in self.jobs if not (job.busy or job.finished)]
            if self.stop.requested or not waiting:
                return None
            job = min(waiting, key=lambda job: job.sweeps)
            job.busy = True
            return job


def _finish(
    work: _Work, samplers: Sequence[Sampler], n_jobs: int, progress: bool, listener: Listener | None = None
) -> Chain:
    """Runs the chains to their end, from where they are in the folder of their run, if they have one."""
    jobs = [_Job(chain, sampler, work) for chain, sampler in enumerate(samplers)]
    for job in jobs:
        if work.run is not None:
            job.restore(work.run.parts(job.chain))
    n_threads = min(len(jobs), check_n_jobs(n_jobs))
    with reporter(work.plan, progress) as report:
        complete = _ChainThreads(jobs).run(n_threads, report, listener)
    wanted = None if listener is None else listener.last
    if not complete or wanted is not None:
        for job in jobs:
            job.write()
    if not complete:
        _tell_stopped(jobs, work.run)
    parts, draws = [job.parts for job in jobs], min(job.draws for job in jobs)
    draws = draws if wanted is None else wanted
    chain = _collect(work, parts, jobs[0].sampler.stat_names, draws)
    warn_mixing(chain.notes)
    return chain


def _tell_stopped(jobs: list[_Job], run: Run | None) -> None:
    draws = min(job.draws for job in jobs)
    where = ("; ", Resume(str(Path(run.path))), " continues it") if run is not None else ()
    if draws == 0:
        raise KeyboardInterrupt(Sentence("stopped before every chain had a draw", *where))
    warn_user(Sentence(f"stopped by Ctrl-C after {draws} draws per chain", *where))


def _collect(
    work: _Work, parts: Sequence[list[tuple[NDArray[Any], NDArray[np.float64]]]], stat_names: Sequence[str], draws: int
) -> Chain:
    """The first `draws` draws of each chain, from the labels and statistics of its parts, which are then empty."""
    stats = np.stack([np.concatenate([part[1] for part in own])[:draws] for own in parts])
    kinds = {part[0].dtype for own in parts for part in own}
    labels = np.empty((*stats.shape[:2], parts[0][0][0].shape[1]), np.result_type(*kinds))
    for into, own in zip(labels, parts, strict=True):
        own.reverse()
        done = 0
        while own:  # a part is given up as soon as it is copied: all labels twice may be too many
            part = own.pop()[0][: draws - done]
            into[done : done + len(part)] = part
            done += len(part)
    by_name = {name: np.ascontiguousarray(stats[:, :, column]) for column, name in enumerate(stat_names)}
    model, plan = work.model, work.plan
    attrs = {"model": type(model).__name__, "seed": plan.seed, "warmup": plan.warmup, "thin": plan.thin}
    attrs["complete"] = draws == plan.draws
    chain = Chain(smallest_unsigned(labels), by_name, model, dict(work.inputs), attrs, work.names)
    # a model of two partitions, such as the latent block model, separates them here
    return model.finish_chain(chain) if hasattr(model, "finish_chain") else chain
