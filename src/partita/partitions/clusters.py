"""Properties of the clusters of every result with one partition."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def each_alone(labels: NDArray[np.int64], which: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
    """Labels in which every item without a cluster (-1), or every one of `which`, is a cluster of its own.

    >>> each_alone(np.array([0, -1, 1, -1])).tolist()
    [0, 2, 1, 3]
    """
    without = labels < 0 if which is None else (labels < 0) & which
    if not without.any():
        return labels
    return np.where(without, labels.max() + np.cumsum(without), labels)


class HasClusters:
    """A result with canonical `labels`; -1 is an item in no cluster."""

    labels: NDArray[np.int64]

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.labels.max()) + 1

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of items in each cluster."""
        return np.bincount(self.labels[self.labels >= 0])
