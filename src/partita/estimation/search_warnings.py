"""Warnings about the search of an estimate: it ended early, was hard, or reached the limit on clusters."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from partita.estimation.result import Estimate
from partita.search import METHODS
from partita.search.settings import cluster_limit

#: A search is hard if at most this share of its runs reaches the best loss.
HARD_SEARCH = 0.25
#: A number of clusters is rare if a smaller share of the draws has it.
RARE = 0.05
#: Items that a sentence names at most.
ITEMS_NAMED = 5


def search_warnings(best: Estimate) -> Iterator[str]:
    """Warnings about the search itself."""
    if best.interrupted:
        yield "The search was stopped before its end: this is the best partition so far."
    elif best.timed_out:
        yield f"The time limit of {best.search.seconds:g} seconds ended the search: this is the best partition so far."
    elif not best.proven and len(best.runs) > 1 and best.times_reached <= max(1, HARD_SEARCH * len(best.runs)):
        yield (
            f"Only {best.times_reached} of {best.ends} reached the lowest expected loss: the search is hard here. Use"
            f" more runs (for example {4 * best.n_runs})."
        )
    yield from limit_warnings(best)


def unlabelled_warnings(best: Estimate) -> Iterator[str]:
    """The notes that items are in no cluster: they are noise, or no draw says anything about them."""
    if (noise := np.flatnonzero(best.is_noise)).size:
        one = noise.size == 1
        yield (
            f"{noise.size:,} item{' is' if one else 's are'} noise{_listed(noise, best.sample.names)}: alone in the"
            f" estimate, and noise in at least half of the draws that label {'it' if one else 'them'}. The label is -1."
        )
    items = np.flatnonzero((best.labels < 0) & ~best.is_noise)
    if items.size:
        listed = _listed(items, best.sample.names)
        draws = "draw" if best.sample.unlabelled[items].all() else "draw that was searched"
        one = len(items) == 1
        yield (
            f"{len(items):,} item{' has' if one else 's have'} no label in any {draws}{listed}:"
            f" {'it is' if one else 'they are'} in no cluster, with label -1 and unknown certainty."
        )


def _listed(items: NDArray[np.int64], names: tuple[str, ...] | None) -> str:
    """The names of a few items, in brackets."""
    if names is None:
        return ""
    more = ", ..." if len(items) > ITEMS_NAMED else ""
    return f" ({', '.join(names[i] for i in items[:ITEMS_NAMED].tolist())}{more})"


def limit_warnings(best: Estimate) -> Iterator[str]:
    """The warning that more clusters may be better."""
    if _limit_binds(best):
        yield (
            f"The estimate has as many clusters as were allowed ({_n_parts(best)}): allowing more may lower the"
            " expected loss."
        )


def _n_parts(best: Estimate) -> int:
    """Clusters, and items reported as noise, each of which is alone and counts for the limit."""
    return best.n_clusters + int(best.is_noise.sum())


def _limit_binds(best: Estimate) -> bool:
    """Whether the estimate has as many clusters as the limit allows, and might have more without it.

    This counts for every limit that the user set. The default limit, the largest number of clusters of any draw, counts
    only if few draws have that many; if many draws do, it is no surprise that the estimate has as many. Under
    constraints there is no default limit.
    """
    limit = cluster_limit(best.sample, best.search)
    if not 1 < limit <= _n_parts(best) < best.sample.n_items:
        return False
    if best.search.max_clusters is not None:
        return True
    at_limit = float(best.sample.weights[best.sample.n_clusters >= limit].sum())
    is_held = _is_of_core(best.method) and best.constraints is None
    return is_held and not best.proven and at_limit < RARE


def _is_of_core(method: str) -> bool:
    """Whether the method is a search of the core: only these are bound by the default limit on clusters."""
    known = METHODS.get(method)
    return known is not None and known.core is not None
