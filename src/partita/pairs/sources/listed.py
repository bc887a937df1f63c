"""Pairs as they were read: two items and a probability per row; items are numbered, their names kept aside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.hints import did_you_mean
from partita._support.names import check_names, names_or_none
from partita.partitions.codes import is_null

#: Between the source and the name of a record, as Splink writes it.
SOURCE_SEPARATOR = "-__-"


@dataclass(frozen=True, eq=False)
class ListedPairs:
    """Rows of pairs.

    Attributes
    ----------
    left, right : (rows,) integer arrays
        Numbers of the items in `items`.
    probability : (rows,) float array
    items : tuple of str
        The names of the items, in order of first appearance; whole numbers in their own order.
    place : callable
        What messages call a row.
    sources : tuple of str, optional
        The source of each item.
    """

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    probability: NDArray[np.float64]
    items: tuple[str, ...]
    place: Callable[[int], str]
    sources: tuple[str, ...] | None = None


class Numbers(dict[Any, int]):
    """Numbers distinct ids as they come."""

    def __missing__(self, key: Any) -> int:
        self[key] = number = len(self)
        return number


def numbered(
    left: Sequence[Any], right: Sequence[Any], place: Callable[[int], str]
) -> tuple[Any, Any, tuple[str, ...]]:
    """Numbers of the ids of both columns, and the ids as text."""
    columns = [np.asarray(column) for column in (left, right)]
    if all(column.dtype.kind in "iu" for column in columns):
        ids, flat = np.unique(np.concatenate(columns), return_inverse=True)
        return flat[: len(left)], flat[len(left) :], tuple(map(str, ids.tolist()))
    numbers = Numbers()
    both = np.empty((len(left), 2), np.int64)
    for row, pair in enumerate(zip(_plain(left), _plain(right), strict=True)):
        for side, value in enumerate(pair):
            if is_null(value):
                raise ValueError(f"{place(row)}: an item has no name")
            both[row, side] = numbers[value]
    return in_order(both[:, 0], both[:, 1], tuple(map(str, numbers)))


def in_order(left: Any, right: Any, items: tuple[str, ...]) -> tuple[Any, Any, tuple[str, ...]]:
    """Items that are whole numbers in the order of these, others as they are."""
    if not all(name.isdecimal() and (name == "0" or name[0] != "0") for name in items):
        return left, right, items
    order = sorted(range(len(items)), key=lambda number: int(items[number]))
    rank = np.empty(len(items), np.int64)
    rank[order] = np.arange(len(items))
    return rank[left], rank[right], tuple(items[number] for number in order)


def _plain(column: Sequence[Any]) -> list[Any]:
    """Values of Python; floats that are whole numbers, as pandas writes numbers beside gaps, are these numbers."""
    values = column.tolist() if hasattr(column, "tolist") else list(column)
    return [int(v) if isinstance(v, float) and v.is_integer() else v for v in values]


def with_names(pairs: ListedPairs, names: Any) -> tuple[ListedPairs, tuple[str, ...] | None]:
    """The pairs with items numbered as in `names`, which may list items that are in no pair; None: as they came."""
    if names is None:
        return pairs, names_or_none(pairs.items)
    known = check_names(names, len(names))
    place = {name: number for number, name in enumerate(known)}
    if len(place) < len(known):
        twice = next(name for number, name in enumerate(known) if place[name] != number)
        raise ValueError(f"names has {twice!r} twice")
    unknown = next((name for name in pairs.items if name not in place), None)
    if unknown is not None:
        number = pairs.items.index(unknown)
        row = int(np.flatnonzero((pairs.left == number) | (pairs.right == number))[0])
        hint = did_you_mean(unknown, known[:10_000])
        raise ValueError(f"{pairs.place(row)} names {unknown!r}, which is not among names{hint}")
    order = np.array([place[name] for name in pairs.items], np.int64)
    sources = None
    if pairs.sources is not None:
        of_known: list[str] = [""] * len(known)
        for number, source in zip(order.tolist(), pairs.sources, strict=True):
            of_known[number] = source
        sources = tuple(of_known)
    renumbered = ListedPairs(order[pairs.left], order[pairs.right], pairs.probability, known, pairs.place, sources)
    return renumbered, names_or_none(known)
