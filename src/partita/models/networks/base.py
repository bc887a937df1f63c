"""What block models share: settings, `fit`, collapsed sampling, and the search for one partition of the nodes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from partita import _core
from partita._core import network_start_clusters
from partita._support.errors import Argument, ArgumentError
from partita._support.names import Names, names_or_none
from partita._support.validate import check_count, check_random_state, check_rng, check_shape, checked_log_density
from partita.models.chains.chain import Chain
from partita.models.chains.checkpoint import Plan
from partita.models.chains.listener import Callback
from partita.models.chains.plan import make_plan
from partita.models.chains.sampling import sample_model
from partita.models.estimator import Estimator, LazyPosterior
from partita.models.networks.core import Network, constants, native_layers
from partita.models.networks.fit import node_labels
from partita.models.networks.graph import Graph, as_graph, check_graph
from partita.models.networks.search import (
    Limits,
    both_directions,
    check_algorithm,
    first_partitions,
    given_partitions,
    search_partition,
)
from partita.models.search_runs import Runs, check_max_clusters, check_time_limit
from partita.partitions.labels import canonical
from partita.search.deadline import Deadline

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
    return np.asarray(logs - np.logaddexp.reduce(logs))


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


Starts = tuple[NDArray[np.uint32], list[str]]


class NetworkModel(Estimator):
    """A block model. A subclass has `maximize` and lists its `parameters`, the settings that a run's folder keeps."""

    parameters: ClassVar[tuple[str, ...]]
    maximize: Any
    random_state: Any
    directed: bool
    edges: str

    def params(self) -> dict[str, Any]:
        """Settings that JSON can hold."""
        own = {name: getattr(self, name) for name in self.parameters}
        arrays = {name: x for name, x in own.items() if isinstance(x, np.ndarray | np.generic | tuple)}
        return own | {name: np.asarray(x).tolist() for name, x in arrays.items()}

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> Self:
        """The model of `params`."""
        return cls(**params)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Maximise the exact ICL; sets `labels_`, `n_clusters_`, `icl_` and `fit_`, which is what `maximize` returns.

        If the model has `sample`, `chain_` and `estimate_` are sampled from the same network on first access.
        """
        self.fit_ = self.maximize(X, rng=check_random_state(self.random_state))
        self.labels_, self.n_clusters_, self.icl_ = self.fit_.labels, self.fit_.n_clusters, self.fit_.icl
        return self._keep_data()

    def _keep_data(self) -> Self:
        """Keeps what is needed to sample after `fit`."""
        return self

    def _graph(self, graph: Any) -> Graph:
        seen = as_graph(graph, directed=self.directed, edges=self.edges)
        if seen.bipartite:
            raise ArgumentError(Argument("graph"), " is a matrix of rows and columns; use LatentBlockModel")
        return seen


class SampledNetworkModel(NetworkModel, LazyPosterior):
    """A block model with a posterior. A subclass has `samplers`, and `_inputs` if its data are not one network."""

    def _keep_data(self) -> Self:
        return self._fitted_on(self.fit_.graph)

    def _inputs(self, data: Any) -> tuple[Mapping[str, NDArray[Any]], Names | None]:
        """The arrays that `samplers` takes, and the names of the nodes, if they have any."""
        graph = self._graph(data)
        return graph_arrays(graph), item_names(graph)

    def _sample(self, data: Any, plan: Plan, **running: Any) -> Chain:
        inputs, names = self._inputs(data)
        return sample_model(self, inputs, plan, names=names, **running)

    def samplers(self, inputs: Mapping[str, NDArray[Any]], plan: Plan) -> list[Any]:
        """The core's samplers, one per chain."""
        raise NotImplementedError

    def _climb(
        self, networks: Sequence[Network], native: Any, starts: Starts, limits: Limits, rng: np.random.Generator
    ) -> tuple[NDArray[np.uint32], float, Runs]:
        """The best labels of runs from the starts, their ICL, constants included, and the runs."""
        plain = all(edges.marks is None for _, edges in networks)
        uneven = any(edges.degree_corrected for _, edges in networks)
        labels, icl, runs = search_partition(native, *starts, limits, rng, plain=plain, uneven=uneven)
        offset = constants(networks)
        return labels, checked_log_density(icl + offset, self.params()), runs.plus(offset)


