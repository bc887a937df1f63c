"""The greedy merges of a fitted partition down to one cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.shown import ShownAsText
from partita.partitions.labels import canonical


@dataclass(frozen=True, eq=False, repr=False)
class MergePath(ShownAsText):
    """Greedy merges from the fitted partition down to one cluster (Côme & Latouche 2015, Appendix C).

    Step t merges cluster `absorbed[t]` into `kept[t]` (labels of the fit) and leaves the ICL at `icl[t + 1]`;
    `icl[0]` is the fit's own.
    """

    labels: NDArray[Any]
    kept: NDArray[np.uint32]
    absorbed: NDArray[np.uint32]
    icl: NDArray[np.float64]

    @property
    def n_clusters(self) -> NDArray[np.int64]:
        """Clusters before the first merge and after each."""
        return np.arange(len(self.icl), 0, -1)

    def cut(self, k: int) -> NDArray[np.int64]:
        """The partition with k clusters, canonical labels."""
        if not 1 <= k <= len(self.icl):
            raise ValueError(f"k must be from 1 to {len(self.icl)}, the fit's number of clusters, but it is {k}")
        target = np.arange(len(self.icl))
        for kept, absorbed in zip(self.kept[: len(self.icl) - k], self.absorbed, strict=False):
            target[target == absorbed] = kept
        return canonical(target[self.labels])

    def __repr__(self) -> str:
        return f"MergePath({len(self.icl)} to 1 clusters, ICL {self.icl[0]:.2f} to {self.icl[-1]:.2f})"


def greedy_merges(
    native: Any, labels: NDArray[np.int64], icl: float
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.float64]]:
    """The core's merges from a partition with this ICL: clusters kept, clusters absorbed, ICL before and after each."""
    kept, absorbed, change = native.merge_path(labels.astype(np.uint32))
    return kept, absorbed, icl + np.concatenate([[0.0], np.cumsum(change)])


def merge_path(native: Any, labels: NDArray[np.int64], icl: float) -> MergePath:
    """The merges from a partition of one set of items."""
    return MergePath(labels, *greedy_merges(native, labels, icl))
