"""Probabilities that two items belong together, for the pairs that have any: what linkers give in place of draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.arrays import Floats, Ints
from partita._support.hints import plural
from partita._support.memory import check_fits
from partita._support.names import check_names, row_names
from partita._support.shown import ShownAsText
from partita._support.tolerance import TIE
from partita._support.validate import check_probability
from partita.draws.sources.tables import is_table
from partita.pairs.sources.columns import check_wanted
from partita.pairs.sources.listed import ListedPairs, with_names
from partita.pairs.sources.matrices import (
    Triples,
    check_probabilities,
    check_rows,
    dense_pairs,
    is_sparse,
    sparse_pairs,
)
from partita.pairs.sources.tables import (
    is_indexed_by_pairs,
    is_list_of_pairs,
    is_scored,
    is_stream,
    scored_pairs,
    series_pairs,
    table_pairs,
    tuple_pairs,
)

#: Maximum number of items: they are numbered with 32 bits.
MAX_ITEMS = 2**32 - 2
_BYTES_PER_ITEM = 24  # of offsets, while rows are made
_BYTES_PER_PAIR = 72  # of both directions, while they are sorted into rows


@dataclass(frozen=True, eq=False, repr=False)
class Similarity(ShownAsText):
    """Pair probabilities in symmetric rows, an item's pairs with all others; `as_similarity` makes it.

    Attributes
    ----------
    offsets : (n_items + 1,) int64 array
        Where the row of each item begins in the next two.
    neighbors : (2 n_pairs,) uint32 array
        The other item of each pair, in increasing order within a row; none is the item itself.
    probabilities : (2 n_pairs,) float array
        The probability of each pair.
    names : tuple of str, or None
        Names of the items.
    default : float
        The probability of the pairs that are not listed.
    sources : tuple of str, or None
        The source of each item, where the table says so: ``Constraints(one_per=similarity.sources)``.
    """

    offsets: Ints
    neighbors: NDArray[np.uint32]
    probabilities: Floats
    names: tuple[str, ...] | None = None
    default: float = 0.0
    sources: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        check_rows(self.offsets, self.neighbors, self.probabilities)
        check_probability(self.default, "default")
        for name in ("names", "sources"):
            given = getattr(self, name)
            if given is not None and len(given) != self.n_items:
                raise ValueError(f"{name} has {len(given)} entries, but there are {self.n_items} items")

    @classmethod
    def of_rows(
        cls,
        offsets: Ints,
        neighbors: NDArray[np.uint32],
        probabilities: Floats,
        names: tuple[str, ...] | None,
        default: float,
        sources: tuple[str, ...] | None = None,
    ) -> Similarity:
        """From rows that this package has made, which are not checked again."""
        made = object.__new__(cls)
        values = (offsets, neighbors, probabilities, names, default, sources)
        for field, value in zip(fields(cls), values, strict=True):
            object.__setattr__(made, field.name, value)
        return made

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.offsets) - 1

    @property
    def n_pairs(self) -> int:
        """Number of listed pairs."""
        return len(self.neighbors) // 2

    def pairs(self) -> tuple[Ints, Ints, Floats]:
        """The listed pairs: the smaller item, the larger item and the probability, sorted."""
        left = np.repeat(np.arange(self.n_items), np.diff(self.offsets))
        above = left < self.neighbors
        return left[above], self.neighbors[above].astype(np.int64), self.probabilities[above]

    def total(self) -> float:
        """Σ_{i<j} π_ij over all pairs, listed or not."""
        unlisted = self.n_items * (self.n_items - 1) / 2 - self.n_pairs
        return self._mass() / 2 + self.default * unlisted

    def _mass(self) -> float:
        """The sum of all entries."""
        return float(self.probabilities.sum())

    def rows_of(self, items: Ints) -> tuple[Ints, Ints, Floats]:
        """The entries of some rows, one row after the other: the row's place in `items`, neighbor, probability."""
        at, row = entries_of_rows(self.offsets, items)
        return row, self.neighbors[at].astype(np.int64), self.probabilities[at]

    def to_scipy(self) -> Any:
        """The listed pairs as a symmetric sparse matrix with ones on the diagonal."""
        from scipy.sparse import csr_array, eye_array

        shape = (self.n_items, self.n_items)
        listed = csr_array((self.probabilities, self.neighbors.astype(np.int64), self.offsets), shape=shape)
        return csr_array(listed + eye_array(self.n_items, format="csr"))

    def to_dense(self) -> Floats:
        """The whole matrix, n × n."""
        matrix = np.full((self.n_items, self.n_items), self.default)
        np.fill_diagonal(matrix, 1.0)
        left, right, probability = self.pairs()
        matrix[left, right] = matrix[right, left] = probability
        return matrix

    def __repr__(self) -> str:
        others = f", {self.default:g} for all others" if self.default else ""
        return f"Similarity: {plural(self.n_items, 'item')}, {plural(self.n_pairs, 'pair')}{others}"


