"""Descriptions of items and partitions that follow from the data alone, for steps that depend on an order.

Items, clusters and partitions are distinguished by refinement (Weisfeiler & Leman 1968): a cluster is described by the
items that it has, an item by the clusters that have it, and so on for some rounds, each description as a number of 64
bits. Neither the order of items and partitions nor the names of labels matter. What has equal descriptions is usually
exchangeable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]
ROUNDS = 4  # of refinement
BLOCK = 1 << 20  # labels that are looked at together
WEIGHT_STEP = 1e-9  # weights that differ by less are the same


@dataclass(frozen=True, eq=False)
class Refined:
    """Descriptions of the items, of the partitions, and of the clusters of each partition, (partitions, labels)."""

    items: Hashes
    partitions: Hashes
    clusters: Hashes


def refined(codes: NDArray[Any], weights: NDArray[np.float64] | None = None) -> Refined:
    """Descriptions of items and partitions; codes are labels from 0, or negative where they are missing."""
    ranks = np.zeros(len(codes)) if weights is None else np.rint(weights / WEIGHT_STEP)
    keys = mixed(ranks.astype(np.uint64))[:, None]
    n_labels = max(int(codes.max()) + 1, 1)  # one, too, where all labels are missing
    rows = max(1, BLOCK // codes.shape[1])
    items = np.ones(codes.shape[1], np.uint64)
    for _ in range(ROUNDS):
        found = np.zeros_like(items)
        for start in range(0, len(codes), rows):
            part = codes[start : start + rows]
            described = mixed(_clusters(part, items, n_labels) ^ keys[start : start + rows])
            found += np.where(part >= 0, np.take_along_axis(described, np.maximum(part, 0), 1), 0).sum(axis=0)
        items = mixed(found)
    clusters = mixed(_clusters(codes, items, n_labels) ^ keys)
    return Refined(items, mixed(clusters).sum(axis=1), clusters)


def _clusters(codes: NDArray[Any], items: Hashes, n_labels: int) -> Hashes:
    """The sum of the descriptions of each label's items, which does not depend on their order, (partitions, labels)."""
    found = np.zeros((len(codes), n_labels), np.uint64)
    row, item = np.nonzero(codes >= 0)
    np.add.at(found, (row, codes[row, item]), mixed(items)[item])
    return found


def mixed(values: Hashes) -> Hashes:
    """Numbers that look random: the finaliser of SplitMix64 (Steele, Lea & Flood 2014)."""
    mixed = values + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
