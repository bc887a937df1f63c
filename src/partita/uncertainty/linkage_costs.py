"""What it would cost to split a cluster of an estimate from pair probabilities, or to join two.

With c the pairs that a split separates and p the sum of their probabilities, Binder's loss changes by
(2/n²) [(a + b) p - b c], and the approximate ARI by its value at Q - c and R - p. Under the lower bound to VI the sizes
and the masses Σ_j π_ij of both parts change. A merge is the reverse. All ways to split small clusters in two are
compared, cluster sizes together; in larger ones single items, the edges of the maximum spanning tree, and moves of
single items from the best of these.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from partita._support.arrays import Floats, Ints
from partita.pairs.losses import VILowerBound, approximate_ari, joined_pairs
from partita.search.constraints import NOTHING, Resolved, resolve

if TYPE_CHECKING:
    from partita.estimation.pair_estimate import PairEstimate

#: All splits of a cluster with at most this many items are compared.
MAX_COMPARED = 12
#: Single items are moved between the parts of a cluster with at most this many items; larger ones than the second
#: number are not split at all: their pairs would take too much memory.
MAX_MOVED, MAX_SPLIT = 150, 3000
#: Numbers that are handled at a time.
_BLOCK = 4_000_000

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Listed pairs, by the numbers of their items."""

    left: Ints
    right: Ints
    probability: Floats


@dataclass(frozen=True, eq=False)
class Splits:
    """For each of several clusters of the same size the cheapest split, infinite if there is none.

    `part` says which items are in one part; `left` and `right` are the items of the strongest pair across;
    `exact`, whether all splits were compared.
    """

    cost: Floats
    part: Mask
    left: Ints
    right: Ints
    probability: Floats
    exact: bool


@dataclass(frozen=True, eq=False)
class Merges:
    """Pairs of clusters, the number of listed pairs, the change of the loss if they are joined, the strongest pair."""

    own: Ints
    other: Ints
    listed: Ints
    cost: Floats
    left: Ints
    right: Ints
    probability: Floats


def rules_of(best: PairEstimate) -> Resolved | None:
    pairs = best.similarity
    return None if best.constraints is None else resolve(best.constraints, pairs.names, pairs.n_items, "similarity")


def entries(best: PairEstimate, items: Ints) -> tuple[Ints, Ints, Floats]:
    """Row, neighbor and probability of the entries of some rows."""
    row, other, probability = best.similarity.rows_of(items)
    return items[row], other, probability


def pairs_within(best: PairEstimate, items: Ints) -> Pairs:
    row, other, probability = entries(best, items)
    own = (best.labels[other] == best.labels[items[0]]) & (row < other)
    return Pairs(row[own], other[own], probability[own])


def weakest_link(inner: Pairs, items: Ints) -> tuple[int, int, float] | None:
    """The least probable edge of the maximum spanning tree."""
    tree = _spanning_tree(inner, items)
    if len(tree.left) < max(1, items.size - 1):
        return None
    least = int(np.argmin(tree.probability))
    return int(tree.left[least]), int(tree.right[least]), float(tree.probability[least])


def _spanning_tree(inner: Pairs, items: Ints) -> Pairs:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    # older SciPy's tree takes no wider indices
    left, right = (np.searchsorted(items, side).astype(np.int32) for side in (inner.left, inner.right))
    weights = coo_array((2 - inner.probability, (left, right)), shape=(items.size, items.size))
    tree = minimum_spanning_tree(weights.tocsr()).tocoo()
    return Pairs(items[tree.row], items[tree.col], 2 - tree.data)


