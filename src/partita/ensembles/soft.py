"""Soft base clusterings: the probability of each item to be in each cluster, instead of one label.

docs/ensembles.md derives how they are used: a membership probability is a fraction of an observed label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from partita._support.arrays import Floats
from partita._support.names import row_names
from partita.ensembles.base_clusterings import Base

TOLERANCE = 1e-6  # of the sum of an item's probabilities


@dataclass(frozen=True)
class SoftBase(Base):
    """Base clusterings with membership probabilities; `codes` are the most probable labels, −1 for a missing label.

    `shares` is the (items, Σ J_m) matrix of probabilities; those of an item in a clustering sum to 1, or to 0
    if its label is missing.
    """

    shares: sparse.csr_array = field(default_factory=lambda: sparse.csr_array((0, 0)))

    def memberships(self) -> sparse.csr_array:
        return self.shares

    def hardened(self) -> Base:
        return Base(self.codes, self.levels, self.names, self.clusterings)

    def rows(self, keep: NDArray[Any]) -> SoftBase:
        hard = self.hardened().rows(keep)
        return SoftBase(hard.codes, hard.levels, hard.names, hard.clusterings, self.shares[keep])

    def columns(self, keep: Sequence[int]) -> SoftBase:
        hard = self.hardened().columns(keep)
        starts = np.concatenate([[0], np.cumsum(self.sizes)])
        chosen = np.concatenate([np.arange(starts[m], starts[m + 1]) for m in keep])
        return SoftBase(hard.codes, hard.levels, hard.names, hard.clusterings, self.shares[:, chosen])

    def drawn(self, count: int, rng: np.random.Generator) -> Base:
        """`count` hard clusterings of each soft one, side by side: every label is drawn with its probability."""
        starts = np.concatenate([[0], np.cumsum(self.sizes)])
        columns, levels = [], []
        for m in range(self.n_clusterings):
            upper = np.cumsum(self.shares[:, starts[m] : starts[m + 1]].toarray(), axis=1)
            upper[:, -1] = np.where(self.codes[:, m] >= 0, 1.0, 0.0)  # whatever rounding left
            for _ in range(count):
                below = rng.random((self.n_items, 1)) >= upper
                columns.append(np.where(self.codes[:, m] >= 0, below.sum(axis=1), -1))
                levels.append(self.levels[m])
        return Base(np.stack(columns, axis=1).astype(self.codes.dtype), tuple(levels), self.names)


def are_memberships(base: Any) -> bool:
    """Whether an object is a list of tables, one per clustering, or an array of three dimensions."""
    if isinstance(base, np.ndarray):
        return base.ndim == 3
    return isinstance(base, list | tuple) and len(base) > 0 and all(_is_table(table) for table in base)


def _is_table(x: Any) -> bool:
    if isinstance(x, list | tuple):
        return len(x) > 0 and all(isinstance(row, list | tuple | np.ndarray) for row in x)
    return getattr(x, "ndim", 0) == 2


def as_soft_base(tables: Sequence[Any], levels: Sequence[Any] | None = None) -> SoftBase:
    """Soft base clusterings from one (items, clusters) table of membership probabilities per clustering."""
    shares = [_check_table(table, m) for m, table in enumerate(tables)]
    for m, table in enumerate(shares):
        if len(table) != len(shares[0]):
            raise ValueError(f"base[{m}] has {len(table)} items, but base[0] has {len(shares[0])}")
    found = [_labels_of(table, own.shape[1]) for table, own in zip(tables, shares, strict=True)]
    if levels is not None:
        _check_widths(shares, levels)
        found = [np.asarray(labels) for labels in levels]
    codes = np.stack([np.where(table.any(axis=1), table.argmax(axis=1), -1) for table in shares], axis=1)
    matrix = sparse.csr_array(np.hstack(shares))
    return SoftBase(codes.astype(np.int32), tuple(found), row_names(tables[0]), None, matrix)


def _check_table(table: Any, m: int) -> Floats:
    """Probabilities that sum to 1 for each item, or 0 if its label is missing."""
    try:
        values = np.array(table, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"base[{m}] must be a table of probabilities, (items, clusters)") from None
    if values.ndim != 2 or not values.size:
        raise ValueError(f"base[{m}] must be (items, clusters), but its shape is {values.shape}")
    values[np.isnan(values).all(axis=1)] = 0.0
    bad = np.argwhere(~((values >= 0) & (values <= 1 + TOLERANCE)))
    if len(bad):
        n, j = bad[0]
        raise ValueError(f"base[{m}][{n}, {j}] is {values[n, j]}, but a membership probability is from 0 to 1")
    total = values.sum(axis=1)
    if (wrong := np.flatnonzero((total > 0) & (np.abs(total - 1) > TOLERANCE))).size:
        raise ValueError(
            f"base[{m}], row {wrong[0]}: the probabilities sum to {total[wrong[0]]:.6g}, but they must sum to 1, or to "
            "0 for a missing label"
        )
    return np.asarray(np.divide(values, total[:, None], out=np.zeros_like(values), where=total[:, None] > 0))


def _labels_of(table: Any, width: int) -> NDArray[Any]:
    columns = getattr(table, "columns", None)
    return np.arange(width) if columns is None else np.asarray(list(columns))


def _check_widths(shares: Sequence[Floats], levels: Sequence[Any]) -> None:
    if len(levels) != len(shares):
        raise ValueError(f"base has {len(shares)} clusterings, but levels has labels for {len(levels)}")
    for m, (table, labels) in enumerate(zip(shares, levels, strict=True)):
        if table.shape[1] != len(labels):
            raise ValueError(f"base[{m}] has {table.shape[1]} clusters, but there are {len(labels)} labels for it")
