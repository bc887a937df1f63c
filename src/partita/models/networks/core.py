"""From a Graph and hyperparameters to the core's block model, and the constants that no partition changes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaln

from partita import _core
from partita._support.errors import Advice, Argument, ArgumentError, Setting
from partita._support.validate import check_choice, check_flag, check_rng, check_scale, check_shape
from partita.models.networks.edge_list import check_kind
from partita.models.networks.graph import Graph, kept_entries
from partita.models.networks.marks import Marks, check_weight_prior, make_marks

BLOCKS = ("free", "affiliation")


@dataclass(frozen=True)
class EdgeModel:
    """How edges arise in a block, and the prior of its parameter.

    binary: probability ~ Beta(first, second). counts: rate ~ Gamma(first, second), second a rate. affiliation: all
    blocks (k, k) share one parameter, all others another. marks: what edges that are there carry.
    """

    directed: bool
    loops: bool
    counts: bool
    first: float
    second: float
    degree_corrected: bool = False
    affiliation: bool = False
    marks: Marks | None = None

    @property
    def kind(self) -> str:
        """The kind of edges, one of KINDS."""
        return self.marks.kind if self.marks is not None else "counts" if self.counts else "binary"

    @property
    def half_loops(self) -> bool:
        """Undirected, degree-corrected, with loops: n²/2 is the exposure of n nodes, so that a loop is half a pair."""
        return self.degree_corrected and self.loops and not self.directed


Network = tuple[Graph, EdgeModel]


def native_model(graph: Graph, edges: EdgeModel, n0: float, n0_columns: float = 1.0) -> Any:
    """The core's model of a graph."""
    arrays = _arrays(graph, edges)
    if edges.marks is not None:
        return _core.BlockModel(arrays, [_layer(arrays, edges)], n0_rows=n0, n0_columns=n0_columns)
    return _core.BlockModel(arrays, *_edge_settings(edges), n0_rows=n0, n0_columns=n0_columns)


def native_layers(layers: Sequence[Network], n0: float, tables: Sequence[Any] = ()) -> Any:
    """The core's model of several graphs on the same nodes, and of the columns of tables with a row for each node."""
    n = layers[0][0].n_nodes
    union = sum((_without_diagonal(graph.presence + graph.presence.T) for graph, _ in layers), sp.csr_array((n, n)))
    cover = _core.NetworkArrays(n, n, False, 1, 1)
    ones = sp.csr_array((np.ones(union.nnz), union.indices, union.indptr), shape=union.shape)
    _set_neighbours(cover, 0, ones, sp.csr_array((n, n)))
    parts = [_layer(_arrays(graph, edges), edges) for graph, edges in layers]
    return _core.BlockModel(cover, parts, n0_rows=n0, n0_columns=1.0, tables=list(tables))


def _arrays(graph: Graph, edges: EdgeModel) -> Any:
    return _bipartite_arrays(graph, edges) if graph.bipartite else _square_arrays(graph, edges)


def _edge_settings(edges: EdgeModel) -> tuple[bool, float, float, bool, bool]:
    return edges.counts, edges.first, edges.second, edges.degree_corrected, edges.affiliation


def _layer(arrays: Any, edges: EdgeModel) -> Any:
    marks = edges.marks
    kinds = _core.MarkKind
    return _core.Layer(
        arrays,
        *_edge_settings(edges),
        marks=kinds.none if marks is None else kinds.normal if marks.kind == "real" else kinds.categories,
        mark_parameters=np.array([] if marks is None else marks.parameters, dtype=np.float64),
        n_categories=0 if marks is None else marks.n_categories,
    )


