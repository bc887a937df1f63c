"""Anything a user calls a network, as one small frozen graph in compressed rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita._cells import is_number, parse_cell, whole_or_text
from partita._csv import Row, read_rows
from partita._facts import ShownAsText

ENDS = (("source", "target"), ("from", "to"))  # names of the columns of an edge list


@dataclass(frozen=True)
class Graph(ShownAsText):
    """A network: counts of edges, dyads that were not observed, names of the nodes.

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

    @property
    def bipartite(self) -> bool:
        """Whether rows and columns are different things."""
        return self.column_names is not None

    def __repr__(self) -> str:
        shape = f"{self.n_nodes} x {self.adjacency.shape[1]}" if self.bipartite else f"{self.n_nodes} nodes"
        gaps = f", {self.missing.nnz} missing dyads" if self.missing.nnz else ""
        return f"Graph({shape}, {self.adjacency.nnz} entries{gaps})"


def as_graph(graph: Any, *, directed: bool = True, counts: bool = False, nodes: Sequence[Any] | None = None) -> Graph:
    """Turn a matrix, a networkx or igraph graph, or an edge list into a Graph.

    Parameters
    ----------
    graph : (n, n) array or scipy.sparse matrix (row i, column j: edges from i to j; NaN: not observed); networkx or
        igraph graph; pandas edge list or path of a CSV file with a header (columns `source`, `target` or `from`, `to`
        and perhaps `weight`, or else its first columns); list of pairs or triples.
    directed : whether edges have a direction. A matrix of an undirected graph must be symmetric.
    counts : keep weights as counts of edges. Otherwise edges are 0 or 1, and an edge listed twice is one edge.
    nodes : names of all nodes, so that an edge list may have nodes without edges; sets their order.

    Returns
    -------
    Graph

    Examples
    --------
    >>> as_graph([("a", "b"), ("b", "c")], directed=False, nodes=["a", "b", "c", "d"])
    Graph(4 nodes, 4 entries)
    """
    if isinstance(graph, Graph):
        return graph
    if hasattr(graph, "is_directed"):
        _check_direction(bool(graph.is_directed()), directed)
    if sp.issparse(graph) or isinstance(graph, np.ndarray):
        return _from_matrix(graph, directed, counts, nodes)
    if hasattr(graph, "vcount") and hasattr(graph, "get_edgelist"):
        edges, names = _igraph_edges(graph, counts)
    elif hasattr(graph, "edges") and hasattr(graph, "nodes"):
        edges, names = _networkx_edges(graph, counts), list(graph.nodes)
    elif isinstance(graph, str | Path):
        edges, names = _read_edges(Path(graph)), None
    elif hasattr(graph, "columns") and hasattr(graph, "iloc"):
        edges, names = _frame_edges(graph), None
    elif _is_edge_list(graph):
        edges, names = [tuple(edge) for edge in graph], None
    else:
        return _from_matrix(np.asarray(graph), directed, counts, nodes)
    return _from_edges(edges, names if nodes is None else list(nodes), directed, counts)


def as_bipartite(matrix: Any, *, counts: bool = False) -> Graph:
    """Turn a (rows, columns) matrix (dense, sparse or a pandas frame; NaN: not observed) into a bipartite Graph.

    Examples
    --------
    >>> as_bipartite([[1, 0, 1], [0, float("nan"), 1]])
    Graph(2 x 3, 3 entries, 1 missing dyads)
    """
    if isinstance(matrix, Graph):
        if not matrix.bipartite:
            raise ValueError("matrix is a graph of one kind of node; a latent block model needs rows and columns")
        return matrix
    rows = columns = None
    if hasattr(matrix, "columns") and hasattr(matrix, "to_numpy"):
        rows, columns = tuple(matrix.index), tuple(matrix.columns)
        matrix = matrix.to_numpy()
    adjacency, missing = _split_missing(_two_dimensional(matrix))
    _check_values(adjacency, counts)
    return Graph(
        adjacency,
        missing,
        rows or tuple(range(adjacency.shape[0])),
        columns or tuple(range(adjacency.shape[1])),
    )


