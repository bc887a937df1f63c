"""Reading and coding base clusterings, in the form that all ensemble methods use."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from partita._support.errors import Argument, ArgumentError
from partita._support.hints import plural
from partita._support.names import Names, as_named, names_or_none, row_names
from partita._support.warn import warn_user
from partita.draws.sample import PartitionSample, as_sample
from partita.partitions.checks import canonical_placed
from partita.partitions.codes import NO_GAPS, BadLabel, Missing, as_missing, is_null, marked, to_codes, type_problem
from partita.partitions.labels import canonical

Labels = NDArray[np.intp]
LEFT_OUT = -2  # a missing label in an array in which −1 is noise
TABLE = 1 << 16  # whole numbers below this are looked up in a table
NOISE = "noise"  # the label of noise where it is a label of its own


@dataclass(frozen=True)
class Base:
    """Coded base clusterings: `codes[n, m]` is in 0..J_m − 1, or −1 if clustering m does not label item n.

    `levels[m]` are the original labels of clustering m, in the order of their codes; `names` are the names of the items
    and `clusterings` those of the clusterings, if the base clusterings are a data frame with names. `noise[n, m]` says
    that clustering m puts item n in no cluster, if a label means noise; the code is then −1 too.
    ``np.asarray(base)`` has the codes; if a label means noise, −1 for noise and −2 for a missing label.
    """

    codes: NDArray[np.signedinteger[Any]]
    levels: tuple[NDArray[Any], ...]
    names: Names | None = None
    clusterings: Names | None = None
    noise: NDArray[np.bool_] | None = field(default=None, kw_only=True)
    #: Whether two clusterings that agree confirm each other, so that weights by dependence are equal.
    independent: ClassVar[bool] = False

    @property
    def n_items(self) -> int:
        return len(self.codes)

    @property
    def n_clusterings(self) -> int:
        return len(self.levels)

    @property
    def sizes(self) -> NDArray[np.intp]:
        """The number of labels J_m of each clustering; 1 for a clustering that labels no item."""
        return np.array([max(len(labels), 1) for labels in self.levels], dtype=np.intp)

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """Which items have at least one label."""
        return np.asarray(self.seen.any(axis=1))

    @property
    def seen(self) -> NDArray[np.bool_]:
        """Which clusterings say where each item belongs, (items, clusterings): in a cluster, or in none."""
        clustered = self.codes >= 0
        return clustered if self.noise is None else clustered | self.noise

    def draws(
        self, useful: NDArray[np.bool_], weights: Any = None, items: NDArray[Any] | None = None
    ) -> PartitionSample:
        """Some of the clusterings as a sample of partitions, of all items or of some, which may be repeated."""
        codes = np.ascontiguousarray(self.codes[:, useful].T if items is None else self.codes[items][:, useful].T)
        if self.noise is None:
            return as_sample(codes, weights, missing=-1)
        codes[(self.noise if items is None else self.noise[items])[:, useful].T] = LEFT_OUT
        return as_sample(codes, weights, missing=-1, noise=LEFT_OUT)

    def noise_as_label(self) -> Base:
        """Noise as one more label of each clustering that has any, for methods to which labels are categories."""
        if self.noise is None:
            return self
        noisy = np.asarray(self.noise.any(axis=0)).tolist()
        levels = tuple(
            as_levels([*known.tolist(), NOISE]) if more else known
            for known, more in zip(self.levels, noisy, strict=True)
        )
        wide = _code_type(levels)
        codes = np.where(self.noise, np.array([len(known) for known in self.levels], wide), self.codes.astype(wide))
        return Base(codes, levels, self.names, self.clusterings)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        labels = self.codes if self.noise is None else np.where(self.seen, self.codes, LEFT_OUT)
        return labels if dtype is None else labels.astype(dtype)

    def memberships(self) -> sparse.csr_array:
        """The (items, Σ J_m) 0/1 matrix of labels; a missing label gives zeros in the columns of its clustering."""
        offsets = np.concatenate([[0], np.cumsum(self.sizes)])
        seen = self.codes >= 0
        columns = (self.codes + offsets[:-1])[seen]
        starts = np.concatenate([[0], np.cumsum(seen.sum(axis=1))])
        shape = (self.n_items, int(offsets[-1]))
        return sparse.csr_array((np.ones(len(columns)), columns.astype(np.int32), starts.astype(np.int32)), shape=shape)

    def hardened(self) -> Base:
        """One label per item and clustering: the most probable one, if the clusterings are soft."""
        return self

    def rows(self, keep: NDArray[Any]) -> Base:
        """The same clusterings for some of the items."""
        kept = None if self.names is None else tuple(np.asarray(self.names, dtype=object)[keep].tolist())
        noise = None if self.noise is None else self.noise[keep]
        return Base(self.codes[keep], self.levels, kept, self.clusterings, noise=noise)

    def columns(self, keep: Sequence[int]) -> Base:
        """Some of the clusterings for the same items."""
        kept = None if self.clusterings is None else tuple(self.clusterings[m] for m in keep)
        noise = None if self.noise is None else self.noise[:, keep]
        codes = np.ascontiguousarray(self.codes[:, keep])
        return Base(codes, tuple(self.levels[m] for m in keep), self.names, kept, noise=noise)


def as_base(
    base: Any, levels: Sequence[Any] | None = None, *, noise: Any = None, keys: str | Sequence[str] | None = None
) -> Base:
    """Base clusterings from an array, a list of rows, a data frame or an AnnData object.

    Parameters
    ----------
    base : (items, clusterings) array, list of rows, or data frame
        Labels of any kind; −1, NaN and None mark missing labels. Or a list of one (items, clusters) table of membership
        probabilities per clustering, for soft clusterings; a row of zeros or NaN is a missing label.
    levels : one sequence of labels per clustering, optional
        All labels that each clustering can give; by default those that occur in `base`. Needed if some labels
        occur only in later items.
    noise : value or list of values, optional
        The label of items that a clustering puts in no cluster, for example the −1 of HDBSCAN, which is then no missing
        label; −2 is one instead, as in ``np.asarray(base)``.
    keys : str or list of str, optional
        The columns that are base clusterings, of a data frame or of `obs` of an AnnData object: their names, or a
        pattern with ``*`` and ``?``, for example ``"leiden_*"``. An AnnData object needs it.

    Examples
    --------
    >>> read = as_base([["a", 3], ["b", -1], ["a", 4]])
    >>> read.codes.tolist(), read.sizes.tolist()
    ([[0, 0], [1, -1], [0, 1]], [2, 2])
    >>> as_base([[0, 0], [0, -1], [1, 0]], noise=-1).noise.tolist()
    [[False, False], [False, True], [False, False]]
    >>> as_base([[[0.9, 0.1], [0.5, 0.5]]]).memberships().toarray()
    array([[0.9, 0.1],
           [0.5, 0.5]])
    """
    from partita.ensembles.soft import are_memberships, as_soft_base

    if isinstance(base, Base):
        if noise is not None:
            raise ValueError("noise= is for labels, not for a Base, whose labels were read before")
        return base
    if are_memberships(base):
        if noise is not None:
            raise ValueError(
                "noise= is for labels, but base has membership probabilities; a row of zeros is a missing label"
            )
        return as_soft_base(base, levels)
    if base is None or callable(base) or hasattr(base, "fit"):
        raise TypeError(f"base must be a table of labels, (items, clusterings), not {type(base).__name__}")
    if hasattr(base, "toarray"):
        raise TypeError("base is sparse; pass a dense array, for instance base.toarray()")
    base = chosen_columns(base, keys)
    columns = _columns(base)
    markers = as_missing(noise)
    noisy = [marked(column, markers) for column in columns] if markers != NO_GAPS else None
    if noisy is not None:
        left_out = [marked(column, Missing((LEFT_OUT,))) for column in columns]
        gaps = [cells | more for cells, more in zip(noisy, left_out, strict=True)]
        columns = [_with_gaps(column, cells) for column, cells in zip(columns, gaps, strict=True)]
    for m, column in enumerate(columns):
        _check_labels(column, m)
    if levels is None:
        levels = [_observed(column) for column in columns]
    if len(levels) != len(columns):
        raise ValueError(f"base has {len(columns)} clusterings, but levels has labels for {len(levels)}")
    known = tuple(as_levels(list(labels)) for labels in levels)
    codes = np.empty((len(columns[0]), len(columns)), _code_type(known))
    for m, column in enumerate(columns):
        codes[:, m] = _code(column, known[m], m)
    cells = None if noisy is None else np.stack(noisy, axis=1)
    return Base(codes, known, row_names(base), column_names(base), noise=cells)


def _code_type(levels: Sequence[NDArray[Any]]) -> Any:
    """The smallest signed type of the codes: read as unsigned of the same width, -1 is the core's missing label."""
    largest = max(len(labels) for labels in levels)
    return next(kind for kind in (np.int8, np.int16, np.int32) if largest <= np.iinfo(kind).max)


