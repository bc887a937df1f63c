"""The search for the partition of largest exact ICL, as the block models run it, and the partitions it starts from:
k-means of the nodes' leading singular vectors or of their rows, with more clusters than needed."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.cluster.vq import kmeans2

from partita._core import (
    MAX_SMALL_NETWORK,
    PERIPHERY_SHARES,
    NetworkPlan,
    NetworkStart,
    network_start_clusters,
    network_start_kinds,
    network_start_widths,
)
from partita._support.validate import check_choice, check_n_jobs
from partita.models.networks.core import seed_from
from partita.models.networks.graph import Graph
from partita.models.networks.marks import Marks, start_matrix
from partita.models.search_runs import Runs
from partita.partitions.labels import gapless
from partita.search.deadline import LAST_MOMENT, NEVER, Deadline

ALGORITHMS = ("search", "come-latouche")


@dataclass(frozen=True)
class Limits:
    """What a user allows a search: the most clusters of each side, threads, time, and which algorithm."""

    most: tuple[int, int]
    n_jobs: int = -1
    until: Deadline = NEVER
    algorithm: str = "search"


def start_kinds(
    n_nodes: int, restarts: int, n_given: int, *, partitions: bool = True, uneven: bool = False
) -> list[str]:
    """The kind of each run's start: those that are given, then the kinds of the network's size in turn.

    `partitions` says whether there is something to see: a network of a few nodes or without edges has only random
    starts. `uneven` says whether nodes of a cluster may differ in degree.

    >>> start_kinds(10_000, 4, 1)
    ['given', 'spectral', 'communities', 'spectral']
    """
    kinds = network_start_kinds(n_nodes, restarts, n_given, partitions, uneven)
    return [kind.name.replace("_", "-") for kind in kinds]


def search_partition(
    native: Any,
    starts: NDArray[np.uint32],
    kinds: list[str],
    limits: Limits,
    rng: np.random.Generator,
    *,
    plain: bool,
    uneven: bool,
) -> tuple[NDArray[np.uint32], float, Runs]:
    """The core's search: labels, ICL, and what its runs came to.

    `starts` has the partitions of the runs whose kind is "given", "spectral", "periphery" or "k-means", in their order;
    `plain` says whether edges have no values but counts, `uneven` whether nodes of a cluster may differ in degree.
    """
    plan = NetworkPlan(
        n_nodes=starts.shape[1],
        kinds=[NetworkStart[kind.replace("-", "_")] for kind in kinds],
        max_rows=limits.most[0],
        max_columns=limits.most[1],
        plain=plain,
        uneven=uneven,
        as_printed=limits.algorithm == "come-latouche",
        seed=seed_from(rng),
        threads=check_n_jobs(limits.n_jobs),
    )
    found = native.maximize(starts, plan, max(limits.until.left, LAST_MOMENT))
    return found[0], found[1], Runs.of(kinds, found)


def check_algorithm(algorithm: Any) -> str:
    """One of the algorithms of `maximize`."""
    return check_choice(algorithm, "algorithm", ALGORITHMS)


MAX_DIMENSIONS = 64
POWER_STEPS = 6
RANK_TOLERANCE = 1e-6  # of squared lengths, the smallest that single precision distinguishes from zero
DENSE_CELLS = 1 << 18  # up to which a matrix is multiplied faster with its zeros
MAX_POINTS = 20_000  # from which k-means learns its centres
ROUNDS = 8  # of k-means


def first_partitions(
    seen: sp.csr_array,
    limits: Limits,
    restarts: int,
    given: Sequence[NDArray[np.uint32]],
    rng: np.random.Generator,
    *,
    uneven: bool = False,
    directed: bool = False,
) -> tuple[NDArray[np.uint32], list[str]]:
    """The partitions of the nodes that runs start from, and the kind of every run; `seen` has one row per node.

    `uneven` says whether nodes of a cluster may differ in degree; `directed`, whether what a node receives stands
    beside what it sends.
    """
    n, n_given = seen.shape[0], len(given)
    parts = [np.stack(given)] if n_given else []
    if limits.algorithm == "come-latouche":
        kinds = ["given"] * n_given + ["k-means"] * max(restarts - n_given, 0)
        if len(kinds) > n_given:
            parts.append(row_starts(seen, min(network_start_clusters(n), limits.most[0]), len(kinds) - n_given, rng))
    else:
        kinds = start_kinds(n, restarts, n_given, partitions=n > 4 and seen.nnz > 0, uneven=uneven)
        # in small networks the directions tell more than the sum of both
        either_way = directed and n > MAX_SMALL_NETWORK and seen.shape[1] == 2 * n
        parts.append(spectral_partitions(seen, kinds, limits.most[0], rng, either_way=either_way))
    return np.concatenate(parts) if parts else np.empty((0, n), np.uint32), kinds


def given_partitions(starts: Any, checked: Callable[[Any], NDArray[Any]]) -> list[NDArray[np.uint32]]:
    """The partitions to climb from that the user gave, one or several, each checked."""
    if starts is None:
        return []
    listed = starts if isinstance(starts, list | tuple) else np.asarray(starts)
    several: Any = [starts] if np.ndim(starts) == 1 else listed
    return [checked(labels).astype(np.uint32) for labels in several]


def spectral_partitions(
    seen: sp.csr_array, kinds: Sequence[str], most: int, rng: np.random.Generator, *, either_way: bool = False
) -> NDArray[np.uint32]:
    """The partitions of the rows for the runs whose kind is "spectral" or "periphery", in their order."""
    shown = [kind for kind in kinds if kind in ("spectral", "periphery")]
    found = spectral_starts(seen, network_start_widths(len(shown), seen.shape[0], most), rng, either_way=either_way)
    at = [place for place, kind in enumerate(shown) if kind == "periphery"]
    found[at] = peripheries(found[at], np.asarray(abs(seen).sum(axis=1)).ravel())
    return found


def spectral_starts(
    matrix: sp.csr_array, ks: Sequence[int], rng: np.random.Generator, *, either_way: bool = False
) -> NDArray[np.uint32]:
    """k-means partitions of the rows of a matrix into at most k clusters for each k, (number of ks, rows).

    The rows are seen through the leading left singular vectors of D^(−1/2) A D'^(−1/2), degrees raised by their mean so
    that nodes of few edges do not stand out. With `either_way` half of the vectors are those of the sum of both halves
    of the matrix, what is sent and what is received: the density of groups whose edges have no direction of their own
    may there be smaller by 2^(−1/4) before noise hides them.
    """
    if not ks:
        return np.empty((0, matrix.shape[0]), np.uint32)
    dimensions, n = min(max(ks), MAX_DIMENSIONS), matrix.shape[0]
    points = embed(matrix, dimensions - dimensions // 2 if either_way else dimensions, rng)
    if either_way:
        both = matrix.indices % n  # columns j and n + j are added
        folded = sp.csr_array((matrix.data, both, matrix.indptr), shape=(n, n))
        points = np.hstack([points, embed(folded, dimensions // 2, rng)])
    return np.stack([kmeans(points, k, rng) for k in ks])


def peripheries(partitions: NDArray[np.uint32], degree: NDArray[Any]) -> NDArray[np.uint32]:
    """Partitions whose nodes of fewest edges are in a cluster of their own, a share of the nodes that differs.

    >>> peripheries(np.array([[0, 0, 0, 1, 1]], np.uint32), np.array([5, 1, 4, 3, 2]))
    array([[0, 2, 0, 1, 1]], dtype=uint32)
    """
    result = partitions.copy()
    for place, labels in enumerate(result):
        share = PERIPHERY_SHARES[place % len(PERIPHERY_SHARES)]
        few = degree < np.sort(degree)[int(share * len(degree))]
        labels[few] = labels.max() + 1
        result[place] = gapless(labels)
    return result


def row_starts(matrix: sp.csr_array, k: int, count: int, rng: np.random.Generator) -> NDArray[np.uint32]:
    """A few rounds of k-means on the rows of a matrix themselves, as Côme & Latouche start, (count, rows)."""
    return np.stack([_sparse_kmeans(matrix.astype(float), min(k, matrix.shape[0]), rng) for _ in range(count)])


def embed(matrix: sp.csr_array, dimensions: int, rng: np.random.Generator) -> NDArray[np.float32]:
    """Leading left singular vectors times singular values, by randomised subspace iteration, in single precision."""
    scaled = _normalised(matrix)
    width = min(dimensions + 8, *matrix.shape)
    basis = _orthonormal(rng.standard_normal((matrix.shape[0], width), dtype=np.float32))
    for _ in range(POWER_STEPS):
        basis = _orthonormal(scaled @ (scaled.T @ basis))
    image = scaled.T @ basis
    squares, axes = np.linalg.eigh(_gram(image))
    lengths = np.sqrt(np.maximum(squares, 0.0))
    return np.asarray(basis @ (axes * lengths)[:, ::-1][:, :dimensions].astype(np.float32))


def _orthonormal(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """An orthonormal basis of what the columns span, from their inner products: O(rows) with few passes."""
    squares, axes = np.linalg.eigh(_gram(vectors))
    kept = squares >= squares[-1] * RANK_TOLERANCE
    lengths = np.sqrt(np.maximum(squares[kept], np.finfo(np.float32).tiny))  # all are zero for an empty matrix
    return np.asarray(vectors @ (axes[:, kept] / lengths).astype(np.float32))


def _gram(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """Inner products of the columns, summed in double precision over parts of the rows."""
    parts = (vectors[at : at + MAX_POINTS] for at in range(0, len(vectors), MAX_POINTS))
    return np.asarray(np.sum([(part.T @ part).astype(float) for part in parts], axis=0))


def kmeans(points: NDArray[np.floating[Any]], k: int, rng: np.random.Generator) -> NDArray[np.uint32]:
    """A few rounds of k-means; the climb does the rest. Clusters may be empty: labels are made gapless.

    Of many points a sample finds the centres.
    """
    some = points if len(points) <= MAX_POINTS else points[rng.choice(len(points), size=MAX_POINTS, replace=False)]
    centres = some[rng.choice(len(some), size=min(k, len(some)), replace=False)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an empty cluster is fine here
        centres, labels = kmeans2(some, centres, iter=ROUNDS, minit="matrix", check_finite=False)
    if some is not points:
        labels = _nearest(points, centres)
    return gapless(labels)


def _sparse_kmeans(matrix: Any, k: int, rng: np.random.Generator) -> NDArray[np.uint32]:
    centres = matrix[rng.choice(matrix.shape[0], size=k, replace=False)].toarray()
    for _ in range(ROUNDS):
        labels = gapless(_nearest(matrix, centres))
        members = sp.csr_array((np.ones(len(labels)), (labels, np.arange(len(labels)))))
        centres = (members @ matrix).toarray() / np.bincount(labels)[:, None]
    return labels


def _nearest(points: Any, centres: NDArray[np.floating[Any]]) -> NDArray[np.int64]:
    """The nearest centre of each row, a part of the rows at a time."""
    lengths = (centres**2).sum(axis=1) / 2
    parts = range(0, points.shape[0], MAX_POINTS)
    return np.concatenate([(lengths - points[at : at + MAX_POINTS] @ centres.T).argmin(axis=1) for at in parts])


def both_directions(graph: Graph, directed: bool, marks: Marks | None = None) -> Any:
    """What a node sends and, beside it, what it receives."""
    sent = start_matrix(graph.adjacency, marks)
    if not directed:
        return sent
    return sp.csr_array(sp.hstack([sent, start_matrix(graph.transposed, marks)], format="csr"))


def _normalised(matrix: sp.csr_array) -> Any:
    """In single precision: no entry is above 1. A small matrix becomes a dense one."""
    dense = matrix.shape[0] * matrix.shape[1] <= DENSE_CELLS
    matrix = matrix.toarray().astype(float) if dense else matrix.astype(float)
    scale = []
    for axis in (1, 0):
        degree = np.asarray(abs(matrix).sum(axis=axis)).ravel()
        scale.append(1 / np.sqrt(degree + max(degree.mean(), 1.0)))
    if dense:
        return (scale[0][:, None] * matrix * scale[1]).astype(np.float32)
    return (sp.diags_array(scale[0]) @ matrix @ sp.diags_array(scale[1])).astype(np.float32)
