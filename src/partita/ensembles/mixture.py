"""The mixture model for ensembles (Topchy, Jain & Punch 2004): EM over products of multinomials."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import logsumexp

from partita._support.arrays import Floats
from partita._support.tolerance import FLOOR
from partita.ensembles.estimator import FixedKEstimator
from partita.ensembles.layout import Layout
from partita.ensembles.nbce_variational import random_start
from partita.ensembles.predictive import Mixture, perplexity_of
from partita.ensembles.responsibilities import LocalHost


class MixtureModel(FixedKEstimator):
    """The consensus as the components of a mixture fitted by maximum likelihood.

    p(y_n) = Σ_k π_k Π_m θ_km(y_nm), where missing labels are left out of the product.

    Parameters
    ----------
    k : int
        Number of clusters.
    smoothing : float
        Added to each expected label count, from 0 to 1e100; 0 is maximum likelihood, under which labels that do not
        occur in a component have probability 0, so that the perplexity of new items can be infinite.
    restarts, max_iter, tol : int, int, float
        Number of EM runs (the one with the highest likelihood is kept), maximum number of iterations of a run, and the
        relative growth of the log-likelihood below which a run ends.
    random_state : None, int or numpy Generator
        Seed or source of random numbers.

    Attributes
    ----------
    labels_, n_clusters_, outliers_ : array, int, array
        As for `NBCE`.
    responsibilities_ : (items, k) array
        Probability of each cluster for each item.
    log_likelihood_ : float
        The log-likelihood at the end.

    Examples
    --------
    >>> base = [[0, 0, 1], [0, 0, 1], [0, 0, 0], [1, 2, 0], [1, 2, 0], [1, -1, 0]]
    >>> MixtureModel(2, random_state=1).fit(base).labels_.tolist()
    [0, 0, 0, 1, 1, 1]

    References
    ----------
    Topchy, Jain & Punch (2004), A mixture model for clustering ensembles, SIAM Data Mining.
    """

    def __init__(
        self,
        k: int,
        *,
        smoothing: float = 0.0,
        restarts: int = 10,
        max_iter: int = 500,
        tol: float = 1e-8,
        random_state: Any = None,
    ) -> None:
        self.k, self.smoothing = k, smoothing
        self.restarts, self.max_iter, self.tol = restarts, max_iter, tol
        self.random_state = random_state

    def fit(self, base: Any, y: Any = None, *, levels: Any = None) -> Self:
        """Fit to base clusterings, (items, clusterings)."""
        used, labelled, streams = self._begin(base, levels)
        runs = [self._run(LocalHost(used), stream) for stream in streams]
        self.log_likelihood_, self._mixture = max(runs, key=lambda run: run[0])
        gamma = self._mixture.responsibilities(used)
        self.responsibilities_ = np.zeros((len(labelled), self.k))
        self.responsibilities_[labelled] = gamma
        self._consensus = self._mixture.only(self._take_modal(gamma, labelled))
        return self

    def _run(self, hosts: LocalHost, rng: np.random.Generator) -> tuple[float, Mixture]:
        step, last = random_start(hosts, self.k, rng), -np.inf
        for _ in range(self.max_iter):
            mixture = self._maximise(step.counts, step.sizes, hosts.layout)
            step = hosts.linear(mixture.log_labels, mixture.log_weights)
            reached = self._likelihood(step.counts, step.sizes, step.entropy, mixture)
            if reached - last <= self.tol * abs(reached):
                break
            last = reached
        return reached, mixture

    def _likelihood(self, counts: Floats, sizes: Floats, entropy: float, mixture: Mixture) -> float:
        """Σ_n log p(y_n): the free energy, which at the responsibilities of the parameters is the log-likelihood."""
        labels = np.where(counts > 0, counts * mixture.log_labels, 0.0).sum()
        return float(labels + (sizes * mixture.log_weights).sum() + entropy)

    def _maximise(self, counts: Floats, sizes: Floats, layout: Layout) -> Mixture:
        smoothing = float(self.smoothing)
        totals = layout.per_clustering(counts) + smoothing * layout.sizes[:, None]
        # a floor, far below any probability that EM can reach, avoids the logarithm of 0
        probability = (counts + smoothing) / np.maximum(totals[layout.owner], FLOOR)
        weights = np.maximum(sizes, FLOOR) / sizes.sum()
        return Mixture(np.log(weights), np.log(np.maximum(probability, FLOOR)))

    def predict_proba(self, base: Any) -> Floats:
        """p(consensus cluster | labels) of new items, (items, n_clusters_)."""
        read = self._read(base)  # says so if nothing is fitted
        return self._consensus.responsibilities(read)

    def perplexity(self, base: Any) -> float:
        """exp(−log p(Y) / number of labels), eq. 12 of Wang, Domeniconi & Laskey (2010)."""
        read = self._read(base)
        scores = self._mixture.scores(read)
        log_likelihood = logsumexp(scores, axis=1)
        log_likelihood[scores.max(axis=1) < np.log(FLOOR) / 2] = -np.inf  # some label occurs in no component
        return perplexity_of(log_likelihood, read)
