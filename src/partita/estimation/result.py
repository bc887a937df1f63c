"""The clustering to report, and how it was found."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._support.hints import plural
from partita._support.optional import data_frame
from partita._support.shown import Shown, facts_table
from partita._support.tolerance import TIE
from partita.draws.sample import PartitionSample, as_sample, noise_alone
from partita.estimation.held_out import HeldOut
from partita.losses.base import Loss
from partita.losses.expected import unique_distances
from partita.partitions.labels import HasClusters, canonical, each_alone
from partita.search.components import Components, components_of
from partita.search.constraints import Constraints
from partita.search.result import Compression, RunRow
from partita.search.settings import Search, explicit_limit, into_at_most

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from partita.proofs.bounds import Bound

#: An item that is alone in the estimate is noise if at least this share of the draws calls it so.
MOSTLY_NOISE = 0.5 - TIE
#: The `start` of a row of `runs` that was made by crossing two runs.
CROSSING = "crossing"


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(HasClusters, Shown):
    """A clustering that minimises the expected loss, and how it was found: the result of `estimate`.

    Attributes
    ----------
    labels : (n_items,) int array
        The clustering, canonical labels; -1 for an item in no cluster: one without a label in any draw, or noise, which
        is an item that is alone and that at least half of the draws call noise (`as_sample` with ``noise=``).
    expected_loss : float
        Its posterior expected loss, computed exactly in double precision.
    loss : Loss
        The loss that was used.
    method : str
        The method that found the estimate.
    sample : PartitionSample
        The draws that it was estimated from.
    n_runs : int
        Number of runs that the search made: ``Search(runs=...)``, unless time ran out.
    runs : tuple of RunRow
        Start, sweeps, moves, loss, clusters and seconds of each partition that the search ended with. There is one per
        run; for "search", one for each run that continued on all draws and one for each crossing of two runs.
    criterion : float or None
        The value of the method's own criterion, if that is not the expected loss.
    search : Search
        Settings of the search.
    seed : int or None
        The seed that gives the same answer again.
    interrupted : bool
        Whether Ctrl-C ended the search early.
    timed_out : bool
        Whether the time limit ended the search.
    proven : bool
        Whether it is proven that no partition has a lower expected loss; if ``max_clusters`` was set, no partition
        into at most so many clusters.
    gap : float or None
        Upper limit on how much lower the expected loss of another partition (into at most ``max_clusters`` clusters, if
        that was set) can be, as a share of the loss, if the method gives one.
    compression : Compression
        How many `items`, `draws` and `clusters` of draws each searched one represents. Items with the same labels in
        every draw, equal draws, and clusters that occur in several draws are searched as one, which does not change the
        result. 1 means that nothing was combined.
    held_out : HeldOut or None
        With ``max_draws``: the expected loss on the draws that were not searched, with its standard error.
    cautions : tuple of str
        Reasons for caution that estimating found: chains that have not mixed, few effective draws, runs that disagree,
        an estimate with as many clusters as the limit allows, a search that ended early, items without any label. They
        are the first of the `notes`.
    constraints : Constraints or None
        The constraints that it obeys; `proven` then means that no partition that obeys them is better.
    standard_error : float or None
        Monte Carlo standard error of the expected loss, by the effective number of draws; None for weighted draws,
        for lists that may not be chains, and with ``check_draws=False``. `monte_carlo_error` also says how often other
        draws give another partition.
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
    timed_out: bool = False
    proven: bool = False
    gap: float | None = None
    compression: Compression = field(default_factory=Compression)
    held_out: HeldOut | None = None
    cautions: tuple[str, ...] = ()
    n_runs: int = 0
    constraints: Constraints | None = None
    standard_error: float | None = None
    _measured: tuple[Any, PartitionSample, Loss, NDArray[np.float64]] | None = None

    presented_by = "partita.results.draws.DrawsPresentation"

    @cached_property
    def distances(self) -> NDArray[np.float64]:
        """The loss between the partition and each distinct draw, (n_unique,)."""
        if self._measured is not None:  # for these labels, draws and loss, if `replace` has not changed them
            labels, sample, loss, known = self._measured
            if labels is self.labels and sample is self.sample and loss == self.loss:
                return known
        return unique_distances(self.partition, self.sample, self.loss, self.search.n_jobs)

    @property
    def partition(self) -> NDArray[np.int64]:
        """The clustering as a partition of all items: items in no cluster (-1) are each alone."""
        return canonical(each_alone(self.labels))

    @property
    def noise(self) -> NDArray[np.float64]:
        """The share of the draws that call each item noise, of those that label it; 0 if no label means noise."""
        return np.zeros(self.sample.n_items) if self.sample.noise is None else self.sample.noise

    @property
    def is_noise(self) -> NDArray[np.bool_]:
        """Which items are reported as noise; the other items with label -1 have no label in any draw."""
        return (self.labels < 0) & (self.noise >= MOSTLY_NOISE)

    @property
    def verdicts(self) -> NDArray[np.int64]:
        """The labels with noise alone: -1 is left for items without a label in any draw."""
        return noise_alone(self.labels, self.sample)

    @property
    def times_reached(self) -> int:
        """How many of `runs` reached the best loss, 0 without runs; one of many is a sign of a hard problem."""
        losses = [run.loss for run in self.runs]
        least = min(losses, default=0.0)
        most = least + TIE * max(abs(least), self.loss.unit)  # also of a loss of 0
        return sum(loss <= most for loss in losses)

    @cached_property
    def components(self) -> Components:
        """The connected components of items that are together in some draw: their number, sizes, how many are proven.

        Under VI and Binder's loss some best partition joins no two components, so each of them is a separate problem.
        Components of at most 12 items are proven by enumerating all of their partitions.
        """
        proven = self.proven and self._limit is None  # under a limit, a component alone may have a better partition
        return components_of(self.partition, self.sample, self.loss, self.search.n_jobs, proven)

    @property
    def _limit(self) -> int | None:
        """The limit on clusters that was set: `proven` is about partitions that obey it."""
        return explicit_limit(self.sample, self.search)

    def bound(self, seconds: float = 10.0, progress: Any = None) -> Bound:
        """A lower bound on the least expected loss of any partition, and the gap to it.

        If ``max_clusters`` was set, the bound may be over partitions into at most so many clusters; it then says so.

        Parameters
        ----------
        seconds : float
            Time to spend; more time gives a tighter bound. Ctrl-C gives the bound so far.
        progress : bool or callable, optional
            True prints the gap after 1, 10 and 60 seconds and every further minute; a function is called at these
            times with the seconds so far and the `Bound`.

        Examples
        --------
        >>> from partita import estimate
        >>> draws = [[0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 2, 2]]
        >>> print(estimate(draws, search=Search(max_clusters=2), rng=1).bound())
        No partition into at most 2 clusters has a smaller expected loss: the estimate is provably optimal.
        """
        from partita.proofs.bounds import lower_bound

        return lower_bound(self, seconds, progress)

    def methods_text(self, *extras: Any) -> str:
        """Paragraphs for a paper: what was done and found, how certain it is, all notes, and the references.

        Parameters
        ----------
        *extras
            Results that go with the estimate, as for `report`, such as its bound. Without a credible ball, that of 95 %
            is computed.

        Examples
        --------
        >>> from partita import estimate
        >>> print(estimate([[0, 0, 1], [0, 0, 1]], rng=1).methods_text()[:55])
        From 2 posterior draws of the partition of 3 items (1 d
        """
        from partita.results.methods_text import methods_text

        return methods_text(self, *extras)

    def plot(self, data: ArrayLike | None = None, *, ax: Axes | None = None) -> Axes:
        """The data in the colours of their clusters or, without data, the similarity map; with matplotlib.

        Parameters
        ----------
        data : (n,) or (n, d) array_like, optional
            As for `plots.points`: a single column is drawn on its density, and more than two columns are shown by
            their first two principal components.
        ax : matplotlib Axes, optional
            Where to draw; by default new axes.

        Examples
        --------
        >>> from partita import estimate
        >>> ax = estimate([[0, 0, 1], [0, 0, 1]], rng=1).plot([[1.0, 2.0], [1.5, 2.0], [7.0, 8.0]])
        >>> len(ax.collections)
        2
        """
        from partita import plots

        return plots.similarity_map(self, ax=ax) if data is None else plots.points(data, self, ax=ax)

    def runs_to_pandas(self) -> Any:
        """The runs as a pandas DataFrame, one row per run, best first."""
        columns = ("start", "sweeps", "moves", "loss", "clusters", "seconds")
        table = data_frame([{c: getattr(run, c) for c in columns} for run in self.runs], columns=columns)
        return table.sort_values("loss", kind="stable", ignore_index=True)

    def __repr__(self) -> str:
        facts = "".join(f"\n  {name:<14}{value}" for name, value in self._facts())
        return f"Estimate: {plural(self.n_clusters, 'cluster')} of {plural(len(self.labels), 'item')}{facts}"

    def _repr_html_(self) -> str:
        return facts_table("Estimate", self._facts())

    def _facts(self) -> list[tuple[str, str]]:
        sizes = ", ".join(map(str, self.sizes[:12])) + (", …" if self.n_clusters > 12 else "")
        facts = [
            ("clusters", str(self.n_clusters)),
            ("sizes", sizes),
            *([] if self.sample.noise is None else [("noise", plural(int(self.is_noise.sum()), "item"))]),
            ("expected loss", self._loss_fact()),
            ("method", self._method_fact()),
        ]
        if self.held_out is not None:
            facts.append(("held out", f"{self.held_out.loss:.6f} ± {self.held_out.standard_error:.2g}"))
        if self.proven:
            facts.append(("proven", f"no partition{into_at_most(self._limit)} is better"))
        if self.interrupted:
            facts.append(("interrupted", "the best so far"))
        elif self.timed_out:
            facts.append(("time limit", "the best so far"))
        return facts + [("warning", sentence) for sentence in self.cautions]

    def _loss_fact(self) -> str:
        error = "" if self.standard_error is None else f" ± {self.standard_error:.2g}"
        return f"{self.expected_loss:.6f}{error}  {self.loss}"

    def _method_fact(self) -> str:
        if not self.runs:
            return self.method
        return f"{self.method}, best reached by {self.times_reached} of {self.ends}"

    @property
    def ends(self) -> str:
        """A description of the rows of `runs`: the runs themselves, or the candidate partitions that they found.

        Examples
        --------
        >>> from partita import estimate
        >>> estimate([[0, 0, 1], [0, 1, 1]], search=Search(runs=3), method="salso", rng=1).ends
        '3 runs'
        """
        runs = plural(self.n_runs, "run")
        if self.n_runs == len(self.runs) and not any(row.start == CROSSING for row in self.runs):
            return runs
        return f"{plural(len(self.runs), 'candidate partition')} from {runs}"


def sample_of(draws: Any) -> PartitionSample:
    """The draws of an estimate, or draws in any form that `as_sample` takes."""
    return draws.sample if isinstance(draws, Estimate) else as_sample(draws)
