"""Runs of one clusterer: other seeds, resampled data, varied settings."""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from partita._support.arrays import Floats
from partita._support.hints import plural
from partita._support.memory import check_fits
from partita._support.progress import progress_bar
from partita._support.validate import check_count, check_level, check_n_jobs, seed_and_generator
from partita._support.warn import warn_user
from partita.draws.sample import as_sample
from partita.ensembles.base_clusterings import LEFT_OUT, Base, Labels, as_base
from partita.ensembles.clusterers import (
    Data,
    Settings,
    as_data,
    as_runner,
    checksum,
    clusterer_words,
    is_seeded,
    labels_from,
)
from partita.ensembles.run_store import RunStore
from partita.losses.losses import VI
from partita.search.settings import Search
from partita.uncertainty.stabilisation import Check, StabilityRule, check_draws

#: The first check whether further runs would change the consensus, and the growth from one check to the next.
FIRST_CHECK, GROWTH = 16, 1.5
#: A check is made on at most this many items, and if it costs at most this share of the time that it may save.
CHECKED_ITEMS, CHECK_SHARE = 1_000, 0.01
#: Seconds that a check takes, until one was made.
FIRST_CHECK_SECONDS = 0.1
#: Copies of the labels that the consensus needs, and further bytes per item.
COPIES, ITEM_BYTES = 5, 256
RULE = StabilityRule(tolerance=0.01, precision=0.5)


@dataclass(frozen=True, eq=False)
class RepeatedRuns(Base):
    """Runs of one clusterer as base clusterings: the result of `repeat`.

    ``np.asarray(base)`` has one row per item and one column per run: −1 for noise, −2 for an item that was left out.
    The runs are independent of each other, given the data: two that agree confirm each other, and `consensus` gives all
    of them the same weight.

    Attributes
    ----------
    settings : tuple of dict
        The varied settings of each run.
    seconds : (runs,) array
        Time that each run took; NaN for runs that were read from `path`.
    max_runs : int
        How many runs were asked for at most.
    settled : bool
        Whether the runs ended early, because further ones would hardly change the consensus.
    interrupted : bool
        Whether Ctrl-C ended the runs.
    seed : int
        The seed that gives the same runs again.
    resample : float, str or None
        How the items of each run were chosen.
    """

    settings: tuple[dict[str, Any], ...] = field(default=(), kw_only=True)
    seconds: Floats = field(default_factory=lambda: np.empty(0), kw_only=True)
    max_runs: int = field(default=0, kw_only=True)
    settled: bool = field(default=False, kw_only=True)
    interrupted: bool = field(default=False, kw_only=True)
    seed: int = field(default=0, kw_only=True)
    resample: float | str | None = field(default=None, kw_only=True)
    independent: ClassVar[bool] = True

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        labels = np.where(self.seen, self.codes, LEFT_OUT)
        return labels if dtype is None else labels.astype(dtype)

    def in_words(self) -> str:
        """How many runs were made, and why no more."""
        made = f"{plural(self.n_clusterings, 'run')} of {plural(self.n_items, 'item')}"
        if self.interrupted:
            return f"{made}: stopped by the user"
        return f"{made}: more would hardly change the consensus" if self.settled else made

    def __repr__(self) -> str:
        return f"RepeatedRuns: {self.in_words()}"


@dataclass(frozen=True)
class Plan:
    """What determines each run: the seed, the shares of rows and columns, and the grid of settings."""

    seed: int
    resample: float | str | None
    columns: float | None
    grid: tuple[dict[str, Any], ...]

    def settings(self, run: int) -> dict[str, Any]:
        return self.grid[run % len(self.grid)]

    def make(self, run: int, clusterer: Any, data: Data) -> tuple[Labels, float]:
        """The labels of all items in one run, −1 for noise and −2 if left out, and the seconds of the clusterer."""
        rng = np.random.default_rng([self.seed, run])
        seed, settings = int(rng.integers(2**31)), self.settings(run)
        rows, columns = _chosen_rows(self.resample, data.n_items, rng), self._columns(data, rng)
        values = data.values if rows is None and columns is None else data.take(_all(rows, data), columns)
        nodes = None if data.nodes is None else tuple(data.nodes[i] for i in _all(rows, data))
        began = time.perf_counter()
        try:
            found = as_runner(clusterer)(values, seed, settings)
            seconds = time.perf_counter() - began
            labels = labels_from(found, data.n_items if rows is None else len(rows), nodes)
        except Exception as error:
            with_settings = f", {_words(settings)}" if settings else ""
            raise ValueError(f"run {run} (seed {seed}{with_settings}) failed: {error}") from error
        labels = labels.astype(np.min_scalar_type(LEFT_OUT - int(labels.max())))
        if rows is None:
            return labels, seconds
        whole = np.full(data.n_items, LEFT_OUT, labels.dtype)
        whole[rows] = labels  # of several copies of an item, the last
        return whole, seconds

    def _columns(self, data: Data, rng: np.random.Generator) -> NDArray[np.intp] | None:
        if self.columns is None:
            return None
        if data.n_columns is None:
            raise ValueError("columns= is for tables and arrays with columns")
        count = max(1, round(self.columns * data.n_columns))
        return np.sort(rng.choice(data.n_columns, count, replace=False)).astype(np.intp)