def entries_of_rows(offsets: Ints, items: Ints) -> tuple[Ints, Ints]:
    """The entries of some rows, one row after the other, and for each entry the place of its row in `items`."""
    lengths = offsets[items + 1] - offsets[items]
    begins = np.cumsum(lengths) - lengths
    row = np.repeat(np.arange(items.size), lengths)
    return np.arange(row.size) - begins[row] + offsets[items][row], row


def as_similarity(x: Any, names: Any = None, default: float = 0.0, *, columns: Any = None) -> Similarity:
    """Pair probabilities from a matrix, a table, a file or the results of a record linker.

    Parameters
    ----------
    x : matrix, table, file or Similarity
        A symmetric (n, n) array; a SciPy sparse matrix, symmetric or one triangle; a table of pandas, polars or Arrow,
        a relation of DuckDB or another Arrow stream, or a csv, csv.gz or parquet file, with one row per pair: three
        columns (left, right, probability), or those of Splink (unique_id_l, unique_id_r, match_probability, and
        source_dataset_l, source_dataset_r where there are several sources); a list of tuples (left, right,
        probability); a Series with two index levels, as recordlinkage makes it; the scores of dedupe. An npy file
        holds a matrix, an npz file a sparse one as ``scipy.sparse.save_npz`` writes it.
    names : sequence of str, optional
        The names of the items: those of the rows of a matrix; for pairs, all items in the order that is wanted, also
        those that are in no pair. By default the items are those of the pairs: whole numbers in their order, other
        names in the order of first appearance.
    default : float
        The probability of pairs that are not listed.
    columns : three str, optional
        The names of the columns of a table that hold the two items and the probability.

    Returns
    -------
    Similarity

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"left": ["ann", "ann", "bob"], "right": ["bob", "cy", "dan"], "p": [0.9, 0.2, 0.7]})
    >>> similarity = as_similarity(table)
    >>> similarity, similarity.names
    (Similarity: 4 items, 3 pairs, ('ann', 'bob', 'cy', 'dan'))
    """
    unlisted = check_probability(default, "default")
    wanted = check_wanted(columns)
    if isinstance(x, Similarity):
        return x
    opened = open_listed(x, wanted)
    return (
        _of_listed(opened, names, unlisted) if isinstance(opened, ListedPairs) else _of_matrix(opened, names, unlisted)
    )


def open_listed(x: Any, wanted: Sequence[str] | None) -> Any:
    """The pairs that a table, file, Series or the scores of dedupe list, one per row; a matrix as it is."""
    if isinstance(x, str | PathLike):
        from partita.pairs.sources.files import open_pairs

        x = open_pairs(x, wanted)
    if isinstance(x, ListedPairs):
        return x
    if isinstance(x, list | tuple) and not x:
        none = np.zeros(0, np.int64)
        return ListedPairs(none, none, np.zeros(0), (), str)
    if is_scored(x):
        return scored_pairs(x)
    if is_list_of_pairs(x):
        return tuple_pairs(x)
    if is_indexed_by_pairs(x):
        return series_pairs(x)
    if not is_sparse(x) and (is_table(x) or is_stream(x)) and not _is_square_table(x):
        return table_pairs(x, wanted)
    return x


def _is_square_table(x: Any) -> bool:
    """Whether the rows of a pandas table have the names of its columns, as those of a matrix of items have."""
    return hasattr(x, "index") and hasattr(x, "columns") and list(x.index) == list(x.columns)


