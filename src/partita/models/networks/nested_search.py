"""The search for nested blocks: flat searches give clusters, which groups of clusters and moves of nodes refine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.special import gammaln, logsumexp

from partita import _core
from partita._support.arrays import Floats, Labels
from partita._support.tolerance import TIE
from partita.models.networks.core import EdgeModel, constant
from partita.models.networks.fit import block_counts
from partita.models.networks.graph import Graph
from partita.models.networks.nested_prior import MeanGrid, grouped, log_evidence, log_top, mean_weights, once
from partita.models.networks.shares import degrees
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
        groups = _merged_groups(grid, cells, groups, n0, directed)
        value = groups_value(grid, cells, groups, n0, directed)
        if value > most:
            best, most = groups, value
    return _moved_groups(grid, cells, best, n0, directed) if len(cells) <= MAX_ITEMS else best


def _first_groups(cells: Floats, directed: bool) -> Labels:
    n = len(cells)
    if n <= MAX_ITEMS:
        return np.arange(n)
    likely = cells.argmax(axis=2).astype(float)
    if not directed:
        likely = np.triu(likely) + np.triu(likely, 1).T
    rows = np.hstack([likely, likely.T]) if directed else likely
    return canonical(fcluster(linkage(rows, "average"), MAX_ITEMS, "maxclust"))


def _merged_groups(grid: MeanGrid, cells: Floats, groups: Labels, n0: float, directed: bool) -> Labels:
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


def _moved_groups(grid: MeanGrid, cells: Floats, groups: Labels, n0: float, directed: bool) -> Labels:
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


MAX_ROUNDS = 10
SWEEPS = 20
MERGES_TRIED = 3  # of those that look best, by the value itself
MIN_DIVIDED, MAX_DIVIDED = 4, 5000  # nodes of a cluster that is split
MAX_MERGED = 150  # clusters; beyond, merges are left to the flat searches


Divide = Callable[[Graph], tuple[Labels, bool]]


@dataclass(frozen=True)
class Nested:
    """Clusters of nodes, groups of clusters and so on, and log p(X, all of them)."""

    labels: Labels
    parents: tuple[Labels, ...]
    icl: float


@dataclass(frozen=True, eq=False)
class NestedObjective:
    """log p(X, z_1, …, z_L) of a network."""

    graph: Graph
    edges: EdgeModel
    grid: MeanGrid
    n0: float

    def cells(self, labels: Labels) -> NDArray[np.float64]:
        """The log likelihood of each block for every mean of its prior, undirected blocks once."""
        cells = self.grid.cells(*block_counts(self.graph, self.edges, labels, labels))
        return cells if self.edges.directed else once(cells)

    def value(self, labels: Labels, parents: Sequence[Labels]) -> float:
        """The ICL of given levels."""
        evidence = log_evidence(self.grid, self.cells(labels), parents, self.edges.directed)
        return evidence + self.rest(labels) + sum(log_allocation(parent, self.n0) for parent in parents)

    def rest(self, labels: Labels) -> float:
        """What depends on the clusters alone: their prior, terms of degrees, constants."""
        return log_allocation(labels, self.n0) + self._degree_terms(labels) + constant(self.graph, self.edges)

    def with_levels(self, labels: Labels) -> Nested:
        """These clusters with the best groups above them that are found."""
        clusters = canonical(labels)
        parents, value = find_levels(self.grid, self.cells(clusters), self.n0, self.edges.directed)
        return Nested(clusters, tuple(parents), value + self.rest(clusters))

    def _degree_terms(self, labels: Labels) -> float:
        if not self.edges.degree_corrected:
            return 0.0
        sizes = np.bincount(labels).astype(float)
        sides = degrees(self.graph, self.edges)[: 2 if self.edges.directed else 1]
        sums = [np.bincount(labels, side) for side in sides]
        return float(sum((gammaln(sizes) - gammaln(sizes + d) + d * np.log(sizes)).sum() for d in sums))


def refine(
    objective: NestedObjective, native: Any, start: Labels, seed: int, k_max: int, divide: Divide
) -> tuple[Nested, bool]:
    """Nodes moved given the means of the blocks, clusters merged and split, groups found anew, as long as that pays.

    `divide(graph)` gives clusters of the nodes of a small graph, and whether Ctrl-C ended it. Returns what was found,
    and whether Ctrl-C ended it.
    """
    best = objective.with_levels(start)
    for turn in range(MAX_ROUNDS):
        labels, interrupted = _climb(objective, native, best, seed + turn)
        several = [objective.with_levels(labels)]
        if not interrupted:
            divided, interrupted = _divided(objective, best, k_max, divide)
            several += [divided] if interrupted else [_merged(objective, best), divided]
        found = max(several, key=lambda each: each.icl)
        if found.icl <= best.icl + TIE or interrupted:
            return max((found, best), key=lambda each: each.icl), interrupted
        best = found
    return best, False


def block_priors(objective: NestedObjective, found: Nested) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Both parameters of the prior of every block at the most probable of its means, (clusters, clusters) each."""
    directed = objective.edges.directed
    cells = objective.cells(found.labels)
    likely = mean_weights(objective.grid, cells, found.parents, directed).argmax(axis=2)
    return objective.grid.first[likely], objective.grid.second[likely]