def repeat(
    clusterer: Any,
    X: Any,
    runs: int = 50,
    resample: float | str | None = None,
    vary: Mapping[str, Sequence[Any]] | None = None,
    rng: Any = None,
    *,
    columns: float | None = None,
    stop: bool = True,
    n_jobs: int = 1,
    progress: Any = False,
    path: str | PathLike[str] | None = None,
) -> RepeatedRuns:
    """Many runs of a clusterer, for `consensus` and `stability`: other seeds, resampled data, varied settings.

    Parameters
    ----------
    clusterer : scikit-learn estimator or pipeline, or function (X, seed) -> labels
        An estimator is cloned for each run, and every `random_state` in it is set. A function may return an array of
        labels, a partition of igraph or leidenalg, communities of networkx, or a dictionary from node to label; if it
        has a parameter named seed or random_state, the seed goes there. A label of −1 is noise.
    X : (items, columns) array, data frame, sparse matrix, AnnData, networkx or igraph graph, or list of texts
        The data. Of an AnnData object, `obsm["X_pca"]` is clustered, or else `X`.
    runs : int
        The most runs to make. They end earlier if further ones would hardly change the consensus; see `stop`.
    resample : float or "bootstrap", optional
        Each run clusters this share of the items, chosen without replacement, or as many items as there are, with
        replacement. Items that are left out have no label in that run, which is not noise.
    vary : dict, optional
        Settings to vary and their values, for example ``{"n_clusters": [3, 4, 5]}``: parameters of the estimator, or
        keywords of the function. The runs take all combinations in turn.
    rng : None, int or numpy Generator
        The same seed gives the same runs for any `n_jobs`.
    columns : float, optional
        Each run uses this share of the columns, chosen at random.
    stop : bool
        Whether to end as soon as the consensus of halves and quarters of the runs is, twice in a row, as good as that
        of all: at 16, 24, 36, ... runs, where the check costs little beside the runs that it may save.
    n_jobs : int
        Processes, by joblib; -1 uses all cores. ``joblib.parallel_config("dask")`` around the call uses a cluster.
    progress : bool or callable
        Whether to show a bar with the time that is left; a function is called with the number of runs and the seconds
        that are left.
    path : path, optional
        A folder to which every run is written when it is done; a call with the same arguments continues there.

    Returns
    -------
    RepeatedRuns
        Base clusterings, one per run.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> X = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [9.0], [9.1]]
    >>> base = repeat(KMeans(3), X, runs=5, resample=0.8, rng=1)
    >>> np.asarray(base).shape
    (8, 5)
    """
    most = check_count(runs, "runs", minimum=1)
    data, grid = as_data(X), grid_of(vary)
    if most < len(grid):
        raise ValueError(f"runs is {most}, but vary has {len(grid)} combinations of settings: each needs a run")
    as_runner(clusterer)  # so that a wrong one is found before anything is written
    _, generator = seed_and_generator(rng)
    root = int(generator.integers(2**32))
    plan = Plan(root, _checked_resample(resample, data), _checked_share(columns, "columns"), grid)
    store = None if path is None else _store(Path(path), plan, clusterer, data, fresh=rng is None)
    plan = plan if store is None else Plan(store.seed, plan.resample, plan.columns, plan.grid)
    if plan.resample is None and plan.columns is None and len(grid) == 1 and most > 1 and not is_seeded(clusterer):
        warn_user(f"{type(clusterer).__name__} has no random_state: without resample= or vary= all runs are the same")
    found = _Runs(plan, clusterer, data, most, store)
    jobs = check_n_jobs(n_jobs)
    with reporting(progress, most, "clustering") as report, workers(jobs):
        found.make(jobs, bool(stop), report)
    return found.result()


