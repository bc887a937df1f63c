"""Watching a sampler: the summary of its draws as they arrive, and whether it has stabilised."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._support.optional import data_frame
from partita._support.shown import facts_table
from partita._support.validate import check_count, check_level, check_rng
from partita.draws.sample import PartitionSample, as_sample
from partita.estimation.estimate import estimate
from partita.estimation.result import Estimate
from partita.losses.base import Loss
from partita.losses.losses import as_loss
from partita.search.settings import Search
from partita.uncertainty.stabilisation import Check, StabilityRule, check_draws, check_share

#: The first check is made after this many draws; R-hat of fewer is meaningless.
FIRST = 100
#: A check needs this many draws of each chain.
FEWEST = 4
#: Between two checks the number of draws grows by this factor, so that all checks together cost a few of the last one.
GROWTH = 1.5


class _Rows:
    """The draws of one chain, which grows."""

    def __init__(self) -> None:
        self.count = 0
        self._parts: list[NDArray[Any]] = []

    def add(self, rows: NDArray[Any]) -> None:
        self._parts.append(rows)
        self.count += len(rows)

    def first(self, count: int) -> NDArray[Any]:
        """The first draws; the parts are joined only here."""
        self._parts = [np.concatenate(self._parts)]
        return self._parts[0][:count]


class Monitor:
    """A running summary of draws: `monitor` makes it.

    Draws are fed as they arrive; at 100, 150, 225, ... draws (of all chains together) they are checked. A monitor can
    be the ``callback`` of a model's `sample`, which then ends when the summary has stabilised.

    Attributes
    ----------
    loss : Loss
        The loss that was used.
    level : float
        Level of the credible ball.
    rule : StabilityRule
        When a check is passed, and when the summary has stabilised.
    checks : list of Check
        All checks so far.
    """

    hears_log_density = True

    def __init__(
        self, loss: Loss, level: float, rule: StabilityRule, search: Search, rng: np.random.Generator, first: int
    ) -> None:
        self.loss, self.level, self.rule = loss, level, rule
        self.checks: list[Check] = []
        self._search, self._rng, self._next = search, rng, float(first)
        self._chains: list[_Rows] = []
        self._log_density: list[NDArray[np.float64]] = []  # of each draw, (chains,), if a model calls
        self._n_items = 0
        self._names: tuple[str, ...] | None = None

    @property
    def settled(self) -> bool:
        """Whether the last check says that the summary has stabilised."""
        return bool(self.checks) and self.checks[-1].settled

    @property
    def n_draws(self) -> int:
        """Number of draws fed, of all chains together."""
        return sum(chain.count for chain in self._chains)

    def feed(self, draws: ArrayLike | PartitionSample, chain: int = 0) -> bool:
        """Adds draws, checks them if it is time, and returns whether the summary has stabilised.

        Parameters
        ----------
        draws : (items,), (draws, items) or (chains, draws, items) array_like, or a sample
            One draw, several draws of one chain, or equally many of every chain.
        chain : int
            The chain of one or several draws.

        Examples
        --------
        >>> watch = monitor()
        >>> watch.feed([[0, 0, 1]] * 100), watch.feed([[0, 0, 1]] * 50)
        (False, True)
        """
        for place, rows in _by_chain(draws, check_count(chain, "chain")):
            self._add(rows, place)
        if isinstance(draws, PartitionSample):
            self._names = draws.names
        while (per_chain := self._due()) is not None:
            self._check(per_chain)
        return self.settled

    def __call__(self, draw: ArrayLike, log_density: NDArray[np.float64] | None = None) -> bool:
        """The callback of a model's `sample`: adds the next draw of every chain, (chains, items)."""
        if log_density is not None:
            self._log_density.append(log_density)
        return self.feed(np.asarray(draw)[:, None, :])

    def watch(self, source: Iterable[Any]) -> Check:
        """Feeds draws from an iterator until the summary has stabilised or the iterator ends; returns the last check.

        Parameters
        ----------
        source : iterable
            Yields what `feed` takes: single draws, blocks of them, or `growing_draws` of a file.

        Examples
        --------
        >>> rng = np.random.default_rng(1)
        >>> sampler = (np.where(rng.random(6) < 0.1, 1, [0, 0, 0, 1, 1, 1]) for _ in range(10_000))
        >>> watch = monitor(rng=1)
        >>> watch.watch(sampler).settled, watch.n_draws < 2_000
        (True, True)
        """
        for draws in source:
            if self.feed(draws):
                break
        if not self.checks or (not self.settled and self.checks[-1].n_draws < self._complete * len(self._chains)):
            self.check_now()
        return self.checks[-1]

    def check_now(self) -> Check:
        """Checks all draws so far, without waiting for more."""
        if self._complete < FEWEST:
            raise ValueError(f"a check needs at least {FEWEST} draws of each chain, but there are {self._complete}")
        self._check(self._complete)
        return self.checks[-1]

    @property
    def sample(self) -> PartitionSample:
        """The draws so far, equally many of each chain."""
        return self._sample(self._complete)

    def estimate(self, **options: Any) -> Estimate:
        """The estimate from all draws so far; the options are those of `estimate`."""
        return estimate(self.sample, self.loss, **options)

    def to_pandas(self) -> Any:
        """The checks as a pandas table, one row each."""
        return data_frame([check.facts() for check in self.checks])

    def in_words(self) -> str:
        """The last check, in one sentence."""
        return self.checks[-1].in_words() if self.checks else f"{self.n_draws} draws: not checked yet"

    def __repr__(self) -> str:
        return f"Monitor({self.in_words()})"

    def _repr_html_(self) -> str:
        rows = [(f"{check.n_draws:,} draws", check.in_words().split(": ", 1)[1]) for check in self.checks]
        return facts_table("Monitor", rows)

    @property
    def _complete(self) -> int:
        """Draws that every chain has."""
        return min((chain.count for chain in self._chains), default=0)

    def _add(self, rows: NDArray[Any], chain: int) -> None:
        if self._n_items and rows.shape[1] != self._n_items:
            raise ValueError(f"draws has {rows.shape[1]} items, but those before it have {self._n_items}")
        self._n_items = rows.shape[1]
        while len(self._chains) <= chain:
            self._chains.append(_Rows())
        self._chains[chain].add(rows)

    def _due(self) -> int | None:
        """Draws of each chain for the next check, if there are enough of them."""
        wanted = -(-int(self._next) // max(1, len(self._chains)))
        return wanted if not self.settled and self._complete >= wanted else None

    def _sample(self, per_chain: int) -> PartitionSample:
        draws = np.stack([chain.first(per_chain) for chain in self._chains])
        return as_sample(draws if len(draws) > 1 else draws[0], names=self._names)

    def _check(self, per_chain: int) -> None:
        before = self.checks[-1] if self.checks else None
        known = len(self._log_density) == self._complete
        density = np.column_stack(self._log_density[:per_chain]) if known else None
        sample = self._sample(per_chain)
        found = check_draws(sample, self.loss, self.level, self.rule, self._search, self._rng, before, density)
        self.checks.append(found)
        self._next = max(self._next, found.n_draws) * GROWTH


def monitor(
    loss: str | Loss = "vi",
    *,
    level: float = 0.95,
    tolerance: float = 0.01,
    precision: float = 0.1,
    first: int = FIRST,
    search: Search | None = None,
    rng: Any = None,
) -> Monitor:
    """Watches a sampler: takes draws as they arrive, and reports when estimate and credible ball have stabilised.

    At 100 draws, and whenever their number has grown by half, the estimate is computed from all draws, and from halves
    and quarters of the chains. A check is passed if

    1. the draws give no `MixingWarning`: R-hat and effective sample size of the number of clusters, the entropy, the
       distance to the estimate and, if a model calls the monitor, the log density are within their limits,
    2. no partition that a half or a quarter gives may be better than the estimate by more than `tolerance` times the
       expected loss: over all draws, the mean of L(x_t, estimate) - L(x_t, other) plus two standard errors is below it,
    3. the standard errors of expected loss and radius are at most `precision` times their values.

    The summary has stabilised when two checks in a row are passed (with the same partition, if `tolerance` is 0).
    All checks together cost a few times what the last one costs. A single chain can get stuck in one of several modes:
    feed several chains, from different starts.

    Parameters
    ----------
    loss : str or Loss
        The loss, by name or as an object such as ``VI(a=0.5, b=1)``.
    level : float in (0, 1]
        Level of the credible ball.
    tolerance : float
        Share of the expected loss by which another partition may be better.
    precision : float
        Largest standard error, as a share of the expected loss and of the radius.
    first : int
        Number of draws at the first check, at least 100.
    search : Search, optional
        Settings of the searches; by default four runs.
    rng : None, int or numpy Generator
        Seed or source of random numbers; the same seed gives the same result.

    Returns
    -------
    Monitor

    Examples
    --------
    >>> import partita as pt
    >>> from partita.datasets import load_galaxies
    >>> watch = pt.monitor(rng=1)
    >>> dpm = pt.models.GaussianDPM(covariance="diag")
    >>> chain = dpm.sample(load_galaxies().data / 1000, draws=100_000, rng=1, callback=watch)
    >>> watch.settled, chain.n_draws < 5_000
    (True, True)
    """
    kind, wanted = as_loss(loss), check_level(level)
    rule = StabilityRule(check_share(tolerance, "tolerance"), check_share(precision, "precision"))
    how = Search(runs=4) if search is None else search
    if not isinstance(how, Search):
        raise TypeError(f"search must be a Search, not {type(how).__name__}")
    return Monitor(kind, wanted, rule, how, check_rng(rng), check_count(first, "first", minimum=FIRST))


def _by_chain(draws: Any, chain: int) -> list[tuple[int, NDArray[Any]]]:
    """The chain and the rows of each block of draws."""
    if isinstance(draws, PartitionSample):
        rows = draws.to_numpy()
        if draws.chains is None:
            return [(chain, rows)]
        return [(k, rows[draws.chains == k]) for k in range(draws.n_chains)]
    array = np.asarray(draws)
    if array.ndim not in (1, 2, 3) or array.shape[-1] == 0:
        raise ValueError(
            f"draws has shape {array.shape}; it must be (items,), (draws, items) or (chains, draws, items)"
        )
    if array.ndim == 3:
        return list(enumerate(array))
    return [(chain, np.atleast_2d(array))]
