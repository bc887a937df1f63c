"""An order of items, clusterings and labels that follows from the data alone, for steps that depend on an order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.ensembles.base_clusterings import Base
from partita.partitions.refinement import Hashes, refined


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
