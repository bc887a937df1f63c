"""Why an estimate from pair probabilities is as it is: what each cluster's cheapest split and merges would cost.

With c the pairs that a split separates and p the sum of their probabilities, Binder's loss changes by
(2/n²) [(a + b) p - b c], and the approximate ARI by its value at Q - c and R - p. Under the lower bound to VI the sizes
and the masses Σ_j π_ij of both parts change. A merge is the reverse. All ways to split small clusters in two are
compared, cluster sizes together; in larger ones single items, the edges of the maximum spanning tree, and moves of
single items from the best of these.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita._support.arrays import Floats, Ints
from partita._support.errors import Argument, ArgumentError
from partita._support.hints import plural
from partita._support.shown import ShownAsText
from partita.pairs.losses import VILowerBound, approximate_ari, joined_pairs
from partita.pairs.revision import item_names
from partita.search.constraints import NOTHING, Resolved, resolve
from partita.uncertainty.uncertain_pairs import largest_first

if TYPE_CHECKING:
    from partita.estimation.pair_estimate import PairEstimate

#: All splits of a cluster with at most this many items are compared.
MAX_COMPARED = 12
#: Single items are moved between the parts of a cluster with at most this many items; larger ones than the second
#: number are not split at all: their pairs would take too much memory.
MAX_MOVED, MAX_SPLIT = 150, 3000
#: Numbers and records that are handled at a time.
_BLOCK, _ROWS = 4_000_000, 1_000_000

Mask = NDArray[np.bool_]


class LinkedPair(NamedTuple):
    """Two records and the probability that they belong together."""

    left: str
    right: str
    probability: float


class Split(NamedTuple):
    """The cheapest division of a cluster: the records of its smaller part, the increase of the loss, the strongest pair
    that it separates, and whether all divisions were compared."""

    records: tuple[str, ...]
    cost: float
    pair: LinkedPair
    exact: bool


class Merge(NamedTuple):
    """A neighbouring cluster: its number and identifier, the increase of the loss if it joins, the strongest pair."""

    cluster: int
    id: int
    cost: float
    pair: LinkedPair


class Question(NamedTuple):
    """What to ask a reviewer: do two records belong together?

    `kind` is "split" if the estimate joins them and "merge" if not; `change` is the expected number of listed pairs
    whose verdict the answer reverses, `cost` the increase of the loss, and `ids` the clusters concerned.
    """

    kind: str
    left: str
    right: str
    probability: float
    change: float
    cost: float
    ids: tuple[int, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Reasons(ShownAsText):
    """What holds a cluster together, and what its alternatives would cost: `PairEstimate.reasons` makes it.

    Attributes
    ----------
    cluster : int
        Its number in `labels`.
    id : int
        Its lasting identifier.
    records : tuple of str
        Its records.
    pairs : tuple of LinkedPair
        The listed pairs within it, the strongest first.
    weakest : LinkedPair or None
        Its weakest link: the cluster falls apart if all pairs up to this one are left out. None if listed pairs do not
        connect it.
    split : Split or None
        Its cheapest division in two; None for a single record, for records that must be together, and for clusters
        that are too large.
    merges : tuple of Merge
        Clusters that have a listed pair with it and may join it under the constraints, the cheapest first.
    """

    cluster: int
    id: int
    records: tuple[str, ...]
    pairs: tuple[LinkedPair, ...]
    weakest: LinkedPair | None
    split: Split | None
    merges: tuple[Merge, ...]

    def __repr__(self) -> str:
        lines = [f"Cluster {self.id}: {plural(len(self.records), 'record')}, {plural(len(self.pairs), 'pair')}"]
        if self.weakest is not None:
            lines.append(f"  weakest link    {_shown(self.weakest)}")
        if self.split is not None:
            records = ", ".join(self.split.records[:3]) + ", ..." * (len(self.split.records) > 3)
            lines.append(f"  cheapest split  {records} apart from the rest costs {self.split.cost:.4g}")
        if self.merges:
            nearest = self.merges[0]
            lines.append(
                f"  cheapest merge  with cluster {nearest.id} costs {nearest.cost:.4g}; {_shown(nearest.pair)}"
            )
        return "\n".join(lines)


def _shown(pair: LinkedPair) -> str:
    return f"{pair.left} and {pair.right}, {pair.probability:.4g}"


def cluster_reasons(best: PairEstimate, cluster: Any) -> Reasons:
    """The reasons for one cluster, given by its number, or by the name of one of its records."""
    number = _cluster_number(best, cluster)
    names, labels, ids = item_names(best.similarity), best.labels, best.ids
    items = np.flatnonzero(labels == number)
    rules = _rules(best)

    def linked(i: int, j: int, probability: float) -> LinkedPair:
        return LinkedPair(names[min(i, j)], names[max(i, j)], float(probability))

    matrix, _ = _matrices(best, items[None, :])
    inner = _pairs_within(best, items)
    strongest = np.lexsort((inner.right, inner.left, -inner.probability))
    splits = _splits(best, matrix, items[None, :], rules)
    row, other, probability = _entries(best, items)
    across = labels[other] != number
    merges = _merges(best, row[across], other[across], probability[across])
    allowed = [
        m for m in np.argsort(merges.cost, kind="stable") if _may_join(best, rules, number, int(merges.other[m]))
    ]
    split = None
    if np.isfinite(splits.cost[0]):
        part = items[_smaller(splits.part[0])]
        pair = linked(int(splits.left[0]), int(splits.right[0]), splits.probability[0])
        exact = items.size <= MAX_COMPARED
        split = Split(tuple(names[i] for i in part.tolist()), float(splits.cost[0]), pair, exact)
    weakest = _weakest_link(inner, items)
    first = {int(label): int(own) for label, own in zip(labels[merges.right], ids[merges.right], strict=True)}
    return Reasons(
        number,
        int(ids[items[0]]),
        tuple(names[i] for i in items.tolist()),
        tuple(linked(int(inner.left[p]), int(inner.right[p]), inner.probability[p]) for p in strongest),
        None if weakest is None else linked(*weakest),
        split,
        tuple(
            Merge(
                int(merges.other[m]), first[int(merges.other[m])], float(merges.cost[m]),
                linked(int(merges.left[m]), int(merges.right[m]), merges.probability[m]),
            )
            for m in allowed
        ),
    )  # fmt: skip


def _cluster_number(best: PairEstimate, cluster: Any) -> int:
    if isinstance(cluster, str):
        names = item_names(best.similarity)
        if cluster not in names:
            raise ArgumentError(Argument("cluster", value=cluster), f" is {cluster!r}, which is not a record")
        return int(best.labels[names.index(cluster)])
    if not isinstance(cluster, int | np.integer) or isinstance(cluster, bool):
        raise TypeError(f"cluster must be the number of a cluster or the name of a record, not {cluster!r}")
    if not 0 <= cluster < best.n_clusters:
        said = f" is {cluster}, but there are clusters 0..{best.n_clusters - 1}"
        raise ArgumentError(Argument("cluster", value=cluster), said)
    return int(cluster)


def questions(best: PairEstimate, most: int = 1000, clusters: Mask | None = None) -> list[Question]:
    """What to ask a reviewer, in the order of what the answer would change.

    For each cluster the strongest pair that its cheapest split separates, and for each two clusters with a listed pair
    the strongest of these. The answer reverses the verdict on all pairs between the two parts or clusters; `change` is
    the number of listed ones times the probability of that answer. Clusters of more than 3,000 records are left out.
    `clusters` says of which clusters the questions are; by default of all.
    """
    rules, sizes = _rules(best), best.sizes
    ids = np.empty(sizes.size, np.int64)
    ids[best.labels] = best.ids
    rows: list[tuple[float, float, str, int, int, float, tuple[int, ...]]] = []
    for items in _clusters_by_size(best, clusters):
        matrix, listed = _matrices(best, items)
        found = _splits(best, matrix, items, rules)
        pairs = (listed & found.part[:, :, None] & ~found.part[:, None, :]).sum(axis=(1, 2))
        change = np.where(np.isfinite(found.cost), (1 - found.probability) * pairs, -1.0)
        for c in largest_first(change, most).tolist():
            if change[c] >= 0:
                own = (int(ids[best.labels[items[c, 0]]]),)
                ends = int(found.left[c]), int(found.right[c])
                rows.append((-float(change[c]), float(found.cost[c]), "split", *ends, float(found.probability[c]), own))
    merges = _merges(best, *_promising(best, clusters, most if rules is None else None))
    change = merges.probability * merges.listed
    order = np.argsort(-change, kind="stable").tolist()
    allowed = islice((m for m in order if _may_join(best, rules, merges.own[m], merges.other[m])), most)
    for m in allowed:
        both = tuple(ids[sorted((merges.own[m], merges.other[m]))].tolist())
        ends = int(merges.left[m]), int(merges.right[m])
        rows.append((-float(change[m]), float(merges.cost[m]), "merge", *ends, float(merges.probability[m]), both))
    names = item_names(best.similarity)
    return [
        Question(kind, names[min(i, j)], names[max(i, j)], probability, -order, cost, own)
        for order, cost, kind, i, j, probability, own in sorted(rows)[:most]
    ]


def _promising(best: PairEstimate, clusters: Mask | None, few: int | None) -> tuple[Ints, Ints, Floats]:
    """All entries between those pairs of clusters of which an answer may change most; each pair of clusters once."""
    labels, sizes = best.labels, best.sizes
    order = np.argsort(labels, kind="stable")
    if clusters is not None:
        order = order[clusters[labels[order]]]
    ends = np.flatnonzero(np.diff(labels[order], append=-1)) + 1  # of whole clusters
    cuts = ends[np.flatnonzero(np.diff(ends // _ROWS, append=-1))]
    found: list[tuple[Any, Any, Any]] = []
    for items in np.split(order, cuts[:-1]):
        row, other, probability = _entries(best, items)
        own, far = labels[row], labels[other]
        once = own < far if clusters is None else (own != far) & ((own < far) | ~clusters[far])
        row, other, probability = row[once], other[once], probability[once]
        group = np.unique(own[once] * np.int64(sizes.size) + far[once], return_inverse=True)[1]
        if few is not None:
            strongest = np.zeros(int(group.max(initial=-1)) + 1)
            np.maximum.at(strongest, group, probability)
            chosen = np.zeros(strongest.size, np.bool_)
            chosen[largest_first(strongest * np.bincount(group, minlength=strongest.size), few)] = True
            kept = chosen[group]
            row, other, probability = row[kept], other[kept], probability[kept]
        found.append((row, other, probability))
    row, other, probability = (np.concatenate(column) for column in zip(*found, strict=True))
    return row, other, probability


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Listed pairs, by the numbers of their items."""

    left: Ints
    right: Ints
    probability: Floats


