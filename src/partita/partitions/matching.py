"""Clusters of one partition matched one to one with those of another, for the largest total overlap.

A small table of overlaps is solved as an assignment problem. For a large one only the occupied cells are used, as a
weighted bipartite graph. An edge (r, c) that is at least as heavy as the heaviest other edge at r and the heaviest
other edge at c together is in some best matching: replacing two such edges by it does not make a matching worse. These
edges are removed with their ends until there are none, which leaves little; the components are solved one by one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._support.arrays import Ints, Labels
from partita._support.names import as_named
from partita.partitions.checks import check_partition, check_partitions, check_same_items
from partita.partitions.codes import GAP
from partita.partitions.labels import overlaps

#: A table with more cells is never built.
DENSE_CELLS = 1 << 22


@dataclass(frozen=True)
class Edges:
    """Occupied cells of a table: row, column and count of each."""

    rows: Ints
    columns: Ints
    counts: Ints

    def some(self, which: NDArray[np.bool_] | Ints) -> Edges:
        """Those of a selection."""
        return Edges(self.rows[which], self.columns[which], self.counts[which])


def partners(edges: Edges, n_rows: int, n_columns: int) -> Ints:
    """The column with which each row is matched; -1 if it overlaps no free column.

    >>> partners(Edges(np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([3, 2, 2])), 2, 2)
    array([1, 0])
    """
    found = np.full(n_rows, -1, np.int64)
    if n_rows * n_columns > DENSE_CELLS:
        edges = _take_sure_edges(edges, n_rows, n_columns, found)
        parts = _components(edges, n_rows, n_columns)
    else:
        parts = [edges]
    for part in parts:
        _match(part, found)
    return found


def _take_sure_edges(edges: Edges, n_rows: int, n_columns: int, found: Ints) -> Edges:
    """Matches the ends of edges that are in some best matching; returns the rest of the graph."""
    while edges.counts.size:
        others = _heaviest_other(edges.rows, edges.counts) + _heaviest_other(edges.columns, edges.counts)
        sure = edges.some(edges.counts >= others)
        sure = sure.some(np.unique(sure.rows, return_index=True)[1])
        sure = sure.some(np.unique(sure.columns, return_index=True)[1])
        if not sure.counts.size:
            break
        found[sure.rows] = sure.columns
        row_is_free, column_is_free = np.ones(n_rows, np.bool_), np.ones(n_columns, np.bool_)
        row_is_free[sure.rows] = column_is_free[sure.columns] = False
        edges = edges.some(row_is_free[edges.rows] & column_is_free[edges.columns])
    return edges


def _heaviest_other(ends: Ints, counts: Ints) -> Ints:
    """For each edge, the largest count of another edge with the same end, or 0 if there is none."""
    order = np.lexsort((-counts, ends))
    end, count = ends[order], counts[order]
    place = np.arange(end.size)
    first = np.maximum.accumulate(np.where(np.r_[True, end[1:] != end[:-1]], place, 0))
    follower = np.minimum(first + 1, end.size - 1)
    second = np.where((follower > first) & (end[follower] == end), count[follower], 0)
    others = np.empty_like(counts)
    others[order] = np.where(place == first, second, count[first])
    return others


def _components(edges: Edges, n_rows: int, n_columns: int) -> list[Edges]:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if not edges.counts.size:
        return []
    size = n_rows + n_columns
    graph = coo_array((np.ones(edges.rows.size, np.int8), (edges.rows, n_rows + edges.columns)), shape=(size, size))
    component = connected_components(graph, directed=False)[1][edges.rows]
    order = np.argsort(component, kind="stable")
    return [edges.some(part) for part in np.split(order, np.flatnonzero(np.diff(component[order])) + 1)]


def _match(edges: Edges, found: Ints) -> None:
    """The best matching of a part of the graph."""
    rows, row = np.unique(edges.rows, return_inverse=True)
    columns, column = np.unique(edges.columns, return_inverse=True)
    if rows.size * columns.size <= max(DENSE_CELLS, 1):
        chosen, partner = _match_dense(row, column, edges.counts, rows.size, columns.size)
    else:
        chosen, partner = _match_sparse(row, column, edges.counts, rows.size, columns.size)
    found[rows[chosen]] = columns[partner]


def _match_dense(row: Ints, column: Ints, counts: Ints, n_rows: int, n_columns: int) -> tuple[Ints, Ints]:
    from scipy.optimize import linear_sum_assignment

    overlap = np.zeros((n_rows, n_columns), np.int64)
    overlap[row, column] = counts
    chosen, partner = linear_sum_assignment(overlap, maximize=True)
    matched = overlap[chosen, partner] > 0
    return chosen[matched], partner[matched]


def _match_sparse(row: Ints, column: Ints, counts: Ints, n_rows: int, n_columns: int) -> tuple[Ints, Ints]:
    """Adds one column per row that represents no partner, so that all rows can be matched.

    Counts are increased by one, because zero entries are not stored; every row is matched once, so this adds the same
    to all matchings.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    alone = np.arange(n_rows)
    entries = np.concatenate([counts + 1, np.ones(n_rows, np.int64)]).astype(np.float64)
    # int32, as SciPy below 1.15 wants the indices of this graph
    where = np.concatenate([row, alone]).astype(np.int32), np.concatenate([column, n_columns + alone]).astype(np.int32)
    graph = csr_array((entries, where), shape=(n_rows, n_columns + n_rows))
    chosen, partner = min_weight_full_bipartite_matching(graph, maximize=True)
    return chosen[partner < n_columns], partner[partner < n_columns]


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
