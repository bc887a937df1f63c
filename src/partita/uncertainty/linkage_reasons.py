"""Why an estimate from pair probabilities is as it is: what each cluster's cheapest split and merges would cost."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from partita._support.arrays import Floats, Ints
from partita._support.errors import Argument, ArgumentError
from partita._support.hints import plural
from partita._support.shown import ShownAsText
from partita.pairs.revision import item_names
from partita.uncertainty.linkage_costs import (
    Mask,
    cheapest_splits,
    clusters_by_size,
    entries,
    matrices,
    may_join,
    pairs_within,
    possible_merges,
    rules_of,
    weakest_link,
)
from partita.uncertainty.uncertain_pairs import largest_first

if TYPE_CHECKING:
    from partita.estimation.pair_estimate import PairEstimate

#: Records that are handled at a time.
_ROWS = 1_000_000


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
    rules = rules_of(best)

    def linked(i: int, j: int, probability: float) -> LinkedPair:
        return LinkedPair(names[min(i, j)], names[max(i, j)], float(probability))

    matrix, _ = matrices(best, items[None, :])
    inner = pairs_within(best, items)
    strongest = np.lexsort((inner.right, inner.left, -inner.probability))
    splits = cheapest_splits(best, matrix, items[None, :], rules)
    row, other, probability = entries(best, items)
    across = labels[other] != number
    merges = possible_merges(best, row[across], other[across], probability[across])
    allowed = [m for m in np.argsort(merges.cost, kind="stable") if may_join(best, rules, number, int(merges.other[m]))]
    split = None
    if np.isfinite(splits.cost[0]):
        part = splits.part[0]
        part = items[part if 2 * part.sum() <= part.size else ~part]
        pair = linked(int(splits.left[0]), int(splits.right[0]), splits.probability[0])
        split = Split(tuple(names[i] for i in part.tolist()), float(splits.cost[0]), pair, splits.exact)
    weakest = weakest_link(inner, items)
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
    rules, sizes = rules_of(best), best.sizes
    ids = np.empty(sizes.size, np.int64)
    ids[best.labels] = best.ids
    rows: list[tuple[float, float, str, int, int, float, tuple[int, ...]]] = []
    for items in clusters_by_size(best, clusters):
        matrix, listed = matrices(best, items)
        found = cheapest_splits(best, matrix, items, rules)
        pairs = (listed & found.part[:, :, None] & ~found.part[:, None, :]).sum(axis=(1, 2))
        change = np.where(np.isfinite(found.cost), (1 - found.probability) * pairs, -1.0)
        for c in largest_first(change, most).tolist():
            if change[c] >= 0:
                own = (int(ids[best.labels[items[c, 0]]]),)
                ends = int(found.left[c]), int(found.right[c])
                rows.append((-float(change[c]), float(found.cost[c]), "split", *ends, float(found.probability[c]), own))
    merges = possible_merges(best, *_promising(best, clusters, most if rules is None else None))
    change = merges.probability * merges.listed
    order = np.argsort(-change, kind="stable").tolist()
    allowed = islice((m for m in order if may_join(best, rules, merges.own[m], merges.other[m])), most)
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
        row, other, probability = entries(best, items)
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
