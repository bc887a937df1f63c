"""Several networks on the same nodes: one partition, every layer with edges of its own kind."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from partita._support.names import names_or_none
from partita._support.ranges import check_shape, checked_log_density
from partita._support.validate import check_count, check_random_state, check_rng
from partita.models.chains.chain import Chain
from partita.models.chains.checkpoint import Plan
from partita.models.chains.listener import Callback
from partita.models.chains.plan import make_plan
from partita.models.chains.sampling import Registry, sample_model
from partita.models.estimator import LazyPosterior
from partita.models.merge_path import MergePath, merge_path
from partita.models.networks.core import EdgeModel, constant, native_layers
from partita.models.networks.fit import BlockFit, NodeFit, node_labels
from partita.models.networks.graph import Graph
from partita.models.networks.sampling import graph_arrays, graph_from_arrays, item_names, log_k_prior, make_samplers
from partita.models.networks.sbm import StochasticBlockModel
from partita.models.networks.search import Limits, network_effort, search_partition, start_clusters
from partita.models.networks.starts import both_directions, first_partitions, given_partitions
from partita.models.search_runs import Runs, check_max_clusters, check_time_limit
from partita.partitions.labels import canonical

Layers = dict[str, tuple[Graph, EdgeModel]]


@dataclass(frozen=True, eq=False, repr=False)
class LayeredFit(NodeFit):
    """The partition of largest exact ICL of several networks together.

    Attributes
    ----------
    labels : (nodes,) integer array
        The partition, canonical labels.
    icl : float
        log p(X_1, ..., X_L, z | K), natural logarithm, constants included.
    path : MergePath
        Greedy merges of clusters, from `labels` down to one cluster.
    layers : dict of BlockFit
        Each layer by name, with these labels: it has `blocks()` and `predict(pairs)`, and its `icl` is that of the
        layer alone.
    """

    labels: NDArray[np.int64]
    icl: float
    path: MergePath
    found: Runs
    layers: dict[str, BlockFit]

    @property
    def names(self) -> tuple[Any, ...]:
        """The names of the nodes."""
        return next(iter(self.layers.values())).names


@Registry.add
class LayeredBlockModel(LazyPosterior):
    """Block model of several networks on the same nodes, all parameters integrated out.

    log p(X_1, …, X_L, z | K) = Σ_l log p(X_l | z) + log p(z | K)

    Given the partition the layers are independent, and each has its own kind of edges and blocks.

    Parameters
    ----------
    layers : dict of StochasticBlockModel
        The model of each layer by name; its `n0` and `k_prior` are not used.
    n0, k_prior, random_state : float, float or sequence, seed
        As for `StochasticBlockModel`, for the one partition of all layers.

    Examples
    --------
    >>> import numpy as np
    >>> friends = np.kron(np.eye(2, dtype=int), np.ones((6, 6), dtype=int)) - np.eye(12, dtype=int)
    >>> calls = 3 * friends
    >>> sbm = StochasticBlockModel
    >>> model = LayeredBlockModel({"friends": sbm(directed=False), "calls": sbm(directed=False, edges="counts")})
    >>> model.maximize({"friends": friends, "calls": calls}, rng=1).labels
    array([0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1])
    """

    def __init__(
        self,
        layers: Mapping[str, StochasticBlockModel],
        n0: float = 1.0,
        *,
        k_prior: float | ArrayLike = 1.0,
        random_state: Any = None,
    ) -> None:
        self.layers, self.n0, self.k_prior, self.random_state = layers, n0, k_prior, random_state
        if not layers or not all(isinstance(model, StochasticBlockModel) for model in layers.values()):
            raise ValueError("layers must have a StochasticBlockModel for each name, and at least one")
        check_shape(n0, "n0")

    def icl(self, graphs: Mapping[str, Any], labels: ArrayLike) -> float:
        """Exact log p(X_1, ..., X_L, z | K) of a partition; see `StochasticBlockModel.icl` for degree correction."""
        seen = self._graphs(graphs)
        first = next(iter(seen.values()))[0]
        clusters = node_labels(labels, first.names, "labels", "graph").astype(np.uint32)
        icl = self._native(seen).icl(clusters) + self._constant(seen)
        return checked_log_density(icl, self.params())

    def maximize(
        self,
        graphs: Mapping[str, Any],
        k_max: int | None = None,
        restarts: int = 10,
        rng: Any = None,
        *,
        starts: ArrayLike | None = None,
        seconds: float | None = None,
        n_jobs: int = -1,
    ) -> LayeredFit:
        """Search the partition, and the number of clusters, of largest exact ICL of all layers together.

        Parameters
        ----------
        graphs : dict
            The network of each layer by name, each anything that `as_graph` takes, all with the same nodes.
        k_max, restarts, rng, starts, seconds, n_jobs : optional
            As for `StochasticBlockModel.maximize`; nodes of a cluster may differ in degree if they may in some layer.

        Returns
        -------
        LayeredFit
        """
        seen = self._graphs(graphs)
        most = check_max_clusters(k_max, next(iter(seen.values()))[0].n_nodes)
        limits, generator = Limits((most, 1), n_jobs, check_time_limit(seconds)), check_rng(rng)
        shown = [both_directions(graph, edges.directed, edges.marks) for graph, edges in seen.values()]
        side_by_side = sp.csr_array(sp.hstack(shown, format="csr"))
        restarts = check_count(restarts, "restarts", minimum=1)
        graph = next(iter(seen.values()))[0]
        given = given_partitions(starts, lambda labels: node_labels(labels, graph.names, "labels", "graph"))
        uneven = any(edges.degree_corrected for _, edges in seen.values())
        directed = any(edges.directed for _, edges in seen.values())
        first, kinds = first_partitions(
            side_by_side, limits, restarts, given, generator, uneven=uneven, directed=directed
        )
        plain = all(edges.marks is None for _, edges in seen.values())
        native, effort = self._native(seen), network_effort(graph.n_nodes, plain=plain, uneven=uneven)
        labels, icl, runs = search_partition(native, first, kinds, limits, generator, effort)
        offset = self._constant(seen)
        best = checked_log_density(icl + offset, self.params())
        return self._fit(native, seen, labels, best, runs.plus(offset))

    def sample(
        self,
        graphs: Mapping[str, Any],
        draws: int = 1000,
        warmup: int = 1000,
        thin: int = 1,
        chains: int = 4,
        rng: Any = None,
        *,
        path: str | os.PathLike[str] | None = None,
        n_jobs: int = -1,
        progress: bool = False,
        callback: Callback | None = None,
    ) -> Chain:
        """Draw partitions from p(z, K | X_1, ..., X_L); the arguments are those of StochasticBlockModel.sample.

        Returns
        -------
        Chain
        """
        seen = self._graphs(graphs)
        plan = make_plan(draws, warmup, thin, chains, rng)
        arrays = {
            f"layer{at}_{part}": array
            for at, (graph, _) in enumerate(seen.values())
            for part, array in graph_arrays(graph).items()
        }
        running: dict[str, Any] = {"path": path, "n_jobs": n_jobs, "progress": progress, "callback": callback}
        return sample_model(self, arrays, plan, names=item_names(next(iter(seen.values()))[0]), **running)

    def samplers(self, inputs: Mapping[str, NDArray[Any]], plan: Plan) -> list[Any]:
        """The core's samplers, one per chain."""
        seen: Layers = {}
        for at, (name, model) in enumerate(self.layers.items()):
            parts = {key.split("_", 1)[1]: array for key, array in inputs.items() if key.startswith(f"layer{at}_")}
            graph = graph_from_arrays(parts, bipartite=False, directed=model.directed, edges=model.edges)
            seen[name] = (graph, model._edge_model(graph))
        n = next(iter(seen.values()))[0].n_nodes
        log_k = log_k_prior(self.k_prior, n)
        start = min(start_clusters(n), len(log_k))
        return make_samplers(self._native(seen), (log_k, np.empty(0)), plan, start)

    def params(self) -> dict[str, Any]:
        """Settings that JSON can hold; the order of the layers matters, and objects have none."""
        layers = [[name, model.params()] for name, model in self.layers.items()]
        return {"layers": layers, "n0": self.n0, "k_prior": np.asarray(self.k_prior).tolist()}

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> Self:
        """The model of `params`."""
        layers = {name: StochasticBlockModel.from_params(each) for name, each in params["layers"]}
        return cls(layers, params["n0"], k_prior=params["k_prior"])

    def fit(self, X: Mapping[str, Any], y: Any = None) -> Self:
        """Maximise the exact ICL; sets `labels_`, `n_clusters_`, `icl_` and `fit_` (the LayeredFit)."""
        self.fit_ = self.maximize(X, rng=check_random_state(self.random_state))
        self.labels_, self.n_clusters_, self.icl_ = self.fit_.labels, self.fit_.n_clusters, self.fit_.icl
        return self._fitted_on({name: fit.graph for name, fit in self.fit_.layers.items()})

    def _graphs(self, graphs: Mapping[str, Any]) -> Layers:
        if not isinstance(graphs, Mapping) or set(graphs) != set(self.layers):
            given = list(graphs) if isinstance(graphs, Mapping) else type(graphs).__name__
            raise ValueError(f"graphs must have a graph for each layer, {list(self.layers)}, but it has {given}")
        seen = {name: model._graph(graphs[name]) for name, model in self.layers.items()}
        (first, reference), *others = seen.items()
        for name, graph in others:
            seen[name] = _aligned(graph, reference, name, first)
        return {name: (graph, self.layers[name]._edge_model(graph)) for name, graph in seen.items()}

    def _native(self, seen: Layers) -> Any:
        return native_layers(list(seen.values()), self.n0)

    @staticmethod
    def _constant(seen: Layers) -> float:
        return sum(constant(graph, edges) for graph, edges in seen.values())

    def _fit(self, native: Any, seen: Layers, labels: NDArray[np.uint32], icl: float, runs: Runs) -> LayeredFit:
        clusters = canonical(labels)
        path = merge_path(native, clusters, icl)
        layers = {}
        for name, (graph, edges) in seen.items():
            alone = self.layers[name].icl(graph, clusters)
            own = replace(path, icl=np.full(len(path.icl), np.nan))
            layers[name] = BlockFit(clusters, alone, own, runs, graph, edges)
        return LayeredFit(clusters, icl, path, runs, layers)

    def __repr__(self) -> str:
        return f"LayeredBlockModel({', '.join(self.layers)}, n0={self.n0})"


def _aligned(graph: Graph, reference: Graph, name: str, first: str) -> Graph:
    """The graph with its nodes in the order of the first layer's; other nodes are refused."""
    if graph.n_nodes != reference.n_nodes:
        raise ValueError(
            f"graphs: layer {name!r} has {graph.n_nodes} nodes but layer {first!r} has {reference.n_nodes}; "
            "as_graph(edges, nodes=...) names the nodes of all layers"
        )
    if graph.names == reference.names or names_or_none(graph.names) is None or names_or_none(reference.names) is None:
        return graph
    place = {node: at for at, node in enumerate(graph.names)}
    strangers = [node for node in reference.names if node not in place]
    if strangers:
        raise ValueError(f"graphs: node {strangers[0]!r} of layer {first!r} is not in layer {name!r}")
    order = np.array([place[node] for node in reference.names])
    return Graph(graph.adjacency[order][:, order], graph.missing[order][:, order], reference.names)
