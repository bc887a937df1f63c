"""Pair probabilities after items came or went and pairs were listed, listed anew or dropped."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from partita._support.arrays import Floats, Ints
from partita._support.names import Names, names_or_none
from partita.pairs.probabilities import Similarity
from partita.pairs.sources.matrices import Triples


@dataclass(frozen=True, eq=False)
class Revision:
    """Revised pair probabilities.

    Attributes
    ----------
    pairs : Similarity
        The pairs now: the items that stay in their order, then the new ones.
    number : (n_before,) int array
        The number that each former item has now; -1 if it is gone.
    touched : (n_now,) bool array
        Items that are new, or that have a pair that is new, changed or dropped.
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
    """The pairs without some items and pairs, and with others.

    Parameters
    ----------
    pairs : Similarity
        The pairs before.
    more : three (m,) arrays
        Distinct pairs (two items, probability); new items have the numbers after all former ones. A pair that is
        listed already gets the new probability.
    new_names : tuple of str
        Names of the new items.
    new_sources : tuple of str, optional
        Their sources.
    gone : int array, optional
        Former items that leave, with all of their pairs; none of them is in `more`.
    dropped : (k, 2) int array, optional
        Listed pairs that are listed no longer.
    """
    n_before, n_all = pairs.n_items, pairs.n_items + len(new_names)
    left, right, values = more
    touched = np.zeros(n_all, np.bool_)
    touched[n_before:] = touched[left] = touched[right] = True
    rows = _Rows(
        np.append(pairs.offsets, np.full(len(new_names), pairs.offsets[-1])), pairs.neighbors, pairs.probabilities
    )
    is_gone = np.zeros(n_all, np.bool_)
    if dropped is not None and len(dropped):
        touched[dropped.ravel()] = True
        rows = rows.without(np.concatenate([dropped, dropped[:, ::-1]]))
    if gone is not None and gone.size:
        is_gone[gone] = True
        lost = rows.pairs_of(gone)
        rows = rows.without(np.unique(np.concatenate([lost, lost[:, ::-1]]), axis=0))
    rows = rows.with_pairs(
        np.concatenate([left, right]), np.concatenate([right, left]), np.concatenate([values, values])
    )
    number = np.where(is_gone, -1, np.cumsum(~is_gone) - 1)
    if is_gone.any():
        rows = _Rows(
            np.append(rows.offsets[:-1][~is_gone], rows.offsets[-1]),
            number[rows.neighbors].astype(np.uint32),
            rows.probabilities,
        )
    names: Names | None = _chosen((*item_names(pairs), *new_names), ~is_gone)
    if pairs.names is None or is_gone.any():  # names that are no numbers in order do not become such by more of them
        names = names_or_none(names or ())
    sources = None
    if pairs.sources is not None:
        sources = _chosen((*pairs.sources, *(new_sources or ("",) * len(new_names))), ~is_gone)
    now = Similarity.of_rows(rows.offsets, rows.neighbors, rows.probabilities, names, pairs.default, sources)
    return Revision(now, number[:n_before], touched[~is_gone])


def _chosen(names: Names, kept: NDArray[np.bool_]) -> Names:
    return names if kept.all() else tuple(name for name, is_kept in zip(names, kept.tolist(), strict=True) if is_kept)


def part_of_pairs(pairs: Similarity, items: Ints) -> Similarity:
    """The pairs among some items, in increasing order, which are numbered from 0."""
    place = np.full(pairs.n_items, -1)
    place[items] = np.arange(items.size)
    entries, row = _entries(pairs.offsets, items)
    other = place[pairs.neighbors[entries]]
    own = other >= 0
    counts = np.bincount(row[own], minlength=items.size)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return Similarity.of_rows(
        offsets, other[own].astype(np.uint32), pairs.probabilities[entries][own], None, pairs.default
    )


def _entries(offsets: Ints, items: Ints) -> tuple[Ints, Ints]:
    """The entries of some rows, one row after the other, and for each entry the place of its row in `items`."""
    lengths = offsets[items + 1] - offsets[items]
    begins = np.cumsum(lengths) - lengths
    row = np.repeat(np.arange(items.size), lengths)
    return np.arange(row.size) - begins[row] + offsets[items][row], row


@dataclass(frozen=True, eq=False)
class _Rows:
    """Symmetric rows of pairs, as `Similarity` has them."""

    offsets: Ints
    neighbors: NDArray[np.uint32]
    probabilities: Floats

    def pairs_of(self, items: Ints) -> Ints:
        """(m, 2): all pairs of some items."""
        entries, row = _entries(self.offsets, items)
        return np.column_stack([items[row], self.neighbors[entries].astype(np.int64)])

    def _find(self, left: Ints, right: Ints) -> tuple[Ints, NDArray[np.bool_]]:
        """Where each entry is, or where it would be inserted, and whether it is there."""
        n = len(self.offsets)
        items, of_pair = np.unique(left, return_inverse=True)
        entries, row = _entries(self.offsets, items)
        keys = row * n + self.neighbors[entries]
        wanted = of_pair * n + right
        at = np.searchsorted(keys, wanted)
        ends = self.offsets[left + 1]
        within = at < keys.size
        same_row = np.zeros(left.size, np.bool_)
        same_row[within] = row[at[within]] == of_pair[within]
        place = np.where(same_row, entries[np.minimum(at, entries.size - 1)] if entries.size else 0, ends)
        there = np.zeros(left.size, np.bool_)
        there[within] = keys[at[within]] == wanted[within]
        return place, there

    def without(self, pairs: Ints) -> _Rows:
        """Without some entries (row, neighbor), which are there."""
        place, _ = self._find(pairs[:, 0], pairs[:, 1])
        counts = np.bincount(pairs[:, 0], minlength=len(self.offsets) - 1)
        offsets = self.offsets - np.concatenate([[0], np.cumsum(counts)])
        return _Rows(offsets, np.delete(self.neighbors, place), np.delete(self.probabilities, place))

    def with_pairs(self, left: Ints, right: Ints, values: Floats) -> _Rows:
        """With some entries, which replace those that are there."""
        order = np.lexsort((right, left))
        left, right, values = left[order], right[order], values[order]
        place, there = self._find(left, right)
        probabilities = self.probabilities.copy()
        probabilities[place[there]] = values[there]
        fresh = ~there
        if not fresh.any():
            return replace(self, probabilities=probabilities)
        counts = np.bincount(left[fresh], minlength=len(self.offsets) - 1)
        return _Rows(
            self.offsets + np.concatenate([[0], np.cumsum(counts)]),
            np.insert(self.neighbors, place[fresh], right[fresh].astype(np.uint32)),
            np.insert(probabilities, place[fresh], values[fresh]),
        )
