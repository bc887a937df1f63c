"""Method "exact": the partition of least expected Binder loss, proven by cutting planes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from partita._support.arrays import Floats, Labels
from partita.draws.sample import PartitionSample
from partita.losses.base import AdditiveLoss, Loss
from partita.losses.expected import expected_loss
from partita.pairs.similarity import complete_similarity
from partita.partitions.labels import canonical
from partita.search.clique_lp import Cliques, Tell, solve_cliques
from partita.search.components import MAX_ENUMERATED, are_all_small, solve_parts
from partita.search.core import find_search
from partita.search.deadline import Deadline
from partita.search.enumerate import FEW_LOSSES, are_few, best_of_all
from partita.search.papers.laugreen import swap_items
from partita.search.result import SearchResult
from partita.search.settings import Search, explicit_limit, given_limit

#: The clusters of a draw are small if the cluster of an item has at most this many items on average.
SMALL_CLUSTERS = 16


@dataclass(frozen=True)
class BinderBound:
    """A lower bound on the expected loss of every partition, and the best partition found with it."""

    value: float
    labels: Labels
    proven: bool
    interrupted: bool


def find_exact(
    sample: PartitionSample, loss: Loss, search: Search, rng: np.random.Generator, starts: tuple[Labels, ...] = ()
) -> SearchResult:
    """Least expected Binder loss, for any a and b, as a clique partitioning problem, by HiGHS (Grötschel & Wakabayashi
    1989).

    If all components have at most 12 items, all partitions of each component are enumerated; this also works for VI and
    for draws with missing labels. If a limit on clusters leaves few partitions, all of them are enumerated. Otherwise
    the program starts from the result of "search". At the time limit, or after Ctrl-C, the best partition so far is
    returned with the gap.
    """
    until = Deadline.after(search.seconds)
    limit = given_limit(sample, search)
    if loss.additive and (solved := _by_parts(sample, loss, search, limit)) is not None:
        return solved
    binder = _checked(sample, loss)
    if limit < sample.n_items and are_few(sample, limit, sample.n_items, FEW_LOSSES):
        return best_of_all(sample, loss, search)
    half = None if search.seconds is None else search.seconds / 2  # the proof gets the rest, usually far more than half
    start = find_search(sample, loss, replace(search, max_clusters=limit, seconds=half), rng, starts)
    seconds = 0.0 if start.interrupted else until.left
    found = bound_binder(sample, binder, seconds, start.labels, explicit_limit(sample, search))
    reached = float(expected_loss(found.labels, sample, loss))
    gap = 0.0 if found.proven else (reached - found.value) / reached if reached > 0 else 0.0
    interrupted = start.interrupted or found.interrupted
    return SearchResult(
        found.labels, start.runs, proven=found.proven, gap=gap, interrupted=interrupted, n_runs=start.n_runs
    )


def _by_parts(sample: PartitionSample, loss: Loss, search: Search, limit: int) -> SearchResult | None:
    """The best partition of each component, if all are small and the limit on clusters is obeyed; otherwise None."""
    pays = _may_have_small_parts if loss.pairwise else are_all_small
    if not pays(sample):
        return None
    parts = solve_parts(sample, loss, n_jobs=search.n_jobs)
    if not parts.all_solved:
        return None
    labels = parts.partition()
    return SearchResult(labels, proven=True, gap=0.0) if labels.max() < limit else None


def _may_have_small_parts(sample: PartitionSample) -> bool:
    """Whether it pays to list the pairs of items: it does if the clusters of the first draw are small."""
    first = sample.labels[0]
    return float((np.bincount(first[first >= 0]).astype(np.float64) ** 2).sum()) <= SMALL_CLUSTERS * sample.n_items


def _checked(sample: PartitionSample, loss: Loss) -> AdditiveLoss:
    """The loss, if the linear program supports it and the draws."""
    if (binder := loss.pairwise) is None:
        here = " here" if loss.additive else ""
        raise ValueError(
            f"method 'exact' supports Binder's loss, and VI if all components have at most {MAX_ENUMERATED} items, "
            f"not {loss}{here}"
        )
    if sample.has_gaps:
        raise ValueError("method 'exact' needs draws that label every item")
    return binder


def bound_binder(
    sample: PartitionSample,
    loss: AdditiveLoss,
    seconds: float,
    start: Labels,
    max_clusters: int | None = None,
    tell: Tell | None = None,
) -> BinderBound:
    """Cutting planes for at most `seconds`; `start` is a partition to improve, or to prove optimal.

    `tell` is called with the lower bound on the expected loss after each round.
    """
    until = Deadline.after(seconds)
    pairs = _PairCosts.of(sample, loss)
    free = solve_clique_parts(pairs.cost, until, start, pairs.telling(tell))
    exceeds = max_clusters is not None and (not free.proven or free.labels().max() >= max_clusters)
    solved = _limited(pairs.cost, until, free, start, max_clusters) if exceeds and not free.interrupted else free
    return pairs.result(solved, start, max_clusters)


def bound_limited_binder(
    sample: PartitionSample,
    loss: AdditiveLoss,
    seconds: float,
    start: Labels,
    max_clusters: int,
    tell: Tell | None = None,
) -> BinderBound:
    """As `bound_binder`, without the problem that has no limit on clusters: what that gives is known already."""
    until = Deadline.after(seconds)
    pairs = _PairCosts.of(sample, loss)
    solved = solve_cliques(pairs.cost, until, start, max_clusters, tell=pairs.telling(tell))
    return pairs.result(solved, start, max_clusters)


@dataclass(frozen=True)
class _PairCosts:
    """Expected Binder loss as `unit` times (a constant plus the sum of the costs of the pairs that are together)."""

    cost: Floats
    constant: float
    unit: float

    @classmethod
    def of(cls, sample: PartitionSample, loss: AdditiveLoss) -> _PairCosts:
        psm = complete_similarity(sample)
        a, b = loss.a / loss.unit, loss.b / loss.unit
        cost = b - (a + b) * psm
        np.fill_diagonal(cost, 0)
        return cls(cost, a * float(np.triu(psm, 1).sum()), loss.unit * 2 / sample.n_items**2)

    def as_loss(self, bound: float) -> float:
        """The expected loss of a sum of costs."""
        return float(self.unit * (self.constant + bound))

    def telling(self, tell: Tell | None) -> Tell | None:
        """Tells sums of costs as losses."""
        return None if tell is None else lambda bound: tell(self.as_loss(bound))

    def result(self, solved: Cliques, start: Labels, max_clusters: int | None) -> BinderBound:
        """The bound, and the partition that is proven, or else the best one that is known."""
        value = self.as_loss(solved.bound)
        if solved.proven:
            return BinderBound(value, solved.labels(), True, False)
        return BinderBound(value, _better(start, solved, self.cost, max_clusters), False, solved.interrupted)


def solve_clique_parts(cost: Floats, until: Deadline, start: Labels, tell: Tell | None = None) -> Cliques:
    """Items in different components of {cost < 0} are apart in some optimum, so each is solved alone."""
    count, component = connected_components(csr_array(cost < 0), directed=False)
    x, bound, proven, interrupted = np.zeros_like(cost), 0.0, True, False
    members = [np.flatnonzero(component == c) for c in range(count)]
    todo = sorted((items for items in members if items.size > 1), key=len)
    later = float(np.minimum(cost, 0).sum()) / 2  # the bound of what is not solved yet
    for place, items in enumerate(todo):
        share = 0.0 if interrupted else items.size**3 / sum(later.size**3 for later in todo[place:])
        own = cost[np.ix_(items, items)]
        later -= float(np.minimum(own, 0).sum()) / 2
        part = solve_cliques(own, until.share(share), start[items], tell=_beside(bound + later, tell))
        x[np.ix_(items, items)] = part.x
        bound += part.bound
        proven &= part.proven
        interrupted |= part.interrupted
    return Cliques(bound, x, proven, interrupted)


def _beside(others: float, tell: Tell | None) -> Tell | None:
    """Tells the bound of one component, added to what is known of the others."""
    return None if tell is None else lambda own: tell(others + own)


def _limited(cost: Floats, until: Deadline, free: Cliques, start: Labels, max_clusters: int | None) -> Cliques:
    """The whole problem with the limit on clusters; the bound of the problem without it remains valid."""
    limited = solve_cliques(cost, until, start, max_clusters)
    return Cliques(max(free.bound, limited.bound), limited.x, limited.proven, limited.interrupted)


def _better(start: Labels, solved: Cliques, cost: Floats, max_clusters: int | None) -> Labels:
    """The start, or the unfinished solution improved by item swapping, whichever costs less."""
    limit = len(cost) if max_clusters is None else max_clusters
    rounded = solved.labels()
    if solved.interrupted or rounded.max() >= limit:
        return start
    polished = canonical(swap_items(-cost, rounded, limit)[0])
    return min((start, polished), key=lambda labels: float(cost[np.equal.outer(labels, labels)].sum()))