def _with_gaps(column: NDArray[Any], cells: NDArray[np.bool_]) -> NDArray[Any]:
    """The labels, missing in the cells."""
    if not cells.any():
        return column
    if column.dtype.kind in "if":
        return np.where(cells, column.dtype.type(-1), column)
    with_gaps = column.astype(object)
    with_gaps[cells] = None
    return with_gaps


def hard_base(base: Any, method: str, levels: Sequence[Any] | None = None) -> Base:
    """Base clusterings with one label per item and clustering, of which noise is one; probabilities raise an error."""
    read = as_base(base, levels).noise_as_label()
    if read.hardened() is not read:
        raise ValueError(
            f"{method} needs one label per item and clustering, but base has membership probabilities; use "
            "NBCE('vb'), NBCE('cvb'), consensus, co_association or evidence_accumulation, or as_base(base).hardened()"
        )
    return read


def column_names(base: Any) -> Names | None:
    """The names of the columns of a data frame; None for other objects, and if they only number the columns."""
    is_frame = hasattr(base, "to_numpy") and hasattr(base, "columns")
    return names_or_none(list(base.columns)) if is_frame else None


def chosen_columns(base: Any, keys: str | Sequence[str] | None) -> Any:
    """The columns of a data frame, or of `obs` of an AnnData object, that match the keys; other objects as they are."""
    cells = hasattr(base, "obs") and hasattr(base, "obs_names")
    frame = base.obs if cells else base
    if keys is None:
        if cells:
            raise ValueError('an AnnData object needs keys=, the columns of obs that are clusterings: keys="leiden_*"')
        return base
    if not hasattr(frame, "columns"):
        raise TypeError(f"keys= is for data frames and AnnData objects, not for {type(base).__name__}")
    names = [str(name) for name in frame.columns]
    patterns = [keys] if isinstance(keys, str) else list(keys)
    for pattern in patterns:
        if not fnmatch.filter(names, pattern):
            raise ValueError(f"no column matches {pattern!r}; there are {', '.join(names)}")
    return frame[[name for name in frame.columns if any(fnmatch.fnmatchcase(str(name), p) for p in patterns)]]


