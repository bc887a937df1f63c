"""The co-association table, how often two items share a cluster, and the linkage of items by it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.cluster import hierarchy

from partita._support.arrays import Floats
from partita._support.validate import check_choice
from partita.ensembles.base_clusterings import (
    Base,
    Labels,
    as_base,
    check_clusters,
    spread,
    warn_unlabelled,
    weights_or_ones,
)
from partita.pairs.similarity import linkage_tree

MAX_ITEMS = 20_000  # more than this raise an error
ROWS = 512  # at a time: Ctrl-C is answered between them


def check_table(n_items: int, method: str, instead: str) -> None:
    """Raises an error, which says what to do, if a table of all pairs of items would be too large."""
    if n_items > MAX_ITEMS:
        raise ValueError(
            f"{method} needs a table of {n_items} x {n_items} items, but {MAX_ITEMS} is the maximum; {instead}"
        )


def co_association(base: Any, *, weights: ArrayLike | None = None) -> NDArray[np.float64]:
    """How often two items share a cluster, of the clusterings that label both, (items, items).

    For soft clusterings the expected share: that of labels which are drawn independently with their probabilities.

    Parameters
    ----------
    base : (items, clusterings) labels, or membership probabilities
        The base clusterings, in any form that `as_base` takes, of at most 20,000 items.
    weights : (clusterings,) array_like, optional
        Weight of each clustering; equal by default.

    Returns
    -------
    (items, items) array
        Values from 0 to 1; NaN for two items that no clustering labels both.

    Examples
    --------
    >>> co_association([[0, 0], [0, 1], [1, 1]])
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0.5],
           [0. , 0.5, 1. ]])
    """
    read = as_base(base)
    check_table(read.n_items, "co_association", "consensus and NBCE do not need such a table")
    return shares_together(read, weights_or_ones(weights, base, read), unknown=np.nan)


def shares_together(base: Base, weights: Floats | None = None, unknown: float = 0.0) -> Floats:
    """Of the clusterings that label both items, the share in which they are together, (items, items).

    Two items that no clustering labels together get `unknown`.
    """
    weights = np.ones(base.n_clusterings) if weights is None else weights
    labels = base.memberships()
    scaled = labels.multiply(np.repeat(weights, base.sizes)[None, :]).tocsr()
    clusters, seen = labels.T.tocsr(), base.seen.astype(np.float64)
    together, both = np.empty((2, base.n_items, base.n_items))
    for start in range(0, base.n_items, ROWS):
        rows = slice(start, start + ROWS)
        (scaled[rows] @ clusters).toarray(out=together[rows])
        np.matmul(seen[rows] * weights, seen.T, out=both[rows])
    np.fill_diagonal(together, np.diag(both))  # an item is with itself, also where its label is uncertain
    return np.asarray(np.divide(together, both, out=np.full_like(together, unknown), where=both > 0))


LINKAGES = ("average", "single", "complete")


def evidence_accumulation(
    base: Any, k: int | None = None, linkage: str = "average", *, weights: ArrayLike | None = None
) -> Labels:
    """Cut the tree of a linkage on the distance 1 − co-association.

    Parameters
    ----------
    base : (items, clusterings) labels
        The base clusterings, in any form that `as_base` takes, of at most 20,000 items.
    k : int, optional
        Number of clusters; by default the number with the longest range of cutting heights.
    linkage : "average", "single" or "complete"
        Linkage of the tree that is cut.
    weights : (clusterings,) array_like, optional
        Weight of each clustering; equal by default.

    Returns
    -------
    (items,) integer array
        Canonical labels; −1 for an item without labels.

    Examples
    --------
    >>> evidence_accumulation([[0, 0], [0, 0], [1, 1], [1, 2]], k=2).tolist()
    [0, 0, 1, 1]

    References
    ----------
    Fred & Jain (2005), Combining multiple clusterings using evidence accumulation.
    """
    check_choice(linkage, "linkage", LINKAGES)
    read = as_base(base)
    check_table(read.n_items, "evidence accumulation", "NBCE, mcla, hgpa and consensus do not need such a table")
    if k is not None:
        k = check_clusters(k, read.n_items)
    labelled = warn_unlabelled(read)
    if labelled.sum() == 1:
        return spread(np.zeros(1), labelled)
    shares = shares_together(read.rows(labelled), weights_or_ones(weights, base, read))
    tree = linkage_tree(shares, linkage)
    if k is None:
        k = _longest_lived(tree[:, 2])
    return spread(hierarchy.cut_tree(tree, min(k, int(labelled.sum()))).ravel(), labelled)


def _longest_lived(heights: Any) -> int:
    """The number of clusters with the longest range of cutting heights; the range of one cluster ends at 1."""
    gaps = np.diff(np.concatenate([heights, [1.0]]))
    return len(heights) - int(np.argmax(gaps))
