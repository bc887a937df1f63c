"""Several networks on the same nodes, and tables of them: one partition, every layer with a model of its own."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._support.names import Names, names_or_none
from partita._support.validate import check_shape
from partita.models.chains.sampling import Registry
from partita.models.mixtures.dpm import MixtureDPM
from partita.models.mixtures.maximum import MixtureFit
from partita.models.mixtures.raw import RawTable
from partita.models.networks.base import NodeModel, check_labels, graph_arrays, item_names
from partita.models.networks.core import Network, constant, native_layers, native_model
from partita.models.networks.fit import BlockFit, NodeFit
from partita.models.networks.graph import Graph
from partita.models.networks.nested_search import log_allocation
from partita.models.networks.node_table import (
    START_RUNS,
    NodeTable,
    Sources,
    check_table_layer,
    in_order_of,
)
from partita.models.networks.sbm import StochasticBlockModel
from partita.models.networks.search import Limits
from partita.models.search_runs import Runs, merge_path
from partita.search.deadline import LAST_MOMENT

Layers = dict[str, Network | NodeTable]


@dataclass(frozen=True, eq=False, repr=False)
class LayeredFit(NodeFit):
    """The partition of largest exact ICL of several networks, or of networks and tables, together.

    Attributes
    ----------
    labels : (nodes,) integer array
        The partition, canonical labels.
    icl : float
        log p(X_1, ..., X_L, z | K), natural logarithm, constants included.
    path : MergePath
        Greedy merges of clusters, from `labels` down to one cluster.
    layers : dict of BlockFit or MixtureFit
        Each layer by name, with these labels: that of a network has `blocks()` and `predict(pairs)`, and its `icl` is
        that of the layer alone.
    evidence : dict of float
        log p(X_l | z) − log p(X_l | one cluster) of each layer: what it says for these clusters, or, below 0, against.
    data : dict of Graph or table
        Each layer by name, with its nodes in the same order.
    """

    layers: dict[str, BlockFit | MixtureFit]
    evidence: dict[str, float]
    data: Mapping[str, Graph | RawTable]

    presented_by = "partita.results.networks.LayersPresentation"

    @property
    def names(self) -> tuple[Any, ...]:
        """The names of the nodes."""
        return next(fit.names for fit in self.layers.values() if isinstance(fit, BlockFit))

    @property
    def shares(self) -> dict[str, float]:
        """Each layer's share of the evidence of all; below 0 if it is against these clusters."""
        total = sum(self.evidence.values())
        return {name: own / total if total > 0 else float("nan") for name, own in self.evidence.items()}


