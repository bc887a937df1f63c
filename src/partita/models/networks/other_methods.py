"""Methods to compare with the exact ICL: variational EM, variational Bayes of the affiliation model, modularity."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, digamma, gammaln, softmax, xlogy

from partita._support.errors import Argument, ArgumentError
from partita._support.hints import plural
from partita._support.optional import optional
from partita._support.shown import ShownAsText
from partita._support.validate import check_count, check_rng
from partita.models.networks.graph import Graph, as_graph
from partita.models.networks.search import both_directions, embed, kmeans
from partita.partitions.labels import HasClusters, canonical

Matrix = NDArray[np.float64]
TINY = 1e-10
STEPS = 200
PRIOR = 0.5  # of every Dirichlet and Beta of the affiliation model


@dataclass(frozen=True, eq=False, repr=False)
class RivalFit(HasClusters, ShownAsText):
    """Labels of the best K, and the criterion of every K that was tried."""

    labels: NDArray[np.int64]
    criterion: float
    by_k: dict[int, float]

    def __repr__(self) -> str:
        found = plural(self.n_clusters, "cluster")
        return f"RivalFit({found}, criterion {self.criterion:.3f}, K tried: {sorted(self.by_k)})"


def variational_em(
    graph: Any, k: int | Iterable[int] = range(1, 21), *, directed: bool = True, restarts: int = 3, rng: Any = None
) -> RivalFit:
    """Variational EM for the stochastic block model, K by the asymptotic ICL ("mixer").

    ICL(K) = max log p(X, ẑ | α, Π) − ½ K² log(n(n−1)) − ½ (K−1) log n, half the blocks and dyads if undirected.

    Parameters
    ----------
    graph : anything that `as_graph` takes
        A binary network without loops or missing dyads. It is held as a dense matrix: for up to a few thousand nodes.
    k : int or iterable of int
        The number of clusters, or those to try; those above the number of nodes are left out.
    directed : bool
        Whether edges have a direction.
    restarts : int
        Number of k-means starts for each number of clusters.
    rng : None, int or numpy Generator
        Seed or source of random numbers; the same seed gives the same result.

    Returns
    -------
    RivalFit

    Examples
    --------
    >>> X = np.kron(np.eye(2), np.ones((8, 8))) - np.eye(16)
    >>> variational_em(X, range(1, 4), directed=False, rng=1).n_clusters
    2

    References
    ----------
    Daudin, Picard & Robin (2008), A mixture model for random graphs, Statistics and Computing 18.
    """
    return _best_over_k(graph, k, directed, restarts, rng, _fit_em)


def affiliation_vb(
    graph: Any, k: int | Iterable[int] = range(1, 21), *, directed: bool = True, restarts: int = 3, rng: Any = None
) -> RivalFit:
    """Variational Bayes for the affiliation model, K by its lower bound ILvb ("vbmod").

    One edge probability within clusters, one between; Beta(½, ½) and Dirichlet(½) priors. The arguments are
    those of `variational_em`.

    References
    ----------
    Hofman & Wiggins (2008), Bayesian approach to network modularity, Physical Review Letters 100.
    """
    return _best_over_k(graph, k, directed, restarts, rng, _fit_affiliation)


def louvain(graph: Any, *, directed: bool = True, rng: Any = None) -> RivalFit:
    """Modularity by networkx's Louvain (pip install 'partita[graph]').

    Parameters
    ----------
    graph : anything that `as_graph` takes
        The network.
    directed : bool
        Whether edges have a direction.
    rng : None, int or numpy Generator
        Seed or source of random numbers; the same seed gives the same result.
    """
    networkx = optional("networkx", "louvain needs networkx", "graph")
    seen = as_graph(graph, directed=directed)
    kind = networkx.DiGraph if directed else networkx.Graph
    network = networkx.from_scipy_sparse_array(seen.adjacency, create_using=kind)
    seed = int(check_rng(rng).integers(2**31))
    communities = networkx.community.louvain_communities(network, seed=seed)
    labels = np.empty(seen.n_nodes, np.int64)
    for place, members in enumerate(communities):
        labels[list(members)] = place
    quality = float(networkx.community.modularity(network, communities)) if seen.adjacency.nnz else 0.0
    return RivalFit(canonical(labels), quality, {len(communities): quality})


def _best_over_k(
    graph: Any,
    k: int | Iterable[int],
    directed: bool,
    restarts: int,
    rng: Any,
    fit: Callable[[Matrix, Matrix, bool], tuple[Matrix, float]],
) -> RivalFit:
    seen = as_graph(graph, directed=directed)
    adjacency = _plain_matrix(seen)
    generator = check_rng(rng)
    best: tuple[float, NDArray[np.int64]] = (-math.inf, np.zeros(seen.n_nodes, np.int64))
    by_k: dict[int, float] = {}
    tried = _numbers_of_clusters(k, seen.n_nodes)
    points = embed(both_directions(seen, directed), min(max(tried), 32), generator)
    for size in tried:
        for _ in range(restarts if size > 1 else 1):
            start = np.full((seen.n_nodes, size), 0.2 / size) + 0.8 * np.eye(size)[kmeans(points, size, generator)]
            tau, criterion = fit(adjacency, start, directed)
            by_k[size] = max(by_k.get(size, -math.inf), criterion)
            if criterion > best[0]:
                best = (criterion, canonical(tau.argmax(axis=1)))
    return RivalFit(best[1], best[0], by_k)


def _numbers_of_clusters(k: int | Iterable[int], n_nodes: int) -> list[int]:
    """Those of k that are not above the number of nodes."""
    asked = [k] if isinstance(k, int | np.integer) else list(k)
    if not asked:
        raise ValueError("k is empty: it must hold at least one number of clusters")
    tried = sorted({size for size in (check_count(size, "k", minimum=1) for size in asked) if size <= n_nodes})
    if not tried:
        raise ValueError(f"k has no number of clusters up to the {n_nodes} nodes of graph; the least is {min(asked)}")
    return tried


def _plain_matrix(graph: Graph) -> Matrix:
    if graph.missing.nnz or graph.adjacency.diagonal().any():
        raise ArgumentError(
            Argument("graph"), " has missing dyads or loops, which the variational methods do not support"
        )
    return np.asarray(graph.adjacency.toarray())


def _fit_em(X: Matrix, tau: Matrix, directed: bool) -> tuple[Matrix, float]:
    """τ_iq ∝ α_q Π_j Π_l [b(x_ij; π_ql) b(x_ji; π_lq)]^τ_jl, iterated with α and π at their maxima."""
    for _ in range(STEPS):
        others = tau.sum(axis=0) - tau  # of a node: how much of each cluster the other nodes are
        out = X @ tau
        alpha, pi = tau.mean(axis=0), _block_means(tau.T @ out, tau.T @ others)
        edge, gap = np.log(pi), np.log1p(-pi)
        logs = xlogy(1.0, np.maximum(alpha, TINY)) + out @ edge.T + (others - out) @ gap.T
        if directed:
            received = X.T @ tau
            logs += received @ edge + (others - received) @ gap
        new = softmax(logs, axis=1)
        change = np.abs(new - tau).max()
        tau = new
        if change < 1e-4:
            break
    return tau, _asymptotic_icl(X, tau, directed)


def _block_means(edges: Matrix, dyads: Matrix) -> Matrix:
    return np.asarray(np.clip(edges / np.maximum(dyads, TINY), TINY, 1 - TINY))


def _asymptotic_icl(X: Matrix, tau: Matrix, directed: bool) -> float:
    n, k = tau.shape
    hard = np.eye(k)[tau.argmax(axis=1)]
    edges, dyads = hard.T @ X @ hard, hard.T @ (hard.sum(axis=0) - hard)
    gaps = dyads - edges
    likelihood = xlogy(edges, edges / np.maximum(dyads, TINY)) + xlogy(gaps, gaps / np.maximum(dyads, TINY))
    sizes = hard.sum(axis=0)
    mixture = xlogy(sizes, sizes / n).sum() - (k - 1) / 2 * math.log(n)
    if directed:
        return float(likelihood.sum() - k * k / 2 * math.log(n * (n - 1)) + mixture)
    return float(likelihood.sum() / 2 - k * (k + 1) / 4 * math.log(n * (n - 1) / 2) + mixture)


def _fit_affiliation(X: Matrix, tau: Matrix, directed: bool) -> tuple[Matrix, float]:
    """Updates of q(z), then of q(π), q(λ within), q(ε between); the bound is exact just after the latter."""
    both = X + X.T if directed else X
    most = 2.0 if directed else 1.0
    for _ in range(STEPS):
        nodes, within, between, links, others = _affiliation_counts(both, most, tau)
        weight = digamma(within) - digamma(within.sum()) - digamma(between) + digamma(between.sum())
        new = softmax(digamma(nodes) + links * weight[0] + (others - links) * weight[1], axis=1)
        change = np.abs(new - tau).max()
        if change < 1e-4:
            break
        tau = new
    nodes, within, between, _, _ = _affiliation_counts(both, most, tau)
    return tau, _affiliation_bound(tau, nodes, within, between)


def _affiliation_counts(both: Matrix, most: float, tau: Matrix) -> tuple[Matrix, Matrix, Matrix, Matrix, Matrix]:
    """Parameters of q(π), q(λ), q(ε), and of each node its edges and dyads with each cluster."""
    links, others = both @ tau, most * (tau.sum(axis=0) - tau)
    total_edges, total_dyads = both.sum() / 2, most * len(both) * (len(both) - 1) / 2
    inside, dyads = float((tau * links).sum() / 2), float((tau * others).sum() / 2)
    within = PRIOR + np.array([inside, dyads - inside])
    between = PRIOR + np.array([total_edges - inside, total_dyads - dyads - total_edges + inside])
    return PRIOR + tau.sum(axis=0), within, between, links, others


def _affiliation_bound(tau: Matrix, nodes: Matrix, within: Matrix, between: Matrix) -> float:
    k = len(nodes)
    mixture = gammaln(nodes).sum() - gammaln(nodes.sum()) - k * gammaln(PRIOR) + gammaln(k * PRIOR)
    blocks = betaln(*within) + betaln(*between) - 2 * betaln(PRIOR, PRIOR)
    return float(mixture + blocks - xlogy(tau, tau).sum())