def mean_rate(graph: Graph, *, directed: bool = True, loops: bool = True, half_loops: bool = False) -> float:
    """Mean count of the observed dyads, an undirected pair once and the diagonal only with loops; 0 if all are 0.

    `half_loops`: a loop is half a dyad, as in an undirected degree-corrected network.

    >>> from partita.models.networks.graph import as_graph
    >>> graph = as_graph([[0, 2, 1], [4, 0, float("nan")], [1, 0, 0]], edges="counts")
    >>> mean_rate(graph, loops=False), mean_rate(graph)
    (1.6, 1.0)
    """
    rows, columns = graph.adjacency.shape
    total, dyads = float(graph.adjacency.sum()), rows * columns - graph.missing.nnz
    if not graph.bipartite:
        on_diagonal = rows - np.count_nonzero(graph.missing.diagonal())
        dyads -= 0 if loops else on_diagonal
        if not directed:
            total = (total + float(graph.adjacency.diagonal().sum())) / 2
            dyads = (dyads + (on_diagonal if loops and not half_loops else 0)) / 2
    return float(total / dyads) if dyads > 0 else 0.0


def default_rate(mean: float) -> float:
    """The rate b0 for which the prior of counts with a0 = 1 has this mean; 1 if there are no edges."""
    return 1.0 / mean if mean > 0 else 1.0


def constant(graph: Graph, edges: EdgeModel) -> float:
    """The part of log p(X, z) that is the same for every partition: factorials of counts and of degrees."""
    if not edges.counts:
        return 0.0
    each = graph.adjacency if edges.directed or graph.bipartite else sp.triu(graph.adjacency)
    total = -float(gammaln(each.data + 1).sum())
    if not edges.degree_corrected:
        return total
    degrees = [graph.adjacency.sum(axis=1)]
    if edges.directed or graph.bipartite:
        degrees.append(graph.adjacency.sum(axis=0))
    else:
        loops = graph.adjacency.diagonal()
        degrees[0] = degrees[0] + loops  # a loop has two ends
        total -= float(loops.sum()) * math.log(2)  # rate φ² θ / 2
    return total + sum(float(gammaln(degree + 1).sum()) for degree in degrees)


def constants(networks: Sequence[Network]) -> float:
    """The same of several networks on the same nodes."""
    return sum(constant(graph, edges) for graph, edges in networks)


def edge_model(
    model: Any, graph: Graph, *, directed: bool, loops: bool, affiliation: bool = False, missing: bool = False
) -> EdgeModel:
    """How edges arise in the blocks of a model, from its settings; `missing` dyads may be allowed."""
    check_settings(model)  # again: set_params may have changed them
    corrected: bool = model.degree_corrected
    counts = corrected or model.edges == "counts"
    first, second = model.eta0, model.zeta0
    if counts:
        first, second = model.a0, model.b0
        if second is None:
            second = default_rate(mean_rate(graph, directed=directed, loops=loops, half_loops=corrected))
    marks = make_marks(graph, model, directed or graph.bipartite)
    edges = EdgeModel(directed, loops, counts, first, second, corrected, affiliation, marks)
    if not missing:
        check_degree_correction(graph, edges)
    return edges


def check_settings(model: Any) -> None:
    """Raises an error for hyperparameters that are out of their ranges, and for unknown kinds of edges."""
    for name in ("n0", "eta0", "zeta0", "a0"):
        check_shape(getattr(model, name), name)
    for name in ("directed", "loops", "degree_corrected"):
        check_flag(getattr(model, name, False), name)  # matrices have neither directions nor loops
    if model.b0 is not None:
        check_scale(model.b0, "b0")
    if check_kind(model.edges) not in ("binary", "counts") and model.degree_corrected:
        corrected = Setting("degree_corrected", True)
        raise ArgumentError(corrected, " has counted edges, but ", Setting("edges", model.edges))
    check_weight_prior(model.weight_prior)
    check_shape(model.category_prior, "category_prior")


