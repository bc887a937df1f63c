"""Block models straight from their definitions, dyad by dyad, and their posteriors by enumeration. Slow and obvious."""

from __future__ import annotations

import itertools

import numpy as np
from scipy.special import betaln, gammaln


def log_partition(labels: np.ndarray, n0: float, k: int | None = None) -> float:
    """log p(z | K): K defaults to the number of clusters."""
    sizes = np.bincount(labels)
    k = len(sizes) if k is None else k
    return float(gammaln(k * n0) - gammaln(k * n0 + len(labels)) + (gammaln(sizes + n0) - gammaln(n0)).sum())


def dyads(n: int, directed: bool, loops: bool) -> list[tuple[int, int]]:
    """Every dyad that can hold an edge."""
    pairs = itertools.product(range(n), repeat=2) if directed else itertools.combinations_with_replacement(range(n), 2)
    return [(i, j) for i, j in pairs if loops or i != j]


def blocks(X: np.ndarray, rows: np.ndarray, columns: np.ndarray, pairs: list[tuple[int, int]], directed: bool):
    """{block: [edges, observed dyads]} counted one dyad at a time."""
    counts: dict[tuple[int, int], list[float]] = {}
    for i, j in pairs:
        if np.isnan(X[i, j]):
            continue
        block = (int(rows[i]), int(columns[j]))
        if not directed:
            block = (min(block), max(block))
        cell = counts.setdefault(block, [0.0, 0.0])
        cell[0] += X[i, j]
        cell[1] += 1
    return counts


def affiliation_blocks(X: np.ndarray, labels: np.ndarray, pairs: list[tuple[int, int]]):
    """{inside a cluster or not: [edges, observed dyads]} counted one dyad at a time."""
    counts: dict[bool, list[float]] = {}
    for i, j in pairs:
        if not np.isnan(X[i, j]):
            cell = counts.setdefault(bool(labels[i] == labels[j]), [0.0, 0.0])
            cell[0] += X[i, j]
            cell[1] += 1
    return counts


def bernoulli(edges: float, m: float, eta0: float, zeta0: float) -> float:
    return float(betaln(eta0 + edges, zeta0 + m - edges) - betaln(eta0, zeta0))


def poisson(edges: float, m: float, a0: float, b0: float) -> float:
    return float(gammaln(a0 + edges) - gammaln(a0) + a0 * np.log(b0) - (a0 + edges) * np.log(b0 + m))


def sbm_icl(X, labels, *, directed, loops, n0, first, second, counts=False, affiliation=False) -> float:
    """Exact ICL of the stochastic block model without degree correction."""
    labels = np.asarray(labels)
    pairs = dyads(len(labels), directed, loops)
    cell = poisson if counts else bernoulli
    cells = affiliation_blocks(X, labels, pairs) if affiliation else blocks(X, labels, labels, pairs, directed)
    total = log_partition(labels, n0) + sum(cell(e, m, first, second) for e, m in cells.values())
    if counts:
        total -= sum(gammaln(X[i, j] + 1) for i, j in pairs if not np.isnan(X[i, j]))
    return float(total)


def lbm_icl(X, rows, columns, *, n0, first, second) -> float:
    """Exact ICL of the latent block model."""
    rows, columns = np.asarray(rows), np.asarray(columns)
    pairs = list(itertools.product(range(len(rows)), range(len(columns))))
    cells = blocks(X, rows, columns, pairs, True).values()
    return log_partition(rows, n0) + log_partition(columns, n0) + sum(bernoulli(e, m, first, second) for e, m in cells)


def log_partition_k_unknown(labels: np.ndarray, n0: float, mean: float = 1.0, most: int = 80) -> float:
    """log of the prior of a partition when K ~ Poisson(mean) given K ≥ 1 and clusters of labelled z may be empty: a
    partition into t clusters has K! / (K − t)! labellings."""
    t = int(max(labels)) + 1
    k = np.arange(1, most + 1)
    log_k = k * np.log(mean) - gammaln(k + 1)
    log_k -= np.logaddexp.reduce(log_k)
    terms = [
        log_k[size - 1] + log_partition(np.asarray(labels), n0, size) + gammaln(size + 1) - gammaln(size - t + 1)
        for size in range(t, most + 1)
    ]
    return float(np.logaddexp.reduce(terms))