def _climb(objective: NestedObjective, native: Any, found: Nested, seed: int) -> tuple[Labels, bool]:
    """Nodes moved one by one, each block with the prior that is most probable now."""
    first, second = block_priors(objective, found)
    edges = objective.edges
    labelled = _core.LabelledModel(native, edges.counts, first, second, edges.degree_corrected, objective.n0)
    labels, _, interrupted = labelled.climb(found.labels.astype(np.uint32), seed, SWEEPS)
    return labels.astype(np.int64), interrupted


def _merged(objective: NestedObjective, found: Nested) -> Nested:
    """The best of the merges of two clusters of one group that look best given the means of the blocks."""
    k = int(found.labels.max()) + 1
    if not 1 < k <= MAX_MERGED:
        return found
    group = found.parents[0] if found.parents else np.zeros(k, dtype=np.int64)
    pairs = [(a, b) for a in range(k) for b in range(a + 1, k) if group[a] == group[b]]
    gains = _merge_gains(objective, found, pairs)
    tried = [pairs[at] for at in np.argsort(-gains)[:MERGES_TRIED]]
    several = [objective.with_levels(np.where(found.labels == b, a, found.labels)) for a, b in tried]
    return max([found, *several], key=lambda each: each.icl)


def _divided(objective: NestedObjective, found: Nested, k_max: int, divide: Divide) -> tuple[Nested, bool]:
    """With each cluster split in the parts that its own nodes fall into, if that pays; the parts stay in its group."""
    labels, parents = found.labels.copy(), list(found.parents)
    best = found.icl
    for cluster in range(int(found.labels.max()) + 1):
        nodes = np.flatnonzero(found.labels == cluster)
        if not MIN_DIVIDED <= len(nodes) <= MAX_DIVIDED:
            continue
        parts, interrupted = divide(induced(objective.graph, nodes))
        if interrupted:
            return found, True
        k, more = int(labels.max()) + 1, int(parts.max())
        if more == 0 or k + more > k_max:
            continue
        tried = labels.copy()
        tried[nodes] = np.where(parts == 0, cluster, k - 1 + parts)
        longer = [np.append(parents[0], np.full(more, parents[0][cluster])), *parents[1:]] if parents else []
        value = objective.value(tried, longer)
        if value > best + TIE:
            labels, parents, best = tried, longer, value
    return objective.with_levels(labels) if best > found.icl else found, False


def induced(graph: Graph, nodes: Labels) -> Graph:
    """The graph of some nodes."""
    edges, missing = (matrix[nodes][:, nodes] for matrix in (graph.adjacency, graph.missing))
    return Graph(edges, missing, tuple(range(len(nodes))))


def _merge_gains(objective: NestedObjective, found: Nested, pairs: list[tuple[int, int]]) -> NDArray[np.float64]:
    """How the blocks change if two clusters merge, each block with the prior that is most probable now."""
    edges, dyads = block_counts(objective.graph, objective.edges, found.labels, found.labels)
    directed = objective.edges.directed
    likely = mean_weights(objective.grid, objective.cells(found.labels), found.parents, directed).argmax(axis=2)
    value = _at(objective.grid, edges, dyads, likely)
    gains = np.empty(len(pairs))
    for at, (a, b) in enumerate(pairs):
        rest = np.delete(np.arange(len(edges)), [a, b])
        e_in, m_in = [
            cells[a, a] + cells[b, b] + cells[a, b] + (cells[b, a] if directed else 0) for cells in (edges, dyads)
        ]
        gain = _at(objective.grid, e_in, m_in, likely[a, a]) - value[a, a] - value[b, b] - value[a, b]
        gain = gain - (value[b, a] if directed else 0.0)
        for turned in (False, True)[: 2 if directed else 1]:
            e, m, v, q = (each.T if turned else each for each in (edges, dyads, value, likely))
            rows = _at(objective.grid, (e[a] + e[b])[rest], (m[a] + m[b])[rest], q[a, rest])
            gain = gain + (rows - v[a, rest] - v[b, rest]).sum()
        gains[at] = gain
    return gains


def _at(grid: MeanGrid, edges: Any, dyads: Any, likely: Any) -> Any:
    """`MeanGrid.cells` at one mean each."""
    return np.take_along_axis(grid.cells(edges, dyads), np.asarray(likely)[..., None], -1)[..., 0]
