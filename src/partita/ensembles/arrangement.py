"""An order of items, clusterings and labels that follows from the data alone, for steps that depend on an order.

Items, clusters and clusterings are told apart by refinement (Weisfeiler & Leman 1968): a cluster is described by the
items that it has, an item by the clusters that have it, and so on for some rounds, each description as a number of 64
bits. Those with equal descriptions are left in the order in which they are given. They are usually exchangeable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .base_clusterings import Base

Hashes = NDArray[np.uint64]
ROUNDS = 4  # of refinement


@dataclass(frozen=True)
class Arrangement:
    """Base clusterings in an order of their own: `rows` and `columns` are the places in the given order.

    The labels of a clustering are numbered from the largest cluster to the smallest.
    """

    base: Base
    rows: NDArray[np.intp]
    columns: NDArray[np.intp]


def arranged(base: Base) -> Arrangement:
    """The base clusterings in an order that depends neither on the given order nor on the names of the labels.

    Examples
    --------
    >>> from partita.ensembles import as_base
    >>> one, other = as_base([[0, 5], [0, 5], [1, 5], [1, 6]]), as_base([[3, 1], [4, 0], [4, 1], [4, 0]])
    >>> arranged(one).base.codes.tolist() == arranged(other).base.codes.tolist()
    True
    """
    items = np.ones(base.n_items, np.uint64)
    for _ in range(ROUNDS):
        clusters = [_of_clusters(column, items) for column in base.codes.T]
        items = _of_items(base.codes, clusters)
    columns = np.argsort(np.array([_mixed(found).sum(dtype=np.uint64) for found in clusters]), kind="stable")
    rows = np.argsort(items, kind="stable")
    codes = np.stack([_renumbered(base.codes[:, m], clusters[m])[rows] for m in columns], axis=1)
    levels = tuple(np.arange(codes[:, m].max() + 1) for m in range(codes.shape[1]))
    return Arrangement(Base(codes, levels), rows, columns)


def _of_clusters(column: NDArray[np.signedinteger[Any]], items: Hashes) -> Hashes:
    """A description of each label of a clustering: the sum over its items does not depend on their order."""
    found = np.zeros(int(column.max(initial=-1)) + 1, np.uint64)
    seen = column >= 0
    np.add.at(found, column[seen], _mixed(items[seen]))
    return _mixed(found)


def _of_items(codes: NDArray[np.signedinteger[Any]], clusters: list[Hashes]) -> Hashes:
    """A description of each item: the sum over its clusters does not depend on the order of the clusterings."""
    found = np.zeros(len(codes), np.uint64)
    for column, described in zip(codes.T, clusters, strict=True):
        seen = column >= 0
        found[seen] += _mixed(described)[column[seen]]
    return _mixed(found)


def _renumbered(column: NDArray[np.signedinteger[Any]], described: Hashes) -> NDArray[np.int32]:
    """Labels that occur, from 0, the most frequent first and those with equal descriptions as they appear; −1 stays."""
    sizes = np.bincount(column[column >= 0], minlength=len(described))
    labels, first = np.unique(column, return_index=True)
    appears = np.full(len(described), len(column))
    appears[labels[labels >= 0]] = first[labels >= 0]
    place = np.empty(len(described) + 1, np.int32)
    place[np.lexsort((appears, described, -sizes))] = np.arange(len(described), dtype=np.int32)
    place[-1] = -1
    return np.asarray(place[column])


def _mixed(values: Hashes) -> Hashes:
    """Numbers that look random: the finaliser of SplitMix64 (Steele, Lea & Flood 2014)."""
    mixed = values + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