class NodeModel(SampledNetworkModel):
    """One partition of the nodes of one or several networks, every network with edges of its own kind.

    A subclass has `_stored`, the networks of a run's folder.
    """

    n0: float
    k_prior: Any

    def sample(
        self,
        graph: Any,
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
        """Draw partitions from p(z, K | X) with every parameter integrated out (McDaid et al. 2013).

        A sweep is a Gibbs update of each node, a proposal to add or drop an empty cluster, and in one sweep of ten a
        split–merge proposal.
        Clusters of z may be empty: `chain.stats["k"]` counts them, `chain.n_clusters` does not.

        Parameters
        ----------
        graph : anything that `as_graph` takes, or a dict
            The network; of a `LayeredBlockModel`, that of each layer by name.
        draws, warmup, thin, chains : int
            Number of draws kept of each chain, sweeps to discard first, sweeps per draw, and number of chains.
        rng : None, int or numpy Generator
            Seed or source of random numbers; the same seed gives the same result.
        path : path, optional
            A new directory to which the run is written as it grows; `partita.resume(path)` continues it.
        n_jobs : int
            Number of threads; −1 uses all cores. The result does not depend on it.
        progress : bool
            Show a progress line.
        callback : callable, optional
            Called with the labels of each draw, (chains, items); `partita.monitor()` is one. The chains end after the
            first draw for which it returns true.

        Returns
        -------
        Chain
        """
        plan = make_plan(draws, warmup, thin, chains, rng)
        return self._sample(graph, plan, path=path, n_jobs=n_jobs, progress=progress, callback=callback)

    def samplers(self, inputs: Mapping[str, NDArray[Any]], plan: Plan) -> list[Any]:
        networks = self._stored(inputs)
        n_nodes = networks[0][0].n_nodes
        log_k = log_k_prior(self.k_prior, n_nodes)
        start = min(network_start_clusters(n_nodes), len(log_k))
        return make_samplers(self._native(networks), (log_k, np.empty(0)), plan, start)

    def _stored(self, inputs: Mapping[str, NDArray[Any]]) -> Sequence[Network]:
        raise NotImplementedError

    def _native(self, networks: Sequence[Network]) -> Any:
        return native_layers(networks, self.n0)

    def _more_starts(
        self, networks: Sequence[Network], limits: Limits, runs: int, rng: np.random.Generator
    ) -> list[NDArray[np.uint32]]:
        """Partitions that some of so many runs start from, because of what is beside the networks."""
        return []

    def _icl(self, networks: Sequence[Network], labels: ArrayLike) -> float:
        """log p(X, z | K), constants included."""
        icl = self._native(networks).icl(check_labels(networks[0][0], labels)) + constants(networks)
        return checked_log_density(icl, self.params())

    def _search(
        self,
        networks: Sequence[Network],
        k_max: int | None,
        restarts: int,
        rng: Any,
        starts: ArrayLike | None,
        seconds: float | None,
        n_jobs: int,
        algorithm: str = "search",
    ) -> tuple[Any, NDArray[np.int64], float, Runs]:
        """The core's model, the best partition that was found, its ICL, and the runs."""
        graph = networks[0][0]
        most, restarts = check_max_clusters(k_max, graph.n_nodes), check_count(restarts, "restarts", minimum=1)
        limits = Limits((most, 1), n_jobs, Deadline.after(check_time_limit(seconds)), check_algorithm(algorithm))
        generator, native, several = check_rng(rng), self._native(networks), [edges for _, edges in networks]
        given = given_partitions(starts, lambda labels: check_labels(graph, labels))
        given += self._more_starts(networks, limits, restarts - len(given), generator)
        uneven, directed = any(each.degree_corrected for each in several), any(each.directed for each in several)
        shown = _side_by_side(networks)
        first = first_partitions(shown, limits, restarts, given, generator, uneven=uneven, directed=directed)
        labels, icl, runs = self._climb(networks, native, first, limits, generator)
        return native, canonical(labels), icl, runs


def check_labels(graph: Graph, labels: ArrayLike) -> NDArray[np.uint32]:
    """A partition of the nodes, as the core takes it."""
    return node_labels(labels, graph.names, "labels", "graph").astype(np.uint32)


def _side_by_side(networks: Sequence[Network]) -> Any:
    """What each node sends and receives in all networks."""
    shown = [both_directions(graph, edges.directed, edges.marks) for graph, edges in networks]
    return shown[0] if len(shown) == 1 else sp.csr_array(sp.hstack(shown, format="csr"))