_workers_used = [0]


@contextmanager
def workers(n_jobs: int) -> Iterator[None]:
    """The processes of joblib, which it would keep for later calls; they end with the outermost of such blocks."""
    _workers_used[0] += n_jobs > 1
    try:
        yield
    finally:
        _workers_used[0] -= n_jobs > 1
        if n_jobs > 1 and not _workers_used[0]:
            from joblib.externals.loky import get_reusable_executor

            get_reusable_executor(reuse=True).shutdown(wait=True)


class _Runs:
    """The runs as they are made."""

    def __init__(self, plan: Plan, clusterer: Any, data: Data, most: int, store: RunStore | None) -> None:
        self.plan, self.clusterer, self.data, self.most, self.store = plan, clusterer, data, most, store
        self.labels: list[Labels] = []
        self.seconds: list[float] = []
        self._clustering, self._n_timed = 0.0, 0  # seconds of the runs that were made here
        self.settled = self.interrupted = False
        self._check: Check | None = None
        self._next_check = float(FIRST_CHECK)
        self._check_seconds = FIRST_CHECK_SECONDS
        rng = np.random.default_rng(plan.seed)
        self._items = np.sort(rng.choice(data.n_items, min(data.n_items, CHECKED_ITEMS), replace=False))

    def make(self, n_jobs: int, stop: bool, report: Callable[[int, float, int], None]) -> None:
        """Makes the runs, until they are enough."""
        try:
            with warnings.catch_warnings(), closing(self._made(n_jobs)) as made:
                warnings.filterwarnings("ignore", message=".*tasks .* have been cancelled")  # begun, and not needed
                for run, (labels, seconds) in enumerate(made):
                    self.labels.append(labels)
                    self.seconds.append(seconds)
                    if not np.isnan(seconds):
                        self._clustering, self._n_timed = self._clustering + seconds, self._n_timed + 1
                        if self.store is not None:
                            self.store.write(run, labels)
                    if run == 0:
                        check_fits(self.bytes_needed, f"{plural(self.most, 'run')} and their consensus")
                    report(len(self.labels), self.seconds_left / n_jobs, self.bytes_needed)
                    self.settled = stop and self._is_enough(n_jobs)
                    if self.settled:
                        break
        except KeyboardInterrupt:
            if not self.labels:
                raise
            self.interrupted = True
            warn_user(f"interrupted after {plural(len(self.labels), 'run')}", RuntimeWarning)

    @property
    def seconds_left(self) -> float:
        """For the runs that are left, in one process."""
        return (self.most - len(self.labels)) * self._clustering / max(1, self._n_timed)

    @property
    def bytes_needed(self) -> int:
        """Roughly, for the labels of all runs and their consensus, as the first run has them."""
        first = self.labels[0]
        return first.size * (self.most * (COPIES * first.itemsize + 1) + ITEM_BYTES)

    def _made(self, n_jobs: int) -> Generator[tuple[Labels, float], None, None]:
        """The runs in their order, each when it is done."""
        one = partial(_one, self.plan, self.clusterer, self.data, self.store)
        if n_jobs == 1:
            yield from map(one, range(self.most))
            return
        from joblib import Parallel, delayed

        yield from Parallel(n_jobs=n_jobs, return_as="generator")(delayed(one)(run) for run in range(self.most))

    def _is_enough(self, n_jobs: int) -> bool:
        """Whether further runs would hardly change the consensus; false if that is not worth finding out."""
        count = len(self.labels)
        if count < self._next_check or count % len(self.plan.grid) or count >= self.most:
            return False
        if self._check_seconds > CHECK_SHARE * self.seconds_left / n_jobs:
            return False
        self._next_check = max(self._next_check, count) * GROWTH
        began = time.perf_counter()
        rows = np.stack([labels[self._items] for labels in self.labels])
        rows = rows[(rows != LEFT_OUT).any(axis=1)]
        sample = as_sample(rows, missing=LEFT_OUT, noise=-1)
        rng, how = np.random.default_rng(self.plan.seed), Search(runs=2)
        self._check = check_draws(sample, VI(), 0.95, RULE, how, rng, self._check, mixing=False)
        self._check_seconds = time.perf_counter() - began
        return self._check.settled

    def result(self) -> RepeatedRuns:
        labels = np.stack(self.labels)  # each run in one piece, also as a column of the base
        has_noise = bool((labels == -1).any())
        read = as_base(labels.T, noise=-1)
        grid = [self.plan.settings(run) for run in range(len(self.labels))]
        titles = tuple(f"run {run + 1}" + (f" ({_words(own)})" if own else "") for run, own in enumerate(grid))
        return RepeatedRuns(
            read.codes,
            read.levels,
            self.data.names,
            titles,
            noise=read.noise if has_noise else None,
            settings=tuple(grid),
            seconds=np.array(self.seconds),
            max_runs=self.most,
            settled=self.settled,
            interrupted=self.interrupted,
            seed=self.plan.seed,
            resample=self.plan.resample,
        )


