"""The similarity map of the report: single items up to a limit, and means over groups of neighbours beyond it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.arrays import Labels
from partita.draws.sample import PartitionSample
from partita.pairs.similarity import similarity
from partita.plots.matrices import display_order, leaf_order
from partita.results.blocks import block_means

UNKNOWN = -1
LARGEST_FULL = 1000
BINS = 500
LARGEST_LEAF_ORDER = 1500


@dataclass(frozen=True)
class HeatMap:
    """Similarities in display order.

    Attributes
    ----------
    percent : (bins, bins) int8 array
        Mean similarity in percent; UNKNOWN for items that no draw labels together.
    order : (n,) integer array
        Items in display order.
    edges : (bins + 1,) integer array
        Positions in `order` at which the bins begin and end; a bin is one item when nothing is aggregated.
    """

    percent: NDArray[np.int8]
    order: Labels
    edges: Labels

    @property
    def aggregated(self) -> bool:
        """Whether a cell represents more than one pair of items."""
        return len(self.percent) < self.order.size


def has_map(labels: Labels) -> bool:
    """Whether a map shows anything: single items, or a cluster that is as wide as a cell."""
    return labels.size <= LARGEST_FULL or int(np.bincount(labels).max()) * BINS >= labels.size


def heat_map(labels: Labels, certainty: NDArray[np.float64], sample: PartitionSample) -> HeatMap:
    """The map of a partition, with exact means in both cases and no n × n matrix beyond 1,000 items.

    Parameters
    ----------
    labels : (n,) integer array
    certainty : (n,) array
        Orders the items within a cluster if there are too many for leaf ordering.
    sample : PartitionSample
    """
    if labels.size <= LARGEST_FULL:
        psm = similarity(sample)
        order = display_order(labels, psm)
        return HeatMap(percent(psm[np.ix_(order, order)]), order, np.arange(labels.size + 1))
    order = _order_of_many(labels, certainty, sample)
    edges = np.linspace(0, labels.size, BINS + 1).round().astype(np.int64)
    groups = np.empty(labels.size, np.int64)
    groups[order] = np.repeat(np.arange(BINS), np.diff(edges))
    return HeatMap(percent(block_means(groups, sample)), order, edges)


def _order_of_many(labels: Labels, certainty: NDArray[np.float64], sample: PartitionSample) -> Labels:
    """Clusters by leaf ordering of their mean similarities, items within them by decreasing certainty."""
    n_clusters = int(labels.max()) + 1
    if n_clusters <= LARGEST_LEAF_ORDER:
        ranked = leaf_order(block_means(labels, sample))
    else:
        ranked = np.argsort(-np.bincount(labels), kind="stable")
    rank = np.empty(n_clusters, np.int64)
    rank[ranked] = np.arange(n_clusters)
    return np.lexsort((-certainty, rank[labels]))


def percent(matrix: NDArray[np.floating[Any]]) -> NDArray[np.int8]:
    """Shares in per cent; UNKNOWN where there is none."""
    known = ~np.isnan(matrix)
    cells = np.full(matrix.shape, UNKNOWN, np.int8)
    cells[known] = np.clip(np.rint(matrix[known] * 100), 0, 100)
    return cells
