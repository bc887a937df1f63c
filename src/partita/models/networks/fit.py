"""The result of `maximize`: labels, the merge path, the blocks with their uncertainty."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.stats import beta, gamma

from partita._support.names import as_named, names_or_none
from partita._support.shown import rows_table
from partita._support.validate import check_level
from partita.models.networks.core import EdgeModel
from partita.models.networks.graph import Graph
from partita.models.networks.marks import BlockMarks, block_marks
from partita.models.search_runs import IclFit
from partita.partitions.checks import check_partition


@dataclass(frozen=True, eq=False)
class Blocks:
    """Edge probabilities (rates, if edges are counts) of the blocks: posterior mean and credible interval, each
    (K, K), or (row clusters, column clusters). `edges` and `dyads` are a block's own, also where blocks share their
    parameter (the affiliation model). `marks` has what edges carry, if they have weights, categories or signs."""

    mean: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    edges: NDArray[np.int64]
    dyads: NDArray[np.float64]
    level: float
    marks: BlockMarks | None = None

    def __repr__(self) -> str:
        rows, columns = self.mean.shape
        return f"Blocks({rows} x {columns}, {self.level:.0%} intervals)"

    def _repr_html_(self) -> str:
        header = ["", *map(str, range(self.mean.shape[1]))]
        cells = [[f"{value:.4g}" for value in row] for row in self.mean.tolist()]
        return rows_table(repr(self), header, [[str(k), *row] for k, row in enumerate(cells)])


class NodeFit(IclFit):
    """Properties of the clusters of nodes that a fit has; `labels` and `names` are those of the nodes."""

    item: ClassVar[str] = "node"

    @property
    def names(self) -> tuple[Any, ...]:
        """The names of the nodes."""
        raise NotImplementedError

    @property
    def order(self) -> NDArray[np.int64]:
        """Nodes sorted by cluster: adjacency[order][:, order] shows the blocks."""
        return np.argsort(self.labels, kind="stable")

    def names_by_cluster(self) -> list[list[Any]]:
        """The nodes' names, cluster by cluster."""
        return [[self.names[i] for i in np.flatnonzero(self.labels == k)] for k in range(self.n_clusters)]

    def _repr_html_(self) -> str:
        clusters = enumerate(self.names_by_cluster())
        rows = [[str(k), str(len(names)), ", ".join(map(str, names[:8]))] for k, names in clusters]
        return rows_table(repr(self), ("cluster", "nodes", "first nodes"), rows)


@dataclass(frozen=True, eq=False, repr=False)
class BlockFit(NodeFit):
    """The partition of largest exact ICL that was found.

    Attributes
    ----------
    labels : (nodes,) integer array
        The partition, canonical labels.
    icl : float
        log p(X, z | K), natural logarithm, constants included.
    path : MergePath
        Greedy merges of clusters, from `labels` down to one cluster.
    runs : tuple of SearchRun
        How each run of the search started, and the ICL that it reached by itself.
    times_reached : int
        How many separate searches (groups of runs, or single runs if there are no groups) reached `icl`. Their starts
        are of the same kinds: agreement is a good sign, not a proof.
    notes : tuple of str
        What a careful reader needs to know, such as searches that do not agree.
    model : model or None
        The model as it was fitted; None for one layer of several.
    """

    graph: Graph
    edges: EdgeModel
    model: Any = field(default=None, kw_only=True)

    presented_by = "partita.results.networks.NetworkPresentation"

    @property
    def names(self) -> tuple[Any, ...]:
        """The names of the nodes."""
        return self.graph.names

    def reordered(self) -> sp.csr_array:
        """The adjacency matrix with rows and columns sorted by cluster."""
        return self.graph.adjacency[self.order][:, self.order]

    def blocks(self, level: float = 0.95) -> Blocks:
        """Block probabilities with equal-tailed credible intervals."""
        return block_table(self.graph, self.edges, self.labels, self.labels, level)

    def predict(self, pairs: ArrayLike) -> NDArray[np.float64]:
        """Posterior mean of the edge probability (or rate) for (m, 2) pairs of nodes, given the partition.

        With degree correction it is the rate E[φ_i φ_j] E[λ]: the block's times what the nodes' degrees say.
        `models.edge_probability` has the probability of an edge for every model, and averages over draws.
        """
        from partita.models.networks.shares import share_products

        mean = self.blocks().mean
        source, target = check_pairs(pairs, (len(self.labels), len(self.labels)))
        share = share_products(self.graph, self.edges, self.labels, self.labels, source, target)
        return mean[self.labels[source], self.labels[target]] * share


def node_labels(labels: ArrayLike, names: Sequence[Any], name: str, whose: str) -> NDArray[np.int64]:
    """Canonical labels of named nodes: a Series is matched by its index, all else by position."""
    given = as_named(labels, name)
    shape = np.shape(given.values)
    by_name = given.names is not None and names_or_none(names) is not None
    if len(shape) != 1 or (shape[0] != len(names) and not by_name):
        raise ValueError(f"{name} must have {len(names)} labels, as the {whose} has, but its shape is {shape}")
    return check_partition(given.in_order_of(names_or_none(names), len(names), whose), name)


