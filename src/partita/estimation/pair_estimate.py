"""From pair probabilities to the one clustering to report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from partita._support.shown import Shown, facts_table
from partita._support.validate import check_count, check_positive, seed_and_generator
from partita._support.warn import warn_user
from partita.estimation.linkage_ids import Changes, Ledger
from partita.losses.base import Loss
from partita.pairs.losses import PairLoss, as_pair_loss, loss_of
from partita.pairs.probabilities import Similarity
from partita.partitions.labels import HasClusters
from partita.search import methods_that
from partita.search.components import Components
from partita.search.constraints import Constraints, check_starts, resolve
from partita.search.method import Method
from partita.search.pair_graph import PairSearch, Parts

if TYPE_CHECKING:
    from partita.proofs.bounds import Bound
    from partita.search.settings import Search
    from partita.uncertainty.linkage_reasons import Question, Reasons


@dataclass(frozen=True)
class Origin:
    """The stored state that an estimate comes from.

    Attributes
    ----------
    state : str
        Its name.
    pointer : str
        The SHA-256 of the folder's pointer when it was read.
    place : Path
        Its folder.
    base : Similarity
        The pairs that its files have, which updates share.
    files : dict
        The size and SHA-256 of each file, and what tells it from a later file of that name.
    """

    state: str
    pointer: str
    place: Path
    base: Similarity
    files: dict[str, tuple[dict[str, Any], tuple[int, int]]]


@dataclass(frozen=True, eq=False, repr=False)
class PairEstimate(HasClusters, Shown):
    """A clustering that minimises a loss of pair probabilities, and how it was found; `estimate` makes it.

    Attributes
    ----------
    labels : (n_items,) int array
        The clustering, canonical labels.
    expected_loss : float
        Its loss, computed from the pair probabilities; see `pair_loss`.
    loss : Binder, VILowerBound or ApproximateARI
        The loss that was used.
    similarity : Similarity
        The pair probabilities.
    components : Components
        How many components there are, how large they are, how many are proven.
    proven : bool
        Whether it is proven that no partition, of those that obey the constraints, is better: all components are.
    gap : float or None
        How much better another partition may be at most, as a share of the loss, where a bound is known.
    method : str
        The method that found the estimate.
    search : Search
        Settings of the search.
    constraints : Constraints or None
        The constraints that it obeys.
    seed : int or None
        The seed that gives the same answer again.
    interrupted : bool
        Whether Ctrl-C ended the search early.
    cautions : tuple of str
        Reasons for caution that the search found; they are the first of the `notes`.
    """

    labels: NDArray[np.int64]
    expected_loss: float
    loss: PairLoss
    similarity: Similarity
    components: Components
    proven: bool
    gap: float | None
    method: str
    search: Search
    constraints: Constraints | None = None
    seed: int | None = None
    interrupted: bool = False
    cautions: tuple[str, ...] = ()
    _parts: Parts | None = field(default=None, repr=False)
    _ledger: Ledger | None = field(default=None, repr=False)
    _origin: Origin | None = field(default=None, repr=False)

    @property
    def ids(self) -> NDArray[np.int64]:
        """(n_items,) int array: the lasting identifier of each item's cluster, which `update` carries on."""
        return ledger_of(self).ids

    @property
    def changes(self) -> Changes:
        """What the last `update` did with each identifier: a table of id, kind and records.

        Kinds are kept, grown, shrunk, split, merged, new and gone. Without an update all clusters are new.
        """
        return ledger_of(self).changes(self.similarity.names)

    presented_by = "partita.results.pairs.PairPresentation"

    def bound(self, seconds: float = 10.0) -> Bound:
        """A lower bound on the least loss of any partition that obeys the constraints, and the gap to it.

        Sums the bounds of the components. For Binder's loss linear programs tighten those of the unproven ones.

        Parameters
        ----------
        seconds : float
            Time to spend on the linear programs.
        """
        from partita.proofs.bounds import pair_bound

        check_positive(seconds, "seconds")
        return pair_bound(self, seconds)

    def reasons(self, cluster: int | str) -> Reasons:
        """What holds a cluster together, its weakest link, its cheapest split and the cheapest merges with it.

        Parameters
        ----------
        cluster : int or str
            The number of the cluster in `labels`, or the name of one of its records.

        Returns
        -------
        Reasons
        """
        from partita.uncertainty.linkage_reasons import cluster_reasons

        return cluster_reasons(self, cluster)

    def questions(self, most: int = 100) -> list[Question]:
        """Pairs of records to show a reviewer, in the order of what the answer would change.

        Parameters
        ----------
        most : int
            The number of questions.

        Returns
        -------
        list of Question
            Answers go back as constraints: ``update(est, constraints=Constraints(together=..., apart=...))``.
        """
        from partita.uncertainty.linkage_reasons import questions

        return questions(self, check_count(most, "most", 1))

    def to_arrow(self) -> Any:
        """A table of Arrow with one row per record: its name, the identifier and the number of its cluster."""
        import pyarrow

        names = tuple(map(str, range(len(self.labels)))) if self.similarity.names is None else self.similarity.names
        return pyarrow.table({"record": pyarrow.array(names), "id": self.ids, "cluster": self.labels})

    def __repr__(self) -> str:
        facts = "".join(f"\n  {name:<14}{value}" for name, value in self._facts())
        return f"Estimate: {self.n_clusters:,} clusters of {len(self.labels):,} items{facts}"

    def _repr_html_(self) -> str:
        return facts_table("Estimate", self._facts())

    def _facts(self) -> list[tuple[str, str]]:
        sizes = np.sort(self.sizes)[::-1]
        facts = [
            ("clusters", f"{self.n_clusters:,}, of {sizes[-1]:,} to {sizes[0]:,} items"),
            ("pairs", f"{self.similarity.n_pairs:,} with a probability"),
            ("expected loss", f"{self.expected_loss:.6g}  {self.loss}"),
            ("components", self.components.summary()),
        ]
        if self.constraints is not None:
            facts.append(("constraints", self.constraints.summary()))
        if self.proven:
            facts.append(("proven", "no partition is better"))
        if self.interrupted:
            facts.append(("interrupted", "the best so far"))
        return facts + [("warning", sentence) for sentence in self.cautions]