@dataclass(frozen=True, eq=False)
class _Splits:
    """For each of several clusters of the same size the cheapest split, infinite if there is none.

    `part` says which items are in one part; `left` and `right` are the items of the strongest pair across.
    """

    cost: Floats
    part: Mask
    left: Ints
    right: Ints
    probability: Floats


@dataclass(frozen=True, eq=False)
class _Merges:
    """Pairs of clusters, the number of listed pairs, the change of the loss if they are joined, the strongest pair."""

    own: Ints
    other: Ints
    listed: Ints
    cost: Floats
    left: Ints
    right: Ints
    probability: Floats


def _rules(best: PairEstimate) -> Resolved | None:
    pairs = best.similarity
    return None if best.constraints is None else resolve(best.constraints, pairs.names, pairs.n_items, "similarity")


def _entries(best: PairEstimate, items: Ints) -> tuple[Ints, Ints, Floats]:
    """Row, neighbor and probability of the entries of some rows."""
    row, other, probability = best.similarity.rows_of(items)
    return items[row], other, probability


def _pairs_within(best: PairEstimate, items: Ints) -> _Pairs:
    row, other, probability = _entries(best, items)
    own = (best.labels[other] == best.labels[items[0]]) & (row < other)
    return _Pairs(row[own], other[own], probability[own])


