"""Shares of a cluster's edges under degree correction: their posterior, and the exact ICL that integrates over them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from partita._support.arrays import Floats
from partita._support.shown import ShownAsText
from partita.models.networks.core import EdgeModel
from partita.models.networks.graph import Graph


def share_products(
    graph: Graph,
    edges: EdgeModel,
    rows: NDArray[Any],
    columns: NDArray[Any],
    source: NDArray[np.int64],
    target: NDArray[np.int64],
) -> Floats:
    """Posterior mean of the rate of each pair of nodes over that of its block, 1 without degree correction.

    It is that of φ_i ψ_j. φ_i = n_k s_i with shares s ~ Dirichlet(1 + d): E φ_i = n_k (1 + d_i) / (n_k + D_k). In an
    undirected network two nodes of one cluster have shares of the same Dirichlet, so E φ_i φ_j has
    n_k² / ((n_k + D_k) (n_k + D_k + 1)), and a loop has the rate φ_i² λ / 2, with
    E φ_i² = n_k² (1 + d_i) (2 + d_i) / ((n_k + D_k) (n_k + D_k + 1)).
    """
    if not edges.degree_corrected:
        return np.ones(len(source))
    sent, received = degrees(graph, edges)
    one, other = _scaled(sent, rows), _scaled(received, columns)
    product = one[source] * other[target]
    if edges.directed or graph.bipartite:
        return product
    total = np.bincount(rows) + np.bincount(rows, sent)
    same = rows[source] == rows[target]
    product = np.where(same, product * (total / (total + 1))[rows[source]], product)
    return np.where(source == target, product * ((2 + sent) / (1 + sent) / 2)[source], product)


def degrees(graph: Graph, edges: EdgeModel) -> tuple[Floats, Floats]:
    """Ends of edges at each node, or sent and received; an undirected loop has two ends."""
    sent = np.asarray(graph.adjacency.sum(axis=1)).ravel()
    if edges.directed or graph.bipartite:
        return sent, np.asarray(graph.adjacency.sum(axis=0)).ravel()
    both = sent + graph.adjacency.diagonal()
    return both, both


def _scaled(degree: Floats, labels: NDArray[Any]) -> Floats:
    size, total = np.bincount(labels), np.bincount(labels, degree)
    return np.asarray((1 + degree) * (size / (size + total))[labels])


@dataclass(frozen=True, eq=False)
class EstimatedICL(ShownAsText):
    """The exact ICL as a mean over draws of the shares, and the standard error of that mean's logarithm."""

    icl: float
    standard_error: float
    draws: int

    def __repr__(self) -> str:
        return f"EstimatedICL({self.icl:.3f} ± {self.standard_error:.3f}, {self.draws} draws)"


def share_exposures(graph: Graph, edges: EdgeModel, labels: NDArray[Any], draws: int, rng: np.random.Generator) -> Any:
    """For each draw of the shares from their posterior given all edges, the exposure Σ φ_i ψ_j of each block's observed
    dyads, (K, K)."""
    sizes = np.bincount(labels)
    k = len(sizes)
    gaps = graph.missing + sp.diags_array(1.0 - graph.missing.diagonal()) if not edges.loops else graph.missing
    i, j = gaps.tocoo().coords
    block = labels[i] * k + labels[j]
    sent, received = degrees(graph, edges)
    for _ in range(draws):
        one = _drawn(sent, labels, sizes, rng)
        other = _drawn(received, labels, sizes, rng) if edges.directed else one
        unseen = np.bincount(block, one[i] * other[j], minlength=k * k).reshape(k, k)
        cells = np.outer(sizes, sizes).astype(np.float64) - unseen
        if not edges.directed:
            cells[np.diag_indices(k)] /= 2
        yield cells


def _drawn(degree: Floats, labels: NDArray[Any], sizes: NDArray[Any], rng: np.random.Generator) -> Floats:
    weights = rng.standard_gamma(1 + degree)
    return np.asarray(weights * (sizes / np.bincount(labels, weights))[labels])


def log_blocks(edges: EdgeModel, counts: Floats, exposure: Floats) -> float:
    """Σ log Γ(a + e) / Γ(a) b^a / (b + m)^(a + e) over the blocks, or over the two of the affiliation model."""
    keep = np.ones(counts.shape, dtype=bool) if edges.directed else np.triu(np.ones(counts.shape, dtype=bool))
    e, m = counts[keep], exposure[keep]
    if edges.affiliation:
        inside = np.eye(len(counts), dtype=bool)[keep]
        e, m = (np.array([cells[inside].sum(), cells[~inside].sum()]) for cells in (e, m))
    a, b = edges.first, edges.second
    return float((gammaln(a + e) - gammaln(a) + a * np.log(b) - (a + e) * np.log(b + m)).sum())


def mean_of_logs(logs: Floats) -> tuple[float, float]:
    """log of the mean of exp(logs), and its standard error by the delta method."""
    mean = float(logsumexp(logs) - np.log(len(logs)))
    return mean, float(np.std(np.exp(logs - mean), ddof=1) / np.sqrt(len(logs)))
