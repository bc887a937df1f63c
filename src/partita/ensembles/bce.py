"""Bayesian cluster ensembles (Wang, Shan & Banerjee 2009): mixed membership, fitted by variational EM."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, gammaln, polygamma

from partita._support.arrays import Floats
from partita._support.tolerance import FLOOR
from partita.ensembles.base_clusterings import Base
from partita.ensembles.estimator import FixedKEstimator
from partita.ensembles.layout import Layout
from partita.ensembles.predictive import perplexity_of

MIN_TURNS = 5


class BCE(FixedKEstimator):
    """Mixed membership: each item has its own distribution over consensus clusters, and each base label draws from it.

    π_n ~ Dirichlet(α), z_nm ~ π_n, y_nm ~ θ_{z_nm, m}. The labels are the modal cluster of E[π_n].

    Parameters
    ----------
    k : int
        Number of clusters.
    smoothing : float
        Added to each expected label count, from 0 to 1e100; 0 is maximum likelihood, as in the paper.
    restarts, max_iter, tol : int, int, float
        Number of runs (the one with the highest bound is kept), maximum number of iterations of a run, and the relative
        growth of the bound below which a run ends.
    random_state : None, int or numpy Generator
        Seed or source of random numbers.

    Attributes
    ----------
    labels_, n_clusters_, outliers_ : array, int, array
        As for `NBCE`.
    membership_ : (items, k) array
        E[π_n], the expected membership of each item.
    alpha_ : (k,) array
        The Dirichlet parameter α.
    bound_, bounds_ : float, array
        The variational bound at the end, and after each iteration.

    Examples
    --------
    >>> base = [[0, 0, 1], [0, 0, 1], [0, 0, 0], [1, 2, 0], [1, 2, 0], [1, -1, 0]]
    >>> BCE(2, restarts=2, max_iter=50, random_state=1).fit(base).labels_.tolist()
    [0, 0, 0, 1, 1, 1]

    References
    ----------
    Wang, Shan & Banerjee (2009), Bayesian cluster ensembles, SIAM Data Mining.
    """

    def __init__(
        self,
        k: int,
        *,
        smoothing: float = 0.0,
        restarts: int = 5,
        max_iter: int = 300,
        tol: float = 1e-5,
        random_state: Any = None,
    ) -> None:
        self.k, self.smoothing = k, smoothing
        self.restarts, self.max_iter, self.tol = restarts, max_iter, tol
        self.random_state = random_state

    def fit(self, base: Any, y: Any = None, *, levels: Any = None) -> Self:
        """Fit to base clusterings, (items, clusterings)."""
        used, labelled, streams = self._begin(base, levels)
        runs = [self._run(used, self.k, stream) for stream in streams]
        self.bounds_, self.alpha_, self._theta = max(runs, key=lambda run: float(run[0][-1]))
        gamma = self._explain_new(used)[0]
        self.bound_ = float(self.bounds_[-1])
        self.membership_ = np.zeros((len(labelled), self.k))
        self.membership_[labelled] = gamma / gamma.sum(axis=1, keepdims=True)
        self._clusters = self._take_modal(gamma, labelled)
        return self

    def _run(self, base: Base, k: int, rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
        layout = Layout.plain(base.sizes)
        distinct, copies = np.unique(base.codes, axis=0, return_counts=True)  # equal items are treated as one
        rows = Base(distinct, base.levels)
        theta = np.concatenate([rng.dirichlet(np.ones(size), k).T for size in base.sizes])
        alpha, bounds = np.ones(k), [-np.inf]
        gamma = _flat_start(rows, alpha)
        for _ in range(self.max_iter):
            gamma, counts, items = explain(rows, alpha, theta, gamma, copies)
            bounds.append(float(copies @ items))
            if len(bounds) > MIN_TURNS and bounds[-1] - bounds[-2] <= self.tol * abs(bounds[-1]):
                break
            theta = self._maximise(counts, layout)
            mean_log = digamma(gamma) - digamma(gamma.sum(axis=1, keepdims=True))
            alpha = fit_dirichlet(alpha, copies @ mean_log, base.n_items)
        return np.array(bounds[1:]), alpha, theta

    def _maximise(self, counts: Floats, layout: Layout) -> Floats:
        smoothed = counts + self.smoothing
        return np.asarray(smoothed / np.maximum(layout.per_clustering(smoothed)[layout.owner], FLOOR))

    def predict_proba(self, base: Any) -> Floats:
        """E[π] of new items over the consensus clusters, (items, n_clusters_)."""
        gamma = self._explain_new(self._read(base))[0][:, self._clusters]
        return np.asarray(gamma / gamma.sum(axis=1, keepdims=True))

    def perplexity(self, base: Any) -> float:
        """exp(−bound / number of labels): eq. 12 with the bound in place of log p(Y), so an upper limit."""
        read = self._read(base)
        items = self._explain_new(read)[2]
        return perplexity_of(items, read)

    def _explain_new(self, base: Base) -> tuple[Floats, Floats, Floats]:
        start = _flat_start(base, self.alpha_)
        return explain(base, self.alpha_, self._theta, start, np.ones(base.n_items), iterations=50)


def _flat_start(base: Base, alpha: Floats) -> Floats:
    return np.tile(alpha, (base.n_items, 1)) + base.n_clusterings / len(alpha)


def explain(
    base: Base, alpha: Floats, theta: Floats, gamma: Floats, copies: NDArray[Any], iterations: int = 5
) -> tuple[Floats, Floats, Floats]:
    """The E step: γ_n = α + Σ_m φ_nm with φ_nmk ∝ exp(Ψ(γ_nk)) θ_km(y_nm), iterated a few times.

    Returns γ (items, k), the expected label counts (Σ J_m, k), and the bound of each item, which is −∞ if some
    label has probability 0 in every cluster.
    """
    seen = base.codes >= 0
    rows = np.where(seen, base.codes + Layout.plain(base.sizes).offsets, 0)
    likelihood = theta[rows]  # (items, clusterings, k)
    for _ in range(iterations):
        phi, _ = _choices(digamma(gamma), likelihood, seen)
        gamma = alpha + phi.sum(axis=1)
    mean_log = digamma(gamma) - digamma(gamma.sum(axis=1, keepdims=True))
    phi, log_total = _choices(mean_log, likelihood, seen)
    counts = np.zeros_like(theta)
    np.add.at(counts, rows[seen], (phi * copies[:, None, None])[seen])
    return gamma, counts, dirichlet_gap(alpha, gamma, mean_log) + log_total.sum(axis=1)


def _choices(expected: Floats, likelihood: Floats, seen: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """φ (items, clusterings, k), zero for missing labels, and each label's contribution log Σ_k exp(expected) θ."""
    highest = expected.max(axis=1, keepdims=True)
    phi = np.exp(expected - highest)[:, None, :] * likelihood
    total = phi.sum(axis=2)
    possible = seen & (total > 0)
    phi = np.where(possible[:, :, None], phi / np.where(possible, total, 1.0)[:, :, None], 0.0)
    with np.errstate(divide="ignore"):
        log_total = np.where(seen, np.log(total) + highest, 0.0)
    return phi, log_total


