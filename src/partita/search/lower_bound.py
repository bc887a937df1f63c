"""Method "lower-bound": Wade & Ghahramani's modified VI, by the search of pair probabilities."""

from __future__ import annotations

import numpy as np

from partita._support.arrays import Labels
from partita.draws.sample import PartitionSample
from partita.losses.base import Loss
from partita.losses.losses import VI
from partita.pairs.losses import VILowerBound, loss_of
from partita.pairs.similarity import similarity
from partita.search.pair_graph import PairSearch
from partita.search.result import SearchResult
from partita.search.settings import Search, given_limit


def find_lower_bound(
    sample: PartitionSample,
    loss: Loss,
    search: Search,
    rng: np.random.Generator,
    starts: tuple[Labels, ...] = (),
) -> SearchResult:
    """The partition of least modified VI, equation 4 of Wade & Ghahramani, which is the criterion.

    (1/n) Σ_i [b log |C_i| - (a + b) log Σ_j π_ij 1{c_j = c_i}]

    It needs the pair probabilities of the draws only. The method "hasse" with ``criterion="lower-bound"`` walks from
    draws to the nearest local optimum; this is the default search for it.
    """
    if not isinstance(loss, VI):
        raise ValueError(f"method 'lower-bound' minimises a bound on the expected VI; the loss is {loss}")
    if given_limit(sample, search) < sample.n_items:
        raise ValueError(f"method 'lower-bound' does not support max_clusters={search.max_clusters}")
    pairs, kind = similarity(sample, sparse=True), VILowerBound(loss.a, loss.b)
    parts, _ = PairSearch(pairs, search, None, starts).find(kind, rng)
    return SearchResult(parts.labels, criterion=loss_of(parts.labels, pairs, kind), interrupted=parts.interrupted)
