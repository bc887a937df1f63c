"""Base classes of the estimators that combine base clusterings."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from partita._estimator import Estimator
from partita._validate import as_float, check_count, check_random_state
from partita.models.ranges import MAX_VALUE

from .base_clusterings import Base, Labels, as_base, check_clusters, spread, warn_unlabelled


class EnsembleEstimator(Estimator):
    """An estimator of base clusterings, (items, clusterings).

    A subclass sets `labels_` and `base_` in `fit` and defines `predict_proba`. In terms of scikit-learn, the base
    clusterings are the features.
    """

    labels_: Labels
    base_: Base  # the base clusterings it was fitted to

    def fit(self, base: Any, y: Any = None) -> Self:
        raise NotImplementedError

    def fit_predict(self, base: Any, y: Any = None) -> Labels:
        """The consensus labels of `base`."""
        return self.fit(base).labels_

    def predict_proba(self, base: Any) -> NDArray[np.float64]:
        raise NotImplementedError

    def predict(self, base: Any) -> Labels:
        """The consensus cluster of each new item, (items,); −1 for an item without labels."""
        probabilities = self.predict_proba(base)
        labels: Labels = probabilities.argmax(axis=1).astype(np.intp)
        labels[~as_base(base, self.base_.levels).labelled] = -1
        return labels

    @property
    def n_clusters_(self) -> int:
        """The number of consensus clusters."""
        self._check_fitted()
        return int(self.labels_.max()) + 1

    @property
    def outliers_(self) -> Labels:
        """The items that are a cluster of their own."""
        self._check_fitted()
        labelled = self.labels_ >= 0
        alone = np.bincount(self.labels_[labelled]) == 1
        return np.flatnonzero(labelled & alone[self.labels_])

    def _read(self, base: Any) -> Base:
        """New base clusterings, coded like the fitted ones; named columns must have the same names as in `fit`."""
        self._check_new(base)
        return as_base(base, self.base_.levels)

    def _take_base(self, base: Any, levels: Any) -> Base:
        """Reads the base clusterings to fit, and keeps the names of their columns."""
        self.base_ = as_base(base, levels)
        self._remember_features(base, self.base_.n_clusterings)
        return self.base_

    def __repr__(self) -> str:
        fitted = f": {self.n_clusters_} clusters of {len(self.labels_)} items" if hasattr(self, "labels_") else ""
        return super().__repr__() + fitted


def _check_smoothing(smoothing: Any) -> None:
    number = as_float(smoothing, "smoothing")
    if not 0 <= number <= MAX_VALUE:
        raise ValueError(f"smoothing must be from 0 to {MAX_VALUE:g}, but it is {smoothing}")


class FixedKEstimator(EnsembleEstimator):
    """Base of the estimators with a fixed number of clusters: the best of several runs from random starts is kept."""

    k: int
    smoothing: float
    restarts: int
    random_state: Any

    def _begin(self, base: Any, levels: Any) -> tuple[Base, NDArray[np.bool_], list[np.random.Generator]]:
        """The items with labels, which items those are, and one random generator per start."""
        self._take_base(base, levels)
        check_clusters(self.k, self.base_.n_items)
        _check_smoothing(self.smoothing)
        labelled = warn_unlabelled(self.base_)
        streams = check_random_state(self.random_state).spawn(check_count(self.restarts, "restarts", minimum=1))
        return self.base_.rows(labelled), labelled, streams

    def _take_modal(self, shares: NDArray[np.float64], labelled: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Sets each item's label to the cluster of its largest share; returns these clusters in the order of labels."""
        modal = shares.argmax(axis=1)
        self.labels_ = spread(modal, labelled)
        return np.asarray(modal[np.sort(np.unique(modal, return_index=True)[1])])
