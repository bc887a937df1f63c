"""The lattice of partitions: meet, join, refinement and cover."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._support.arrays import Labels
from partita.partitions.checks import check_partitions
from partita.partitions.labels import canonical


def meet(x: ArrayLike, y: ArrayLike) -> Labels:
    """Greatest lower bound: two items are together if they are together in both partitions.

    Parameters
    ----------
    x, y : (n,) array_like
        Labels of two partitions of the same items.

    Examples
    --------
    >>> meet([0, 0, 1, 1], [0, 1, 1, 1])
    array([0, 1, 2, 2])
    """
    left, right = check_partitions(x, y, "x", "y")
    return canonical(left * (right.max() + 1) + right)


def join(x: ArrayLike, y: ArrayLike) -> Labels:
    """Least upper bound: the finest partition that both refine (connected components of their union).

    Parameters
    ----------
    x, y : (n,) array_like
        Labels of two partitions of the same items.

    Examples
    --------
    >>> join([0, 0, 1, 2], [0, 1, 1, 2])
    array([0, 0, 0, 1])
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    left, right = check_partitions(x, y, "x", "y")
    n_left, n_right = left.max() + 1, right.max() + 1
    shape = (n_left + n_right, n_left + n_right)
    links = coo_array((np.ones(left.size, np.int8), (left, n_left + right)), shape=shape)
    component: NDArray[np.int32] = connected_components(links, directed=False)[1]
    return canonical(component[left])


def refines(x: ArrayLike, y: ArrayLike) -> bool:
    """Whether every cluster of x lies inside a cluster of y (x <= y in the lattice).

    Parameters
    ----------
    x, y : (n,) array_like
        Labels of two partitions of the same items.

    Examples
    --------
    >>> refines([0, 1, 2], [0, 0, 1]), refines([0, 0, 1], [0, 1, 2])
    (True, False)
    """
    left, right = check_partitions(x, y, "x", "y")
    return int(meet(left, right).max()) == int(left.max())


def covers(x: ArrayLike, y: ArrayLike) -> bool:
    """Whether x covers y in the Hasse diagram: x comes from y by merging exactly two clusters.

    Parameters
    ----------
    x, y : (n,) array_like
        Labels of two partitions of the same items.

    Examples
    --------
    >>> covers([0, 0, 1], [0, 1, 2]), covers([0, 0, 0], [0, 1, 2])
    (True, False)
    """
    left, right = check_partitions(x, y, "x", "y")
    return refines(right, left) and int(right.max()) == int(left.max()) + 1
