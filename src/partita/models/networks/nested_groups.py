"""The search for groups of clusters, level by level."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.special import gammaln, logsumexp

from partita._support.arrays import Floats, Labels
from partita._support.tolerance import TIE
from partita.models.networks.nested_prior import MeanGrid, grouped, log_top
from partita.partitions.labels import canonical

MAX_ITEMS = 40  # that are merged pair by pair; more are first put together by their rows


def log_allocation(labels: NDArray[np.integer], n0: float) -> float:
    """log p(z | K) with proportions ~ Dirichlet(n0, …, n0), K the number of clusters.

    >>> round(float(np.exp(log_allocation(np.array([0, 1]), 1.0))), 6)
    0.166667
    """
    sizes = np.bincount(labels)
    k = len(sizes)
    terms = gammaln(sizes + n0) - gammaln(n0)
    return float(gammaln(k * n0) - gammaln(k * n0 + len(labels)) + terms.sum())


def find_levels(grid: MeanGrid, cells: Floats, n0: float, directed: bool) -> tuple[list[Labels], float]:
    """Groups of clusters, groups of these and so on as long as a further level pays: parents, and log p of it all."""
    parents: list[Labels] = []
    below, best = 0.0, log_top(cells)
    while len(cells) > 1:
        found = best_groups(grid, cells, n0, directed)
        value = below + groups_value(grid, cells, found, n0, directed)
        if found.max() == 0 or value <= best + TIE:
            break
        parents.append(found)
        below += log_allocation(found, n0)
        cells, best = grid.up(grouped(cells, found, directed)), value
    return parents, best


def groups_value(grid: MeanGrid, cells: Floats, groups: Labels, n0: float, directed: bool) -> float:
    """log p of the blocks below and of the groups, with one group of all above them."""
    return log_top(grid.up(grouped(cells, groups, directed))) + log_allocation(groups, n0)


def best_groups(grid: MeanGrid, cells: Floats, n0: float, directed: bool) -> Labels:
    """Greedy merges of groups down to one; the best partition on the way, then moves of single items, if not many."""
    groups = _first_groups(cells, directed)
    best, most = groups, groups_value(grid, cells, groups, n0, directed)
    while groups.max() > 0:
        groups = _merged(grid, cells, groups, n0, directed)
        value = groups_value(grid, cells, groups, n0, directed)
        if value > most:
            best, most = groups, value
    return _moved(grid, cells, best, n0, directed) if len(cells) <= MAX_ITEMS else best


def _first_groups(cells: Floats, directed: bool) -> Labels:
    n = len(cells)
    if n <= MAX_ITEMS:
        return np.arange(n)
    likely = cells.argmax(axis=2).astype(float)
    if not directed:
        likely = np.triu(likely) + np.triu(likely, 1).T
    rows = np.hstack([likely, likely.T]) if directed else likely
    return canonical(fcluster(linkage(rows, "average"), MAX_ITEMS, "maxclust"))


def _merged(grid: MeanGrid, cells: Floats, groups: Labels, n0: float, directed: bool) -> Labels:
    """With the two groups merged for which the value is largest."""
    sums = grouped(cells, groups, directed)
    full = sums if directed else _both_ways(sums)
    up = grid.up(full)
    total = up.sum(axis=(0, 1)) if directed else (up.sum(axis=(0, 1)) + np.einsum("iiq->q", up)) / 2
    sizes = np.bincount(groups).astype(float)
    best, pair = -np.inf, (0, 1)
    for a in range(len(sizes) - 1):
        others = np.arange(a + 1, len(sizes))
        change = _row_change(grid, full, up, a, others, directed)
        allocation = gammaln(sizes[a] + sizes[others] + n0) - gammaln(sizes[a] + n0) - gammaln(sizes[others] + n0)
        values = logsumexp(total + change, axis=1) + allocation
        if values.max() > best:
            best, pair = float(values.max()), (a, int(others[values.argmax()]))
    return canonical(np.where(groups == pair[1], pair[0], groups))


def _both_ways(cells: Floats) -> Floats:
    """Undirected blocks on both sides of the diagonal."""
    above = np.triu(np.ones(cells.shape[:2], dtype=bool))[..., None]
    return np.where(above, cells, cells.swapaxes(0, 1))


def _row_change(grid: MeanGrid, full: Floats, up: Floats, a: int, others: Labels, directed: bool) -> Floats:
    """The change of the sum over blocks, for every mean above, if group a takes in each of the others."""
    apart = np.ones((len(others), len(full), 1))
    apart[:, a] = 0.0
    apart[np.arange(len(others)), others] = 0.0
    inside = full[a, a] + full[others, others] + full[a, others] + (full[others, a] if directed else 0.0)
    change = grid.up(inside) - up[a, a] - up[others, others] - up[a, others] - (up[others, a] if directed else 0.0)
    for blocks, ups in ((full, up), (full.swapaxes(0, 1), up.swapaxes(0, 1)))[: 2 if directed else 1]:
        rows = grid.up(blocks[a] + blocks[others]) - ups[a] - ups[others]
        change = change + np.where(apart > 0, rows, 0.0).sum(axis=1)
    return np.asarray(change)


def _moved(grid: MeanGrid, cells: Floats, groups: Labels, n0: float, directed: bool) -> Labels:
    """Items moved one by one to other groups, or to a new one, as long as that pays."""
    most = groups_value(grid, cells, groups, n0, directed)
    before = -np.inf
    while most > before + TIE:
        before = most
        for item in range(len(groups)):
            for target in range(int(groups.max()) + 2):
                tried = groups.copy()
                tried[item] = target
                tried = canonical(tried)
                value = groups_value(grid, cells, tried, n0, directed)
                if value > most + TIE:
                    groups, most = tried, value
    return groups
