"""Pair probabilities that share the rows of others: what changed is kept apart, so that only this has a cost."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.arrays import Floats, Ints
from partita._support.names import Names, names_or_none
from partita.pairs.probabilities import Similarity, entries_of_rows


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
