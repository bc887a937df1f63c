"""The lattice of partitions (meet, join, refinement and cover), their enumeration and their numbers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from math import comb, factorial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._support.arrays import Labels
from partita._support.validate import check_count, check_positive, check_rng
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


def enumerate_partitions(n: int, max_clusters: int | None = None) -> Iterator[Labels]:
    """All partitions of n items as canonical labels, lazily, in lexicographic order.

    Parameters
    ----------
    n : int
        Number of items; there are bell(n) partitions.
    max_clusters : int, optional
        Leave out partitions with more clusters.

    Examples
    --------
    >>> [p.tolist() for p in enumerate_partitions(3)]
    [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1], [0, 1, 2]]
    """
    n = check_count(n, "n", minimum=1)
    limit = n if max_clusters is None else check_count(max_clusters, "max_clusters", minimum=1)
    labels = np.zeros(n, np.int64)
    largest = np.zeros(n, np.int64)  # largest[i]: the largest label among the first i + 1 items
    while True:
        yield labels.copy()
        i = n - 1
        while i > 0 and labels[i] >= min(largest[i - 1] + 1, limit - 1):
            i -= 1
        if i == 0:
            return
        labels[i] += 1
        labels[i + 1 :] = 0
        largest[i:] = max(largest[i - 1], labels[i])


@cache
def stirling2(n: int, k: int) -> int:
    """Number of partitions of n items into k clusters, exactly.

    S(n, k) = (1/k!) sum_j (-1)^j C(k, j) (k - j)^n

    Parameters
    ----------
    n : int
        Number of items.
    k : int
        Number of clusters.

    Examples
    --------
    >>> [stirling2(4, k) for k in range(1, 5)]
    [1, 7, 6, 1]
    """
    n, k = check_count(n, "n"), check_count(k, "k")
    if k > n:
        return 0
    signed = sum((-1) ** j * comb(k, j) * (k - j) ** n for j in range(k + 1))
    return int(signed) // factorial(k)


def bell(n: int) -> int:
    """Number of partitions of n items, exactly (the Bell triangle).

    Parameters
    ----------
    n : int
        Number of items.

    Examples
    --------
    >>> bell(10), len(str(bell(100)))
    (115975, 116)
    """
    n = check_count(n, "n")
    row = [1]
    for _ in range(n):
        row = [row[-1], *row]
        for j in range(1, len(row)):
            row[j] += row[j - 1]
    return row[0]


def random_crp(n: int, alpha: float = 1.0, rng: Any = None) -> Labels:
    """A partition from the Chinese restaurant process with concentration alpha.

    >>> random_crp(6, alpha=1.0, rng=1).shape
    (6,)
    """
    n, alpha = check_count(n, "n", minimum=1), check_positive(alpha, "alpha")
    generator = check_rng(rng)
    labels = np.zeros(n, np.int64)
    clusters = 1
    for i in range(1, n):
        if generator.random() * (i + alpha) < alpha:
            labels[i] = clusters
            clusters += 1
        else:  # the table of an earlier guest, each equally likely
            labels[i] = labels[generator.integers(i)]
    return labels


def random_uniform(n: int, rng: Any = None) -> Labels:
    """A partition drawn uniformly from all bell(n) of them, by Stam's urn scheme.

    Draw the number of urns M with P(M = m) = m^n / (e m! B_n), put each item into a uniform urn, and forget the
    empty ones.

    Examples
    --------
    >>> random_uniform(5, rng=0).shape
    (5,)

    References
    ----------
    Stam (1983), Generation of a random partition of a finite set by an urn model.
    """
    from scipy.special import gammaln

    n = check_count(n, "n", minimum=1)
    generator = check_rng(rng)
    urns = np.arange(1, 10 * n + 60)
    log_weight = n * np.log(urns) - gammaln(urns + 1)
    weight = np.exp(log_weight - log_weight.max())
    n_urns = generator.choice(urns, p=weight / weight.sum())
    return canonical(generator.integers(n_urns, size=n))
