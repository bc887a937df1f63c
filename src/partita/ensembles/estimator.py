"""Base classes of the estimators that combine base clusterings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from partita._support.hints import plural
from partita._support.optional import optional
from partita._support.validate import MAX_VALUE, as_float, check_count, check_random_state
from partita.ensembles.base_clusterings import Base, Labels, as_base, check_clusters, hard_base, spread, warn_unlabelled
from partita.models.estimator import Estimator


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
        self._check_fitted()
        probabilities = self.predict_proba(base)
        labels: Labels = probabilities.argmax(axis=1).astype(np.intp)
        labels[~as_base(base, self.base_.levels).labelled] = -1
        return labels

    def to_anndata(self, adata: Any, key: str = "consensus") -> None:
        """Write the consensus into `obs` of an AnnData object whose cells are the items, in their order.

        Columns: `key`, the labels as text (a categorical, as scanpy writes clusters; missing for an item without
        labels); `key_certainty`, if the estimator has `certainty_`; and `key_next`, the cluster that is next in
        probability given the item's labels.

        Parameters
        ----------
        adata : AnnData
            Or any object with `obs`, a pandas data frame.
        key : str
            Name of the column of labels.
        """
        self._check_fitted()
        more = {"certainty": self.certainty_} if hasattr(self, "certainty_") else {}
        write_obs(adata, key, self.labels_, more | {"next": _categorical(self._next(), self.n_clusters_)})

    def _next(self) -> Labels:
        """The most probable cluster other than the item's own; −1 if there is none, or no label."""
        if self.n_clusters_ < 2:
            return np.full(len(self.labels_), -1, dtype=np.intp)
        probabilities = self.predict_proba(self.base_)
        items = np.flatnonzero(self.labels_ >= 0)
        probabilities[items, self.labels_[items]] = -1.0
        return np.where(self.labels_ >= 0, probabilities.argmax(axis=1), -1).astype(np.intp)

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
        return as_base(base, self.base_.levels).noise_as_label()

    def _take_base(self, base: Any, levels: Any, *, soft: bool = False) -> Base:
        """Reads the base clusterings to fit, and keeps the names of their columns; `soft` ones only if asked for."""
        self.base_ = as_base(base, levels).noise_as_label() if soft else hard_base(base, type(self).__name__, levels)
        self._remember_features(base, self.base_.n_clusterings)
        return self.base_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    def __repr__(self) -> str:
        fitted = (
            f": {plural(self.n_clusters_, 'cluster')} of {plural(len(self.labels_), 'item')}"
            if hasattr(self, "labels_")
            else ""
        )
        return super().__repr__() + fitted


def write_obs(adata: Any, key: str, labels: Labels, more: Mapping[str, Any]) -> None:
    """Labels and more columns, whose names begin with the key, as columns of `obs`."""
    if len(adata.obs) != len(labels):
        raise ValueError(f"adata has {len(adata.obs)} cells, but the consensus has {len(labels)} items")
    adata.obs[key] = _categorical(labels, int(labels.max()) + 1)
    for name, values in more.items():
        adata.obs[f"{key}_{name}"] = values


def _categorical(labels: Labels, n_clusters: int) -> Any:
    """Labels as a pandas categorical of text, in the order of their numbers; −1 is missing."""
    pd = optional("pandas", "tables of results need pandas", "io")
    return pd.Categorical.from_codes(labels, [str(cluster) for cluster in range(n_clusters)])


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
        if not 0 <= as_float(self.smoothing, "smoothing") <= MAX_VALUE:
            raise ValueError(f"smoothing must be from 0 to {MAX_VALUE:g}, but it is {self.smoothing}")
        labelled = warn_unlabelled(self.base_)
        streams = check_random_state(self.random_state).spawn(check_count(self.restarts, "restarts", minimum=1))
        return self.base_.rows(labelled), labelled, streams

    def _take_modal(self, shares: NDArray[np.float64], labelled: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Sets each item's label to the cluster of its largest share; returns these clusters in the order of labels."""
        modal = shares.argmax(axis=1)
        self.labels_ = spread(modal, labelled)
        return np.asarray(modal[np.sort(np.unique(modal, return_index=True)[1])])
