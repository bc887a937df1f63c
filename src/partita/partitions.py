"""Partitions of n items: canonical labels, the lattice, counting, enumeration and random partitions.

A partition is a vector of labels. Canonical labels are integers from 0 in order of first appearance, so that two
label vectors describe the same partition if and only if their canonical labels are equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from math import comb, factorial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._draws.labels import GAP
from partita._matching import Edges, partners
from partita._names import as_named
from partita._partition_checks import check_partition, check_partitions, check_same_items
from partita._validate import check_count, check_positive, check_rng

Labels = NDArray[np.int64]

#: A contingency table with at most this many cells is counted as a full table.
DENSE_CELLS = 1 << 22


def canonical(x: ArrayLike) -> Labels:
    """Labels from 0 in order of first appearance.

    Parameters
    ----------
    x : (n,) array_like
        Integers, strings, booleans or categories.

    Examples
    --------
    >>> canonical(["b", "a", "b", "c"])
    array([0, 1, 0, 2])
    """
    return check_partition(x, "x")


def labels_to_clusters(x: ArrayLike) -> list[NDArray[np.int64]]:
    """The items of each cluster, with clusters in canonical order.

    Examples
    --------
    >>> labels_to_clusters([5, 7, 5])
    [array([0, 2]), array([1])]
    """
    labels = canonical(x)
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.cumsum(np.bincount(labels))[:-1])


def clusters_to_labels(clusters: Iterable[Iterable[int]]) -> Labels:
    """Canonical labels of a list of clusters, which must contain each of 0..n-1 exactly once.

    Examples
    --------
    >>> clusters_to_labels([[0, 2], [1]])
    array([0, 1, 0])
    """
    members = [np.asarray(list(cluster), dtype=np.int64) for cluster in clusters]
    empty = [k for k, cluster in enumerate(members) if cluster.size == 0]
    if empty:
        raise ValueError(f"clusters[{empty[0]}] is empty")
    items = np.concatenate(members) if members else np.empty(0, np.int64)
    if items.size == 0 or not np.array_equal(np.sort(items), np.arange(items.size)):
        raise ValueError(f"clusters must contain each of the items 0..n-1 exactly once, not {items.tolist()}")
    labels = np.empty(items.size, np.int64)
    labels[items] = np.repeat(np.arange(len(members)), [len(m) for m in members])
    return canonical(labels)


def cluster_sizes(x: ArrayLike) -> NDArray[np.int64]:
    """Number of items of each cluster, in canonical order.

    Examples
    --------
    >>> cluster_sizes([3, 3, 1])
    array([2, 1])
    """
    return np.bincount(canonical(x))


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

    Examples
    --------
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


def count_cells(cells: Labels, n_cells: int) -> tuple[Labels, Labels, Labels]:
    """The distinct values among `cells`, which lie in 0..n_cells - 1, their counts, and the count of each entry's cell.

    A contingency table of two partitions has at most as many occupied cells as items, however many clusters there are.
    A small table is counted in place, otherwise the entries are sorted: memory of O(entries).

    Examples
    --------
    >>> [found.tolist() for found in count_cells(np.array([3, 0, 3]), 4)]
    [[0, 3], [1, 2], [2, 1, 2]]
    """
    if n_cells <= max(DENSE_CELLS, 4 * cells.size):
        table = np.bincount(cells, minlength=n_cells)
        occupied = np.flatnonzero(table)
        return occupied, table[occupied], table[cells]
    occupied, place, counts = np.unique(cells, return_inverse=True, return_counts=True)
    return occupied, counts, counts[place]


def overlaps(x: Labels, y: Labels) -> tuple[Labels, Labels, Labels]:
    """The occupied cells of the contingency table of canonical labels: clusters of x, of y, and their joint counts.

    Examples
    --------
    >>> [found.tolist() for found in overlaps(np.array([0, 0, 1]), np.array([0, 1, 1]))]
    [[0, 0, 1], [0, 1, 1], [1, 1, 1]]
    """
    rows, columns = int(x.max()) + 1, int(y.max()) + 1
    occupied, counts, _ = count_cells(x * columns + y, rows * columns)
    return occupied // columns, occupied % columns, counts


def align_labels(x: ArrayLike, y: ArrayLike) -> Labels:
    """The labels of y, renamed so that its clusters overlap those of x as much as possible.

    Clusters are matched one to one for the largest total overlap (the assignment problem); clusters of y without a
    partner get the next free labels.

    Parameters
    ----------
    x, y : (n,) array_like
        Two partitions of the same items; x keeps its canonical labels. Items with -1 in y have no label and keep -1.

    Returns
    -------
    (n,) int array
        The partition y with the labels of x.

    Examples
    --------
    >>> align_labels([0, 0, 1, 1], [1, 0, 0, 0])
    array([0, 1, 1, 1])
    """
    first = as_named(x, "x")
    left = check_partition(first.values, "x")
    given = as_named(y, "y")
    if _has_gaps(given.values):
        check_same_items(left, given.values, "x", "y")
        cells = np.asarray(given.in_order_of(first.names, left.size, "x"))
        seen = cells != GAP
        aligned = np.full(cells.shape, GAP, np.int64)
        aligned[seen] = _aligned(left[seen], check_partition(cells[seen], "y"), int(left.max()) + 1)
        return aligned
    left, right = check_partitions(x, y, "x", "y")
    return _aligned(left, right, int(left.max()) + 1)


def _has_gaps(y: ArrayLike) -> bool:
    """Whether some items have no label (-1) and others have one."""
    cells = np.asarray(y)
    return cells.ndim == 1 and cells.dtype.kind == "i" and 0 < int((cells == GAP).sum()) < cells.size


def _aligned(left: Labels, right: Labels, n_left: int) -> Labels:
    """The canonical labels `right`, renamed to the labels 0, ..., n_left - 1 of `left` and to new ones."""
    names = partners(Edges(*overlaps(right, left)), int(right.max()) + 1, n_left)
    unmatched = names < 0
    names[unmatched] = n_left + np.arange(unmatched.sum())
    return names[right]


def n_clusters(x: ArrayLike) -> int:
    """Number of clusters of a partition.

    Examples
    --------
    >>> n_clusters(["a", "b", "a"])
    2
    """
    return int(canonical(x).max()) + 1
