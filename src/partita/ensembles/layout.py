"""The rows of one table for the labels of all clusterings: those of clustering m follow those of m − 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.arrays import Floats


@dataclass(frozen=True)
class Layout:
    """Row layout of tables of shape (Σ J_m, clusters), where J_m is the number of labels of clustering m.

    `weights` are the powers w_m of the clusterings' likelihoods.
    """

    sizes: NDArray[np.intp]
    weights: Floats

    @classmethod
    def plain(cls, sizes: NDArray[np.intp]) -> Layout:
        """All weights are 1."""
        return cls(sizes, np.ones(len(sizes)))

    @property
    def n_rows(self) -> int:
        return int(self.sizes.sum())

    @property
    def offsets(self) -> NDArray[np.intp]:
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]])

    @property
    def owner(self) -> NDArray[np.intp]:
        """The clustering of each row."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def weighted(self, table: Floats) -> Floats:
        """The table with each row multiplied by the weight of its clustering."""
        return np.asarray(table * self.weights[self.owner][:, None])

    def per_clustering(self, table: NDArray[Any], axis: int = 0) -> Floats:
        """The sum over each clustering's rows, (clusterings, clusters), or over another axis of labels."""
        return np.asarray(np.add.reduceat(table, self.offsets, axis=axis), dtype=np.float64)

    def slices(self) -> list[slice]:
        return [slice(start, start + size) for start, size in zip(self.offsets, self.sizes, strict=True)]
