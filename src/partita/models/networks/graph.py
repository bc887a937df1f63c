"""Anything a user calls a network, as one small frozen graph in compressed rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita._support.errors import Advice, Argument, ArgumentError, Sentence, Setting, Within
from partita._support.optional import optional
from partita._support.shown import ShownAsText
from partita.models.networks.edge_list import (
    MARKED,
    as_weight,
    check_binary,
    check_columns,
    check_end,
    check_kind,
    check_listed_once,
    check_values,
    check_weight,
    frame_edges,
    read_edges,
)

NETWORK_FILES = (".graphml", ".gml")  # read by networkx


@dataclass(frozen=True)
class Graph(ShownAsText):
    """A network: its edges with their counts, weights or categories, dyads that were not observed, names of the nodes.

    `adjacency` is (n, n) and `missing` marks dyads left out of the likelihood; an undirected graph holds both
    symmetric. A bipartite matrix is (rows, columns). Memory is linear in the edges and the missing dyads.
    """

    adjacency: sp.csr_array
    missing: sp.csr_array
    names: tuple[Any, ...]
    column_names: tuple[Any, ...] | None = None

    @property
    def n_nodes(self) -> int:
        """The number of nodes (of rows, if the graph is bipartite)."""
        return int(self.adjacency.shape[0])

    @cached_property
    def transposed(self) -> sp.csr_array:
        """The transpose of `adjacency` in compressed rows: row j has the edges that end at j."""
        return self.adjacency.T.tocsr()

    @property
    def is_sorted(self) -> bool:
        """Whether the entries of each row are in the order of the columns, each once."""
        return bool(self.adjacency.has_canonical_format and self.missing.has_canonical_format)

    @property
    def presence(self) -> sp.csr_array:
        """The matrix with 1 wherever there is an edge, whatever its weight."""
        matrix = self.adjacency
        return sp.csr_array((np.ones(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape)

    @property
    def bipartite(self) -> bool:
        """Whether rows and columns are different things."""
        return self.column_names is not None

    def __repr__(self) -> str:
        shape = f"{self.n_nodes} x {self.adjacency.shape[1]}" if self.bipartite else f"{self.n_nodes} nodes"
        gaps = f", {self.missing.nnz} missing dyads" if self.missing.nnz else ""
        return f"Graph({shape}, {self.adjacency.nnz} entries{gaps})"


def as_graph(
    graph: Any,
    *,
    directed: bool = True,
    counts: bool = False,
    edges: str = "binary",
    nodes: Sequence[Any] | None = None,
    columns: Sequence[str] | None = None,
) -> Graph:
    """Turn a matrix, a networkx or igraph graph, or an edge list into a Graph.

    Parameters
    ----------
    graph : matrix, graph, edge list or path
        An (n, n) array or scipy.sparse matrix, with the edge from i to j in row i and column j and NaN where it was not
        observed; a networkx or igraph graph; a pandas edge list, or the path of a csv file with a header (columns
        `source`, `target` or `from`, `to` and perhaps `weight`, or else its first columns) or of a GraphML or GML file
        (.graphml, .gml; needs networkx); or a list of pairs or triples. Weights other than 1 raise an error unless
        `edges` is of another kind, or `columns` leaves them out.
    directed : bool
        Whether edges have a direction. The matrix of an undirected graph must be symmetric.
    counts : bool
        The same as edges="counts".
    edges : str
        "binary": an edge that is listed twice is one edge. "counts": weights are counts, and those of the same pair are
        added. "real" (any weight but 0), "categories" (1, 2, ...) or "signed" (−1 or 1): each edge is listed once, with
        its value.
    nodes : sequence, optional
        Names of all nodes in the order that is wanted: an edge list says nothing of nodes without edges.
    columns : sequence of str, optional
        The columns of an edge list to use: its two ends and, if wanted, the weight. Of a networkx or igraph graph and
        of a GraphML or GML file, the third is the name of the edges' attribute; with two, weights are left out.

    Returns
    -------
    Graph

    Examples
    --------
    >>> as_graph([("a", "b"), ("b", "c")], directed=False, nodes=["a", "b", "c", "d"])
    Graph(4 nodes, 4 entries)
    """
    kind = "counts" if counts else check_kind(edges)
    if isinstance(graph, Graph):
        _check_not_empty(graph.adjacency.shape, "graph")
        check_values(graph.adjacency, kind)
        return graph
    if isinstance(graph, str | Path) and Path(graph).suffix.lower() in NETWORK_FILES:
        graph, columns = _read_network(Path(graph), columns, kind), None
    if hasattr(graph, "is_directed"):
        _check_direction(bool(graph.is_directed()), directed)
    if sp.issparse(graph) or isinstance(graph, np.ndarray):
        return _from_matrix(graph, directed, kind, nodes)
    if hasattr(graph, "vcount") and hasattr(graph, "get_edgelist"):
        listed, names = _igraph_edges(graph, kind, _weight_name(columns))
    elif hasattr(graph, "edges") and hasattr(graph, "nodes"):
        listed, names = _networkx_edges(graph, kind, _weight_name(columns)), list(graph.nodes)
    elif isinstance(graph, str | Path):
        listed, names = read_edges(Path(graph), columns, kind), None
    elif hasattr(graph, "columns") and hasattr(graph, "iloc"):
        listed, names = frame_edges(graph, columns, kind), None
    elif _is_edge_list(graph):
        listed, names = _listed_edges(graph, kind), None
    else:
        return _from_matrix(np.asarray(graph), directed, kind, nodes)
    return _from_edges(listed, names if nodes is None else list(nodes), directed, kind)


def as_bipartite(matrix: Any, *, counts: bool = False, edges: str = "binary") -> Graph:
    """Turn a (rows, columns) matrix (dense, sparse or a pandas frame; NaN: not observed) into a bipartite Graph.

    `counts` and `edges` are those of `as_graph`.

    Examples
    --------
    >>> as_bipartite([[1, 0, 1], [0, float("nan"), 1]])
    Graph(2 x 3, 3 entries, 1 missing dyads)
    """
    kind = "counts" if counts else check_kind(edges)
    if isinstance(matrix, Graph):
        if not matrix.bipartite:
            raise ValueError("matrix is a graph of one kind of node; a latent block model needs rows and columns")
        _check_not_empty(matrix.adjacency.shape, "matrix")
        check_values(matrix.adjacency, kind)
        return matrix
    rows = columns = None
    if hasattr(matrix, "columns") and hasattr(matrix, "to_numpy"):
        rows, columns = tuple(matrix.index), tuple(matrix.columns)
        matrix = matrix.to_numpy()
    matrix = _two_dimensional(matrix)
    _check_not_empty(matrix.shape, "matrix")
    adjacency, missing = _split_missing(matrix)
    check_values(adjacency, kind)
    return Graph(
        adjacency,
        missing,
        rows or tuple(range(adjacency.shape[0])),
        columns or tuple(range(adjacency.shape[1])),
    )


def check_graph(graph: Graph, *, directed: bool, edges: str) -> None:
    """Raises an error for a graph that `as_graph` and `as_bipartite` would not have made."""
    rows, columns = graph.adjacency.shape
    _check_not_empty((rows, columns), "graph")
    check_values(graph.adjacency, edges)
    if (graph.missing.data != 1).any() or graph.adjacency.multiply(graph.missing).nnz:
        raise ArgumentError(Argument("graph"), " has dyads that are missing and yet have edges")
    if graph.bipartite:
        return
    if rows != columns:
        raise ArgumentError(Argument("graph"), f" must be square, but it is {rows} x {columns}")
    if not directed:
        _check_symmetric(graph.adjacency)
        _check_symmetric(graph.missing)


def _check_not_empty(shape: tuple[int, ...], name: str) -> None:
    if 0 in shape:
        problem = f" is empty: it has {shape[0]} rows and {shape[1]} columns; at least 1 of each is needed"
        raise ArgumentError(Argument(name), problem)


def _check_direction(is_directed: bool, directed: bool) -> None:
    if is_directed != directed:
        kinds = ("undirected", "directed")
        problem = f" is {kinds[is_directed]} but the model is {kinds[directed]}; "
        raise ArgumentError(Argument("graph"), problem, Advice("directed", is_directed))


def _is_edge_list(graph: Any) -> bool:
    return isinstance(graph, list | tuple) and all(isinstance(e, tuple) and len(e) in (2, 3) for e in graph)


def _listed_edges(edges: Sequence[tuple[Any, ...]], kind: str) -> list[tuple[Any, ...]]:
    for row, edge in enumerate(edges):
        for end in edge[:2]:
            check_end(end, f"edge {row} has an end without a name")
        if kind == "binary":
            check_binary(edge[2] if len(edge) > 2 else 1, f"edge {row}")
    return list(edges)


def _weight_name(columns: Sequence[str] | None) -> str | None:
    """The attribute of the edges of a graph object that is their weight; None if two `columns` leave weights out."""
    if columns is None:
        return "weight"
    check_columns(columns)
    return columns[2] if len(columns) == 3 else None


def _igraph_edges(graph: Any, kind: str, wanted: str | None) -> tuple[list[tuple[Any, ...]], list[Any]]:
    names = graph.vs["name"] if "name" in graph.vs.attributes() else range(graph.vcount())
    names = list(names)
    weights = graph.es[wanted] if wanted in graph.es.attributes() else [None] * graph.ecount()
    return _weighted([(names[i], names[j]) for i, j in graph.get_edgelist()], weights, kind, wanted), names


def _networkx_edges(graph: Any, kind: str, wanted: str | None) -> list[tuple[Any, ...]]:
    listed = list(graph.edges(data=True))
    weights = [data.get(wanted) for *_, data in listed]
    return _weighted([(i, j) for i, j, _ in listed], weights, kind, wanted)


def _weighted(ends: list[tuple[Any, Any]], weights: Sequence[Any], kind: str, wanted: str | None) -> list[Any]:
    """The edges of a graph object with their weights: 1 for an edge without one, unless each must have a value."""
    other = None if kind in MARKED else 1
    edges = [(i, j, other if weight is None else weight) for (i, j), weight in zip(ends, weights, strict=True)]
    lacking = next((end for end, weight in zip(ends, weights, strict=True) if weight is None), None)
    if lacking is not None and wanted not in (None, "weight"):
        raise ArgumentError(Within("graph"), f"the edge from {lacking[0]} to {lacking[1]} has no attribute {wanted!r}")
    if kind == "binary":
        hint = Sentence(", as_graph(graph, ", Setting("columns", ("source", "target")), f") leaves {wanted} out")
        for i, j, weight in edges:
            place = f"the edge from {i} to {j}"
            check_binary(as_weight(weight, place), place, hint)
    return edges


def _from_edges(edges: Iterable[tuple[Any, ...]], names: list[Any] | None, directed: bool, kind: str) -> Graph:
    edges = list(edges)
    if names is None:
        names = _sorted_names({end for edge in edges for end in edge[:2]})
    place = {name: index for index, name in enumerate(names)}
    if len(place) < len(names):
        raise ValueError("nodes: a name is given twice")
    source, target = _places(edges, place)
    weight = _weights(edges, kind)
    if not directed:
        between = source != target  # a loop is one entry
        source, target = np.concatenate([source, target[between]]), np.concatenate([target, source[between]])
        weight = np.concatenate([weight, weight[between]])
    matrix = sp.coo_array((weight, (source, target)), shape=(len(names), len(names))).tocsr()
    check_listed_once(len(weight), matrix.nnz, kind)
    if kind == "binary" and len(edges):
        matrix.data[:] = 1  # an edge listed twice is one edge
    return _from_matrix(matrix, directed, kind, names)


def _weights(edges: list[tuple[Any, ...]], kind: str) -> NDArray[np.float64]:
    if kind == "binary":
        return np.ones(len(edges))
    other = None if kind in MARKED else 1
    given = (edge[2] if len(edge) > 2 else other for edge in edges)
    return np.array([check_weight(weight, f"edge {row}", kind) for row, weight in enumerate(given)], dtype=float)


def _sorted_names(names: set[Any]) -> list[Any]:
    try:
        return sorted(names)
    except TypeError:
        return sorted(names, key=str)


def _places(edges: list[tuple[Any, ...]], place: dict[Any, int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    ends = np.empty((2, len(edges)), dtype=np.int64)
    for row, edge in enumerate(edges):
        for end in (0, 1):
            if edge[end] not in place:
                raise ArgumentError(Within("graph"), f"node {edge[end]!r} of edge {row} is not in nodes")
            ends[end, row] = place[edge[end]]
    return ends[0], ends[1]


def _two_dimensional(matrix: Any) -> Any:
    array = matrix if sp.issparse(matrix) else np.asarray(matrix)
    if array.ndim != 2:
        raise ArgumentError(Argument("graph"), f" must be a matrix, not an array of shape {array.shape}")
    if sp.issparse(array):
        return sp.csr_array(array)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"graph must hold numbers, not {array.dtype}")
    return array


def _from_matrix(matrix: Any, directed: bool, kind: str, nodes: Sequence[Any] | None) -> Graph:
    matrix = _two_dimensional(matrix)
    n, m = matrix.shape
    if n != m:
        problem = f" must be square, but it is {n} x {m}; rows and columns apart are a LatentBlockModel"
        raise ArgumentError(Argument("graph"), problem)
    if n == 0:
        raise ArgumentError(Argument("graph"), " is empty: it has no nodes")
    names = tuple(range(n)) if nodes is None else tuple(nodes)
    if len(names) != n:
        raise ValueError(f"nodes has {len(names)} names but the graph has {n} nodes")
    adjacency, missing = _split_missing(matrix)
    check_values(adjacency, kind)
    if not directed:
        _check_symmetric(adjacency)
        _check_symmetric(missing)
    return Graph(adjacency, missing, names)


def _split_missing(matrix: Any) -> tuple[sp.csr_array, sp.csr_array]:
    """Split observed non-zero entries from NaN."""
    matrix = sp.csr_array(matrix, dtype=float) if not sp.issparse(matrix) else sp.csr_array(matrix).astype(float)
    matrix.sum_duplicates()
    gap = np.isnan(matrix.data)
    missing = kept_entries(matrix, gap)
    missing.data[:] = 1
    return kept_entries(matrix, ~gap & (matrix.data != 0)), missing


def kept_entries(matrix: sp.csr_array, keep: NDArray[np.bool_]) -> sp.csr_array:
    """A copy with some of the stored entries: `keep` has one value for each, in their order."""
    starts = np.concatenate([[0], np.cumsum(keep)])[matrix.indptr]
    return sp.csr_array((matrix.data[keep], matrix.indices[keep], starts), shape=matrix.shape)


def _check_symmetric(matrix: sp.csr_array) -> None:
    difference = (matrix - matrix.T).tocoo()
    wrong = np.flatnonzero(difference.data)
    if wrong.size:
        i, j = int(difference.row[wrong[0]]), int(difference.col[wrong[0]])
        problem = f" is not symmetric at ({i}, {j}), but the model is undirected; "
        raise ArgumentError(Argument("graph"), problem, Advice("directed", True))


def _read_network(path: Path, columns: Sequence[str] | None, kind: str) -> Any:
    """The networkx graph of a GraphML or GML file; nodes are named by their ids in GraphML, by their labels in GML.

    Weights are the edges' attribute "weight", or the third of `columns`; with two columns there are none.
    """
    if columns is not None:
        check_columns(columns)
    wanted = "weight" if columns is None else columns[2] if len(columns) == 3 else None
    network = _parsed_network(path)
    for i, j, data in network.edges(data=True):
        place = f"the edge from {i} to {j} of {path.name}"
        if columns is not None and wanted is not None and wanted not in data:
            raise ArgumentError(Within("graph"), f"{place} has no attribute {wanted!r}")
        weight = data.get(wanted)
        data.pop("weight", None)
        if weight is not None:
            data["weight"] = as_weight(weight, place)
            if kind == "binary":
                ends = Setting("columns", ("source", "target"))
                check_binary(data["weight"], place, Sentence(", ", ends, f" leaves {wanted} out"))
    return network


def _parsed_network(path: Path) -> Any:
    nx = optional("networkx", "GraphML and GML files need networkx", "graph")
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist")
    try:
        return nx.read_graphml(path) if path.suffix.lower() == ".graphml" else nx.read_gml(path)
    except Exception as error:  # the parsers of networkx raise errors of many kinds for a file that is not well formed
        kind = "GraphML" if path.suffix.lower() == ".graphml" else "GML"
        raise ArgumentError(Within("graph"), f"{path.name} is no {kind} file: {error}") from None
