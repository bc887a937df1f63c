"""Method "exact": the partition of least expected Binder loss, proven by cutting planes."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from partita.losses import Binder, Loss, expected_loss
from partita.partitions import canonical
from partita.sample import PartitionSample
from partita.search.clique_lp import Cliques, solve_cliques
from partita.search.found import Found
from partita.search.laugreen import swap_items
from partita.search.limits import given_limit
from partita.search.native import find_search
from partita.similarity import complete_similarity

if TYPE_CHECKING:
    from partita.estimate import Search

Labels = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class BinderBound:
    """A lower bound on the expected loss of every partition, and the best partition that came with it."""

    value: float
    labels: Labels
    proven: bool
    interrupted: bool


def find_exact(sample: PartitionSample, loss: Loss, search: Search, rng: np.random.Generator) -> Found:
    """Least expected Binder loss, for any a and b, as a clique partitioning problem solved with HiGHS.

    Starts at what "search" finds. Stops at search.seconds, or at Ctrl-C, with the best partition so far and the gap.

    References
    ----------
    Grötschel & Wakabayashi (1989), A cutting plane algorithm for a clustering problem.
    """
    binder = _checked(sample, loss)
    begun = time.monotonic()
    limit = given_limit(sample, search)
    start = find_search(sample, loss, replace(search, max_clusters=limit), rng)
    seconds = np.inf if search.seconds is None else search.seconds - (time.monotonic() - begun)
    seconds = 0.0 if start.interrupted else seconds
    found = bound_binder(sample, binder, seconds, start.labels, limit if limit < sample.n_items else None)
    reached = float(expected_loss(found.labels, sample, loss))
    gap = 0.0 if found.proven else (reached - found.value) / reached if reached > 0 else 0.0
    interrupted = start.interrupted or found.interrupted
    return Found(found.labels, start.runs, proven=found.proven, gap=gap, interrupted=interrupted)


def _checked(sample: PartitionSample, loss: Loss) -> Binder:
    """The loss, if the linear program knows what to do with it and with the draws."""
    if not isinstance(loss, Binder):
        raise ValueError(f"method 'exact' knows Binder's loss only, not {loss}")
    if sample.has_gaps:
        raise ValueError("method 'exact' needs draws that label every item")
    return loss


def bound_binder(
    sample: PartitionSample, loss: Binder, seconds: float, start: Labels, max_clusters: int | None = None
) -> BinderBound:
    """Cutting planes for at most some seconds; the start is a partition to improve on, or to prove best."""
    deadline = time.monotonic() + min(seconds, 1e9)
    psm = complete_similarity(sample)
    cost = loss.b - (loss.a + loss.b) * psm
    np.fill_diagonal(cost, 0)
    free = _solve_components(cost, deadline, start)
    exceeds = max_clusters is not None and (not free.proven or free.labels().max() >= max_clusters)
    solved = _limited(cost, deadline, free, start, max_clusters) if exceeds and not free.interrupted else free
    value = 2 / sample.n_items**2 * (loss.a * np.triu(psm, 1).sum() + solved.bound)
    if solved.proven:
        return BinderBound(value, solved.labels(), True, False)
    return BinderBound(value, _better(start, solved, cost, max_clusters), False, solved.interrupted)


def _solve_components(cost: Floats, deadline: float, start: Labels) -> Cliques:
    """Items in different components of {cost < 0} are apart in some optimum, so each is solved alone."""
    count, component = connected_components(csr_array(cost < 0), directed=False)
    x, bound, proven, interrupted = np.zeros_like(cost), 0.0, True, False
    members = [np.flatnonzero(component == c) for c in range(count)]
    todo = sorted((items for items in members if items.size > 1), key=len)
    for place, items in enumerate(todo):
        now = time.monotonic()
        share = items.size**3 / sum(later.size**3 for later in todo[place:])
        until = now if interrupted else now + (deadline - now) * share
        part = solve_cliques(cost[np.ix_(items, items)], until, start[items])
        x[np.ix_(items, items)] = part.x
        bound += part.bound
        proven &= part.proven
        interrupted |= part.interrupted
    return Cliques(bound, x, proven, interrupted)


def _limited(cost: Floats, deadline: float, free: Cliques, start: Labels, max_clusters: int | None) -> Cliques:
    """The whole problem with the bound on clusters; the free problem's bound holds for it too."""
    limited = solve_cliques(cost, deadline, start, max_clusters)
    return Cliques(max(free.bound, limited.bound), limited.x, limited.proven, limited.interrupted)


def _better(start: Labels, solved: Cliques, cost: Floats, max_clusters: int | None) -> Labels:
    """The start, or what item swapping makes of the unfinished solution, whichever costs less."""
    limit = len(cost) if max_clusters is None else max_clusters
    rounded = solved.labels()
    if solved.interrupted or rounded.max() >= limit:
        return start
    polished = canonical(swap_items(-cost, rounded, limit)[0])
    return min((start, polished), key=lambda labels: float(cost[np.equal.outer(labels, labels)].sum()))