@Registry.add
class LayeredBlockModel(NodeModel):
    """Block model of several networks on the same nodes, and of tables of them, all parameters integrated out.

    log p(X_1, …, X_L, z | K) = Σ_l log p(X_l | z) + log p(z | K)

    Given the partition the layers are independent, and each has its own kind of edges and blocks, or of columns: for a
    table p(X_l | z) is the product over the clusters of the marginal likelihoods of their rows.

    Parameters
    ----------
    layers : dict of StochasticBlockModel or MixtureDPM
        The model of each layer by name, of at least one network; its own prior on partitions (`n0` and `k_prior`, or
        `alpha`, `discount` and `components`) is not used. A table has neither `select`, `noise` nor `curves`.
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

    A table of the same nodes, matched by name if both have names:

    >>> model = LayeredBlockModel({"friends": sbm(directed=False), "survey": MixtureDPM()})
    >>> fit = model.maximize({"friends": friends, "survey": {"age": [20.0 + 30 * (i > 5) for i in range(12)]}}, rng=1)
    >>> {name: round(share, 2) for name, share in fit.shares.items()}
    {'friends': 0.79, 'survey': 0.21}
    """

    def __init__(
        self,
        layers: Mapping[str, StochasticBlockModel | MixtureDPM],
        n0: float = 1.0,
        *,
        k_prior: float | ArrayLike = 1.0,
        random_state: Any = None,
    ) -> None:
        self.layers, self.n0, self.k_prior, self.random_state = layers, n0, k_prior, random_state
        models = list(layers.values()) if layers else []
        if not all(isinstance(model, StochasticBlockModel | MixtureDPM) for model in models) or not any(
            isinstance(model, StochasticBlockModel) for model in models
        ):
            raise ValueError(
                "layers must have a StochasticBlockModel or MixtureDPM for each name, at least one the former"
            )
        for name, model in layers.items():
            if isinstance(model, MixtureDPM):
                check_table_layer(model, name)
        check_shape(n0, "n0")

    def icl(self, graphs: Mapping[str, Any], labels: ArrayLike) -> float:
        """Exact log p(X_1, ..., X_L, z | K) of a partition; see `StochasticBlockModel.icl` for degree correction."""
        return self._icl(self._sources(self._read(graphs)), labels)

    def evidence(self, graphs: Mapping[str, Any], labels: ArrayLike) -> dict[str, float]:
        """log p(X_l | z) − log p(X_l | one cluster) of each layer (natural logarithm), z the partition `labels`.

        The prior of the partition is no part of it. Above 0 a layer says that these clusters differ; below 0 it says
        that they have the same parameters.
        """
        seen = self._read(graphs)
        return self._evidence(seen, check_labels(self._sources(seen)[0][0], labels))

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
            The network of each layer by name, each anything that `as_graph` takes, all with the same nodes; the table
            of a `MixtureDPM`, anything that its `sample` takes. Of nodes without a row every cell is missing.
        k_max, restarts, rng, starts, seconds, n_jobs : optional
            As for `StochasticBlockModel.maximize`; nodes of a cluster may differ in degree if they may in some layer.

        Returns
        -------
        LayeredFit
        """
        data = self._aligned(graphs)
        seen = self._layers(data)
        found = self._search(self._sources(seen), k_max, restarts, rng, starts, seconds, n_jobs)
        return self._layered_fit(data, seen, *found)

    def _inputs(self, data: Any) -> tuple[dict[str, NDArray[Any]], Names | None]:
        seen = self._read(data)
        arrays: dict[str, NDArray[Any]] = {}
        for at, layer in enumerate(seen.values()):
            parts = layer.cells if isinstance(layer, NodeTable) else graph_arrays(layer[0])
            arrays |= {f"layer{at}_{part}": array for part, array in parts.items()}
        return arrays, item_names(self._sources(seen)[0][0])

    def _stored(self, inputs: Mapping[str, NDArray[Any]]) -> Sources:
        stored: Layers = {}
        model: Any
        for at, (name, model) in enumerate(self.layers.items()):
            parts = {key.split("_", 1)[1]: array for key, array in inputs.items() if key.startswith(f"layer{at}_")}
            is_table = isinstance(model, MixtureDPM)
            stored[name] = NodeTable.stored(model, parts) if is_table else model._stored(parts)[0]
        return self._sources(stored)

    def _native(self, networks: Sequence[Network]) -> Any:
        tables = networks.tables if isinstance(networks, Sources) else []
        return native_layers(networks, self.n0, [table.native for table in tables])

    def params(self) -> dict[str, Any]:
        """Settings that JSON can hold; the order of the layers matters, and objects have none."""
        layers = [
            [name, model.params(), *(["table"] if isinstance(model, MixtureDPM) else [])]
            for name, model in self.layers.items()
        ]
        return {"layers": layers, "n0": self.n0, "k_prior": np.asarray(self.k_prior).tolist()}

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> Self:
        """The model of `params`."""
        layers = {
            name: (MixtureDPM if kind else StochasticBlockModel).from_params(each)
            for name, each, *kind in params["layers"]
        }
        return cls(layers, params["n0"], k_prior=params["k_prior"])

    def _keep_data(self) -> Self:
        return self._fitted_on(self.fit_.data)

    def _read(self, graphs: Mapping[str, Any]) -> Layers:
        return self._layers(self._aligned(graphs))

    def _layers(self, data: Mapping[str, Graph | RawTable]) -> Layers:
        models: dict[str, Any] = dict(self.layers)
        return {
            name: NodeTable.of(models[name], layer)
            if isinstance(layer, RawTable)
            else (layer, models[name]._edge_model(layer))
            for name, layer in data.items()
        }

    def _aligned(self, graphs: Mapping[str, Any]) -> dict[str, Graph | RawTable]:
        """The layers with their nodes in the order of the first network's."""
        if not isinstance(graphs, Mapping) or set(graphs) != set(self.layers):
            given = list(graphs) if isinstance(graphs, Mapping) else type(graphs).__name__
            raise ValueError(f"graphs must have a graph for each layer, {list(self.layers)}, but it has {given}")
        models = self.layers.items()
        seen = {name: model._graph(graphs[name]) for name, model in models if isinstance(model, StochasticBlockModel)}
        (first, reference), *others = seen.items()
        for name, graph in others:
            seen[name] = _aligned(graph, reference, name, first)
        return {
            name: seen[name] if name in seen else in_order_of(reference, graphs[name], name) for name in self.layers
        }

    @staticmethod
    def _sources(seen: Layers) -> Sources:
        tables = [layer for layer in seen.values() if isinstance(layer, NodeTable)]
        return Sources([layer for layer in seen.values() if not isinstance(layer, NodeTable)], tables)

    def _more_starts(
        self, networks: Sequence[Network], limits: Limits, runs: int, rng: np.random.Generator
    ) -> list[NDArray[np.uint32]]:
        """The partition of each table alone, while runs are left for the networks."""
        tables = networks.tables if isinstance(networks, Sources) else []
        left = limits.until.left / (1 + len(tables))
        seconds = None if math.isinf(left) else max(left, LAST_MOMENT)
        alone = [
            table.search(self.n0).maximize(limits.most[0], START_RUNS, rng, None, seconds, limits.n_jobs)
            for table in tables[: max(runs - 1, 0)]
        ]
        if any(fit.interrupted for fit in alone):
            raise KeyboardInterrupt
        return [fit.labels.astype(np.uint32) for fit in alone]

    def _icl_alone(self, layer: Network | NodeTable, labels: NDArray[Any]) -> float:
        """log p(X_l, z | K) of one layer, with the prior of the whole model."""
        if isinstance(layer, NodeTable):
            return layer.search(self.n0).icl(labels)
        return float(native_model(*layer, self.n0).icl(labels.astype(np.uint32))) + constant(*layer)

    def _evidence(self, seen: Layers, labels: NDArray[Any]) -> dict[str, float]:
        together = np.zeros_like(labels)
        prior = log_allocation(labels, self.n0) - log_allocation(together, self.n0)
        return {
            name: self._icl_alone(layer, labels) - self._icl_alone(layer, together) - prior
            for name, layer in seen.items()
        }

    def _layered_fit(
        self,
        data: Mapping[str, Graph | RawTable],
        seen: Layers,
        native: Any,
        clusters: NDArray[np.int64],
        icl: float,
        runs: Runs,
    ) -> LayeredFit:
        path = merge_path(native, clusters, icl)
        own = replace(path, icl=np.full(len(path.icl), np.nan))
        layers: dict[str, BlockFit | MixtureFit] = {}
        for name, layer in seen.items():
            if isinstance(layer, NodeTable):
                layers[name] = MixtureFit(clusters, layer.search(self.n0).icl(clusters), own, runs, None, self.n0)
            else:
                layers[name] = BlockFit(clusters, self.layers[name].icl(layer[0], clusters), own, runs, *layer)
        return LayeredFit(clusters, icl, path, runs, layers, self._evidence(seen, clusters), data)

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
