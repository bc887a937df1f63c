"""Nonparametric Bayesian clustering ensembles (Wang, Domeniconi & Laskey 2010)."""

from __future__ import annotations

import os
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from partita._validate import check_count, check_positive, check_random_state
from partita.estimate import estimate
from partita.models.chain import Chain
from partita.models.checkpoint import Plan

from .base import Base, Labels, as_base, spread, warn_unlabelled
from .cvb import fit_cvb
from .estimator import EnsembleEstimator
from .gibbs import NBCEModel, draw_mixtures, sample_nbce, together
from .hosts import Here, Hosts
from .hyper import GammaPrior
from .layout import Layout
from .predictive import (
    Mixture,
    averaged_log_likelihood,
    dirichlet_weights,
    label_means,
    partition_mixture,
    perplexity_of,
    stick_weights,
)
from .variational import Fit, Settings, best_of
from .vb import fit_vb

INFERENCES = ("gibbs", "vb", "cvb")
PRIORS = ("tsb", "fsd")


class NBCE(EnsembleEstimator):
    """A Dirichlet-process mixture over base clusterings: the consensus, and how many clusters it has.

    Item n has cluster z_n ~ π and base labels y_nm ~ θ_{z_n m}, with θ_km ~ Dirichlet(β, ..., β) and π from
    the Dirichlet process with concentration α0, truncated at K clusters: by stick-breaking ("tsb") or as a
    finite symmetric Dirichlet ("fsd"). docs/ensembles.md derives each inference.

    Parameters
    ----------
    inference : "gibbs" (collapsed Gibbs), "vb" (variational Bayes, "fsd" only) or "cvb" (collapsed
        variational)
    prior : "fsd" or "tsb"
    truncation : K, the largest number of clusters
    alpha, beta : numbers, or None to learn them under Gamma priors: drawn with the partition (gibbs), or at
        the maximum of the bound (vb, cvb)
    alpha_prior, beta_prior : (shape, rate) of those priors
    loss : the loss that the partition of the Gibbs draws minimises, as in `partita.estimate`
    draws, warmup, thin, chains : how long the Gibbs chains are
    restarts, max_iter, tol : runs of vb or cvb, their longest length, and when they end: the relative growth
        of the bound (vb; 1e-7) or the largest change of a responsibility (cvb; 1e-4)
    n_jobs : threads; −1 is all cores
    progress : show a progress line
    random_state : None, an integer or a numpy Generator

    Attributes
    ----------
    labels_ : (items,) canonical labels; −1 for an item that no clustering labels
    n_clusters_, outliers_ : the number of clusters, and the items that are alone in theirs
    certainty_ : (items,) the largest responsibility (vb, cvb), or the mean probability to be with the other
        members of the item's cluster (gibbs); 0 for an item without labels
    alpha_, beta_ : learned or given; the posterior mean for gibbs
    chain_, estimate_ : the draws and the estimate (gibbs)
    responsibilities_, bound_, bounds_ : (items, K), the bound at the end and at each turn (vb, cvb)

    Examples
    --------
    >>> base = [[0, 0, 1], [0, 0, 1], [0, 0, 0], [1, 2, 0], [1, 2, 0], [1, -1, 0]]
    >>> NBCE(inference="vb", truncation=10, random_state=1).fit(base).labels_.tolist()
    [0, 0, 0, 1, 1, 1]

    References
    ----------
    Wang, Domeniconi & Laskey (2010), Nonparametric Bayesian clustering ensembles, ECML PKDD.
    """

    def __init__(
        self,
        inference: str = "gibbs",
        prior: str = "fsd",
        truncation: int = 100,
        alpha: float | None = None,
        beta: float | None = None,
        *,
        alpha_prior: tuple[float, float] = (1.0, 1.0),
        beta_prior: tuple[float, float] = (1.0, 1.0),
        loss: Any = "vi",
        draws: int = 500,
        warmup: int = 500,
        thin: int = 1,
        chains: int = 4,
        restarts: int = 10,
        max_iter: int = 500,
        tol: float | None = None,
        n_jobs: int = -1,
        progress: bool = False,
        random_state: Any = None,
    ) -> None:
        self.inference, self.prior, self.truncation = inference, prior, truncation
        self.alpha, self.beta = alpha, beta
        self.alpha_prior, self.beta_prior = alpha_prior, beta_prior
        self.loss = loss
        self.draws, self.warmup, self.thin, self.chains = draws, warmup, thin, chains
        self.restarts, self.max_iter, self.tol = restarts, max_iter, tol
        self.n_jobs, self.progress, self.random_state = n_jobs, progress, random_state

    def fit(self, base: Any, y: Any = None, *, levels: Any = None, path: str | os.PathLike[str] | None = None) -> Self:
        """Find the consensus of base clusterings.

        Parameters
        ----------
        base : (items, clusterings) labels of any kind; −1, NaN and None are gaps
        levels : the labels each clustering can give, when `base` does not show them all
        path : where the Gibbs chains are written as they grow, so that `partita.resume` can go on with them
        """
        self._check()
        self.base_ = as_base(base, levels)
        labelled = warn_unlabelled(self.base_)
        used = self.base_ if labelled.all() else self.base_.rows(labelled)
        if self.inference == "gibbs":
            self._fit_gibbs(used, labelled, path)
        else:
            self._fit_variational(Here(used), labelled)
        return self

    def predict_proba(self, base: Any) -> NDArray[np.float64]:
        """p(consensus cluster | labels) of new items, (items, n_clusters_), given the consensus partition."""
        read = self._read(base)
        return self._consensus.responsibilities(read)

    def perplexity(self, base: Any) -> float:
        """exp(−log p(Y) / number of labels): eq. 12, with p(Y) = Π_n p(y_n | fitted data).

        The predictive p(y_n | ...) is averaged over draws (gibbs), or that of the fitted q (vb, cvb). It is
        at least 1, and at most the number of labels for a model that knows nothing.
        """
        read = self._read(base)
        return perplexity_of(averaged_log_likelihood(self._predictive, read), read)

    def _fit_gibbs(self, base: Base, labelled: NDArray[np.bool_], path: Any) -> None:
        rng = check_random_state(self.random_state)
        plan = Plan(self.draws, self.warmup, self.thin, self.chains, int(rng.integers(2**63)))
        model = NBCEModel(
            self.prior,
            self.truncation,
            self.alpha,
            self.beta,
            _pair(self.alpha_prior),
            _pair(self.beta_prior),
        )
        self.chain_: Chain = sample_nbce(model, base, plan, path=path, n_jobs=self.n_jobs, progress=self.progress)
        self.estimate_ = estimate(self.chain_, loss=self.loss, rng=rng)
        found = np.asarray(self.estimate_.labels, dtype=np.intp)
        self.labels_ = spread(found, labelled)
        self.certainty_ = np.zeros(len(labelled))
        self.certainty_[labelled] = together(found, self.chain_.labels.reshape(-1, base.n_items))
        self.alpha_ = float(self.chain_.stats["alpha"].mean())
        self.beta_ = float(self.chain_.stats["beta"].mean())
        self._predictive = draw_mixtures(self.chain_, base)
        sticks = self.prior == "tsb"
        whole = partition_mixture(found, base, self.alpha_, self.beta_, self.truncation, sticks)
        self._consensus = whole.only(np.arange(found.max() + 1))

    def _fit_variational(self, hosts: Hosts, labelled: NDArray[np.bool_]) -> None:
        run = fit_vb if self.inference == "vb" else fit_cvb
        fit, gamma = best_of(run, hosts, self._settings(), self.restarts, check_random_state(self.random_state))
        self._take(fit, gamma, hosts.layout, labelled)

    def _take(self, fit: Fit, gamma: NDArray[np.float64], layout: Layout, labelled: NDArray[np.bool_]) -> None:
        """The attributes of a variational fit."""
        modal = gamma.argmax(axis=1)
        self.labels_: Labels = spread(modal, labelled)
        self.responsibilities_ = np.zeros((len(labelled), gamma.shape[1]))
        self.responsibilities_[labelled] = gamma
        self.certainty_ = self.responsibilities_.max(axis=1)
        self.alpha_, self.beta_ = fit.alpha, fit.beta
        self.bound_, self.bounds_ = fit.bound, fit.bounds
        weights = (stick_weights if self.prior == "tsb" else dirichlet_weights)(fit.step.sizes, fit.alpha)
        mixture = Mixture(weights, label_means(fit.step.counts, fit.beta, layout))
        self._predictive = [mixture]
        _, first = np.unique(modal, return_index=True)
        self._consensus = mixture.only(modal[np.sort(first)])

    def _settings(self) -> Settings:
        tolerance = self.tol if self.tol is not None else 1e-7 if self.inference == "vb" else 1e-4
        return Settings(
            truncation=self.truncation,
            sticks=self.prior == "tsb",
            alpha=self.alpha,
            beta=self.beta,
            alpha_prior=GammaPrior(*self.alpha_prior),
            beta_prior=GammaPrior(*self.beta_prior),
            max_iter=self.max_iter,
            tolerance=tolerance,
        )

    def _check(self) -> None:
        if self.inference not in INFERENCES:
            raise ValueError(f"inference must be one of {', '.join(INFERENCES)}, but it is {self.inference!r}")
        if self.prior not in PRIORS:
            raise ValueError(f"prior must be one of {', '.join(PRIORS)}, but it is {self.prior!r}")
        if self.inference == "vb" and self.prior == "tsb":
            raise ValueError("inference 'vb' has the prior 'fsd' only; take 'cvb' or 'gibbs' for 'tsb'")
        for name in ("truncation", "draws", "thin", "chains", "restarts", "max_iter"):
            check_count(getattr(self, name), name, minimum=1)
        check_count(self.warmup, "warmup")
        for name in ("alpha", "beta", "tol"):
            if getattr(self, name) is not None:
                check_positive(getattr(self, name), name)
        for name in ("alpha_prior", "beta_prior"):
            GammaPrior(*getattr(self, name))


def _pair(prior: tuple[float, float]) -> tuple[float, float]:
    shape, rate = prior
    return float(shape), float(rate)