def _columns(base: Any) -> list[NDArray[Any]]:
    if hasattr(base, "to_numpy") and hasattr(base, "columns"):  # a data frame: each column keeps its type
        columns = [np.asarray(base[name]) for name in base.columns]
    else:
        columns = _array_columns(base)
    if not columns or not len(columns[0]):
        raise ValueError(f"base is empty: it has {len(columns)} clusterings")
    return columns


def _array_columns(base: Any) -> list[NDArray[Any]]:
    if not isinstance(base, np.ndarray):
        rows = [list(row) for row in base]
        widths = {len(row) for row in rows}
        if len(widths) > 1:
            bad = next(n for n, row in enumerate(rows) if len(row) != len(rows[0]))
            raise ValueError(f"base row {bad} has {len(rows[bad])} labels but row 0 has {len(rows[0])}")
        filled = np.empty((len(rows), max(widths, default=0)), dtype=object)
        for n, row in enumerate(rows):
            filled[n, :] = row
        base = filled
    if base.ndim != 2:
        raise ValueError(f"base must be (items, clusterings), but it has {base.ndim} dimensions")
    return [base[:, m] for m in range(base.shape[1])]


def _check_labels(column: NDArray[Any], m: int) -> None:
    """Checks that numeric labels are whole and not negative, except -1, which marks a missing label."""
    if problem := type_problem(column.dtype):
        raise TypeError(f"base {problem}")
    if column.dtype.kind in "bUST":
        return
    gaps = _is_gap(column)
    try:
        to_codes(column[~gaps][:, None])
    except BadLabel as bad:
        row = np.flatnonzero(~gaps)[bad.row]
        raise ArgumentError(bad.at(f"base row {row}, column {m},")) from None


def _is_gap(column: NDArray[Any]) -> NDArray[np.bool_]:
    kind = column.dtype.kind
    if kind in "iu":
        return np.asarray(column == -1)
    if kind == "f":
        return np.asarray(np.isnan(column) | (column == -1))
    if kind == "b" or kind in "US":
        return np.zeros(len(column), dtype=bool)
    # None, NaN, pandas.NA and the number -1; a string is never missing
    return np.array([not isinstance(x, str) and (is_null(x) or bool(x == -1)) for x in column], dtype=bool)


def _observed(column: NDArray[Any]) -> list[Any]:
    seen = column[~_is_gap(column)]
    if seen.dtype.kind in "iu" and seen.size and int(seen.max()) < TABLE:
        return list(np.flatnonzero(np.bincount(seen, minlength=1)).tolist())
    if seen.dtype.kind == "O":
        # in order of first appearance, because labels of mixed types cannot be sorted
        return list(dict.fromkeys(seen.tolist()))
    return list(np.unique(seen).tolist())


def as_levels(labels: list[Any]) -> NDArray[Any]:
    """An array of labels; labels of several types keep their types, whereas NumPy would turn 1 into the string "1"."""
    if len({type(label) for label in labels}) == 1:
        array = np.asarray(labels)
        if array.ndim == 1:
            return array
    kept = np.empty(len(labels), dtype=object)
    kept[:] = labels
    return kept


