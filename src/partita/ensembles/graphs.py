"""The graph partitioners of Strehl & Ghosh (2002): CSPA and MCLA on METIS, HGPA on Mt-KaHyPar."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from partita._support.arrays import Floats
from partita._support.optional import optional
from partita._support.validate import check_count, check_rng
from partita._support.warn import warn_user
from partita.ensembles.association import check_table, shares_together
from partita.ensembles.base_clusterings import (
    Base,
    Labels,
    check_clusters,
    hard_base,
    spread,
    warn_unlabelled,
    weights_or_ones,
)
from partita.ensembles.predictive import count_labels

SCALE = 1000  # METIS needs integers: similarities are given in thousandths
BUNDLE = 0.02  # the largest weight of one vertex of HGPA's hypergraph, as a share of an even part
IMBALANCE = 0.05  # share by which a part may exceed an even one, as in the paper


Partitioner = Callable[[Base, int, Floats, np.random.Generator], Labels]  # base, k, weights of the clusterings, rng


def cspa(base: Any, k: int, *, sample: int | None = None, weights: ArrayLike | None = None, rng: Any = None) -> Labels:
    """Cluster-based similarity partitioning: METIS on the graph of how often two items share a cluster.

    Parameters
    ----------
    base : (items, clusterings) labels
        The base clusterings, in any form that `as_base` takes, of at most 20,000 items unless `sample` is given.
    k : int
        Number of clusters; METIS makes them of nearly equal size.
    sample : int, optional
        Partition only this many items, chosen at random, and assign each other item to the part with whose members it
        shares clusters most often.
    weights : (clusterings,) array_like, optional
        Weight of each clustering; equal by default.
    rng : None, int or numpy Generator
        Seed or source of random numbers; the same seed gives the same result.

    Returns
    -------
    (items,) integer array
        Canonical labels; −1 for an item without labels.

    References
    ----------
    Strehl & Ghosh (2002), Cluster ensembles, Journal of Machine Learning Research 3.
    """
    return _partition(_partition_similar, base, k, sample, weights, rng)


def mcla(base: Any, k: int, *, weights: ArrayLike | None = None, rng: Any = None) -> Labels:
    """Meta-clustering: METIS groups the base clusters by their overlap, and each item is assigned to the group in which
    the largest share of base clusters contains it.

    Groups without items are dropped, so there can be fewer than k clusters. The arguments are those of `cspa`, the
    weights those of the shares; no items × items table is needed.

    References
    ----------
    Strehl & Ghosh (2002), Cluster ensembles, Journal of Machine Learning Research 3.
    """
    read, labelled, k = _read(base, k)
    used, rng, powers = read.rows(labelled), check_rng(rng), weights_or_ones(weights, base, read)
    labels = used.memberships()
    groups = _partition_graph(_overlap(used, labels), k, rng, np.asarray(labels.sum(axis=0)))
    owner = np.repeat(np.arange(used.n_clusterings), used.sizes)
    membership = np.asarray(labels @ (powers[owner][:, None] * np.eye(k)[groups]))
    # the share counts only base clusters of the clusterings that label the item
    possible = np.zeros((used.n_clusterings, k))
    np.add.at(possible, (owner, groups), powers[owner])
    possible = (used.codes >= 0) @ possible
    share = np.divide(membership, possible, out=np.zeros_like(membership), where=possible > 0)
    ties = rng.random(share.shape) * 1e-9  # ties are broken at random, as in the paper
    return spread((share + ties).argmax(axis=1), labelled)


def hgpa(base: Any, k: int, *, sample: int | None = None, weights: ArrayLike | None = None, rng: Any = None) -> Labels:
    """Hypergraph partitioning: k even parts of the items that cut as few base clusters as possible.

    A base cluster is cut if even one of its items is in another part. With noise and many items every partition cuts
    nearly all base clusters, so the number of cuts is not informative; a warning is given in this case. With about 20
    items per cluster, `sample=20 * k`, some base clusters stay whole. The other arguments are those of `cspa`; no
    items × items table is needed.

    References
    ----------
    Strehl & Ghosh (2002), Cluster ensembles, Journal of Machine Learning Research 3.
    """
    return _partition(_partition_few_cuts, base, k, sample, weights, rng)


def _partition(method: Partitioner, base: Any, k: Any, sample: int | None, weights: Any, rng: Any) -> Labels:
    """The parts of all items; or of a sample, with each other item assigned to the most similar part."""
    read, labelled, k = _read(base, k)
    used, rng, powers = read.rows(labelled), check_rng(rng), weights_or_ones(weights, base, read)
    if sample is None:
        return spread(method(used, k, powers, rng), labelled)
    size = min(check_count(sample, "sample", minimum=k), used.n_items)
    chosen = np.sort(rng.choice(used.n_items, size, replace=False))
    parts = method(used.rows(chosen), k, powers, rng)
    found = _most_similar_part(used, used.rows(chosen), parts, k)
    found[chosen] = parts
    return spread(found, labelled)


def _partition_few_cuts(base: Base, k: int, weights: Floats, rng: np.random.Generator) -> Labels:
    seed = int(rng.integers(2**31))
    if k == 1 or base.n_items <= k:
        return np.arange(base.n_items) if k > 1 else np.zeros(base.n_items, dtype=np.intp)
    vertex, rows = _bundles(base, max(1, int(BUNDLE * base.n_items / k)))
    columns = rows.memberships().tocsc()
    bounds = zip(columns.indptr[:-1], columns.indptr[1:], strict=True)
    useful = np.diff(columns.indptr) > 1
    edges = [columns.indices[start:stop].tolist() for (start, stop), kept in zip(bounds, useful, strict=True) if kept]
    costs = np.repeat(weights, base.sizes)[useful]
    parts, cut = _partition_hypergraph(np.bincount(vertex), edges, costs, k, seed)
    if base.n_clusterings > 1 and cut > len(edges) - k:  # fewer than one whole base cluster per part
        warn_user(
            f"HGPA's partition cuts {cut} of {len(edges)} base clusters, about as many as any other would; "
            f"use a sample of about 20 items per cluster (sample={20 * k}), or another method",
        )
    return parts[vertex]


def _bundles(base: Base, most: int) -> tuple[Labels, Base]:
    """Combines items with equal labels into vertices of at most `most` items: the vertex of each item, and the labels.

    The graph is then small even for many items, and no vertex is too heavy for parts of even size.
    """
    distinct, row, copies = np.unique(base.codes, axis=0, return_inverse=True, return_counts=True)
    row = row.ravel()
    order = np.argsort(row, kind="stable")
    rank = np.empty(len(row), dtype=np.intp)  # the position of an item among those with equal labels
    rank[order] = np.arange(len(row)) - np.repeat(np.cumsum(copies) - copies, copies)
    needed = -(-copies // most)
    first = np.cumsum(needed) - needed
    return first[row] + rank % needed[row], Base(np.repeat(distinct, needed, axis=0), base.levels)


def _read(base: Any, k: Any) -> tuple[Base, NDArray[np.bool_], int]:
    read = hard_base(base, "graph partitioning")
    k = check_clusters(k, read.n_items)
    return read, warn_unlabelled(read), k


def _partition_similar(base: Base, k: int, weights: Floats, rng: np.random.Generator) -> Labels:
    check_table(base.n_items, "CSPA", "set sample=, for example cspa(base, k, sample=5000), or use mcla or hgpa")
    return _partition_graph(shares_together(base, weights), k, rng)


def _most_similar_part(base: Base, members: Base, parts: Labels, k: int) -> Labels:
    """The part whose members share the most clusters with each item, on average."""
    sizes = np.maximum(np.bincount(parts, minlength=k), 1)
    return np.asarray((base.memberships() @ (count_labels(members, parts, k) / sizes)).argmax(axis=1))


def _overlap(base: Base, labels: sparse.csr_array) -> Floats:
    """Jaccard overlap of base clusters, on the items that both of their clusterings label."""
    shared = (labels.T @ labels).toarray()
    seen = labels.T @ (base.codes >= 0).astype(np.float64)  # items of each cluster that each clustering labels
    owner = np.repeat(np.arange(base.n_clusterings), base.sizes)
    sizes = np.asarray(seen)[:, owner]
    union = sizes + sizes.T - shared
    overlap = np.divide(shared, union, out=np.zeros_like(shared), where=union > 0)
    return np.asarray(overlap)


def _partition_graph(similarity: Floats, k: int, rng: np.random.Generator, sizes: NDArray[Any] | None = None) -> Labels:
    pymetis = optional("pymetis", "CSPA and MCLA need METIS", "ensembles")
    n = len(similarity)
    if k == 1 or n <= k:
        return np.arange(n) % k
    weights = np.rint(SCALE * similarity).astype(np.int64)
    np.fill_diagonal(weights, 0)
    edges = sparse.csr_array(weights)
    options = pymetis.Options(seed=int(rng.integers(2**31)), ufactor=int(1000 * IMBALANCE))
    _, parts = pymetis.part_graph(
        k,
        pymetis.CSRAdjacency(edges.indptr.astype(np.int64), edges.indices.astype(np.int64)),
        eweights=edges.data.astype(np.int64),
        vweights=None if sizes is None else np.maximum(sizes, 1).astype(np.int64),
        recursive=False,
        options=options,
    )
    return np.asarray(parts, dtype=np.intp)


def _partition_hypergraph(
    sizes: NDArray[Any], edges: list[list[int]], costs: Floats, k: int, seed: int
) -> tuple[Labels, int]:
    """The part of each vertex, and how many hyperedges are cut."""
    mtkahypar = optional("mtkahypar", "HGPA needs Mt-KaHyPar", "hgpa")
    library = mtkahypar.initialize(os.cpu_count() or 1, print_warnings=False)
    mtkahypar.set_seed(seed)
    context = library.context_from_preset(mtkahypar.PresetType.DETERMINISTIC)
    context.set_partitioning_parameters(k, IMBALANCE, mtkahypar.Objective.CUT)
    context.logging = False
    whole = (
        np.maximum(np.rint(SCALE * costs / costs.max()), 1).astype(int) if np.ptp(costs) else np.ones(len(costs), int)
    )
    graph = library.create_hypergraph(context, len(sizes), len(edges), edges, sizes.tolist(), whole.tolist())
    parts = np.asarray(graph.partition(context).get_partition(), dtype=np.intp)
    return parts, sum(int(np.ptp(parts[edge]) > 0) for edge in edges)