def _check_direction(is_directed: bool, directed: bool) -> None:
    if is_directed != directed:
        kinds = ("undirected", "directed")
        raise ValueError(
            f"graph is {kinds[is_directed]} but the model is {kinds[directed]}; pass directed={is_directed}"
        )


def _is_edge_list(graph: Any) -> bool:
    return isinstance(graph, list | tuple) and all(isinstance(e, tuple) and len(e) in (2, 3) for e in graph)


def _igraph_edges(graph: Any, counts: bool) -> tuple[list[tuple[Any, ...]], list[Any]]:
    names = graph.vs["name"] if "name" in graph.vs.attributes() else range(graph.vcount())
    names = list(names)
    weights = graph.es["weight"] if counts and "weight" in graph.es.attributes() else [1] * graph.ecount()
    edges = [(names[i], names[j], w) for (i, j), w in zip(graph.get_edgelist(), weights, strict=True)]
    return edges, names


def _networkx_edges(graph: Any, counts: bool) -> list[tuple[Any, ...]]:
    if counts:
        return [(i, j, data.get("weight", 1)) for i, j, data in graph.edges(data=True)]
    return [(edge[0], edge[1], 1) for edge in graph.edges()]


def _read_edges(path: Path) -> list[tuple[Any, ...]]:
    rows = read_rows(path)
    header = rows[0].cells
    if len(header) < 2:
        raise ValueError(f"graph: {path.name} has no header with at least two columns")
    columns = _edge_columns(header)
    _check_header(rows, columns, path.name)
    return [_as_edge([cells[c] for c in columns], line) for line, cells in rows[1:]]


def _check_header(rows: Sequence[Row], columns: Sequence[int], file: str) -> None:
    """Words above numbers, or words that are no nodes below, are a header; anything else may be the first edge."""
    header = rows[0].cells
    if _named_ends(header):
        return
    require_names(rows[0], columns, file, "source,target")
    above_numbers = (all(is_number(cells[c]) for _, cells in rows[1:]) for c in columns)
    ends = columns[:2]
    nodes = {cells[c] for _, cells in rows[1:] for c in ends}
    if len(rows) == 1 or (not any(above_numbers) and nodes & {header[c] for c in ends}):
        raise ValueError(
            f"graph: line {rows[0].line} of {file} is {', '.join(header)}: a header, or the first edge; put "
            "source,target in its place if it is a header, or above it if it is an edge"
        )


def require_names(first: Row, columns: Sequence[int], file: str, example: str) -> None:
    """A number in the first row is no name of one of the columns."""
    if any(is_number(first.cells[c]) for c in columns):
        raise ValueError(
            f"graph: line {first.line} of {file} is {', '.join(first.cells)}; it must be a header, as in {example}"
        )


def _named_ends(header: Sequence[str]) -> tuple[str, str] | None:
    return next((ends for ends in ENDS if set(ends) <= set(header)), None)


def _edge_columns(header: Sequence[Any]) -> list[int]:
    names = [str(name) for name in header]
    if ends := _named_ends(names):
        return [names.index(name) for name in (*ends, "weight") if name in names]
    return list(range(min(len(names), 3)))


def _as_edge(cells: Sequence[str], line: int) -> tuple[Any, ...]:
    """Ids that are whole numbers as such, and the weight as a number."""
    ends = tuple(map(whole_or_text, cells[:2]))
    if len(cells) == 2:
        return ends
    weight = parse_cell(cells[2])
    if not isinstance(weight, int | float):
        raise ValueError(f"graph: weight {cells[2]!r} in line {line} is not a number")
    return (*ends, float(weight))


def _frame_edges(frame: Any) -> list[tuple[Any, ...]]:
    if len(frame.columns) < 2:
        raise ValueError(f"graph: an edge list needs two columns, got {list(frame.columns)}")
    columns = _edge_columns(list(frame.columns))
    return list(zip(*(frame.iloc[:, c].tolist() for c in columns), strict=True))