def check_pairs(pairs: ArrayLike, shape: tuple[int, int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The two columns of an (m, 2) array of nodes, each within its range."""
    array = np.asarray(pairs)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise ValueError(f"pairs must be an (m, 2) array of integers, not {array.dtype} of shape {array.shape}")
    bad = np.argwhere((array < 0) | (array >= np.array(shape)))
    if len(bad):
        row, column = bad[0]
        raise ValueError(f"pairs has {array[row, column]} at row {row}, column {column}: not a node")
    return array[:, 0].astype(np.int64), array[:, 1].astype(np.int64)


def block_table(
    graph: Graph, edges: EdgeModel, rows: NDArray[Any], columns: NDArray[Any], level: float = 0.95
) -> Blocks:
    """Counts of every block and the posterior of its parameter."""
    level = check_level(level)
    cells = block_posterior(graph, edges, rows, columns)
    posterior = gamma(cells.first, scale=1 / cells.second) if edges.counts else beta(cells.first, cells.second)
    tail = (1 - level) / 2
    marks = None
    if edges.marks is not None:
        sums = functools.partial(mark_sums, edges, rows, columns, graph.bipartite)
        marks = block_marks(edges.marks, sums, graph.adjacency, level)
    return Blocks(
        posterior.mean(), posterior.ppf(tail), posterior.ppf(1 - tail), cells.edges, cells.dyads, level, marks
    )


@dataclass(frozen=True, eq=False)
class BlockPosterior:
    """Edges and dyads of every block, and the posterior of its parameter: Beta(first, second), or Gamma with this shape
    and rate if edges are counts."""

    edges: NDArray[np.int64]
    dyads: NDArray[np.float64]
    first: NDArray[np.float64]
    second: NDArray[np.float64]


def block_posterior(graph: Graph, edges: EdgeModel, rows: NDArray[Any], columns: NDArray[Any]) -> BlockPosterior:
    """Counts of every block, and the posterior of its parameter."""
    counts, dyads = block_counts(graph, edges, rows, columns)
    e, m = counts.astype(np.float64), dyads
    if edges.affiliation:
        e, m = pooled(e, edges.directed), pooled(m, edges.directed)
    return BlockPosterior(counts, dyads, edges.first + e, edges.second + (m if edges.counts else m - e))


def mark_sums(
    edges: EdgeModel, rows: NDArray[Any], columns: NDArray[Any], bipartite: bool, values: sp.csr_array
) -> NDArray[np.float64]:
    """The sum of a sparse matrix over the edges of each block, or of all blocks that share its parameters."""
    sums = (_indicator(rows).T @ values @ _indicator(columns)).toarray()
    if not bipartite and not edges.directed:  # each edge once
        at = np.diag_indices(len(sums))
        sums[at] = (sums[at] + np.bincount(rows, values.diagonal(), len(sums))) / 2
    return pooled(sums, edges.directed) if edges.affiliation else sums


def pooled(cells: NDArray[Any], directed: bool) -> NDArray[np.float64]:
    """Each block's sum over the blocks that share its parameter in the affiliation model.

    >>> pooled(np.array([[3, 1], [1, 2]]), directed=False)
    array([[5., 1.],
           [1., 5.]])
    """
    inside = cells.trace()
    between = (cells.sum() - inside) / (1 if directed else 2)  # an undirected block stands in the table twice
    return np.where(np.eye(len(cells), dtype=bool), float(inside), between)


def block_counts(
    graph: Graph, edges: EdgeModel, rows: NDArray[Any], columns: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Edges and observed dyads of every block, straight from the definition."""
    row_of, column_of = _indicator(rows), _indicator(columns)
    adjacency = graph.adjacency if edges.marks is None else graph.presence
    counts = (row_of.T @ adjacency @ column_of).toarray()
    dyads = np.outer(row_of.sum(axis=0), column_of.sum(axis=0)) - (row_of.T @ graph.missing @ column_of).toarray()
    if graph.bipartite:
        return np.rint(counts).astype(np.int64), dyads
    loop_counts = np.bincount(rows, adjacency.diagonal(), len(dyads))
    loop_dyads = np.bincount(rows, 1 - graph.missing.diagonal(), len(dyads))
    at = np.diag_indices(len(dyads))
    if not edges.directed:  # each pair once; a loop is one dyad, or half a pair
        counts[at] = (counts[at] + loop_counts) / 2
        dyads[at] = (dyads[at] + (0 if edges.half_loops else loop_dyads)) / 2
    if not edges.loops:
        dyads[at] -= loop_dyads
    return np.rint(counts).astype(np.int64), dyads


def _indicator(labels: NDArray[Any]) -> sp.csr_array:
    n = len(labels)
    return sp.csr_array((np.ones(n), (np.arange(n), labels)), shape=(n, int(labels.max()) + 1))