def clusters_by_size(best: PairEstimate, clusters: Mask | None) -> Iterator[Ints]:
    """Items of clusters of the same size, (clusters, size) each, so few at a time that their pairs fit in memory."""
    sizes = best.sizes
    order = np.argsort(best.labels, kind="stable")
    begins = np.cumsum(sizes) - sizes
    wanted = (sizes > 1) & (sizes <= MAX_SPLIT) & (True if clusters is None else clusters)
    for size in np.unique(sizes[wanted]).tolist():
        of_size = np.flatnonzero(wanted & (sizes == size))
        ways = 2 ** (size - 1) if size <= MAX_COMPARED else size
        step = 1 if size > MAX_COMPARED else max(1, _BLOCK // (ways * size))
        for block in range(0, of_size.size, step):
            yield order[begins[of_size[block : block + step], None] + np.arange(size)]


def matrices(best: PairEstimate, items: Ints) -> tuple[Floats, Mask]:
    """(clusters, m, m): the probabilities of all pairs of each cluster, ones on the diagonal, and which are listed."""
    pairs, (count, size) = best.similarity, items.shape
    place = np.full(pairs.n_items, -1)
    place[items.ravel()] = np.arange(items.size)
    row, other, probability = entries(best, items.ravel())
    own = best.labels[row] == best.labels[other]
    matrix = np.full((count, size, size), pairs.default)
    matrix[:, np.arange(size), np.arange(size)] = 1.0
    at = place[row[own]]
    listed = np.zeros(matrix.shape, np.bool_)
    cells = (at // size, at % size, place[other[own]] % size)
    matrix[cells], listed[cells] = probability[own], True
    return matrix, listed


def cheapest_splits(best: PairEstimate, matrix: Floats, items: Ints, rules: Resolved | None) -> Splits:
    """The cheapest split of each of several clusters of the same size."""
    count, size = items.shape
    if 1 < size <= MAX_COMPARED:
        ways = (np.arange(1, 2 ** (size - 1))[:, None] >> np.arange(size - 1, -1, -1) & 1).astype(bool)
        costs = _split_costs(best, matrix, ways)
        if rules is not None and rules.n_atoms < rules.n_items:
            atom = rules.atom[items]
            same = atom[:, :, None] == atom[:, None, :]
            cuts = ways[:, :, None] & ~ways[:, None, :]
            costs[(same[:, None] & cuts[None]).any(axis=(2, 3))] = np.inf
        cheapest = np.argmin(costs, axis=1)
        part, cost = ways[cheapest], costs[np.arange(count), cheapest]
    elif 1 < size <= MAX_SPLIT:
        part, cost = _split_of_large(best, matrix, items[0], rules)
    else:
        part, cost = np.zeros((count, size), bool), np.full(count, np.inf)
    across = np.where(part[:, :, None] & ~part[:, None, :], matrix, -1.0).reshape(count, -1)
    strongest = np.argmax(across, axis=1)
    ends = np.arange(count)
    left, right = items[ends, strongest // size], items[ends, strongest % size]
    return Splits(cost, part, left, right, across[ends, strongest], size <= MAX_COMPARED)


def _split_of_large(best: PairEstimate, matrix: Floats, items: Ints, rules: Resolved | None) -> tuple[Mask, Floats]:
    """A cheap split of one cluster: the best single item or edge of the spanning tree, improved by single moves."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    tree = _spanning_tree(pairs_within(best, items), items)
    left, right = np.searchsorted(items, tree.left), np.searchsorted(items, tree.right)
    ways = [np.eye(items.size, dtype=bool)]
    for edge in range(len(left)):
        kept = np.arange(len(left)) != edge
        links = coo_array((np.ones(kept.sum()), (left[kept], right[kept])), shape=(items.size, items.size))
        ways.append((connected_components(links, directed=False)[1] == 0)[None, :])
    every = np.unique(np.concatenate(ways), axis=0)
    if rules is not None:
        atom = rules.atom[items]
        same = (atom[:, None] == atom[None, :]) & ~np.eye(items.size, dtype=bool)
        every = every[[not (same & way[:, None] & ~way[None, :]).any() for way in every]]
    every = every[every.any(axis=1) & ~every.all(axis=1)]
    if not len(every):
        return np.zeros((1, items.size), bool), np.array([np.inf])
    costs = np.concatenate([_split_costs(best, matrix, way[None, :])[0] for way in every])
    part, cost = every[int(np.argmin(costs))].copy(), float(costs.min())
    improving = items.size <= MAX_MOVED and rules is None
    while improving:
        flipped = part ^ np.eye(items.size, dtype=bool)
        flipped = flipped[flipped.any(axis=1) & ~flipped.all(axis=1)]
        moved = _split_costs(best, matrix, flipped)[0]
        improving = bool(moved.min() < cost - 1e-15)
        if improving:
            part, cost = flipped[int(np.argmin(moved))], float(moved.min())
    return part[None, :], np.array([cost])


def _split_costs(best: PairEstimate, matrix: Floats, ways: Mask) -> Floats:
    """(clusters, ways): the increase of the loss if each cluster is divided in each of these ways."""
    one = ways.astype(np.float64)
    other = 1 - one
    mass = np.einsum("cij,sj->csi", matrix, one)
    if isinstance(best.loss, VILowerBound):
        rest = np.einsum("cij,sj->csi", matrix, other)
        logs = (one * np.log2(np.where(ways, mass, 1.0))).sum(-1) + (other * np.log2(np.where(ways, 1.0, rest))).sum(-1)
        whole = np.log2(matrix.sum(axis=2)).sum(axis=1)
        m = one.sum(axis=1)
        sizes = _x_log(m) + _x_log(ways.shape[1] - m) - _x_log(np.array(float(ways.shape[1])))
        loss = best.loss
        change = loss.b * sizes[None, :] - (loss.a + loss.b) * (logs - whole[:, None])
        return np.asarray(change / best.similarity.n_items, np.float64)
    separated = (mass * other).sum(axis=-1)
    pairs = np.broadcast_to(one.sum(axis=1) * other.sum(axis=1), separated.shape)
    return _separation_costs(best, pairs, separated)


def _x_log(m: Floats) -> Floats:
    return np.asarray(m * np.log2(np.maximum(m, 1.0)), np.float64)


def _separation_costs(best: PairEstimate, pairs: Floats, probability: Floats) -> Floats:
    """The increase of a loss of pairs if so many joined pairs with this sum of probabilities are separated."""
    if binder := best.loss.pairwise:
        cost = (binder.a + binder.b) * probability - binder.b * pairs
        return np.asarray(2 / best.similarity.n_items**2 * cost, np.float64)
    joined, together = joined_pairs(best.labels, best.similarity)
    before = approximate_ari(best.similarity, joined, together)
    after = [
        approximate_ari(best.similarity, joined - c, together - p)
        for c, p in zip(np.ravel(pairs).tolist(), np.ravel(probability).tolist(), strict=True)
    ]
    return np.asarray(before - np.array(after).reshape(np.shape(probability)), np.float64)


def possible_merges(best: PairEstimate, row: Ints, other: Ints, probability: Floats) -> Merges:
    """The pairs of clusters that some entries connect; all entries of a pair of clusters must be among them."""
    labels, sizes, pairs = best.labels, best.sizes.astype(np.float64), best.similarity
    own, far = labels[row], labels[other]
    key, group = np.unique(own * np.int64(sizes.size) + far, return_inverse=True)
    first, second = key // sizes.size, key % sizes.size
    order = np.lexsort((-probability, group))
    strongest = order[np.searchsorted(group[order], np.arange(key.size))]
    count = np.bincount(group, minlength=key.size)
    total = np.bincount(group, probability, minlength=key.size)
    total = total + pairs.default * (sizes[first] * sizes[second] - count)
    if isinstance(best.loss, VILowerBound):
        cost = _merge_costs_by_mass(best, best.loss, (row, other, probability), group, first, second)
    else:
        cost = _separation_costs(best, -sizes[first] * sizes[second], -total)
    return Merges(first, second, count, cost, row[strongest], other[strongest], probability[strongest])


def _merge_costs_by_mass(
    best: PairEstimate, loss: VILowerBound, pairs: tuple[Ints, Ints, Floats], group: Ints, first: Ints, second: Ints
) -> Floats:
    """The same under the lower bound to VI: the masses of the items on both sides grow."""
    (row, other, probability), n = pairs, best.similarity.n_items
    concerned = np.unique(np.concatenate([row, other]))
    every, neighbor, value = entries(best, concerned)
    same = best.labels[every] == best.labels[neighbor]
    mass = 1 + np.bincount(np.searchsorted(concerned, every[same]), value[same], minlength=concerned.size)
    grown = np.zeros(first.size)
    for item in (row, other):
        key, place = np.unique(group * np.int64(n) + item, return_inverse=True)
        more = np.bincount(place, probability, minlength=key.size)
        grown += np.bincount(
            key // n, np.log2(1 + more / mass[np.searchsorted(concerned, key % n)]), minlength=first.size
        )
    p, q = best.sizes[first].astype(np.float64), best.sizes[second].astype(np.float64)
    return (loss.b * (_x_log(p + q) - _x_log(p) - _x_log(q)) - (loss.a + loss.b) * grown) / n


def may_join(best: PairEstimate, rules: Resolved | None, one: Any, other: Any) -> bool:
    """Whether the constraints allow two clusters to be one."""
    if rules is None:
        return True
    labels, sizes = best.labels, best.sizes
    if sizes[one] + sizes[other] > rules.max_size:
        return False
    ends = labels[rules.apart]
    if ((ends == (one, other)).all(axis=1) | (ends == (other, one)).all(axis=1)).any():
        return False
    if rules.source is None:
        return True
    mine, theirs = (rules.source[labels == cluster] for cluster in (one, other))
    return not np.intersect1d(mine[mine != NOTHING], theirs).size
