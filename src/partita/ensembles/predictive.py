"""Predictive probability of an item's labels under a fitted model, a mixture of products; perplexity (eq. 12)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, softmax

from partita._support.arrays import Floats, slices
from partita.ensembles.base_clusterings import Base
from partita.ensembles.layout import Layout
from partita.ensembles.responsibilities import BLOCK


@dataclass(frozen=True)
class Mixture:
    """p(y) = Σ_k exp(log_weights_k) Π_m θ_km(y_m), where missing labels are left out of the product."""

    log_weights: Floats  # (clusters,)
    log_labels: Floats  # (Σ J_m, clusters)

    def scores(self, base: Base) -> Floats:
        """log of weight times likelihood, (items, clusters)."""
        labels = base.memberships()
        blocks = [labels[rows] @ self.log_labels for rows in slices(base.n_items, BLOCK)]
        return np.concatenate(blocks) + self.log_weights

    def log_likelihood(self, base: Base) -> Floats:
        """log p(y_n) of each item, (items,)."""
        return np.asarray(logsumexp(self.scores(base), axis=1))

    def responsibilities(self, base: Base) -> Floats:
        """p(cluster | y_n), (items, clusters)."""
        return np.asarray(softmax(self.scores(base), axis=1))

    def powered(self, layout: Layout) -> Mixture:
        """For responsibilities under the powers w_m of the clusterings' likelihoods; it is no predictive of labels."""
        return Mixture(self.log_weights, layout.weighted(self.log_labels))

    def only(self, clusters: NDArray[np.intp]) -> Mixture:
        """The mixture of some of the clusters; its weights do not sum to 1, which does not affect responsibilities."""
        return Mixture(self.log_weights[clusters], self.log_labels[:, clusters])


def label_means(counts: Floats, beta: float, layout: Layout) -> Floats:
    """log E[θ_kmj] = log[(β + N_kmj) / (J_m β + N_km)]."""
    totals = layout.per_clustering(counts) + beta * layout.sizes[:, None]
    return np.log(beta + counts) - np.log(totals)[layout.owner]


def dirichlet_weights(sizes: Floats, alpha: float) -> Floats:
    """log E[π_k] under the finite symmetric Dirichlet."""
    return np.asarray(np.log(alpha / len(sizes) + sizes) - np.log(alpha + sizes.sum()))


def stick_weights(sizes: Floats, alpha: float) -> Floats:
    """log of Π (1 − E[v_h]) E[v_k] under truncated stick-breaking; the last stick takes the remainder."""
    from_here = np.cumsum(sizes[::-1])[::-1]
    beyond = np.append(from_here[1:], 0.0)  # not from_here − sizes, whose rounding can swallow a small α
    log_total = np.log(1.0 + alpha + from_here)
    passed = np.cumsum(np.log(alpha + beyond) - log_total)
    own = np.log(1.0 + sizes) - log_total
    own[-1] = 0.0
    return np.asarray(own + np.concatenate([[0.0], passed[:-1]]))


def count_labels(base: Base, labels: NDArray[np.integer], k: int) -> Floats:
    """How many items of each cluster have each base label, (Σ J_m, k)."""
    tables = []
    for m, n_labels in enumerate(base.sizes):
        seen = base.codes[:, m] >= 0
        cells = base.codes[seen, m].astype(np.intp) * k + labels[seen]
        tables.append(np.bincount(cells, minlength=n_labels * k).reshape(n_labels, k))
    return np.concatenate(tables).astype(np.float64)


def partition_mixture(
    labels: NDArray[np.integer], base: Base, alpha: float, beta: float, truncation: int, sticks: bool
) -> Mixture:
    """The predictive given a partition of the items of `base`; its last cluster represents all empty clusters.

    Stick-breaking is averaged over the orders of the sticks, which (apart from the truncation) gives Pólya's
    urn.
    """
    layout, k = Layout.plain(base.sizes), int(labels.max()) + 1
    counts = count_labels(base, labels, k + 1)  # a column of zeros at the end: the empty cluster
    sizes = np.bincount(labels, minlength=k + 1).astype(np.float64)
    share = 0.0 if sticks else alpha / truncation
    weights = share + sizes
    weights[-1] = alpha if sticks else (truncation - k) * share
    with np.errstate(divide="ignore"):
        log_weights = np.log(weights) - np.log(alpha + len(labels))
    return Mixture(log_weights, label_means(counts, beta, layout))


def averaged_log_likelihood(mixtures: list[Mixture], base: Base) -> Floats:
    """log of the mean over draws of p(y_n | draw), (items,)."""
    total = np.full(base.n_items, -np.inf)
    for mixture in mixtures:
        total = np.logaddexp(total, mixture.log_likelihood(base))
    return np.asarray(total - np.log(len(mixtures)))


def perplexity_of(log_likelihood: Floats, base: Base) -> float:
    """exp(−Σ_n log p(y_n) / number of labels): eq. 12; missing labels are not counted."""
    return float(np.exp(-log_likelihood.sum() / (base.codes >= 0).sum()))
