"""Pair probabilities after items came or went and pairs were listed, listed anew or dropped."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.arrays import Floats, Ints
from partita._support.names import Names, names_or_none
from partita.pairs.probabilities import Similarity, entries_of_rows
from partita.pairs.sources.matrices import Triples


@dataclass(frozen=True, eq=False)
class Patch:
    """Some rows in the present numbers of items: `items` in increasing order, offsets, neighbors and probabilities."""

    items: Ints
    offsets: Ints
    neighbors: Ints
    probabilities: Floats

    @classmethod
    def of_entries(cls, items: Ints, row: Ints, other: Ints, values: Floats) -> Patch:
        """The rows of some items from their entries in any order."""
        order = np.lexsort((other, row))
        offsets = np.append(np.searchsorted(row[order], items), row.size)
        return cls(items, offsets, other[order], values[order])

    def entries(self, rows: Ints) -> tuple[Ints, Ints, Floats]:
        """The entries of some rows, given by their places: the item of each, the other item, the probability."""
        at, row = entries_of_rows(self.offsets, rows)
        return self.items[rows][row], self.neighbors[at], self.probabilities[at]


NO_ROWS = Patch(np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0))


class RevisedSimilarity(Similarity):
    """The rows of `base`, without items that are gone, with those of `patch` in place of theirs and after them.

    All rows are copied only when somebody asks for `offsets`, `neighbors` or `probabilities`.
    `number` is the present number of each item of `base`, -1 if it is gone, or None if all are as they were. Items that
    `base` does not have are all in `patch`; `later` and `later_sources` have their names and sources.
    """

    base: Similarity
    number: Ints | None
    patch: Patch
    later: Names
    later_sources: Names

    @classmethod
    def of_layers(
        cls, base: Similarity, number: Ints | None, patch: Patch, later: Names, later_sources: Names
    ) -> RevisedSimilarity:
        made = object.__new__(cls)
        layers = {"base": base, "number": number, "patch": patch, "later": later, "later_sources": later_sources}
        for name, value in (layers | {"default": base.default}).items():
            object.__setattr__(made, name, value)
        return made

    @property
    def gone(self) -> Ints:
        """The items of `base` that are no longer there."""
        return np.zeros(0, np.int64) if self.number is None else np.flatnonzero(self.number < 0)

    @classmethod
    def without(
        cls, base: Similarity, gone: Ints, patch: Patch, later: Names, later_sources: Names
    ) -> RevisedSimilarity:
        """The same by the items of `base` that are gone: all others stay in their order."""
        stays = np.ones(base.n_items, np.bool_)
        stays[gone] = False
        number = np.where(stays, np.cumsum(stays) - 1, -1) if gone.size else None
        return cls.of_layers(base, number, patch, later, later_sources)

    @cached_property
    def _origin(self) -> Ints | None:
        """The items of `base` that are still there."""
        return None if self.number is None else np.flatnonzero(self.number >= 0)

    @cached_property
    def _hidden(self) -> Ints:
        """The items of `base` whose rows there no longer count."""
        n_kept, items = self.n_items - len(self.later), self.patch.items
        items = items[items < n_kept]
        if self.number is None or self._origin is None:
            return items
        return np.union1d(self._origin[items], self.gone)

    @cached_property
    def n_items(self) -> int:
        """Number of items."""
        return (self.base.n_items if self._origin is None else self._origin.size) + len(self.later)

    @property
    def n_pairs(self) -> int:
        """Number of listed pairs."""
        lengths = self.base.offsets[self._hidden + 1] - self.base.offsets[self._hidden]
        return (len(self.base.neighbors) - int(lengths.sum()) + len(self.patch.neighbors)) // 2

    def _mass(self) -> float:
        at, _ = entries_of_rows(self.base.offsets, self._hidden)
        return self.base._mass() - float(self.base.probabilities[at].sum()) + float(self.patch.probabilities.sum())

    @cached_property
    def names(self) -> Names | None:
        """Names of the items."""
        base = self.base
        if base.names is not None and self.number is None:
            return (*base.names, *self.later)
        former = map(str, range(base.n_items)) if base.names is None else base.names
        return names_or_none((*self._kept(former), *self.later))

    @cached_property
    def sources(self) -> Names | None:
        """The source of each item."""
        return None if self.base.sources is None else (*self._kept(self.base.sources), *self.later_sources)

    def _kept(self, of_base: Any) -> Any:
        if self.number is None:
            return of_base
        return (value for value, number in zip(of_base, self.number.tolist(), strict=True) if number >= 0)

    def rows_of(self, items: Ints) -> tuple[Ints, Ints, Floats]:
        """The entries of some rows, as `Similarity.rows_of` has them."""
        patch = self.patch
        at = np.searchsorted(patch.items, items)
        own = at < patch.items.size
        own[own] = patch.items[at[own]] == items[own]
        theirs = items[~own] if self._origin is None else self._origin[items[~own]]
        row, other, values = self.base.rows_of(theirs)
        mine, own_row = entries_of_rows(patch.offsets, at[own])
        row = np.concatenate([np.flatnonzero(~own)[row], np.flatnonzero(own)[own_row]])
        order = np.argsort(row, kind="stable")
        other = np.concatenate([other if self.number is None else self.number[other], patch.neighbors[mine]])
        return row[order], other[order], np.concatenate([values, patch.probabilities[mine]])[order]

    @cached_property
    def offsets(self) -> Ints:
        """Where each row begins."""
        lengths = np.zeros(self.n_items, np.int64)
        own = np.diff(self.base.offsets)
        lengths[: self.n_items - len(self.later)] = own if self._origin is None else own[self._origin]
        lengths[self.patch.items] = np.diff(self.patch.offsets)
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])

    @cached_property
    def neighbors(self) -> NDArray[np.uint32]:
        """The other item of each pair."""
        of_base = self.base.neighbors if self.number is None else self.number[self.base.neighbors].astype(np.uint32)
        return self._spliced(of_base, self.patch.neighbors.astype(np.uint32))

    @cached_property
    def probabilities(self) -> Floats:
        """The probability of each pair."""
        return self._spliced(self.base.probabilities, self.patch.probabilities)

    def _spliced(self, of_base: NDArray[Any], of_patch: NDArray[Any]) -> NDArray[Any]:
        """Entries of the base, with those of the patch in the place of rows that no longer count."""
        hidden, offsets = self._hidden, self.base.offsets
        is_patched = np.ones(hidden.size, np.bool_) if self.number is None else self.number[hidden] >= 0
        ends = self.patch.offsets[np.cumsum(is_patched)]  # patched rows are in the same order
        begins = np.where(is_patched, self.patch.offsets[np.maximum(np.cumsum(is_patched) - 1, 0)], ends)
        before = np.concatenate([[0], offsets[hidden + 1]])
        pieces = []
        for rows in zip(before.tolist(), offsets[hidden].tolist(), begins.tolist(), ends.tolist(), strict=False):
            pieces += [of_base[rows[0] : rows[1]], of_patch[rows[2] : rows[3]]]
        last = ends[-1] if hidden.size else 0
        return np.concatenate([*pieces, of_base[before[-1] :], of_patch[last:]])


#: Revised rows are kept apart up to this many entries, or up to one part in so many of all entries.
FEW_ENTRIES = 100_000
LARGEST_SHARE = 8


@dataclass(frozen=True, eq=False)
class Revision:
    """Revised pair probabilities: the items that stay in their order, then the new ones.

    `number` is the number of each former item now, −1 if it is gone; `touched` items are new, or have a pair that is
    new, changed or dropped.
    """

    pairs: Similarity
    number: Ints
    touched: NDArray[np.bool_]


def item_names(pairs: Similarity) -> Names:
    """The names of the items; numbers if they have none."""
    return tuple(map(str, range(pairs.n_items))) if pairs.names is None else pairs.names


def revise(
    pairs: Similarity,
    more: Triples,
    new_names: Names = (),
    new_sources: tuple[str, ...] | None = None,
    gone: Ints | None = None,
    dropped: Ints | None = None,
) -> Revision:
    """The pairs without the items `gone` and the pairs `dropped`, and with `more` (two items, probability).

    New items have the numbers after all former ones. A pair that is listed already gets the new probability; no pair in
    `more` is of an item that is gone.
    """
    layers = (
        pairs if isinstance(pairs, RevisedSimilarity) else RevisedSimilarity.of_layers(pairs, None, NO_ROWS, (), ())
    )
    n_before, n_all = pairs.n_items, pairs.n_items + len(new_names)
    left, right, values = more
    gone = np.zeros(0, np.int64) if gone is None else gone
    dropped = np.zeros((0, 2), np.int64) if dropped is None else dropped
    fresh = np.arange(n_before, n_all)
    changed = np.concatenate([left, right, dropped.ravel(), fresh])
    is_gone, touched = np.zeros(n_all, np.bool_), np.zeros(n_all, np.bool_)
    is_gone[gone] = touched[changed] = True
    changed = np.unique(np.concatenate([changed, layers.rows_of(gone)[1]]))
    changed = changed[~is_gone[changed]]
    items, entries = _merged(layers, changed, n_before, is_gone, (left, right, values), dropped)
    number, later, later_sources = layers.number, (*layers.later, *new_names), layers.later_sources
    if pairs.sources is not None:
        later_sources = (*later_sources, *(new_sources or ("",) * len(new_names)))
    now = np.arange(n_before)
    if gone.size:
        shift = np.cumsum(~is_gone) - 1
        items, entries = shift[items], (shift[entries[0]], shift[entries[1]], entries[2])
        now = np.where(is_gone[:n_before], -1, shift[:n_before])
        kept = ~is_gone[n_all - len(later) :]
        later, later_sources = _chosen(later, kept), _chosen(later_sources, kept)
        n_base = n_before - len(layers.later)
        number = now[:n_base] if number is None else np.where(number >= 0, now[number], -1)
    after = RevisedSimilarity.of_layers(layers.base, number, Patch.of_entries(items, *entries), later, later_sources)
    return Revision(_flat(after), now, touched[~is_gone] if gone.size else touched)


def _merged(
    layers: RevisedSimilarity, changed: Ints, n_before: int, is_gone: NDArray[np.bool_], more: Triples, dropped: Ints
) -> tuple[Ints, Triples]:
    """The items of the patch after a revision in the numbers before it, and the entries of their rows."""
    left, right, values = more
    known, n_all = changed[changed < n_before], len(is_gone)
    row, other, probability = layers.rows_of(known)
    item = known[row]
    replaced = np.concatenate([left * n_all + right, dropped @ [n_all, 1]])
    mirrored = np.concatenate([right * n_all + left, dropped @ [1, n_all]])
    stays = ~(is_gone[other] | np.isin(item * n_all + other, np.concatenate([replaced, mirrored])))
    patch = layers.patch
    same = np.flatnonzero(~(is_gone[patch.items] | np.isin(patch.items, changed)))
    parts = [patch.entries(same), (item[stays], other[stays], probability[stays]), more, (right, left, values)]
    entries = tuple(np.concatenate(column) for column in zip(*parts, strict=True))
    return np.union1d(patch.items[same], changed), entries  # type: ignore[return-value]


def _flat(pairs: RevisedSimilarity) -> Similarity:
    """The same, with rows of its own if too many differ from those that it shares."""
    if len(pairs.patch.neighbors) <= max(FEW_ENTRIES, len(pairs.base.neighbors) // LARGEST_SHARE):
        return pairs
    rows = (pairs.offsets, pairs.neighbors, pairs.probabilities)
    return Similarity.of_rows(*rows, pairs.names, pairs.default, pairs.sources)


def _chosen(names: Names, kept: NDArray[np.bool_]) -> Names:
    return tuple(name for name, is_kept in zip(names, kept.tolist(), strict=False) if is_kept)


def part_of_pairs(pairs: Similarity, items: Ints) -> Similarity:
    """The pairs among some items, in increasing order, which are numbered from 0."""
    row, other, values = pairs.rows_of(items)
    place = np.searchsorted(items, other)
    own = place < items.size
    own[own] = items[place[own]] == other[own]
    counts = np.bincount(row[own], minlength=items.size)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return Similarity.of_rows(offsets, place[own].astype(np.uint32), values[own], None, pairs.default)
