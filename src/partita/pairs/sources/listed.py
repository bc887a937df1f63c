"""Pairs as they were read: two items and a probability per row; items are numbered, their names kept aside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.errors import Argument, ArgumentError
from partita._support.hints import did_you_mean
from partita._support.names import check_names, names_or_none
from partita._support.optional import optional
from partita.partitions.codes import is_null

#: A table of whole numbers may have this many places per number.
_GAPS = 4
#: Between the source and the name of a record, as Splink writes it.
SOURCE_SEPARATOR = "-__-"


@dataclass(frozen=True, eq=False)
class ListedPairs:
    """Rows of pairs: the numbers of two of `items`, and their probability.

    Items are in the order of their first appearance, whole numbers in their own order. `place` is what messages call a
    row.
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
    if all(isinstance(column, np.ndarray) and column.dtype.kind in "iu" for column in (left, right)):
        ids, flat = _distinct_numbers(np.concatenate([left, right]))
        return flat[: len(left)], flat[len(left) :], tuple(map(str, ids.tolist()))
    if (coded := _coded(left, right)) is not None:
        return in_order(*_by_appearance(*coded))
    numbers = Numbers()
    both = np.empty((len(left), 2), np.int64)
    for row, pair in enumerate(zip(_plain(left), _plain(right), strict=True)):
        for side, value in enumerate(pair):
            if is_null(value):
                raise ValueError(f"{place(row)}: an item has no name")
            both[row, side] = numbers[value]
    return in_order(both[:, 0], both[:, 1], tuple(map(str, numbers)))


def _distinct_numbers(ids: NDArray[Any]) -> tuple[Any, Any]:
    """Distinct whole numbers in their order, and the place of each; by a table if there are few gaps between them."""
    low, high = (int(ids.min()), int(ids.max())) if ids.size else (0, 0)
    if high - low > _GAPS * ids.size:
        return np.unique(ids, return_inverse=True)
    place = ids - np.asarray(low, ids.dtype)
    occurs = np.zeros(high - low + 1, np.bool_)
    occurs[place] = True
    rank = np.cumsum(occurs) - 1
    return np.flatnonzero(occurs) + low, rank[place]


def _coded(left: Any, right: Any) -> tuple[Any, Any, list[str]] | None:
    """Numbers of the texts of two columns of Arrow or pandas, and the texts; None for others or missing values."""
    if all(hasattr(column, "combine_chunks") for column in (left, right)):
        import pyarrow as pa

        chunks = [*left.chunks, *right.chunks]
        if any(not _is_text(pa, chunk.type) or chunk.null_count for chunk in chunks):
            return None
        texts_of = [chunk.cast(pa.large_string()) for chunk in chunks]
        coded = pa.chunked_array(texts_of, pa.large_string()).dictionary_encode().combine_chunks()
        whole = coded.chunk(0) if isinstance(coded, pa.ChunkedArray) else coded
        codes, texts = whole.indices.to_numpy(zero_copy_only=False), whole.dictionary.to_pylist()
    elif all(hasattr(column, "iloc") for column in (left, right)):
        pd = optional("pandas", "tables of results need pandas", "io")
        if any(pd.api.types.infer_dtype(column, skipna=False) != "string" for column in (left, right)):
            return None
        codes, found = pd.factorize(np.concatenate([left.to_numpy(object), right.to_numpy(object)]))
        texts = list(map(str, found))
    else:
        return None
    return codes[: len(left)].astype(np.int64), codes[len(left) :].astype(np.int64), texts


def _is_text(pa: Any, kind: Any) -> bool:
    return any(
        getattr(pa.types, f"is_{name}", lambda _: False)(kind) for name in ("string", "large_string", "string_view")
    )


def _by_appearance(left: Any, right: Any, texts: list[str]) -> tuple[Any, Any, tuple[str, ...]]:
    """The same numbers in the order in which the texts appear, row by row."""
    both = np.column_stack([left, right]).ravel()
    first = np.empty(len(texts), np.int64)
    first[both[::-1]] = np.arange(both.size)[::-1]  # the last to be written is the first to appear
    order = np.argsort(first)
    rank = np.empty(len(texts), np.int64)
    rank[order] = np.arange(len(texts))
    return rank[left], rank[right], tuple(texts[k] for k in order.tolist())


def in_order(left: Any, right: Any, items: tuple[str, ...]) -> tuple[Any, Any, tuple[str, ...]]:
    """Items that are whole numbers in the order of these, others as they are."""
    if not all(name.isdecimal() and (name == "0" or name[0] != "0") for name in items):
        return left, right, items
    order = sorted(range(len(items)), key=lambda number: int(items[number]))
    rank = np.empty(len(items), np.int64)
    rank[order] = np.arange(len(items))
    return rank[left], rank[right], tuple(items[number] for number in order)


def _plain(column: Sequence[Any]) -> list[Any]:
    """Values of Python; floats that are whole numbers, as pandas writes them beside missing ones, are these numbers."""
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
        raise ArgumentError(Argument("names"), f" has {twice!r} twice")
    unknown = next((name for name in pairs.items if name not in place), None)
    if unknown is not None:
        number = pairs.items.index(unknown)
        row = int(np.flatnonzero((pairs.left == number) | (pairs.right == number))[0])
        hint = did_you_mean(unknown, known[:10_000])
        raise ArgumentError(f"{pairs.place(row)} names {unknown!r}, which is not among ", Argument("names"), hint)
    order = np.array([place[name] for name in pairs.items], np.int64)
    sources = None
    if pairs.sources is not None:
        of_known: list[str] = [""] * len(known)
        for number, source in zip(order.tolist(), pairs.sources, strict=True):
            of_known[number] = source
        sources = tuple(of_known)
    renumbered = ListedPairs(order[pairs.left], order[pairs.right], pairs.probability, known, pairs.place, sources)
    return renumbered, names_or_none(known)
