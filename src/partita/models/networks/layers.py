"""Several networks on the same nodes: one partition, every layer with edges of its own kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._support.names import Names, names_or_none
from partita._support.validate import check_shape
from partita.models.chains.sampling import Registry
from partita.models.merge_path import MergePath, merge_path
from partita.models.networks.base import NodeModel
from partita.models.networks.core import Network
from partita.models.networks.fit import BlockFit, NodeFit
from partita.models.networks.graph import Graph
from partita.models.networks.sampling import graph_arrays, item_names
from partita.models.networks.sbm import StochasticBlockModel
from partita.models.search_runs import Runs

Layers = dict[str, Network]


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

    presented_by = "partita.results.networks.LayersPresentation"

    @property
    def names(self) -> tuple[Any, ...]:
        """The names of the nodes."""
        return next(iter(self.layers.values())).names


@Registry.add
class LayeredBlockModel(NodeModel):
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
        return self._icl(list(self._graphs(graphs).values()), labels)

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
        found = self._search(list(seen.values()), k_max, restarts, rng, starts, seconds, n_jobs)
        return self._layered_fit(seen, *found)

    def _inputs(self, data: Any) -> tuple[dict[str, NDArray[Any]], Names | None]:
        graphs = [graph for graph, _ in self._graphs(data).values()]
        arrays = {
            f"layer{at}_{part}": array for at, graph in enumerate(graphs) for part, array in graph_arrays(graph).items()
        }
        return arrays, item_names(graphs[0])

    def _stored(self, inputs: Mapping[str, NDArray[Any]]) -> list[Network]:
        networks = []
        for at, model in enumerate(self.layers.values()):
            parts = {key.split("_", 1)[1]: array for key, array in inputs.items() if key.startswith(f"layer{at}_")}
            networks += model._stored(parts)
        return networks

    def params(self) -> dict[str, Any]:
        """Settings that JSON can hold; the order of the layers matters, and objects have none."""
        layers = [[name, model.params()] for name, model in self.layers.items()]
        return {"layers": layers, "n0": self.n0, "k_prior": np.asarray(self.k_prior).tolist()}

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> Self:
        """The model of `params`."""
        layers = {name: StochasticBlockModel.from_params(each) for name, each in params["layers"]}
        return cls(layers, params["n0"], k_prior=params["k_prior"])

    def _keep_data(self) -> Self:
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

    def _layered_fit(
        self, seen: Layers, native: Any, clusters: NDArray[np.int64], icl: float, runs: Runs
    ) -> LayeredFit:
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
    """The graph with its nodes in the order of the first layer's; other nodes raise an error."""
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
