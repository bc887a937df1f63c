"""Lasting identifiers of clusters, and what an update does with each of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita._support.arrays import Ints, Labels
from partita._support.names import Names
from partita._support.optional import data_frame
from partita._support.shown import ShownAsText

KINDS = ("kept", "grown", "shrunk", "split", "merged", "new", "gone")
KEPT, GROWN, SHRUNK, SPLIT, MERGED, NEW, GONE = range(len(KINDS))
#: The identifier of an item that was not there, or is no longer there.
NONE = -1


class Change(NamedTuple):
    """What happened to one identifier, and the records that came to it or left it."""

    id: int
    kind: str
    records: tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Changes(ShownAsText):
    """One row per identifier that a cluster has or had: the value of `PairEstimate.changes`.

    Columns are also found as ``changes["kind"]``; a slice or a mask gives some of the rows.

    Attributes
    ----------
    id : (rows,) int array
        The identifiers, in increasing order.
    kind : (rows,) str array
        "kept": the cluster has the same records; "grown" and "shrunk": it has more or fewer; "split": some of its
        records are a new cluster; "merged": it has records of a cluster that is gone (also if it is split); "new": it
        was not there before; "gone": no cluster has the identifier any more.
    records : tuple of tuples of str
        The records that came to the cluster or left it; all of a new one, and all former ones of one that is gone.
    """

    id: Ints
    kind: NDArray[np.str_]
    records: tuple[tuple[str, ...], ...]

    def __len__(self) -> int:
        return len(self.id)

    def __iter__(self) -> Iterator[Change]:
        return map(Change, self.id.tolist(), self.kind.tolist(), self.records)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            if key not in Change._fields:
                raise KeyError(key)
            return getattr(self, key)
        rows = np.arange(len(self))[key]
        if rows.ndim == 0:
            return Change(int(self.id[rows]), str(self.kind[rows]), self.records[int(rows)])
        return Changes(self.id[rows], self.kind[rows], tuple(self.records[row] for row in rows.tolist()))

    @property
    def counts(self) -> dict[str, int]:
        """The number of identifiers of each kind."""
        return {kind: int((self.kind == kind).sum()) for kind in KINDS}

    def to_pandas(self) -> Any:
        """The table as a pandas DataFrame."""
        return data_frame({"id": self.id, "kind": self.kind, "records": self.records})

    def __repr__(self) -> str:
        return f"Changes: {', '.join(f'{count:,} {kind}' for kind, count in self.counts.items() if count) or 'none'}"


@dataclass(frozen=True, eq=False)
class Ledger:
    """The identifier of each item, now and before.

    Attributes
    ----------
    ids : (n_items,) int array
        The identifier of each item's cluster.
    next_id : int
        All identifiers that were ever given are below this.
    before : (n_items,) int array
        The identifier that each item had before; -1 if it was not there.
    gone_before : (n_gone,) int array
        The identifiers that items had that are no longer there.
    gone_names : tuple of str
        The names of these items.
    touched : int array
        Items that are new, or of which the last update changed a pair or a constraint.
    """

    ids: Ints
    next_id: int
    before: Ints
    gone_before: Ints
    gone_names: Names = ()
    touched: Ints = field(default_factory=lambda: np.zeros(0, np.int64))

    @classmethod
    def first(cls, labels: Labels) -> Ledger:
        """That of a first estimate: the clusters have the identifiers 0, 1, ..."""
        return cls(labels.copy(), int(labels.max()) + 1, np.full(labels.size, NONE), np.zeros(0, np.int64))

    def then(self, number: Ints, labels: Labels, items: Labels, names: Names, touched: Ints) -> Ledger:
        """The ledger after an update.

        A new cluster gets the identifier of the former one with which it shares most items. Pairs of clusters are
        considered in the order of what they share, the older identifier first among equals, so that no identifier is
        given twice. A cluster that gets none has one that was never given before.

        Parameters
        ----------
        number : (n_before,) int array
            The number that each former item has now; -1 if it is gone.
        labels : (n_now,) int array
            The new clusters.
        items : int array
            The items whose clusters may have changed.
        names : tuple of str
            The names of the items that are gone.
        touched : int array
            The items that the update touched.
        """
        stays = number >= 0
        before = np.full(labels.size, NONE)
        before[number[stays]] = self.ids[stays]
        of_cluster = np.full(int(labels.max()) + 1, NONE)
        unchanged = np.ones(labels.size, np.bool_)
        unchanged[items] = False
        of_cluster[labels[unchanged]] = before[unchanged]
        known = items[before[items] != NONE]
        for own, cluster in _by_overlap(before[known], labels[known]):
            of_cluster[cluster] = own
        fresh = np.flatnonzero(of_cluster == NONE)
        of_cluster[fresh] = self.next_id + np.arange(fresh.size)
        return Ledger(of_cluster[labels], self.next_id + fresh.size, before, self.ids[~stays], names, touched)

    def changes(self, names: Names | None) -> Changes:
        """What happened to each identifier; `names` are those of the items."""
        moved = self.moved(names)
        kept = np.setdiff1d(np.unique(self.ids), moved.id, assume_unique=True)
        every = np.concatenate([moved.id, kept])
        order = np.argsort(every)
        kind = np.concatenate([moved.kind, np.full(kept.size, KINDS[KEPT])])
        records = (*moved.records, *((),) * kept.size)
        return Changes(every[order], kind[order], tuple(records[k] for k in order.tolist()))

    def moved(self, names: Names | None) -> Changes:
        """The same for the identifiers of which records came or left, without those that are kept."""
        stayed = np.flatnonzero(self.before != self.ids)
        after = np.concatenate([self.ids[stayed], np.full(self.gone_before.size, NONE)])
        before = np.concatenate([self.before[stayed], self.gone_before])
        every = np.unique(np.concatenate([before, after]))
        every = every[every != NONE]
        kind = self._kinds(every, before, after)
        owner, item = np.concatenate([before, after]), np.tile(np.arange(before.size), 2)
        item, owner = item[owner != NONE], owner[owner != NONE]
        order = np.lexsort((item, owner))
        begins, ends = (np.searchsorted(owner[order], every, side) for side in ("left", "right"))

        def shown(k: int) -> str:
            if k >= stayed.size:
                return self.gone_names[k - stayed.size]
            return str(stayed[k]) if names is None else names[int(stayed[k])]

        records = tuple(
            tuple(shown(k) for k in item[order[begin:end]].tolist())
            for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)
        )
        return Changes(every, np.array(KINDS)[kind], records)

    def _kinds(self, every: Ints, before: Ints, after: Ints) -> Ints:
        """The number of the kind of each of some identifiers; `before` and `after` are those of items that moved."""
        concerned = np.zeros(self.next_id, np.bool_)
        concerned[every] = True
        stays = self.ids[(self.before == self.ids) & concerned[self.ids]]
        same, left, came = (np.bincount(np.searchsorted(every, x), minlength=every.size) for x in (
            stays, before[before != NONE], after[after != NONE]
        ))  # fmt: skip
        was, now = same + left, same + came
        is_new, is_gone = every[was == 0], every[now == 0]
        split = np.isin(every, before[np.isin(after, is_new)])
        merged = np.isin(every, after[np.isin(before, is_gone)])
        conditions = [now == 0, was == 0, merged, split, now >= was]
        return np.select(conditions, [GONE, NEW, MERGED, SPLIT, GROWN], SHRUNK)


def _by_overlap(ids: Ints, labels: Labels) -> Iterator[tuple[int, int]]:
    """Pairs of an identifier and a new cluster, each in at most one pair: those that share most items first."""
    pairs, shared = np.unique(np.column_stack([ids, labels]), axis=0, return_counts=True)
    order = np.lexsort((pairs[:, 1], pairs[:, 0], -shared))
    given: set[int] = set()
    named: set[int] = set()
    for own, cluster in pairs[order].tolist():
        if own not in given and cluster not in named:
            given.add(own)
            named.add(cluster)
            yield own, cluster
