"""The search for nested blocks: flat searches give clusters, which groups of clusters and moves of nodes refine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from partita import _core
from partita._support.arrays import Labels
from partita._support.tolerance import TIE
from partita.models.networks.core import EdgeModel, constant
from partita.models.networks.fit import block_counts
from partita.models.networks.graph import Graph
from partita.models.networks.nested_groups import find_levels, log_allocation
from partita.models.networks.nested_prior import MeanGrid, log_evidence, mean_weights, once
from partita.models.networks.shares import degrees
from partita.partitions.labels import canonical

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
