"""Collapsed sampling of block models: the prior of K, the plan, the samplers of the core."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from partita import _core
from partita._validate import check_count
from partita.models.block_core import seed_from
from partita.models.checkpoint import Plan
from partita.models.graph import Graph

SPARE_CLUSTERS = 20  # K may pass the number of nodes by empty clusters


def log_k_prior(k_prior: float | ArrayLike, n_nodes: int) -> NDArray[np.float64]:
    """log p(K) for K = 1, 2, ...: Poisson of the given mean, given K ≥ 1, or probabilities that the user lists.

    >>> np.exp(log_k_prior(1.0, 2))[:3].round(3)
    array([0.582, 0.291, 0.097])
    """
    given = np.asarray(k_prior, dtype=float)
    if given.ndim == 0:
        if not (np.isfinite(given) and given > 0):
            raise ValueError(f"k_prior must be a positive mean or a list of probabilities, got {k_prior!r}")
        k = np.arange(1, n_nodes + SPARE_CLUSTERS + 1)
        logs = k * np.log(given) - gammaln(k + 1)
    else:
        if given.ndim != 1 or given.size == 0 or not np.isfinite(given).all() or (given < 0).any() or given[0] <= 0:
            raise ValueError("k_prior must list probabilities of K = 1, 2, ..., the first above 0")
        logs = np.full(given.shape, -np.inf)
        np.log(given, where=given > 0, out=logs)
    normalised: NDArray[np.float64] = logs - np.logaddexp.reduce(logs)
    return normalised


def make_plan(draws: int, warmup: int, thin: int, chains: int, rng: Any) -> Plan:
    """A plan with every number checked."""
    least = {"draws": 1, "warmup": 0, "thin": 1, "chains": 1}
    given = {"draws": draws, "warmup": warmup, "thin": thin, "chains": chains}
    checked = {name: check_count(value, name, minimum=least[name]) for name, value in given.items()}
    return Plan(**checked, seed=seed_from(rng))


def make_samplers(
    native: Any, log_k: tuple[NDArray[np.float64], NDArray[np.float64]], plan: Plan, start_clusters: int
) -> list[Any]:
    """One native sampler a chain."""
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


def graph_arrays(graph: Graph) -> dict[str, NDArray[Any]]:
    """A graph as plain arrays, for a run's folder."""
    arrays = {}
    for name, matrix in (("edges", graph.adjacency), ("missing", graph.missing)):
        entries = matrix.tocoo()
        columns = (entries.row, entries.col, entries.data)
        arrays[name] = np.stack([np.asarray(column).astype(np.int64) for column in columns])
    arrays["shape"] = np.array([*graph.adjacency.shape, int(graph.bipartite)], dtype=np.int64)
    return arrays


def graph_from_arrays(arrays: Mapping[str, NDArray[Any]]) -> Graph:
    """Back from `graph_arrays`; the names of the nodes are then their places."""
    rows, columns, bipartite = (int(value) for value in arrays["shape"])
    matrices = [
        sp.coo_array((part[2].astype(float), (part[0], part[1])), shape=(rows, columns)).tocsr()
        for part in (arrays["edges"], arrays["missing"])
    ]
    return Graph(matrices[0], matrices[1], tuple(range(rows)), tuple(range(columns)) if bipartite else None)
