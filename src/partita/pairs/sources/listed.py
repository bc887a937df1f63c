"""Pairs as they were read: two items and a probability per row; items are numbered, their names kept aside."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.errors import Argument, ArgumentError, Setting
from partita._support.hints import did_you_mean, listed
from partita._support.names import check_names, names_or_none
from partita._support.optional import optional
from partita.partitions.codes import is_null

SPLINK = ("unique_id_l", "unique_id_r", "match_probability")
SPLINK_SOURCES = ("source_dataset_l", "source_dataset_r")
OWN = ("left", "right", "probability")
KNOWN = (SPLINK, OWN)
#: Names of the two columns of items: those of recordlinkage, pandas and Splink, and what people write.
ITEM_NAMES = {
    ("rec_id_1", "rec_id_2"), ("level_0", "level_1"), ("index_1", "index_2"), ("record_1", "record_2"),
    ("id_1", "id_2"), ("id1", "id2"), ("id_l", "id_r"), ("unique_id_l", "unique_id_r"), ("left", "right"),
    ("first", "second"),
}  # fmt: skip


@dataclass(frozen=True)
class PairColumns:
    """Positions of the columns of a table."""

    left: int
    right: int
    probability: int
    sources: tuple[int, int] | None = None

    @property
    def used(self) -> list[int]:
        """All of them."""
        return [self.left, self.right, self.probability, *(self.sources or ())]


def find_columns(header: Sequence[str], wanted: Sequence[str] | None, where: str) -> PairColumns:
    """The columns that are wanted, or known by their names, or the only three."""
    if wanted is not None:
        return _wanted(header, wanted, where)
    lower = [name.lower() for name in header]
    for names in KNOWN:
        if all(lower.count(name) == 1 for name in names):
            left, right, probability = map(lower.index, names)
            has_sources = names is SPLINK and all(lower.count(name) == 1 for name in SPLINK_SOURCES)
            sources = (lower.index(SPLINK_SOURCES[0]), lower.index(SPLINK_SOURCES[1])) if has_sources else None
            return PairColumns(left, right, probability, sources)
    if len(header) == 3:
        return PairColumns(0, 1, 2)
    raise ArgumentError(
        f"{where} has {len(header)} columns ({listed(header)}): pairs are in three columns (left, right, probability)"
        f" or in {', '.join(SPLINK)}; name yours with ",
        Setting("columns", ("left", "right", "probability")),
    )


def names_items(cells: Sequence[str]) -> bool:
    """Whether two cells are usual names for the two columns of items."""
    return tuple(cell.lower() for cell in cells) in ITEM_NAMES


def names_columns(cells: Sequence[str]) -> bool:
    """Whether a line has the names of known columns."""
    lower = [cell.lower() for cell in cells]
    return any(all(name in lower for name in names) for names in KNOWN)


def check_wanted(columns: object) -> tuple[str, str, str] | None:
    """`columns=` as users write it: three different names."""
    if columns is None:
        return None
    names: list[Any] = list(columns) if isinstance(columns, Iterable) and not isinstance(columns, str) else [columns]
    if len(names) != 3 or len(set(names)) != 3 or not all(isinstance(name, str) for name in names):
        said = f" must be three different names (left, right, probability), not {columns!r}"
        raise ArgumentError(Argument("columns", value=columns), said)
    return names[0], names[1], names[2]


def _wanted(header: Sequence[str], wanted: Sequence[str], where: str) -> PairColumns:
    for name in wanted:
        if list(header).count(name) != 1:
            raise ValueError(f"{where} has no column {name!r}; its columns are {listed(header)}")
    left, right, probability = (list(header).index(name) for name in wanted)
    return PairColumns(left, right, probability)


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
