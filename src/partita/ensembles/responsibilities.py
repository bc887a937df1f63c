"""The two updates of responsibilities that variational methods need, where the base labels are stored.

The methods in nbce_variational.py see only summaries over items: expected counts, cluster sizes, the entropy and the
largest change. The label store computes them: on this machine (`LocalHost`), or on several hosts that have some of the
items or some of the clusterings each (distributed.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import gammaln, softmax, xlogy

from partita._support.arrays import Floats, slices
from partita.ensembles.base_clusterings import Base
from partita.ensembles.layout import Layout
from partita.ensembles.soft import SoftBase

BLOCK = 4096  # items at a time
# Terms are rounded to multiples of these before they are summed. The sums are then exact, and so do not depend on the
# order or the hosts, for scores up to 2^16 and for responsibilities of up to 2^13 items in one cell. Beyond these
# limits sums have rounding errors.
SCORE_STEP = 2.0**-36
SHARE_STEP = 2.0**-40


@dataclass(frozen=True)
class Step:
    """Sums over items after an update of the responsibilities."""

    counts: Floats  # (Σ J_m, clusters): expected number of items with each label in each cluster
    sizes: Floats  # (clusters,)
    entropy: float  # −Σ_nk γ log γ
    change: float  # the largest change of a responsibility (CVB)

    @staticmethod
    def total(steps: list[Step]) -> Step:
        return Step(
            counts=np.sum([step.counts for step in steps], axis=0),
            sizes=np.sum([step.sizes for step in steps], axis=0),
            entropy=float(np.sum([step.entropy for step in steps])),
            change=max(step.change for step in steps),
        )


class Hosts(Protocol):
    """A label store, on one host or several."""

    layout: Layout
    n_items: int

    def linear(self, weights: Floats, log_prior: Floats) -> Step:
        """Set γ_nk ∝ exp(log_prior_k + Σ_m weights[label of (n, m), k])."""

    def collapsed(self, step: Step, alpha: float, beta: float, sticks: bool, kept: float) -> Step:
        """Set γ by eq. 10–11, for each item given the counts of the others, and keep the share `kept` of the old γ."""

    def reorder(self, order: NDArray[np.intp]) -> None:
        """Renumber the clusters."""

    def responsibilities(self) -> Floats:
        """γ, (items, clusters)."""


class LocalHost:
    """A label store with all labels on this machine."""

    def __init__(self, base: Base, weights: Floats | None = None) -> None:
        self.layout = Layout.plain(base.sizes) if weights is None else Layout(base.sizes, weights)
        self.n_items = base.n_items
        self._codes = base.codes
        self._soft = isinstance(base, SoftBase)
        self._labels = base.memberships()
        self._gamma: Floats = np.empty((0, 0))

    def linear(self, weights: Floats, log_prior: Floats) -> Step:
        self._gamma = np.zeros((self.n_items, len(log_prior)))
        steps = to_steps(weights, SCORE_STEP)
        return self._update(lambda rows: self._labels[rows] @ steps + log_prior)

    def collapsed(self, step: Step, alpha: float, beta: float, sticks: bool, kept: float) -> Step:
        observed = self.layout.per_clustering(step.counts)

        def scores(rows: slice) -> Floats:
            gamma = self._gamma[rows]
            if self._soft:
                labels = soft_label_scores(self._labels[rows], gamma, step.counts, observed, beta, self.layout)
            else:
                labels = label_scores(self._codes[rows], gamma, step.counts, observed, beta, self.layout)
            return labels + weight_scores(gamma, step.sizes, alpha, sticks)

        return self._update(scores, kept)

    def _update(self, scores: Callable[[slice], Floats], kept: float = 0.0) -> Step:
        steps = []
        for rows in slices(self.n_items, BLOCK):
            self._gamma[rows], step = respond(scores(rows), self._gamma[rows], kept)
            steps.append(replace(step, counts=self._labels[rows].T @ self._gamma[rows]))
        return Step.total(steps)

    def reorder(self, order: NDArray[np.intp]) -> None:
        self._gamma = self._gamma[:, order]

    def responsibilities(self) -> Floats:
        return self._gamma


def to_steps(values: Floats, step: float) -> Floats:
    """The nearest multiples of `step`."""
    return np.asarray(np.rint(values / step) * step)


def respond(scores: Floats, old: Floats, kept: float = 0.0) -> tuple[Floats, Step]:
    """Responsibilities from scores, with the share `kept` of the old ones, and their sums (without the counts)."""
    fresh = softmax(scores, axis=1)
    change = float(np.abs(fresh - old).max())
    gamma = to_steps((1.0 - kept) * fresh + kept * old, SHARE_STEP)
    items, largest = np.arange(len(gamma)), gamma.argmax(axis=1)
    gamma[items, largest] += 1.0 - gamma.sum(axis=1)  # the largest absorbs the rounding error
    entropy = to_steps(-xlogy(gamma, gamma).sum(axis=1), SCORE_STEP)
    return gamma, Step(np.empty(0), gamma.sum(axis=0), float(entropy.sum()), change)


def label_scores(
    codes: NDArray[Any], gamma: Floats, counts: Floats, observed: Floats, beta: float, layout: Layout
) -> Floats:
    """Σ_m w_m log[(β + N_kmj − γ_nk) / (J_m β + N_km − γ_nk)], j the label of (n, m); missing labels contribute 0."""
    scores = np.zeros_like(gamma)
    for m, (offset, n_labels) in enumerate(zip(layout.offsets, layout.sizes, strict=True)):
        seen = codes[:, m] >= 0
        own = gamma[seen]
        cells = np.maximum(counts[offset + codes[seen, m].astype(np.intp)] - own, 0.0)  # never below 0 by rounding
        totals = np.maximum(observed[m] - own, 0.0)
        logs = np.log((beta + cells) / (n_labels * beta + totals))
        scores[seen] += to_steps(layout.weights[m] * logs, SCORE_STEP)
    return scores


def soft_label_scores(
    shares: sparse.csr_array, gamma: Floats, counts: Floats, observed: Floats, beta: float, layout: Layout
) -> Floats:
    """Σ_m w_m [Σ_j log Γ(β + N_kmj + p_nmj)/Γ(β + N_kmj) − log(J_m β + N_km)], counts without the item's own share.

    p are membership probabilities; for p_nmj = 1 a ratio is β + N_kmj, and the score is that of `label_scores`.
    """
    scores = np.zeros_like(gamma)
    for m, rows in enumerate(layout.slices()):
        own = shares[:, rows].toarray()[:, :, None]  # (items, labels, 1)
        seen = own.any(axis=(1, 2))
        cells = beta + np.maximum(counts[rows][None] - own * gamma[:, None, :], 0.0)
        ratios = np.where(own == 1.0, np.log(cells), gammaln(cells + own) - gammaln(cells))
        totals = layout.sizes[m] * beta + np.maximum(observed[m] - gamma, 0.0)
        logs = np.where(own > 0, ratios, 0.0).sum(axis=1) - np.log(totals)
        scores[seen] += to_steps(layout.weights[m] * logs[seen], SCORE_STEP)
    return scores


def weight_scores(gamma: Floats, sizes: Floats, alpha: float, sticks: bool) -> Floats:
    """log p(z_n = k | the others) at expected sizes without the item's own share, to first order."""
    others = np.maximum(sizes - gamma, 0.0)
    if not sticks:
        return np.log(alpha / len(sizes) + others)
    from_here = np.cumsum(others[:, ::-1], axis=1)[:, ::-1]
    beyond = from_here - others
    log_total = np.log(1.0 + alpha + from_here)
    passed = np.cumsum(np.log(alpha + np.maximum(beyond, 0.0)) - log_total, axis=1)
    scores = np.log(1.0 + others) - log_total
    scores[:, -1] = 0.0  # the last stick takes the remainder
    scores[:, 1:] += passed[:, :-1]
    return scores