def _of_matrix(x: Any, names: Any, default: float) -> Similarity:
    if is_sparse(x):
        n_items, triples = sparse_pairs(x)
    else:
        if default:
            raise ValueError("default= is for pairs that are not listed, but a dense matrix has all pairs")
        n_items, triples = dense_pairs(x)
    if n_items == 0:
        raise ValueError("similarity has no items")
    given = row_names(x) if names is None and is_table(x) else None
    known = given if names is None else check_names(names, n_items)
    return symmetric_rows(n_items, triples, known, default)


def _of_listed(listed: ListedPairs, names: Any, default: float) -> Similarity:
    check_listed(listed)
    pairs, known = with_names(listed, names)
    n_items = len(pairs.items)
    if n_items == 0:
        raise ValueError("there are no pairs and no names: nothing to estimate")
    return symmetric_rows(n_items, distinct_pairs(pairs), known, default, pairs.sources)


def check_listed(listed: ListedPairs) -> None:
    """Raises an error for probabilities outside [0, 1] and for pairs of an item with itself."""
    check_probabilities(listed.probability, lambda row: f"{listed.place(row)}: the probability")
    own = np.flatnonzero(listed.left == listed.right)
    if own.size:
        row = int(own[0])
        raise ValueError(f"{listed.place(row)} is a pair of {listed.items[listed.left[row]]!r} with itself")


def distinct_pairs(pairs: ListedPairs) -> Triples:
    """Distinct pairs (smaller item, larger item, probability); rows of one pair must agree."""
    low, high = np.minimum(pairs.left, pairs.right), np.maximum(pairs.left, pairs.right)
    if not _has_repeats(low, high, len(pairs.items)):
        return low, high, np.clip(pairs.probability, 0, 1)
    kept = _distinct(pairs, low, high)
    return low[kept], high[kept], np.clip(pairs.probability[kept], 0, 1)


def _has_repeats(low: Ints, high: Ints, n_items: int) -> bool:
    """Whether a pair has several rows: SciPy's rows, which take less time than sorting, combine these."""
    from scipy.sparse import coo_array

    ones = np.ones(low.size, np.int8)
    return bool(coo_array((ones, (low, high)), shape=(n_items, n_items)).tocsr().nnz < low.size)


def _distinct(pairs: ListedPairs, low: Ints, high: Ints) -> Ints:
    """The rows of distinct pairs, sorted; rows of one pair must agree."""
    order = np.lexsort((high, low))
    again = np.flatnonzero((np.diff(low[order]) == 0) & (np.diff(high[order]) == 0))
    values = pairs.probability
    differ = again[np.abs(values[order[again]] - values[order[again + 1]]) > TIE]
    if differ.size:
        first, second = sorted((int(order[differ[0]]), int(order[differ[0] + 1])))
        names = f"{pairs.items[pairs.left[first]]!r} and {pairs.items[pairs.right[first]]!r}"
        raise ValueError(
            f"{pairs.place(second)} gives {names} the probability {values[second]:g},"
            f" but {pairs.place(first)} gives it {values[first]:g}"
        )
    return np.delete(order, again + 1)


def predicted_bytes(n_items: int, n_pairs: int) -> int:
    """The memory that symmetric rows take while they are made."""
    return n_items * _BYTES_PER_ITEM + n_pairs * _BYTES_PER_PAIR


def symmetric_rows(
    n_items: int,
    triples: Triples,
    names: tuple[str, ...] | None,
    default: float = 0.0,
    sources: tuple[str, ...] | None = None,
) -> Similarity:
    """Distinct pairs (smaller item, larger item, probability) as symmetric rows."""
    from scipy.sparse import coo_array

    if n_items > MAX_ITEMS:
        raise ValueError(f"there are {n_items} items, but at most {MAX_ITEMS} can be numbered")
    low, high, values = triples
    check_fits(predicted_bytes(n_items, low.size), f"{low.size} pairs of {n_items} items")
    index = np.int32 if n_items < 2**31 else np.int64
    both = (np.concatenate([low, high]).astype(index), np.concatenate([high, low]).astype(index))
    rows = coo_array((np.concatenate([values, values]), both), shape=(n_items, n_items)).tocsr()
    rows.sort_indices()
    return Similarity.of_rows(
        rows.indptr.astype(np.int64), rows.indices.astype(np.uint32), rows.data, names, float(default), sources
    )
