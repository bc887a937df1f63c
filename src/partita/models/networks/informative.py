"""A block model whose blocks have priors of their own: what is known of each pair of clusters before the data."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaln
from scipy.stats import beta

from partita import _core
from partita._support.names import as_named, names_or_none
from partita._support.ranges import check_shape, checked_log_density
from partita._support.tolerance import TIE
from partita._support.validate import check_count, check_rng
from partita.models.chains.chain import Chain
from partita.models.chains.checkpoint import Plan
from partita.models.chains.plan import make_plan
from partita.models.chains.sampling import Registry
from partita.models.networks.base import SampledNetworkModel
from partita.models.networks.core import EdgeModel, native_model
from partita.models.networks.fit import Blocks, NodeFit, block_counts, check_pairs
from partita.models.networks.graph import Graph
from partita.models.networks.sampling import graph_from_arrays
from partita.models.networks.sbm import StochasticBlockModel
from partita.models.search_runs import Runs, SearchRun

SWEEPS = 100


@dataclass(frozen=True, eq=False, repr=False)
class InformativeFit(NodeFit):
    """The labels of largest exact ICL that were found.

    Attributes
    ----------
    labels : (nodes,) integer array
        For each node its row of `eta` and `zeta`. Labels are not renumbered, since each row has its own prior; some may
        be unused.
    icl : float
        log p(X, z | K), natural logarithm.
    eta, zeta : (K, K) arrays
        The priors.
    """

    labels: NDArray[np.int64]
    icl: float
    found: Runs
    graph: Graph
    edges: EdgeModel
    eta: NDArray[np.float64]
    zeta: NDArray[np.float64]

    @property
    def names(self) -> tuple[Any, ...]:
        """The names of the nodes."""
        return self.graph.names

    @property
    def n_clusters(self) -> int:
        """The number of clusters of the priors, unused ones included."""
        return len(self.eta)

    def blocks(self, level: float = 0.95) -> Blocks:
        """Block probabilities with equal-tailed credible intervals."""
        if not 0 < level < 1:
            raise ValueError(f"level must be between 0 and 1, got {level!r}")
        edges, dyads = padded_counts(self.graph, self.edges, self.labels, len(self.eta))
        posterior = beta(self.eta + edges, self.zeta + dyads - edges)
        tail = (1 - level) / 2
        return Blocks(posterior.mean(), posterior.ppf(tail), posterior.ppf(1 - tail), edges, dyads, level)

    def predict(self, pairs: ArrayLike) -> NDArray[np.float64]:
        """Posterior mean of the edge probability for (m, 2) pairs of nodes, given the labels."""
        source, target = check_pairs(pairs, (len(self.labels), len(self.labels)))
        return np.asarray(self.blocks().mean[self.labels[source], self.labels[target]])


@Registry.add
class InformativeBlockModel(SampledNetworkModel):
    """Stochastic block model of K clusters with a prior for each pair of them, all parameters integrated out.

    log p(X, z | K) = Σ_kl log B(η_kl + e_kl, ζ_kl + m_kl − e_kl) / B(η_kl, ζ_kl) +
    log Γ(K n0) / Γ(K n0 + n) + Σ_k log Γ(n0 + n_k) / Γ(n0)

    K is the size of the matrices, and clusters may stay empty. Label k of a fit or a draw is row k of the matrices:
    clusters are not exchangeable, and labels are not renumbered.

    Parameters
    ----------
    eta, zeta : (K, K) array_like
        Beta parameters of each block, from 1e-100 to 1e8; symmetric if the network is undirected.
    directed, loops, n0, random_state : optional
        As for `StochasticBlockModel`; edges are binary.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.kron([[0, 1], [1, 0]], np.ones((4, 4), dtype=int))
    >>> eta, zeta = np.array([[1.0, 9.0], [9.0, 5.0]]), np.array([[9.0, 1.0], [1.0, 5.0]])
    >>> X[4:, 4:] = 1 - np.eye(4, dtype=int)
    >>> InformativeBlockModel(eta, zeta, directed=False).maximize(X, rng=1).labels
    array([0, 0, 0, 0, 1, 1, 1, 1])
    """

    edges = "binary"

    def __init__(
        self,
        eta: ArrayLike,
        zeta: ArrayLike,
        directed: bool = True,
        loops: bool = False,
        n0: float = 1.0,
        *,
        random_state: Any = None,
    ) -> None:
        self.eta, self.zeta, self.directed, self.loops, self.n0 = eta, zeta, directed, loops, n0
        self.random_state = random_state
        self._priors()

    def icl(self, graph: Any, labels: ArrayLike) -> float:
        """Exact log p(X, z | K) of labels that are rows of `eta` and `zeta` (natural logarithm)."""
        seen = self._graph(graph)
        value = self._native(seen)[1].icl(self._check_labels(seen, labels))
        return checked_log_density(value, self.params())

    def maximize(
        self, graph: Any, restarts: int = 10, rng: Any = None, *, starts: ArrayLike | None = None
    ) -> InformativeFit:
        """Search the labels of largest exact ICL.

        Parameters
        ----------
        graph : anything that `as_graph` takes
            The network, with edges 0 and 1.
        restarts : int
            Number of runs. Each moves one node at a time; they start, in turn, from the clusters of the plain block
            model, each given the row that suits it best, and from random labels. The best run is the answer.
        rng : None, int or numpy Generator
            Seed or source of random numbers; the same seed gives the same result.
        starts : (s, nodes) array_like, optional
            Labels to climb from first; each takes one of the runs.

        Returns
        -------
        InformativeFit
        """
        seen, generator = self._graph(graph), check_rng(rng)
        given = [] if starts is None else [self._check_labels(seen, each) for each in np.atleast_2d(np.asarray(starts))]
        first = [("given", labels) for labels in given]
        first += self._starts(seen, check_count(restarts, "restarts", minimum=1) - len(first), generator)
        native = self._native(seen)[1]
        best, rows, interrupted = (first[0][1], -np.inf), [], False
        for kind, labels in first:
            found, icl, interrupted = native.climb(labels, int(generator.integers(2**62)), SWEEPS)
            rows.append(SearchRun(kind, icl))
            if icl > best[1]:
                best = found, icl
            if interrupted:
                break
        icl = checked_log_density(best[1], self.params())
        runs = Runs(tuple(rows), (), icl, interrupted, interrupted)
        return InformativeFit(best[0].astype(np.int64), icl, runs, seen, self._edge_model(), *self._priors())

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
    ) -> Chain:
        """Draw labels from p(z | X); the arguments are those of StochasticBlockModel.sample.

        A sweep is a Gibbs update of each node. `chain.labels` are rows of `eta` and `zeta`.

        Returns
        -------
        Chain
        """
        plan = make_plan(draws, warmup, thin, chains, rng)
        return self._sample(graph, plan, path=path, n_jobs=n_jobs, progress=progress)

    def samplers(self, inputs: Mapping[str, NDArray[Any]], plan: Plan) -> list[Any]:
        """The core's samplers, one per chain."""
        graph = graph_from_arrays(inputs, bipartite=False, directed=self.directed, edges="binary")
        native = self._native(graph)[1]
        return [_core.LabelledChain(native, plan.seed, chain) for chain in range(plan.chains)]

    def params(self) -> dict[str, Any]:
        """Settings that JSON can hold."""
        eta, zeta = (prior.tolist() for prior in self._priors())
        return {"eta": eta, "zeta": zeta, "directed": self.directed, "loops": self.loops, "n0": self.n0}

    def _priors(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Both matrices, checked."""
        check_shape(self.n0, "n0")
        eta, zeta = (_check_matrix(getattr(self, name), name, self.directed) for name in ("eta", "zeta"))
        if eta.shape != zeta.shape:
            raise ValueError(f"eta is {len(eta)} x {len(eta)} but zeta is {len(zeta)} x {len(zeta)}")
        return eta, zeta

    def _graph(self, graph: Any) -> Graph:
        seen = super()._graph(graph)
        if len(self._priors()[0]) > seen.n_nodes:
            raise ValueError(
                f"eta has {len(self._priors()[0])} clusters but graph has only {seen.n_nodes} nodes; "
                "give no more clusters than nodes"
            )
        return seen

    def _edge_model(self) -> EdgeModel:
        return EdgeModel(self.directed, self.loops, False, 1.0, 1.0)

    def _native(self, graph: Graph) -> tuple[Any, Any]:
        plain = native_model(graph, self._edge_model(), self.n0)
        return plain, _core.LabelledModel(plain, False, *self._priors(), False, self.n0)

    def _check_labels(self, graph: Graph, labels: ArrayLike) -> NDArray[np.uint32]:
        given = as_named(labels, "labels")
        values = np.asarray(given.in_order_of(names_or_none(graph.names), graph.n_nodes, "graph"))
        most = len(self._priors()[0])
        if values.shape != (graph.n_nodes,) or values.dtype.kind not in "iu":
            raise ValueError(f"labels must be {graph.n_nodes} integers, got {values.dtype} of shape {values.shape}")
        bad = np.flatnonzero((values < 0) | (values >= most))
        if len(bad):
            raise ValueError(f"labels has {values[bad[0]]} at node {bad[0]}, but eta has rows 0 to {most - 1}")
        return values.astype(np.uint32)

    def _starts(self, graph: Graph, count: int, rng: np.random.Generator) -> list[tuple[str, NDArray[np.uint32]]]:
        k = len(self._priors()[0])
        plain = StochasticBlockModel(self.directed, self.loops, self.n0)
        if count <= 0:
            return []
        clusters = plain.maximize(graph, k_max=k, restarts=3, rng=rng).labels
        starts: list[tuple[str, NDArray[np.uint32]]] = []
        for at in range(count):
            if at % 2 == 0:
                counts = padded_counts(graph, self._edge_model(), clusters, k)
                names = named_clusters(*counts, *self._priors(), rng.permutation(k), self.directed)
                starts.append(("spectral", names[clusters].astype(np.uint32)))
            else:
                starts.append(("random", rng.integers(k, size=graph.n_nodes).astype(np.uint32)))
        return starts

    def __repr__(self) -> str:
        kind = "directed" if self.directed else "undirected"
        return f"InformativeBlockModel({len(np.asarray(self.eta))} clusters, {kind}, loops={self.loops}, n0={self.n0})"


def named_clusters(
    edges: NDArray[np.int64],
    dyads: NDArray[np.float64],
    eta: NDArray[np.float64],
    zeta: NDArray[np.float64],
    names: NDArray[np.int64],
    directed: bool,
) -> NDArray[np.int64]:
    """Which row of the priors each cluster is: names are exchanged in pairs as long as the blocks gain by it."""

    def value(order: NDArray[np.int64]) -> float:
        first, second = eta[np.ix_(order, order)], zeta[np.ix_(order, order)]
        cells = betaln(first + edges, second + dyads - edges) - betaln(first, second)
        return float(cells.sum() if directed else np.triu(cells).sum())

    best, improved = value(names), True
    while improved:
        improved = False
        for a, b in combinations(range(len(names)), 2):
            tried = names.copy()
            tried[[a, b]] = names[[b, a]]
            if (new := value(tried)) > best + TIE:
                names, best, improved = tried, new, True
    return names


def padded_counts(
    graph: Graph, edges: EdgeModel, labels: NDArray[np.int64], k: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Edges and dyads of all K × K blocks, also of clusters without nodes."""
    counts, dyads = block_counts(graph, edges, labels, labels)
    missing = k - len(counts)
    return np.pad(counts, (0, missing)), np.pad(dyads, (0, missing))


def _check_matrix(value: ArrayLike, name: str, directed: bool) -> NDArray[np.float64]:
    matrix = np.array(value, dtype=np.float64, order="C")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise ValueError(f"{name} must be a square matrix, a row for each cluster, but its shape is {matrix.shape}")
    for row, column in np.ndindex(matrix.shape):
        check_shape(matrix[row, column], f"{name} at row {row}, column {column}")
    if not directed and (matrix != matrix.T).any():
        row, column = np.argwhere(matrix != matrix.T)[0]
        raise ValueError(
            f"{name} has {matrix[row, column]:g} at row {row}, column {column} but {matrix[column, row]:g} at row "
            f"{column}, column {row}: blocks of an undirected network have no direction"
        )
    return matrix