def _weakest_link(inner: _Pairs, items: Ints) -> tuple[int, int, float] | None:
    """The least probable edge of the maximum spanning tree."""
    tree = _spanning_tree(inner, items)
    if len(tree.left) < max(1, items.size - 1):
        return None
    least = int(np.argmin(tree.probability))
    return int(tree.left[least]), int(tree.right[least]), float(tree.probability[least])


def _spanning_tree(inner: _Pairs, items: Ints) -> _Pairs:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    # older SciPy's tree takes no wider indices
    left, right = (np.searchsorted(items, side).astype(np.int32) for side in (inner.left, inner.right))
    weights = coo_array((2 - inner.probability, (left, right)), shape=(items.size, items.size))
    tree = minimum_spanning_tree(weights.tocsr()).tocoo()
    return _Pairs(items[tree.row], items[tree.col], 2 - tree.data)


def _clusters_by_size(best: PairEstimate, clusters: Mask | None) -> Iterator[Ints]:
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


def _matrices(best: PairEstimate, items: Ints) -> tuple[Floats, Mask]:
    """(clusters, m, m): the probabilities of all pairs of each cluster, ones on the diagonal, and which are listed."""
    pairs, (count, size) = best.similarity, items.shape
    place = np.full(pairs.n_items, -1)
    place[items.ravel()] = np.arange(items.size)
    row, other, probability = _entries(best, items.ravel())
    own = best.labels[row] == best.labels[other]
    matrix = np.full((count, size, size), pairs.default)
    matrix[:, np.arange(size), np.arange(size)] = 1.0
    at = place[row[own]]
    listed = np.zeros(matrix.shape, np.bool_)
    cells = (at // size, at % size, place[other[own]] % size)
    matrix[cells], listed[cells] = probability[own], True
    return matrix, listed


def _splits(best: PairEstimate, matrix: Floats, items: Ints, rules: Resolved | None) -> _Splits:
    """The cheapest split of each of several clusters of the same size."""
    count, size = items.shape
    if size <= MAX_COMPARED:
        ways = (np.arange(1, max(2 ** (size - 1), 1))[:, None] >> np.arange(size - 1, -1, -1) & 1).astype(bool)
        parts = np.broadcast_to(ways, (count, *ways.shape))
        costs = _split_costs(best, matrix, ways)
        if rules is not None and rules.n_atoms < rules.n_items:
            atom = rules.atom[items]
            same = atom[:, :, None] == atom[:, None, :]
            cuts = ways[:, :, None] & ~ways[:, None, :]
            costs[(same[:, None] & cuts[None]).any(axis=(2, 3))] = np.inf
        if not len(ways):
            nothing = np.zeros(count, np.int64)
            return _Splits(np.full(count, np.inf), np.zeros((count, size), bool), nothing, nothing, np.zeros(count))
        cheapest = np.argmin(costs, axis=1)
        part, cost = parts[np.arange(count), cheapest], costs[np.arange(count), cheapest]
    elif size <= MAX_SPLIT:
        part, cost = _split_of_large(best, matrix, items[0], rules)
    else:
        part, cost = np.zeros((count, size), bool), np.full(count, np.inf)
    across = np.where(part[:, :, None] & ~part[:, None, :], matrix, -1.0).reshape(count, -1)
    strongest = np.argmax(across, axis=1)
    ends = np.arange(count)
    return _Splits(cost, part, items[ends, strongest // size], items[ends, strongest % size], across[ends, strongest])


def _split_of_large(best: PairEstimate, matrix: Floats, items: Ints, rules: Resolved | None) -> tuple[Mask, Floats]:
    """A cheap split of one cluster: the best single item or edge of the spanning tree, improved by single moves."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    tree = _spanning_tree(_pairs_within(best, items), items)
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


def _merges(best: PairEstimate, row: Ints, other: Ints, probability: Floats) -> _Merges:
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
        cost = _merge_costs_by_mass(best, row, other, probability, group, first, second)
    else:
        cost = _separation_costs(best, -sizes[first] * sizes[second], -total)
    return _Merges(first, second, count, cost, row[strongest], other[strongest], probability[strongest])


def _merge_costs_by_mass(
    best: PairEstimate, row: Ints, other: Ints, probability: Floats, group: Ints, first: Ints, second: Ints
) -> Floats:
    """The same under the lower bound to VI: the masses of the items on both sides grow."""
    loss, n = best.loss, best.similarity.n_items
    assert isinstance(loss, VILowerBound)
    concerned = np.unique(np.concatenate([row, other]))
    every, neighbor, value = _entries(best, concerned)
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


def _may_join(best: PairEstimate, rules: Resolved | None, one: Any, other: Any) -> bool:
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


def _smaller(part: Mask) -> Mask:
    return part if 2 * part.sum() <= part.size else ~part
