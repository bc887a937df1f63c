"""The conventions of scikit-learn that the ensemble estimators keep, without needing scikit-learn."""

from __future__ import annotations

import inspect
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from partita._validate import check_count, check_random_state

from .base import Base, Labels, as_base, check_clusters, spread, warn_unlabelled


class NotFittedError(ValueError, AttributeError):
    """The estimator was asked for what only `fit` gives."""


class EnsembleEstimator:
    """Parameters by name, `fit_predict`, and the checks that every ensemble estimator makes.

    A subclass sets `labels_` and `base_` in `fit` and defines `predict_proba`.
    """

    labels_: Labels
    base_: Base  # the base clusterings it was fitted to

    @classmethod
    def _names(cls) -> list[str]:
        return [name for name in inspect.signature(cls).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The arguments the estimator was made with."""
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **params: Any) -> Self:
        """Change arguments by name."""
        for name, value in params.items():
            if name not in self._names():
                known = ", ".join(self._names())
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}; it has {known}")
            setattr(self, name, value)
        return self

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
        labels[~self._read(base).labelled] = -1
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

    def _check_fitted(self) -> None:
        if not hasattr(self, "labels_"):
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet: call fit first")

    def _read(self, base: Any) -> Base:
        """New base clusterings in the codes of those that were fitted."""
        self._check_fitted()
        return as_base(base, self.base_.levels)

    def __repr__(self) -> str:
        defaults = {name: parameter.default for name, parameter in inspect.signature(type(self)).parameters.items()}
        changed = [f"{name}={value!r}" for name, value in self.get_params().items() if value != defaults[name]]
        fitted = f": {self.n_clusters_} clusters of {len(self.labels_)} items" if hasattr(self, "labels_") else ""
        return f"{type(self).__name__}({', '.join(changed)}){fitted}"


class FixedKEstimator(EnsembleEstimator):
    """What the estimators of k clusters share: they run from several random starts, and the best run is kept."""

    k: int
    smoothing: float
    restarts: int
    random_state: Any

    def _begin(self, base: Any, levels: Any) -> tuple[Base, NDArray[np.bool_], list[np.random.Generator]]:
        """The items with labels, which items those are, and a stream of random numbers a start."""
        self.base_ = as_base(base, levels)
        check_clusters(self.k, self.base_.n_items)
        if not self.smoothing >= 0:
            raise ValueError(f"smoothing must not be negative, but it is {self.smoothing}")
        labelled = warn_unlabelled(self.base_)
        streams = check_random_state(self.random_state).spawn(check_count(self.restarts, "restarts", minimum=1))
        return self.base_.rows(labelled), labelled, streams

    def _take_modal(self, shares: NDArray[np.float64], labelled: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Sets the labels to the clusters of the largest shares; returns those clusters, in the order of labels."""
        modal = shares.argmax(axis=1)
        self.labels_ = spread(modal, labelled)
        return np.asarray(modal[np.sort(np.unique(modal, return_index=True)[1])])
