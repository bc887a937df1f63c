"""Block models straight from their definitions, dyad by dyad, and their posteriors by enumeration. Slow and obvious."""

from __future__ import annotations

import itertools

import numpy as np
from scipy.special import betaln, gammaln
from scipy.stats import t as student_t


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


def weights_one_by_one(values, mu0: float, kappa0: float, shape: float, rate: float) -> float:
    """log p of weights of one block, N(μ, 1/τ) with a Normal–Gamma prior: each given those before it is Student's t."""
    total = 0.0
    for x in values:
        scale = np.sqrt(rate * (kappa0 + 1) / (shape * kappa0))
        total += student_t.logpdf(x, 2 * shape, loc=mu0, scale=scale)
        rate += kappa0 * (x - mu0) ** 2 / (2 * (kappa0 + 1))
        mu0, kappa0, shape = (kappa0 * mu0 + x) / (kappa0 + 1), kappa0 + 1, shape + 0.5
    return float(total)


def categories_one_by_one(values, alpha: float, n_categories: int) -> float:
    """log p of categories of one block, each given those before it: Pólya's urn."""
    seen: dict[float, int] = {}
    total = 0.0
    for at, value in enumerate(values):
        total += np.log((alpha + seen.get(value, 0)) / (n_categories * alpha + at))
        seen[value] = seen.get(value, 0) + 1
    return float(total)


def marks_by_block(X, rows, columns, pairs, directed, affiliation=False):
    """{block: its edges' values}, edge by edge."""
    found: dict[object, list[float]] = {}
    for i, j in pairs:
        if not np.isnan(X[i, j]) and X[i, j] != 0:
            block = (int(rows[i]), int(columns[j])) if directed else tuple(sorted((int(rows[i]), int(columns[j]))))
            found.setdefault(bool(rows[i] == columns[j]) if affiliation else block, []).append(X[i, j])
    return found


def marked_icl(X, labels, *, directed, loops, n0, first, second, marks, affiliation=False) -> float:
    """Exact ICL with marks on the edges: that of their presence, and `marks(values)` of each block."""
    labels = np.asarray(labels)
    present = np.where(np.isnan(X), np.nan, X != 0)
    kind = {"directed": directed, "loops": loops, "affiliation": affiliation}
    total = sbm_icl(present, labels, n0=n0, first=first, second=second, **kind)
    values = marks_by_block(X, labels, labels, dyads(len(labels), directed, loops), directed, affiliation)
    return total + sum(marks(each) for each in values.values())


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