def _from_edges(edges: Iterable[tuple[Any, ...]], names: list[Any] | None, directed: bool, counts: bool) -> Graph:
    edges = list(edges)
    if names is None:
        names = _sorted_names({end for edge in edges for end in edge[:2]})
    place = {name: index for index, name in enumerate(names)}
    if len(place) < len(names):
        raise ValueError("nodes: a name is given twice")
    source, target = _places(edges, place)
    weight = np.array([edge[2] if len(edge) > 2 and counts else 1 for edge in edges], dtype=float)
    if not directed:
        source, target = np.minimum(source, target), np.maximum(source, target)
    matrix = sp.coo_array((weight, (source, target)), shape=(len(names), len(names))).tocsr()
    if not counts and len(edges):
        matrix.data[:] = 1  # an edge listed twice is one edge
    if not directed:
        matrix = matrix + sp.triu(matrix, 1).T
    return _from_matrix(matrix, directed, counts, names)


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
                raise ValueError(f"graph: node {edge[end]!r} of edge {row} is not in nodes")
            ends[end, row] = place[edge[end]]
    return ends[0], ends[1]


def _two_dimensional(matrix: Any) -> Any:
    if sp.issparse(matrix):
        return sp.csr_array(matrix)
    array = np.asarray(matrix)
    if array.ndim != 2:
        raise ValueError(f"graph must be a matrix, got an array of shape {array.shape}")
    if array.dtype.kind not in "biuf":
        raise TypeError(f"graph must hold numbers, got {array.dtype}")
    return array


def _from_matrix(matrix: Any, directed: bool, counts: bool, nodes: Sequence[Any] | None) -> Graph:
    matrix = _two_dimensional(matrix)
    n, m = matrix.shape
    if n != m:
        raise ValueError(f"graph must be square, got {n} x {m}; rows and columns apart are a LatentBlockModel")
    if n == 0:
        raise ValueError("graph has no nodes")
    names = tuple(range(n)) if nodes is None else tuple(nodes)
    if len(names) != n:
        raise ValueError(f"nodes has {len(names)} names but the graph has {n} nodes")
    adjacency, missing = _split_missing(matrix)
    _check_values(adjacency, counts)
    if not directed:
        _check_symmetric(adjacency)
        _check_symmetric(missing)
    return Graph(adjacency, missing, names)


def _split_missing(matrix: Any) -> tuple[sp.csr_array, sp.csr_array]:
    """Split observed non-zero entries from NaN."""
    matrix = sp.csr_array(matrix, dtype=float) if not sp.issparse(matrix) else sp.csr_array(matrix).astype(float)
    matrix.sum_duplicates()
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    gap = np.isnan(matrix.data)
    edge = ~gap & (matrix.data != 0)
    parts = []
    for keep, values in ((edge, matrix.data), (gap, np.ones_like(matrix.data))):
        part = sp.coo_array((values[keep], (rows[keep], matrix.indices[keep])), shape=matrix.shape).tocsr()
        part.sort_indices()
        parts.append(part)
    return parts[0], parts[1]


def _check_values(adjacency: sp.csr_array, counts: bool) -> None:
    values = adjacency.data
    if counts:
        bad = ~np.isfinite(values) | (values < 0) | (values != np.round(values)) | (values > np.iinfo(np.int32).max)
        need = "counts (whole numbers, not negative)"
    else:
        bad = values != 1
        need = "0 or 1; edges='counts' takes whole numbers"
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        row = int(np.searchsorted(adjacency.indptr, at, side="right")) - 1
        raise ValueError(
            f"graph has {values[at]:g} at row {row}, column {adjacency.indices[at]}; entries must be {need}"
        )


def _check_symmetric(matrix: sp.csr_array) -> None:
    difference = (matrix - matrix.T).tocoo()
    wrong = np.flatnonzero(difference.data)
    if wrong.size:
        i, j = int(difference.row[wrong[0]]), int(difference.col[wrong[0]])
        raise ValueError(f"graph is not symmetric at ({i}, {j}), but the model is undirected; pass directed=True")
