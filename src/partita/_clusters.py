"""Properties of the clusters of every result with one partition."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class HasClusters:
    """A result with canonical `labels`."""

    labels: NDArray[np.int64]

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.labels.max()) + 1

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of items in each cluster."""
        return np.bincount(self.labels)
