"""Base clusterings as tables: the rows of one table for the labels of all clusterings, and an order of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.arrays import Floats
from partita.ensembles.base_clusterings import Base
from partita.partitions.refinement import Hashes, refined


@dataclass(frozen=True)
class Layout:
    """Row layout of tables of shape (Σ J_m, clusters), where J_m is the number of labels of clustering m.

    `weights` are the powers w_m of the clusterings' likelihoods.
    """

    sizes: NDArray[np.intp]
    weights: Floats

    @classmethod
    def plain(cls, sizes: NDArray[np.intp]) -> Layout:
        """All weights are 1."""
        return cls(sizes, np.ones(len(sizes)))

    @property
    def n_rows(self) -> int:
        return int(self.sizes.sum())

    @property
    def offsets(self) -> NDArray[np.intp]:
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]])

    @property
    def owner(self) -> NDArray[np.intp]:
        """The clustering of each row."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def weighted(self, table: Floats) -> Floats:
        """The table with each row multiplied by the weight of its clustering."""
        return np.asarray(table * self.weights[self.owner][:, None])

    def per_clustering(self, table: NDArray[Any], axis: int = 0) -> Floats:
        """The sum over each clustering's rows, (clusterings, clusters), or over another axis of labels."""
        return np.asarray(np.add.reduceat(table, self.offsets, axis=axis), dtype=np.float64)

    def slices(self) -> list[slice]:
        return [slice(start, start + size) for start, size in zip(self.offsets, self.sizes, strict=True)]


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

    >>> from partita.ensembles import as_base
    >>> one, other = as_base([[0, 5], [0, 5], [1, 5], [1, 6]]), as_base([[3, 1], [4, 0], [4, 1], [4, 0]])
    >>> arranged(one).base.codes.tolist() == arranged(other).base.codes.tolist()
    True
    """
    found = refined(base.codes.T)
    columns, rows = np.argsort(found.partitions, kind="stable"), np.argsort(found.items, kind="stable")
    codes = np.stack([_by_size(base.codes[:, m], found.clusters[m])[rows] for m in columns], axis=1)
    levels = tuple(np.arange(codes[:, m].max() + 1) for m in range(codes.shape[1]))
    return Arrangement(Base(codes, levels), rows, columns)


def _by_size(column: NDArray[np.signedinteger[Any]], described: Hashes) -> NDArray[np.int32]:
    """Labels that occur, from 0, the most frequent first and those with equal descriptions as they appear; −1 stays."""
    sizes = np.bincount(column[column >= 0], minlength=len(described))
    labels, first = np.unique(column, return_index=True)
    appears = np.full(len(described), len(column))
    appears[labels[labels >= 0]] = first[labels >= 0]
    place = np.empty(len(described) + 1, np.int32)
    place[np.lexsort((appears, described, -sizes))] = np.arange(len(described), dtype=np.int32)
    place[-1] = -1
    return np.asarray(place[column])