def _one(plan: Plan, clusterer: Any, data: Data, store: RunStore | None, run: int) -> tuple[Labels, float]:
    """A run, read if it was made before."""
    known = None if store is None else store.read(run)
    return plan.make(run, clusterer, data) if known is None else (known, float("nan"))


def _all(rows: NDArray[np.intp] | None, data: Data) -> NDArray[np.intp]:
    return np.arange(data.n_items) if rows is None else rows


def _chosen_rows(resample: float | str | None, n_items: int, rng: np.random.Generator) -> NDArray[np.intp] | None:
    if resample is None:
        return None
    if resample == "bootstrap":
        return np.sort(rng.integers(n_items, size=n_items)).astype(np.intp)
    count, chosen = max(1, round(float(resample) * n_items)), np.zeros(n_items, np.bool_)
    chosen[rng.choice(n_items, count, replace=False)] = True
    return np.flatnonzero(chosen)


def _checked_resample(resample: Any, data: Data) -> float | str | None:
    if resample == "bootstrap":
        if data.is_graph:
            raise ValueError('resample="bootstrap" is for tables: a graph has each node once; use a share, such as 0.8')
        return "bootstrap"
    if isinstance(resample, str):
        raise ValueError(f'resample must be a share of the items or "bootstrap", but it is {resample!r}')
    return _checked_share(resample, "resample")


def _checked_share(value: Any, name: str) -> float | None:
    if value is None:
        return None
    share = check_level(value, name)
    return None if share == 1 else share


def grid_of(vary: Mapping[str, Sequence[Any]] | None) -> tuple[dict[str, Any], ...]:
    """All combinations of settings; one without settings if none is varied."""
    if vary is None:
        return ({},)
    if not isinstance(vary, Mapping):
        raise TypeError(f"vary must be a dictionary from settings to lists of values, not {type(vary).__name__}")
    for name, values in vary.items():
        if isinstance(values, str) or not hasattr(values, "__len__") or not len(values):
            raise ValueError(f"vary[{name!r}] must be a list of values, but it is {values!r}")
    names = list(vary)
    return tuple(dict(zip(names, values, strict=True)) for values in itertools.product(*vary.values()))


def _words(settings: Settings) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items())


def _store(folder: Path, plan: Plan, clusterer: Any, data: Data, fresh: bool) -> RunStore:
    facts = {"n_items": data.n_items, "data": checksum(data), "clusterer": clusterer_words(clusterer)}
    facts |= {"seed": None if fresh else plan.seed, "resample": plan.resample}
    grid = [{name: repr(value) for name, value in settings.items()} for settings in plan.grid]
    return RunStore(folder, {**facts, "columns": plan.columns, "grid": grid})


@contextmanager
def reporting(progress: Any, most: int, what: str) -> Iterator[Callable[[int, float, int], None]]:
    """What to call after each batch with the runs, seconds left and bytes: the user's function, a bar's, or nothing."""
    if callable(progress):
        yield lambda done, seconds, size: progress(done, seconds)
    elif not progress:
        yield lambda done, seconds, size: None
    else:
        with progress_bar(what, most) as update:

            def show(done: int, seconds: float, size: int) -> None:
                needed = f" and {size / 2**30:.1f} GiB" if size > 2**28 else ""
                update(completed=done, description=f"{what}, at most {seconds:,.0f} s{needed} to go")

            yield show
