"""Expected-loss consensus: the clustering that is nearest to the base clusterings on average."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from partita._support.validate import check_rng
from partita.ensembles.base_clusterings import (
    Base,
    Labels,
    as_base,
    check_clusters,
    check_item_weights,
    in_column_order,
    spread_placed,
    warn_unlabelled,
)
from partita.ensembles.soft import SoftBase
from partita.estimation.estimate import estimate
from partita.losses.base import Loss
from partita.losses.losses import as_loss
from partita.search.settings import Search

MAX_COPIES = 10_000_000  # items that item weights may stand for
SOFT_DRAWS = 50  # hard clusterings that are drawn from each soft one
RAISE, RAISED = 1.5, 24  # b is raised by this factor, at most this many times


def consensus(
    base: Any,
    loss: Any = "vi",
    *,
    k: int | None = None,
    weights: ArrayLike | str | None = "dependence",
    item_weights: ArrayLike | None = None,
    search: Search | None = None,
    rng: Any = None,
) -> Labels:
    """The clustering with the least weighted mean loss to the base clusterings.

    Each base clustering is compared on the items that it labels. `partita.estimate` on the transposed labels
    finds the same partition and returns an `Estimate`.

    Parameters
    ----------
    base : (items, clusterings) labels, or membership probabilities
        The base clusterings, in any form that `as_base` takes. The expected loss of soft clusterings is estimated from
        50 hard ones each, whose labels are drawn with their probabilities.
    loss, search : as in `partita.estimate`
        The loss, and the settings of the search.
    k : int, optional
        Number of clusters; by default the number with the least loss. If the best clustering with at most k clusters
        has fewer, b, the cost of joining what does not belong together, is raised until there are k.
    weights : "dependence", None or (clusterings,) array_like
        Weight of each clustering. "dependence": those of `dependence`, so that dependent clusterings count
        less. None: equal weights. A Series is matched by its index with the columns of a data frame.
    item_weights : (items,) integer array_like, optional
        How many equal items each one stands for, such as the cells of a metacell.
    rng : None, int or numpy Generator
        Seed or source of random numbers; the same seed gives the same result.

    Returns
    -------
    (items,) integer array
        Canonical labels; −1 for an item without labels, and for one that is noise: alone in the consensus, and noise in
        at least half of the clusterings that label it.

    Examples
    --------
    >>> consensus([[0, 0], [0, 0], [1, 1], [1, -1]], rng=1).tolist()
    [0, 0, 1, 1]
    >>> consensus([[0, 0], [0, 0], [1, 1], [1, 2]], k=3, rng=1).tolist()
    [0, 0, 1, 2]
    """
    read = as_base(base)
    weights = _weights(weights, base, read, item_weights)
    labelled, rng = warn_unlabelled(read), check_rng(rng)
    if isinstance(read, SoftBase):
        read = read.drawn(SOFT_DRAWS, rng.spawn(1)[0])
        weights = None if weights is None else np.repeat(np.asarray(weights), SOFT_DRAWS)
    copies = _copies(item_weights, read)[labelled]
    useful = np.asarray(read.seen.any(axis=0))  # clusterings that label no item are left out
    kept = None if weights is None else np.asarray(weights)[useful]
    items = None if (copies == 1).all() and labelled.all() else np.repeat(np.flatnonzero(labelled), copies)
    sample = read.draws(useful, kept, items)
    search = Search() if search is None else search
    if k is None:
        found = estimate(sample, loss=loss, search=search, rng=rng, check_draws=False).labels
    else:
        found = _with_clusters(sample, as_loss(loss), check_clusters(k, int(labelled.sum())), search, rng)
    return spread_placed(found[np.cumsum(copies) - 1], labelled)


def _weights(weights: Any, base: Any, read: Base | SoftBase, item_weights: Any) -> Any:
    """One weight for each clustering; None if all are equal."""
    from partita.ensembles.dependence import check_weighting, consensus_weights  # which need the consensus themselves

    check_weighting(weights)
    if weights is None:
        return None
    if not isinstance(weights, str):
        return in_column_order(weights, base, read.n_clusterings)
    hard = read.hardened()
    if item_weights is not None and not hard.independent:
        hard = hard.rows(np.repeat(np.arange(read.n_items), _copies(item_weights, hard)))
    return consensus_weights(hard)


def _copies(item_weights: Any, base: Base) -> Labels:
    """How many equal items each item stands for: equal items are together in the answer."""
    if item_weights is None:
        return np.ones(base.n_items, dtype=np.intp)
    values = check_item_weights(item_weights, base)
    if (broken := np.flatnonzero(values != np.rint(values))).size:
        raise ValueError(f"item_weights[{broken[0]}] is {values[broken[0]]}, but consensus needs whole numbers")
    if values.sum() > MAX_COPIES:
        raise ValueError(f"item_weights sum to {values.sum():.0f}, but {MAX_COPIES:,} items are the maximum")
    return values.astype(np.intp)


def _with_clusters(sample: Any, loss: Loss, k: int, search: Search, rng: np.random.Generator) -> Labels:
    """The partition with at most k clusters; b of the loss is raised until there are k."""
    limited = replace(search, max_clusters=k)
    for step in range(RAISED):
        tried = loss if step == 0 else _raised(loss, RAISE**step)
        found = estimate(sample, loss=tried, search=limited, rng=rng, check_draws=False)
        if found.n_clusters == k:
            return np.asarray(found.labels, dtype=np.intp)
    raise ValueError(
        f"the base clusterings do not tell {k} clusters apart: the most that were found are {found.n_clusters}"
    )


def _raised(loss: Loss, factor: float) -> Loss:
    if (additive := loss.additive) is None:
        raise ValueError(
            f"the best clustering under {loss.name!r} has fewer than k clusters; use 'vi' or 'binder' with k"
        )
    return replace(additive, b=additive.b * factor)
