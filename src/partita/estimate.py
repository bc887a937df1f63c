"""From draws to the one clustering to report."""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from partita._facts import facts_table
from partita._validate import check_count, check_n_jobs, check_positive, check_probability, check_rng
from partita.held_out import HeldOut, held_out, some_draws
from partita.losses import Loss, as_loss, unique_distances
from partita.sample import PartitionSample, as_sample
from partita.search.found import Compression, Found, RunRow

if TYPE_CHECKING:
    from partita.bounds import Bound

#: Two expected losses that differ by less, relative to their size, are the same.
SAME_LOSS = 1e-9


@dataclass(frozen=True)
class Search:
    """How hard to search.

    Parameters
    ----------
    runs : int
        Number of starts.
    seconds : float, optional
        Stop after so long, with the best so far.
    max_clusters : int or math.inf, optional
        Most clusters of the estimate. None: the largest number in any draw; ``math.inf``: no limit.
    zealous : int
        Attempts to take a cluster apart and allocate it anew: exactly so many in a run of "salso"; in "search", so many
        in a row that may fail before a run ends.
    p_sequential : float
        Probability that a run of "salso" starts by sequential allocation, and not at random.
    n_jobs : int
        Threads; -1 uses all cores. The answer does not depend on it.
    progress : bool or callable
        Show a progress bar, or call ``progress(loss, clusters)`` at the end of each run.
    max_draws : int, optional
        Search on at most so many draws, picked at random; ``held_out`` of the estimate then says what the others make
        of it.

    Examples
    --------
    >>> Search(runs=4, seconds=10)
    Search(runs=4, seconds=10, max_clusters=None, zealous=10, p_sequential=0.5, n_jobs=-1, progress=False, \
max_draws=None)
    """

    runs: int = 16
    seconds: float | None = None
    max_clusters: float | None = None
    zealous: int = 10
    p_sequential: float = 0.5
    n_jobs: int = -1
    progress: bool | Callable[[float, int], None] = False
    max_draws: int | None = None

    def __post_init__(self) -> None:
        check_count(self.runs, "runs", minimum=1)
        check_count(self.zealous, "zealous")
        check_probability(self.p_sequential, "p_sequential")
        check_n_jobs(self.n_jobs)
        if self.max_draws is not None:
            check_count(self.max_draws, "max_draws", minimum=1)
        if self.seconds is not None:
            check_positive(self.seconds, "seconds")
        if self.max_clusters is not None and self.max_clusters != math.inf:
            check_count(self.max_clusters, "max_clusters", minimum=1)


@dataclass(frozen=True, eq=False, repr=False)
class Estimate:
    """A clustering that minimises the expected loss, and how it was found; `estimate` makes it.

    Attributes
    ----------
    labels : (n_items,) int array
        The clustering, canonical labels.
    expected_loss : float
        Its posterior expected loss, computed exactly in double precision.
    loss : Loss
    method : str
    sample : PartitionSample
        The draws it was found on.
    runs : tuple of RunRow
        Start, sweeps, moves, loss, clusters and seconds of each run.
    criterion : float or None
        The method's own criterion, where that is not the expected loss.
    search : Search
    seed : int or None
        The seed that gives the same answer again.
    interrupted : bool
        Whether Ctrl-C ended the search early.
    proven : bool
        Whether the method proved that nothing is better.
    gap : float or None
        How much better something may be at most, as a share of the loss, where the method says so.
    compression : Compression
        How many `items`, `draws` and `clusters` of draws each one that was searched stood for, without loss: items
        that no draw tells apart, equal draws, clusters that repeat between draws. 1 where nothing was gained.
    held_out : HeldOut or None
        With ``max_draws``: the expected loss on the draws that were not searched, with its standard error.
    """

    labels: NDArray[np.int64]
    expected_loss: float
    loss: Loss
    method: str
    sample: PartitionSample
    runs: tuple[RunRow, ...] = ()
    criterion: float | None = None
    search: Search = field(default_factory=Search)
    seed: int | None = None
    interrupted: bool = False
    proven: bool = False
    gap: float | None = None
    compression: Compression = field(default_factory=Compression)
    held_out: HeldOut | None = None

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.labels.max()) + 1

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of items in each cluster."""
        return np.bincount(self.labels)

    @property
    def times_reached(self) -> int:
        """In how many runs the best loss was reached: once in many is the sign of a hard problem."""
        losses = [run.loss for run in self.runs]
        return sum(loss <= min(losses) + SAME_LOSS * abs(min(losses)) for loss in losses)

    def bound(self, seconds: float = 10.0) -> Bound:
        """A lower bound on the least expected loss of any partition, and the gap to it.

        Parameters
        ----------
        seconds : float
            Time to spend; more time gives a tighter bound.
        """
        from partita.bounds import lower_bound

        return lower_bound(self, seconds)

    def to_pandas(self) -> Any:
        """The clustering as a pandas Series, indexed by the items' names where they have any."""
        import pandas as pd

        return pd.Series(self.labels, index=self.sample.names, name="cluster")

    def runs_to_pandas(self) -> Any:
        """The runs as a pandas DataFrame, a row a run, best first."""
        import pandas as pd

        columns = ("start", "sweeps", "moves", "loss", "clusters", "seconds")
        table = pd.DataFrame([{c: getattr(run, c) for c in columns} for run in self.runs], columns=columns)
        return table.sort_values("loss", kind="stable", ignore_index=True)

    def __repr__(self) -> str:
        facts = "".join(f"\n  {name:<14}{value}" for name, value in self._facts())
        return f"Estimate: {_plural(self.n_clusters, 'cluster')} of {_plural(len(self.labels), 'item')}{facts}"

    def _repr_html_(self) -> str:
        return facts_table("Estimate", self._facts())

    def _facts(self) -> list[tuple[str, str]]:
        sizes = ", ".join(map(str, self.sizes[:12])) + (", …" if self.n_clusters > 12 else "")
        facts = [
            ("clusters", str(self.n_clusters)),
            ("sizes", sizes),
            ("expected loss", f"{self.expected_loss:.6f}  {self.loss}"),
            ("method", self._method_fact()),
        ]
        if self.held_out is not None:
            facts.append(("held out", f"{self.held_out.loss:.6f} ± {self.held_out.standard_error:.2g}"))
        if self.proven:
            facts.append(("proven", "no partition is better"))
        if self.interrupted:
            facts.append(("interrupted", "the best so far"))
        return facts

    def _method_fact(self) -> str:
        if not self.runs:
            return self.method
        return f"{self.method}, best reached in {self.times_reached} of {_plural(len(self.runs), 'run')}"


