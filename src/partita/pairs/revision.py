"""Pair probabilities after items came or went and pairs were listed, listed anew or dropped."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita._support.arrays import Ints
from partita._support.names import Names
from partita.pairs.probabilities import Similarity
from partita.pairs.revised import NO_ROWS, Patch, RevisedSimilarity
from partita.pairs.sources.matrices import Triples

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