def _code(column: NDArray[Any], levels: NDArray[Any], m: int) -> NDArray[np.int32]:
    gaps = _is_gap(column)
    codes = np.full(len(column), -1, dtype=np.int32)
    whole = column.dtype.kind in "iu" and levels.dtype.kind in "iu" and len(levels)
    if whole and levels.min() >= 0 and levels.max() < TABLE and column.max() < TABLE:
        table = np.full(max(int(levels.max()), int(column.max())) + 2, -1, dtype=np.int32)  # last: missing labels
        table[levels] = np.arange(len(levels), dtype=np.int32)
        codes = table[column]
    elif column.dtype.kind in "iufbUS" and levels.dtype.kind == column.dtype.kind and len(levels):
        order = np.argsort(levels, kind="stable")
        place = np.minimum(np.searchsorted(levels[order], column), len(levels) - 1)
        found = levels[order][place] == column
        codes = np.where(found & ~gaps, order[place], -1).astype(np.int32)
    else:
        code_of = {label: code for code, label in enumerate(levels.tolist())}
        codes[~gaps] = [code_of.get(label, -1) for label in column[~gaps].tolist()]
    unknown = np.flatnonzero((codes < 0) & ~gaps)
    if len(unknown):
        n = int(unknown[0])
        label = column[n].item() if hasattr(column[n], "item") else column[n]
        raise ValueError(
            f"base row {n}, column {m}: label {label!r} is not one of the {len(levels)} labels "
            "of that clustering; give its labels as levels, or mark it as missing"
        )
    return codes


def check_clusters(k: Any, n_items: int) -> int:
    """The requested number of clusters, checked to be from 1 to the number of items."""
    if not isinstance(k, int | np.integer) or isinstance(k, bool):
        raise TypeError(f"k must be a whole number, not {k!r}")
    if not 1 <= k <= n_items:
        raise ArgumentError(Argument("k"), f" must be from 1 to the number of items, {n_items}, but it is {k}")
    return int(k)


def weights_or_ones(weights: Any, base: Any, read: Base) -> NDArray[np.float64]:
    """The weights of the clusterings of `base`, which was read; 1 for each if there are none."""
    return np.ones(read.n_clusterings) if weights is None else in_column_order(weights, base, read.n_clusterings)


def in_column_order(weights: Any, base: Any, n_clusterings: int) -> NDArray[np.float64]:
    """The weights of the clusterings; a Series is matched by its index with the columns of a data frame."""
    names = base.clusterings if isinstance(base, Base) else column_names(base)
    values = np.asarray(as_named(weights, "weights").in_order_of(names, n_clusterings, "base"), dtype=np.float64)
    if values.shape != (n_clusterings,):
        raise ValueError(f"weights has shape {values.shape}, but there are {n_clusterings} clusterings")
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if len(bad):
        raise ValueError(f"weights[{bad[0]}] is {values[bad[0]]}, but weights must be finite and not negative")
    if not values.any():
        raise ValueError("weights are all 0: no clustering is left")
    return values


def check_item_weights(weights: Any, base: Base) -> NDArray[np.float64]:
    """How many items each item stands for; 1 by default. A Series is matched by name with items that have names."""
    if weights is None:
        return np.ones(base.n_items)
    given = as_named(weights, "item_weights").in_order_of(base.names, base.n_items, "base")
    values = np.asarray(given, dtype=np.float64)
    bad = np.flatnonzero(~(np.isfinite(values) & (values > 0)))
    if len(bad):
        raise ValueError(f"item_weights[{bad[0]}] is {values[bad[0]]}, but weights of items must be positive numbers")
    return values


def warn_unlabelled(base: Base) -> NDArray[np.bool_]:
    """Which items have a label. If some have none, a warning says that they get label −1."""
    labelled = base.labelled
    if not labelled.any():
        raise ValueError(f"base has no labels: all labels of the {base.n_items} items are missing")
    if not labelled.all():
        first = int(np.flatnonzero(~labelled)[0])
        items = plural(int((~labelled).sum()), "item")
        warn_user(f"{items} without a base label (first: row {first}), given label -1")
    return labelled


def spread_placed(labels: NDArray[Any], labelled: NDArray[np.bool_]) -> Labels:
    """As `spread`, but labelled items may be in no cluster, with label −1."""
    full = np.full(len(labelled), -1, dtype=np.intp)
    full[labelled] = canonical_placed(np.asarray(labels, np.int64))
    return full


def spread(labels: NDArray[Any], labelled: NDArray[np.bool_]) -> Labels:
    """Canonical labels of the labelled items, −1 for the others."""
    full = np.full(len(labelled), -1, dtype=np.intp)
    full[labelled] = canonical(labels)
    return full
