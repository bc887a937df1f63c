"""Lasting identifiers of clusters, and what an update does with each of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita._support.arrays import Ints, Labels
from partita._support.html import ShownAsText
from partita._support.names import Names
from partita._support.optional import optional

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
        pd = optional("pandas", "tables of results need pandas", "io")
        return pd.DataFrame({"id": self.id, "kind": self.kind, "records": self.records})

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
    """

    ids: Ints
    next_id: int
    before: Ints
    gone_before: Ints
    gone_names: Names = ()

    @classmethod
    def first(cls, labels: Labels) -> Ledger:
        """That of a first estimate: the clusters have the identifiers 0, 1, ..."""
        return cls(labels.copy(), int(labels.max()) + 1, np.full(labels.size, NONE), np.zeros(0, np.int64))

    def then(self, number: Ints, labels: Labels, items: Labels, names: Names) -> Ledger:
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
        return Ledger(of_cluster[labels], self.next_id + fresh.size, before, self.ids[~stays], names)

    def changes(self, names: Names | None) -> Changes:
        """What happened to each identifier; `names` are those of the items."""
        after = np.concatenate([self.ids, np.full(self.gone_before.size, NONE)])
        before = np.concatenate([self.before, self.gone_before])
        every, kind = _kinds(before, after)
        moved = np.flatnonzero(before != after)
        owner = np.concatenate([before[moved], after[moved]])
        item = np.concatenate([moved, moved])[owner != NONE]
        owner = owner[owner != NONE]
        order = np.lexsort((item, owner))
        begins, ends = (np.searchsorted(owner[order], every, side) for side in ("left", "right"))

        def shown(i: int) -> str:
            if i >= self.ids.size:
                return self.gone_names[i - self.ids.size]
            return str(i) if names is None else names[i]

        records = tuple(
            tuple(shown(i) for i in item[order[begin:end]].tolist()) if end > begin else ()
            for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)
        )
        return Changes(every, np.array(KINDS)[kind], records)


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


def _kinds(before: Ints, after: Ints) -> tuple[Ints, Ints]:
    """All identifiers, and the number of the kind of each."""
    every = np.unique(np.concatenate([before, after]))
    every = every[every != NONE]
    was, now = _counts(before, every), _counts(after, every)
    moved = before != after
    is_new, is_gone = every[was == 0], every[now == 0]
    split = np.isin(every, before[moved & np.isin(after, is_new)])
    merged = np.isin(every, after[moved & np.isin(before, is_gone)])
    same = (_counts(before[moved], every) == 0) & (_counts(after[moved], every) == 0)
    conditions = [now == 0, was == 0, merged, split, same, now >= was]
    return every, np.select(conditions, [GONE, NEW, MERGED, SPLIT, KEPT, GROWN], SHRUNK)


def _counts(ids: Ints, every: Ints) -> Ints:
    """How many items have each identifier."""
    return np.bincount(np.searchsorted(every, ids[ids != NONE]), minlength=every.size)
