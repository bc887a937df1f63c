"""The stochastic block model: nodes of a network clustered by whom they link to."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._validate import check_count, check_random_state
from partita.models.block_core import EdgeModel, check_blocks, check_settings, constant, native_model
from partita.models.block_fit import BlockFit, MergePath, first_appearance
from partita.models.block_sampling import (
    graph_arrays,
    graph_from_arrays,
    log_k_prior,
    make_plan,
    make_samplers,
)
from partita.models.block_search import LARGE, search_partition, start_clusters
from partita.models.chain import Chain
from partita.models.checkpoint import Plan
from partita.models.graph import Graph, as_graph
from partita.models.running import Registry, sample_model
from partita.models.sampled_later import SampledLater
from partita.models.starts import both_directions, spectral_starts

PARAMETERS = ("directed", "loops", "n0", "eta0", "zeta0", "edges", "blocks", "degree_corrected", "a0", "b0", "k_prior")


@Registry.add
class StochasticBlockModel(SampledLater):
    """Stochastic block model with all parameters integrated out.

    log p(X, z | K) = Σ_kl log B(η0 + e_kl, ζ0 + m_kl − e_kl) / B(η0, ζ0)
                      + log Γ(K n0) / Γ(K n0 + n) + Σ_k log Γ(n0 + n_k) / Γ(n0)

    with e_kl edges among the m_kl observed dyads from cluster k to cluster l (each pair once if undirected). In the
    affiliation model the first sum has two terms: all dyads inside clusters, and all dyads between clusters.

    Parameters
    ----------
    directed, loops : which dyads there are.
    n0 : Dirichlet parameter of the cluster proportions.
    eta0, zeta0 : Beta parameters of the edge probabilities.
    edges : "binary", or "counts" for Poisson edges with rates ~ Gamma(a0, b0) (b0 a rate; None: one over the mean
        entry of the matrix).
    blocks : "free", each block has its own parameter; or "affiliation" (planted partition, communities), one parameter
        inside clusters and one between them.
    degree_corrected : nodes of a cluster have shares of its edges ~ Dirichlet(1, …, 1); edges are then counts.
    k_prior : prior of the number of clusters K, empty ones included, for `sample`: the mean of a Poisson given
        K ≥ 1, or the probabilities of K = 1, 2, ...
    random_state : seed for `fit`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.kron(np.eye(2, dtype=int), np.ones((6, 6), dtype=int)) - np.eye(12, dtype=int)
    >>> fit = StochasticBlockModel(directed=False).maximize(X, rng=1)
    >>> fit.labels
    array([0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1])
    >>> communities = StochasticBlockModel(directed=False, blocks="affiliation").maximize(X, rng=1)
    >>> communities.blocks().mean.round(3)
    array([[0.969, 0.026],
           [0.026, 0.969]])

    References
    ----------
    Côme & Latouche (2015), Model selection and clustering in stochastic block models with the exact integrated complete
    data likelihood, Statistical Modelling 15.
    """

    def __init__(
        self,
        directed: bool = True,
        loops: bool = False,
        n0: float = 1.0,
        eta0: float = 1.0,
        zeta0: float = 1.0,
        *,
        edges: str = "binary",
        blocks: str = "free",
        degree_corrected: bool = False,
        a0: float = 1.0,
        b0: float | None = None,
        k_prior: float | ArrayLike = 1.0,
        random_state: Any = None,
    ) -> None:
        self.directed, self.loops = directed, loops
        self.n0, self.eta0, self.zeta0 = n0, eta0, zeta0
        self.edges, self.blocks, self.degree_corrected = edges, blocks, degree_corrected
        self.a0, self.b0 = a0, b0
        self.k_prior = k_prior
        self.random_state = random_state
        check_settings(self)
        check_blocks(blocks)

    def icl(self, graph: Any, labels: ArrayLike) -> float:
        """Exact log p(X, z | K) of a partition of a graph (natural logarithm), K its number of clusters."""
        seen = self._graph(graph)
        model = self._edge_model(seen)
        canonical = self._check_labels(seen, labels)
        return float(native_model(seen, model, self.n0).icl(canonical)) + constant(seen, model)

    def maximize(
        self,
        graph: Any,
        k_max: int | None = None,
        restarts: int = 10,
        rng: Any = None,
        *,
        starts: ArrayLike | None = None,
        n_jobs: int = -1,
    ) -> BlockFit:
        """Search the partition, and the number of clusters, of largest exact ICL.

        Parameters
        ----------
        graph : what `as_graph` takes.
        k_max : most clusters; None: no limit.
        restarts : climbs (from spectral k-means partitions and, in networks of up to 3,000 nodes, random ones). If they
            disagree, networks of up to 500 nodes are annealed too, and the solutions are crossed until the best stays.
        rng : None, int or numpy Generator.
        starts : (s, nodes) partitions to climb from first.
        n_jobs : threads; the result does not depend on their number.

        Returns
        -------
        BlockFit
        """
        seen = self._graph(graph)
        model = self._edge_model(seen)
        n = seen.n_nodes
        most = min(check_count(k_max, "k_max", minimum=1), n) if k_max is not None else n
        restarts = check_count(restarts, "restarts", minimum=1)
        generator = np.random.default_rng(rng)
        native = native_model(seen, model, self.n0)
        first = self._starts(seen, most, restarts, starts, generator)
        labels, icl, run_icl, interrupted = search_partition(native, first, (most, 1), restarts, generator, n_jobs)
        offset = constant(seen, model)
        return self._fit(native, seen, model, labels, icl + offset, run_icl + offset, interrupted)

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
        """Draw partitions from p(z, K | X) with every parameter integrated out (McDaid et al. 2013).

        A sweep is a Gibbs update of each node, a proposal to add or drop an empty cluster, and in one sweep of ten a
        split–merge proposal.
        Clusters of z may be empty: `chain.stats["k"]` counts them, `chain.n_clusters` does not.

        Parameters
        ----------
        graph : what `as_graph` takes.
        draws, warmup, thin, chains : draws kept of each chain, of every `thin`-th sweep after `warmup` sweeps.
        rng : None, int or numpy Generator.
        path : write the run here as it grows; `partita.resume(path)` goes on with it.
        n_jobs, progress : threads, and whether to show a progress line.

        Returns
        -------
        Chain
        """
        seen = self._graph(graph)
        plan = make_plan(draws, warmup, thin, chains, rng)
        return sample_model(self, graph_arrays(seen), plan, path=path, n_jobs=n_jobs, progress=progress)

    def samplers(self, inputs: Mapping[str, NDArray[Any]], plan: Plan) -> list[Any]:
        """The core's samplers, one a chain."""
        graph = graph_from_arrays(inputs)
        native = native_model(graph, self._edge_model(graph), self.n0)
        log_k = log_k_prior(self.k_prior, graph.n_nodes)
        start = min(start_clusters(graph.n_nodes), len(log_k))
        return make_samplers(native, (log_k, np.empty(0)), plan, start)

    def params(self) -> dict[str, Any]:
        """Settings that JSON can hold."""
        return {name: _plain(getattr(self, name)) for name in PARAMETERS}

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> Self:
        """The model of `params`."""
        return cls(**params)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Maximise the exact ICL; sets `labels_`, `n_clusters_`, `icl_` and `fit_` (the BlockFit).

        `chain_` and `estimate_` are sampled from the same graph when they are first asked for.
        """
        self.fit_ = self.maximize(X, rng=check_random_state(self.random_state))
        self.labels_ = self.fit_.labels
        self.n_clusters_ = self.fit_.n_clusters
        self.icl_ = self.fit_.icl
        return self._fitted_on(self.fit_.graph)

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[np.int64]:
        """`fit`, then the labels."""
        return self.fit(X).labels_

    def _graph(self, graph: Any) -> Graph:
        seen = as_graph(graph, directed=self.directed, counts=self.edges == "counts")
        if seen.bipartite:
            raise ValueError("graph is a matrix of rows and columns; use LatentBlockModel")
        return seen

    def _edge_model(self, graph: Graph) -> EdgeModel:
        check_settings(self)  # again: set_params may have changed them
        counts = self.edges == "counts" or self.degree_corrected
        first, second = (self.a0, self._rate(graph)) if counts else (self.eta0, self.zeta0)
        affiliation = check_blocks(self.blocks)
        return EdgeModel(self.directed, self.loops, counts, first, second, self.degree_corrected, affiliation)

    def _rate(self, graph: Graph) -> float:
        if self.b0 is not None:
            return self.b0
        total = float(graph.adjacency.sum())
        return graph.n_nodes**2 / total if total > 0 else 1.0

    def _check_labels(self, graph: Graph, labels: ArrayLike) -> NDArray[np.uint32]:
        array = np.asarray(labels)
        if array.shape != (graph.n_nodes,):
            raise ValueError(f"labels has shape {array.shape} but the graph has {graph.n_nodes} nodes")
        return first_appearance(array).astype(np.uint32)

    def _starts(
        self, graph: Graph, most: int, restarts: int, given: ArrayLike | None, rng: np.random.Generator
    ) -> NDArray[np.uint32]:
        parts = []
        if given is not None:
            array = np.atleast_2d(np.asarray(given))
            parts.append(np.stack([self._check_labels(graph, labels) for labels in array]))
        n = graph.n_nodes
        spectral = max(1, restarts // 3) if n <= LARGE else min(restarts, 2)
        if n > 4 and graph.adjacency.nnz > 0:
            seen = both_directions(graph.adjacency) if self.directed else graph.adjacency
            parts.append(spectral_starts(seen, min(start_clusters(n), most), spectral, rng))
        return np.concatenate(parts) if parts else np.empty((0, n), np.uint32)

    def _fit(
        self,
        native: Any,
        graph: Graph,
        model: EdgeModel,
        labels: NDArray[np.uint32],
        icl: float,
        run_icl: NDArray[np.float64],
        interrupted: bool,
    ) -> BlockFit:
        canonical = first_appearance(labels)
        kept, absorbed, change = native.merge_path(canonical.astype(np.uint32))
        path = MergePath(canonical, kept, absorbed, icl + np.concatenate([[0.0], np.cumsum(change)]))
        return BlockFit(canonical, icl, path, run_icl, interrupted, graph, model)

    def __repr__(self) -> str:
        kind = "directed" if self.directed else "undirected"
        blocks = ", affiliation" if self.blocks == "affiliation" else ""
        corrected = ", degree-corrected" if self.degree_corrected else ""
        return f"StochasticBlockModel({kind}, {self.edges}{blocks}{corrected}, loops={self.loops}, n0={self.n0})"


def _plain(value: Any) -> Any:
    return np.asarray(value).tolist() if isinstance(value, np.ndarray | tuple) else value