def dirichlet_gap(alpha: Floats, gamma: Floats, mean_log: Floats) -> Floats:
    """E[log p(π_n | α)] − E[log q(π_n | γ_n)], (items,)."""
    prior = gammaln(alpha.sum()) - gammaln(alpha).sum()
    own = gammaln(gamma.sum(axis=1)) - gammaln(gamma).sum(axis=1)
    return np.asarray(prior - own + ((alpha - gamma) * mean_log).sum(axis=1))


def fit_dirichlet(alpha: Floats, target: Floats, n: int, steps: int = 20) -> Floats:
    """The α that maximises Σ_n E[log p(π_n | α)], given target = Σ_n E[log π_n], by monotone Newton steps."""
    if alpha.size == 1:  # the only probability is 1 for every α
        return alpha

    def value(at: Floats) -> float:
        return float(n * (gammaln(at.sum()) - gammaln(at).sum()) + (at - 1.0) @ target)

    reached = value(alpha)
    for _ in range(steps):
        gradient = n * (digamma(alpha.sum()) - digamma(alpha)) + target
        diagonal, shared = -n * polygamma(1, alpha), n * polygamma(1, alpha.sum())
        offset = (gradient / diagonal).sum() / (1.0 / shared + (1.0 / diagonal).sum())
        step = -(gradient - offset) / diagonal
        # no entry falls below a tenth of its value, so that all stay positive
        step = np.maximum(step, -0.9 * alpha)
        while (better := value(alpha + step)) < reached and np.abs(step).max() > 1e-9:
            step = step / 2
        if better - reached <= 1e-10 * abs(reached):
            break
        alpha, reached = np.maximum(alpha + step, 1e-6), better
    return alpha
