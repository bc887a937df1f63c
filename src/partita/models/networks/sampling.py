"""Collapsed sampling of block models: the prior of K, the plan, the samplers of the core."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from partita import _core
from partita._support.names import Names, names_or_none
from partita._support.validate import check_shape
from partita.models.chains.checkpoint import Plan
from partita.models.networks.graph import Graph, check_graph

SPARE_CLUSTERS = 20  # K may pass the number of nodes by empty clusters
MAX_WHOLE = 2**31  # weights beyond are written as they are
MAX_SPARE = 10_000  # a block for each pair of clusters, empty or not, takes memory


def log_k_prior(k_prior: float | ArrayLike, n_nodes: int) -> NDArray[np.float64]:
    """log p(K) for K = 1, 2, ...: Poisson of the given mean, given K ≥ 1, or probabilities that the user lists.

    >>> np.exp(log_k_prior(1.0, 2))[:3].round(3)
    array([0.582, 0.291, 0.097])
    """
    given = np.asarray(k_prior, dtype=float)
    if given.ndim == 0:
        mean = check_shape(k_prior, "k_prior, a mean or a list of probabilities,")
        k = np.arange(1, n_nodes + SPARE_CLUSTERS + 1)
        logs = k * np.log(mean) - gammaln(k + 1)
    else:
        if given.ndim != 1 or not np.isfinite(given).all() or (given < 0).any() or not given.any():
            raise ValueError("k_prior must list probabilities of K = 1, 2, ..., not negative, at least one above 0")
        possible = given[: np.flatnonzero(given)[-1] + 1]  # the core takes the last K to be possible
        if len(possible) > n_nodes + MAX_SPARE:
            raise ValueError(f"k_prior lists K up to {len(possible)}, far more than the {n_nodes} nodes")
        logs = np.full(possible.shape, -np.inf)
        np.log(possible, where=possible > 0, out=logs)
    normalised: NDArray[np.float64] = logs - np.logaddexp.reduce(logs)
    return normalised


def make_samplers(
    native: Any, log_k: tuple[NDArray[np.float64], NDArray[np.float64]], plan: Plan, start_clusters: int
) -> list[Any]:
    """One native sampler per chain."""
    return [
        _core.BlockSampler(
            native,
            log_k[0],
            log_k[1],
            split_merge_rate=0.1,
            restricted_scans=2,
            resizes=1,
            start_clusters=start_clusters,
            seed=plan.seed,
            stream=chain,
        )
        for chain in range(plan.chains)
    ]


class GraphArrays(dict[str, NDArray[Any]]):
    """The arrays of a graph, for a run's folder, and the graph itself, for the samplers of this process.

    Samplers use the graph only if its entries are in the order in which a resumed run reads them: sums in another order
    have other rounding errors.
    """

    def __init__(self, arrays: Mapping[str, NDArray[Any]], graph: Graph) -> None:
        super().__init__(arrays)
        self.graph = graph


def graph_arrays(graph: Graph) -> GraphArrays:
    """A graph as plain arrays."""
    weights = graph.adjacency.data
    real = bool((weights != np.round(weights)).any() or (np.abs(weights) > MAX_WHOLE).any())
    arrays = {"weights": graph.adjacency.tocoo().data.astype(np.float64)} if real else {}
    for name, matrix in (("edges", graph.adjacency), ("missing", graph.missing)):
        entries = matrix.tocoo()
        columns = (entries.row, entries.col, entries.data != 0 if real else entries.data)
        arrays[name] = np.stack([np.asarray(column).astype(np.int64) for column in columns])
    arrays["shape"] = np.array([*graph.adjacency.shape, int(graph.bipartite)], dtype=np.int64)
    return GraphArrays(arrays, graph)


def item_names(graph: Graph) -> Names | None:
    """The names of the nodes, or of rows and then columns; None if they only count."""
    sides = [graph.names] if graph.column_names is None else [graph.names, graph.column_names]
    if all(names_or_none(side) is None for side in sides):
        return None
    return tuple(str(name) for side in sides for name in side)


def graph_from_arrays(arrays: Mapping[str, NDArray[Any]], *, bipartite: bool, directed: bool, edges: str) -> Graph:
    """Back from `graph_arrays`, checked again; nodes of a graph that was read from a run have no names."""
    given = arrays.graph if isinstance(arrays, GraphArrays) else None
    graph = given if given is not None and given.is_sorted else _read_graph(arrays)
    if graph.bipartite != bipartite:
        kinds = {True: "bipartite (rows and columns)", False: "unipartite (one kind of node)"}
        raise ValueError(f"the graph is {kinds[graph.bipartite]}, but the model is {kinds[bipartite]}")
    check_graph(graph, directed=directed, edges=edges)
    return graph


def _read_graph(arrays: Mapping[str, NDArray[Any]]) -> Graph:
    rows, columns, is_bipartite = (int(value) for value in arrays["shape"])
    matrices = []
    for name in ("edges", "missing"):
        row, column, value = arrays[name].astype(np.int64)
        values = arrays["weights"] if name == "edges" and "weights" in arrays else value.astype(float)
        matrices.append(sp.coo_array((values, (row, column)), shape=(rows, columns)).tocsr())
    return Graph(matrices[0], matrices[1], tuple(range(rows)), tuple(range(columns)) if is_bipartite else None)
