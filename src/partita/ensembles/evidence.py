"""Evidence accumulation (Fred & Jain 2005): linkage of items by how often they share a cluster."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.cluster import hierarchy

from partita._support.validate import check_choice
from partita.ensembles.association import check_table, shares_together
from partita.ensembles.base_clusterings import Labels, as_base, check_clusters, spread, warn_unlabelled, weights_or_ones
from partita.pairs.similarity import linkage_tree

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
