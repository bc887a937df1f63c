"""The probability of every reported cluster for every item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from partita._support.arrays import Floats, Ints, Labels
from partita._support.hints import plural
from partita._support.memory import check_fits
from partita._support.optional import data_frame
from partita._support.shown import ShownAsText
from partita.estimation.result import Estimate
from partita.partitions.labels import overlaps
from partita.partitions.matching import Edges, partners
from partita.uncertainty.ball import subject

#: The name of the last column: clusters of a draw that are matched with no reported cluster.
OTHER = "other"


@dataclass(frozen=True, eq=False, repr=False)
class Memberships(ShownAsText):
    """Probabilities of the reported clusters: the result of `memberships`.

    Attributes
    ----------
    probabilities : (items, clusters + 1) array
        The probability of each reported cluster for each item; the last column is "other". Rows sum to 1; the row of an
        item that no draw labels is NaN.
    labels : (items,) integer array
        The estimate.
    names : tuple of str or None
        The names of the items.
    """

    probabilities: Floats
    labels: Labels
    names: tuple[str, ...] | None = None

    @property
    def n_clusters(self) -> int:
        """Number of reported clusters."""
        return int(self.probabilities.shape[1]) - 1

    @property
    def own(self) -> Floats:
        """For each item the probability of the cluster that it is reported in; NaN for an item in no cluster."""
        found = self.probabilities[np.arange(self.labels.size), self.labels]
        return np.where(self.labels >= 0, found, np.nan)

    @property
    def other(self) -> Floats:
        """For each item the probability of a cluster that is not reported."""
        return self.probabilities[:, -1]

    def to_pandas(self) -> Any:
        """One row per item, by its name; one column per reported cluster, and "other"."""
        columns = [*map(str, range(self.n_clusters)), OTHER]
        return data_frame(self.probabilities, self.names or range(self.labels.size), columns=columns)

    def __repr__(self) -> str:
        known = self.own[~np.isnan(self.own)]
        sure = "" if known.size == 0 else f", own cluster {known.mean():.3f} on average and {known.min():.3f} at least"
        items, clusters = plural(self.labels.size, "item"), plural(self.n_clusters, "cluster")
        return f"Memberships({items} x {clusters} and other{sure})"


def memberships(estimate: Estimate | ArrayLike, draws: Any = None) -> Memberships:
    """Probability of every reported cluster for every item, from draws with label switching.

    The clusters of each draw t are matched one to one with the reported clusters, for the largest total overlap (the
    assignment problem); m_t(T) is the reported cluster of cluster T of the draw, or "other" if T has no partner. With
    T_t(i) the cluster of item i in draw t,

    P(i, C) = Σ_t w_t 1{m_t(T_t(i)) = C}.

    `item_certainty` says how firmly an item is held by the rest of its own cluster and needs no matching; this says
    where else it may belong. Probabilities depend on the matching: if a draw cuts a reported cluster in two halves, one
    half counts as the cluster and the other as "other". Of equally good matchings one is taken, which may depend on
    the order of the items. Draws that leave an item unlabelled do not count for it. Takes O(draws × items) time.
    For new items see ``predict_proba`` of a fitted model.

    Parameters
    ----------
    estimate : Estimate or (n,) array_like
        An estimate, or the labels of a partition.
    draws : anything that `as_sample` takes; needed with plain labels
        Posterior draws; an estimate brings its own.

    Returns
    -------
    Memberships

    Examples
    --------
    >>> found = memberships([0, 0, 1, 1], [[0, 0, 1, 1], [0, 0, 1, 1], [1, 0, 0, 0], [0, 0, 1, 2]])
    >>> found.probabilities.tolist()
    [[1.0, 0.0, 0.0], [0.75, 0.25, 0.0], [0.0, 1.0, 0.0], [0.0, 0.75, 0.25]]
    """
    labels, sample, _ = subject(estimate, draws)
    width = int(labels.max()) + 2
    check_fits(8 * labels.size * width, f"memberships of {labels.size:,} items in {width - 1:,} clusters")
    total, seen = np.zeros((labels.size, width)), np.zeros(labels.size)
    first = np.arange(labels.size) * width
    for row, weight in zip(sample.labels, sample.weights, strict=True):
        drawn = row.astype(np.int64)
        known = drawn >= 0 if sample.has_gaps else slice(None)
        total.ravel()[first[known] + matched(labels, drawn, width - 1)[drawn[known]]] += weight
        seen[known] += weight
    with np.errstate(invalid="ignore"):  # 0 / 0: an item that no draw labels
        return Memberships(total / seen[:, None], labels, sample.names)


def matched(labels: Labels, drawn: Labels, n_clusters: int) -> Ints:
    """For each cluster of a draw the reported cluster that it is matched with; `n_clusters` if with none.

    >>> matched(np.array([0, 0, 1]), np.array([1, 1, 0]), 2).tolist()
    [1, 0]
    """
    both = (labels >= 0) & (drawn >= 0)
    n_drawn = int(drawn.max()) + 1
    if not both.any():
        return np.full(n_drawn, n_clusters)
    found = partners(Edges(*overlaps(drawn[both], labels[both])), n_drawn, n_clusters)
    return np.where(found < 0, n_clusters, found)
