"""Method "exact": the partition of least expected Binder loss, proven by cutting planes."""

from __future__ import annotations

import time
from dataclasses import dataclass
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
from partita.search.linkage import tree_cuts
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


def find_exact(sample: PartitionSample, loss: Loss, search: Search, rng: np.random.Generator) -> Found:
    """Least expected Binder loss, for any a and b, as a clique partitioning problem solved with HiGHS.

    Stops at search.seconds with the best partition so far and the gap.

    References
    ----------
    Grötschel & Wakabayashi (1989), A cutting plane algorithm for a clustering problem.
    """
    limit = given_limit(sample, search)
    seconds = np.inf if search.seconds is None else search.seconds
    found = bound_binder(sample, loss, seconds, limit if limit < sample.n_items else None)
    reached = float(expected_loss(found.labels, sample, loss))
    gap = 0.0 if found.proven else (reached - found.value) / reached if reached > 0 else 0.0
    return Found(found.labels, proven=found.proven, gap=gap)


def bound_binder(
    sample: PartitionSample,
    loss: Loss,
    seconds: float,
    max_clusters: int | None = None,
    start: Labels | None = None,
) -> BinderBound:
    """Cutting planes for at most some seconds; the start is a partition to improve on."""
    if not isinstance(loss, Binder):
        raise ValueError(f"method 'exact' knows Binder's loss only, not {loss}")
    if sample.has_gaps:
        raise ValueError("method 'exact' needs draws that label every item")
    deadline = time.monotonic() + min(seconds, 1e9)
    psm = complete_similarity(sample)
    cost = loss.b - (loss.a + loss.b) * psm
    np.fill_diagonal(cost, 0)
    free = _solve_components(cost, deadline)
    exceeds = max_clusters is not None and (not free.proven or free.labels().max() >= max_clusters)
    solved = _limited(cost, deadline, free, max_clusters) if exceeds else free
    n = sample.n_items
    value = 2 / n**2 * (loss.a * np.triu(psm, 1).sum() + solved.bound)
    if solved.proven:
        return BinderBound(value, solved.labels(), True)
    candidates = [_polish(cost, labels, max_clusters) for labels in _candidates(psm, solved, start, max_clusters)]
    best = min(candidates, key=lambda labels: float(expected_loss(labels, sample, loss)))
    return BinderBound(value, best, False)


def _solve_components(cost: Floats, deadline: float) -> Cliques:
    """Items in different components of {cost < 0} are apart in some optimum, so each is solved alone."""
    count, component = connected_components(csr_array(cost < 0), directed=False)
    x, bound, proven = np.zeros_like(cost), 0.0, True
    members = [np.flatnonzero(component == c) for c in range(count)]
    todo = sorted((items for items in members if items.size > 1), key=len)
    for place, items in enumerate(todo):
        now = time.monotonic()
        share = items.size**3 / sum(later.size**3 for later in todo[place:])
        part = solve_cliques(cost[np.ix_(items, items)], now + (deadline - now) * share)
        x[np.ix_(items, items)] = part.x
        bound += part.bound
        proven &= part.proven
    return Cliques(bound, x, proven, False)


def _limited(cost: Floats, deadline: float, free: Cliques, max_clusters: int | None) -> Cliques:
    """The whole problem with the bound on clusters; the free problem's bound holds for it too."""
    limited = solve_cliques(cost, deadline, max_clusters)
    return Cliques(max(free.bound, limited.bound), limited.x, limited.proven, False)


def _candidates(psm: Floats, solved: Cliques, start: Labels | None, max_clusters: int | None) -> list[Labels]:
    limit = len(psm) if max_clusters is None else max_clusters
    found = [labels for labels in (solved.labels(), start) if labels is not None and labels.max() < limit]
    return found + list(tree_cuts(psm, min(limit, 50)))


def _polish(cost: Floats, labels: Labels, max_clusters: int | None) -> Labels:
    limit = len(cost) if max_clusters is None else max_clusters
    return canonical(swap_items(-cost, labels, limit)[0])