def check_degree_correction(graph: Graph, edges: EdgeModel) -> None:
    """Raises an error for missing dyads where nodes differ in degree: shares are then of unequal numbers of dyads.

    The exact ICL integrates shares φ ~ Dirichlet(1, …, 1) of the edges of a cluster; Σ φ_i φ_j over its observed
    dyads is a constant only if all of them are observed. Else the integral is a mean over shares, which `estimate_icl`
    takes by Monte Carlo for one partition: thousands of draws, too expensive for the millions of moves of a search.
    """
    no_loops = not (graph.bipartite or edges.loops)  # the diagonal of a bipartite matrix is like its other entries
    gaps = graph.missing.nnz - (np.count_nonzero(graph.missing.diagonal()) if no_loops else 0)
    if edges.degree_corrected and gaps:
        raise ArgumentError(
            Argument("graph"),
            f" has {gaps} missing dyads, for which the degree-corrected model has no exact ICL; leave out ",
            Setting("degree_corrected", True),
            ", or the nodes with missing dyads; estimate_icl has the ICL of a partition",
        )


def check_blocks(blocks: Any) -> bool:
    """Whether the blocks are those of the affiliation model."""
    return check_choice(blocks, "blocks", BLOCKS) == "affiliation"


def seed_from(rng: Any) -> int:
    """A seed for the core, drawn from None, an int or a NumPy generator."""
    return int(check_rng(rng).integers(2**63))


def _square_arrays(graph: Graph, edges: EdgeModel) -> Any:
    n = graph.n_nodes
    pair, loop = (2, 1) if edges.half_loops else (1, 1)
    arrays = _core.NetworkArrays(n, n, edges.directed, pair, loop)
    _set_neighbours(arrays, 0, _without_diagonal(graph.adjacency), _without_diagonal(graph.missing), edges.marks)
    if edges.directed:
        received, unknown = _without_diagonal(graph.transposed), _without_diagonal(graph.missing.T.tocsr())
        _set_neighbours(arrays, 1, received, unknown, edges.marks)
    diagonal = graph.adjacency.diagonal()
    counts = diagonal.astype(np.uint32) if edges.marks is None else (diagonal != 0).astype(np.uint32)
    if edges.loops:
        arrays.set_loops(counts, (graph.missing.diagonal() == 0).astype(np.uint8))
        if edges.marks is not None:
            arrays.set_loop_marks(edges.marks.coded(diagonal))
    elif counts.any():
        node = int(np.flatnonzero(counts)[0])
        problem = f" has a loop at node {graph.names[node]!r}, but the model has none; "
        raise ArgumentError(Argument("graph"), problem, Advice("loops", True))
    return arrays


def _bipartite_arrays(graph: Graph, edges: EdgeModel) -> Any:
    rows, columns = graph.adjacency.shape
    arrays = _core.NetworkArrays(rows + columns, rows, False, 1, 1)
    entries = _both_ways(graph.adjacency, graph.transposed)
    missing = _both_ways(graph.missing, graph.missing.T.tocsr())
    _set_neighbours(arrays, 0, entries, missing, edges.marks)
    return arrays


def _both_ways(matrix: sp.csr_array, below: sp.csr_array) -> sp.csr_array:
    """The symmetric matrix of a bipartite graph, columns numbered after rows; `below` is the transposed matrix."""
    n_rows = matrix.shape[0]
    starts = np.concatenate([matrix.indptr, matrix.nnz + below.indptr[1:]])
    to = np.concatenate([matrix.indices + n_rows, below.indices])
    size = sum(matrix.shape)
    return sp.csr_array((np.concatenate([matrix.data, below.data]), to, starts), shape=(size, size))


def _without_diagonal(matrix: sp.csr_array) -> sp.csr_array:
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return kept_entries(matrix, rows != matrix.indices)


def _set_neighbours(
    arrays: Any, direction: int, rows: sp.csr_array, gaps: sp.csr_array, marks: Marks | None = None
) -> None:
    """Hands over the edges and the missing dyads of each node in one direction: 0 is sent, 1 is received."""
    ones = marks is not None or bool((rows.data == 1).all())
    count = np.empty(0, np.uint32) if ones else rows.data.astype(np.uint32)
    arrays.set_edges(direction, rows.indptr.astype(np.int64), rows.indices.astype(np.uint32), count)
    if marks is not None:
        arrays.set_marks(direction, marks.coded(rows.data))
    if gaps.nnz:
        arrays.set_missing(direction, gaps.indptr.astype(np.int64), gaps.indices.astype(np.uint32))