def estimate(
    draws: Any,
    loss: str | Loss = "vi",
    method: str = "search",
    search: Search | None = None,
    weights: Any = None,
    rng: Any = None,
    **options: Any,
) -> Estimate:
    """The partition of least posterior expected loss.

    argmin_y Σ_t w_t L(x_t, y)

    Parameters
    ----------
    draws : anything that `as_sample` takes
        Posterior draws of cluster labels, (draws, items) or (chain, draw, item), or clusterings to be combined.
    loss : str or Loss
        "vi", "binder", "nvi", "id", "nid", "omari", "zero-one", or a loss object such as ``VI(a=0.5)``.
    method : str
        "search" (the default), "salso" and "greedy" (the papers' algorithms to the letter), or another of
        ``partita.search.METHODS``.
    search : Search, optional
        Runs, time, limit on clusters, threads.
    weights : (draws,) array_like, optional
        Weight of each draw.
    rng : None, int or numpy Generator
        The same draws and seed give the same answer on any number of threads.
    **options
        What the method takes besides, such as ``criterion="lower-bound"`` of "hasse".

    Returns
    -------
    Estimate
        If Ctrl-C ends the search, the best so far, with ``interrupted=True`` and a warning.

    Examples
    --------
    >>> draws = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 1, 2]]
    >>> best = estimate(draws, rng=1)
    >>> best.labels, round(best.expected_loss, 4)
    (array([0, 0, 1, 1]), 0.4222)

    References
    ----------
    Dahl, Johnson & Müller (2021); Rastelli & Friel (2018); Wade & Ghahramani (2018).
    """
    from partita.search import METHODS

    kind, how = as_loss(loss), Search() if search is None else search
    if not isinstance(how, Search):
        raise TypeError(f"search must be a Search, not {type(how).__name__}")
    if method not in METHODS:
        raise ValueError(f"unknown method {method!r}; the names are {', '.join(map(repr, METHODS))}")
    _check_options(METHODS[method], method, options)
    sample = as_sample(draws, weights=weights)
    return estimate_with(partial(METHODS[method], **options), sample, kind, method, how, rng)


def _check_options(find: Callable[..., Found], method: str, options: dict[str, Any]) -> None:
    """The options that a method has come after the four arguments that all methods take."""
    known = list(inspect.signature(find).parameters)[4:]
    unknown = [name for name in options if name not in known]
    if unknown:
        has = f"its options are {', '.join(known)}" if known else "it has no options"
        raise TypeError(f"method {method!r} does not take {unknown[0]}; {has}")


def estimate_with(
    find: Callable[[PartitionSample, Loss, Search, np.random.Generator], Found],
    sample: PartitionSample,
    kind: Loss,
    method: str,
    how: Search,
    rng: Any,
) -> Estimate:
    """The estimate that a method finds, on all draws or on some of them; arguments are checked already."""
    seed, generator = _seed_and_generator(rng)
    part, searched = sample, np.ones(sample.n_draws, np.bool_)
    if how.max_draws is not None and how.max_draws < sample.n_draws:
        part, searched = some_draws(sample, how.max_draws, generator)
    found = find(part, kind, how, generator)
    if found.interrupted:
        warnings.warn("interrupted: this is the best partition so far", RuntimeWarning, stacklevel=3)
    losses = unique_distances(found.labels, sample, kind, how.n_jobs)
    return Estimate(
        labels=found.labels,
        expected_loss=float(losses @ sample.weights),
        loss=kind,
        method=method,
        sample=sample,
        runs=found.runs,
        criterion=found.criterion,
        search=how,
        seed=seed,
        interrupted=found.interrupted,
        proven=found.proven,
        gap=found.gap,
        compression=replace(found.compression, draws=part.n_draws / part.n_unique),
        held_out=held_out(sample, losses, searched),
    )


def _seed_and_generator(rng: Any) -> tuple[int | None, np.random.Generator]:
    """A fresh seed where none is given, so that the answer can be had again."""
    if rng is None:
        rng = int(np.random.SeedSequence().generate_state(1)[0])
    generator = check_rng(rng)
    return (int(rng) if isinstance(rng, int | np.integer) else None), generator


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