def ledger_of(best: PairEstimate) -> Ledger:
    """The identifiers of an estimate, now and before its last update."""
    return Ledger.first(best.labels) if best._ledger is None else best._ledger


def estimate_pairs(
    pairs: Similarity,
    loss: str | Loss,
    method: Method,
    search: Search,
    rng: Any,
    constraints: Constraints | None = None,
    start: Any = None,
) -> PairEstimate:
    """The partition of least loss of pair probabilities; `estimate` calls it."""
    kind = as_pair_loss(loss)
    find = checked_method(method, search)
    rules = None if constraints is None else resolve(constraints, pairs.names, pairs.n_items, "similarity")
    starts = check_starts(start, pairs.names, pairs.n_items, rules, "similarity")
    seed, generator = seed_and_generator(rng)
    found = find(PairSearch(pairs, search, rules, starts), kind, generator)
    return found_partition(pairs, found, kind, method.name, search, constraints, seed)


def found_partition(
    pairs: Similarity,
    found: tuple[Parts, float | None],
    loss: PairLoss,
    method: str,
    search: Search,
    constraints: Constraints | None,
    seed: int | None,
    value: float | None = None,
) -> PairEstimate:
    """The estimate of a partition that was found, with its bound, and its loss where that is known."""
    parts, bound = found
    if parts.interrupted:
        warn_user("interrupted: this is the best partition so far", RuntimeWarning)
    value = loss_of(parts.labels, pairs, loss) if value is None else value
    proven = bool(parts.proven.all())
    best = PairEstimate(
        labels=parts.labels,
        expected_loss=value,
        loss=loss,
        similarity=pairs,
        components=parts.summary(),
        proven=proven,
        gap=share_of_gap(value, bound, proven),
        method=method,
        search=search,
        constraints=constraints,
        seed=seed,
        interrupted=parts.interrupted,
        _parts=parts,
    )
    return replace(best, cautions=tuple(_cautions(best)))


def share_of_gap(value: float, bound: float | None, proven: bool) -> float | None:
    """(value - bound) / |value|; losses such as the VI lower bound may be negative."""
    if proven:
        return 0.0
    return None if bound is None or value == 0 else max(0.0, value - bound) / abs(value)


def checked_method(method: Method, search: Search) -> Callable[..., tuple[Parts, float | None]]:
    """What the method does with pair probabilities; settings for draws alone raise an error."""
    if method.of_pairs is None:
        known = methods_that(lambda other: other.of_pairs)
        raise ValueError(f"method {method.name!r} needs draws; pair probabilities have {known}")
    if search.max_clusters is not None and np.isfinite(search.max_clusters):
        raise ValueError(
            f"max_clusters={search.max_clusters} is for draws: with pair probabilities components are searched one by"
            " one, so that no limit on the total number of clusters can be kept"
        )
    if search.max_draws is not None:
        raise ValueError("max_draws is for draws, not for pair probabilities")
    return method.of_pairs


def _cautions(best: PairEstimate) -> list[str]:
    said = []
    if best.interrupted:
        said.append("The search was stopped before its end: this is the best partition so far.")
    elif best.search.seconds is not None and not best.proven:
        open_parts = best.components.count - best.components.proven
        said.append(
            f"{open_parts:,} of {best.components.count:,} components are not proven; more time may improve them."
        )
    return said
