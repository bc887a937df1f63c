"""Methods "medv" and "pear": hierarchical clustering of one minus the similarity matrix."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from partita._support.arrays import Labels
from partita._support.validate import check_level
from partita.draws.sample import PartitionSample
from partita.losses.base import Loss
from partita.losses.expected import expected_loss
from partita.pairs.similarity import complete_similarity, linkage_tree, pear
from partita.partitions.labels import canonical
from partita.search.deadline import Deadline
from partita.search.result import SearchResult
from partita.search.settings import Search, cluster_limit, given_limit, within_limit

#: Medvedovic's customary cut of the complete-linkage tree.
ORIGINAL_HEIGHT = 0.99


def find_medv(
    sample: PartitionSample,
    loss: Loss,
    search: Search,
    rng: np.random.Generator,
    cut: str | float = "loss",
) -> SearchResult:
    """The cut of the average- and complete-linkage trees of least expected loss.

    With cut="original" the complete-linkage tree is cut at height 0.99, and with a number at that height: any
    two items of a cluster are then together with probability at least 1 - cut. If that leaves more than
    max_clusters clusters, the tree is cut at the lowest height that does not. The height is the criterion.
    """
    until = Deadline.after(search.seconds)
    psm = complete_similarity(sample)
    if cut == "loss":
        candidates = list(tree_cuts(psm, cluster_limit(sample, search)))
        losses = [float(expected_loss(labels, sample, loss)) for labels in until.while_time(candidates)]
        return SearchResult(candidates[int(np.argmin(losses))])
    height = ORIGINAL_HEIGHT if cut == "original" else check_level(cut, "cut")
    labels, height = cut_at(psm, height, given_limit(sample, search))
    return SearchResult(labels, criterion=height)


def find_pear(sample: PartitionSample, loss: Loss, search: Search, rng: np.random.Generator) -> SearchResult:
    """The partition of highest PEAR among the cuts of both trees and the draws; PEAR is its criterion."""
    until = Deadline.after(search.seconds)
    psm = complete_similarity(sample)
    draws = sample.labels[within_limit(sample, search)].astype(np.int64)
    candidates = [*tree_cuts(psm, cluster_limit(sample, search)), *draws]
    scores = [pear(labels, psm) for labels in until.while_time(candidates)]
    return SearchResult(candidates[int(np.argmax(scores))], criterion=max(scores))


def tree_cuts(psm: NDArray[np.floating], max_clusters: int) -> Iterable[Labels]:
    """Cuts of the average- and the complete-linkage tree into 1, 2, ..., max_clusters clusters."""
    from scipy.cluster.hierarchy import cut_tree

    if len(psm) == 1:
        yield np.zeros(1, np.int64)
        return
    for method in ("average", "complete"):
        # from many clusters to few, because SciPy finds the cut into single items only if it is the first one requested
        cuts = cut_tree(linkage_tree(psm, method), range(max_clusters, 0, -1))
        for column in cuts.T[::-1]:
            yield canonical(column)


def cut_at(psm: NDArray[np.floating], height: float, max_clusters: int) -> tuple[Labels, float]:
    """The complete-linkage tree cut at a height, or higher if there would be more than max_clusters clusters."""
    from scipy.cluster.hierarchy import fcluster

    n_items = len(psm)
    if n_items == 1:
        return np.zeros(1, np.int64), height
    tree = linkage_tree(psm, "complete")
    if max_clusters < n_items:  # n_items - max_clusters merges must be below the cut
        height = max(height, float(tree[n_items - max_clusters - 1, 2]))
    return canonical(fcluster(tree, height, "distance")), height
