"""Nonparametric Bayesian clustering ensembles (Wang, Domeniconi & Laskey 2010)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from partita import _core
from partita._support.validate import check_choice, check_count, check_positive, check_random_state, check_shape
from partita.ensembles.base_clusterings import Base, Labels, spread, warn_unlabelled
from partita.ensembles.dependence import as_powers, check_weighting
from partita.ensembles.estimator import EnsembleEstimator
from partita.ensembles.layout import Layout
from partita.ensembles.nbce_variational import (
    ALPHA_PRIOR,
    BETA_PRIOR,
    START_ALPHA,
    START_BETA,
    Ascent,
    Fit,
    GammaPrior,
    Settings,
    best_of,
    fit_cvb,
    fit_vb,
)
from partita.ensembles.predictive import (
    Mixture,
    averaged_log_likelihood,
    dirichlet_weights,
    label_means,
    partition_mixture,
    perplexity_of,
    stick_weights,
)
from partita.ensembles.responsibilities import Hosts, LocalHost
from partita.ensembles.soft import SoftBase
from partita.estimation.estimate import estimate
from partita.models.chains.chain import Chain
from partita.models.chains.checkpoint import Plan
from partita.models.chains.plan import MINIMUM, Sampling, make_plan
from partita.models.chains.sampling import Registry, Sampler, sample_model

MAX_CLUSTERS = 1_000_000  # limits the memory that a truncation needs
PREDICTIVE_DRAWS = 200  # the predictive is averaged over at most this many evenly spaced draws

_CHAINS = {1: "NbceChain8", 2: "NbceChain16", 4: "NbceChain32"}


@Registry.add
@dataclass(frozen=True)
class NBCEModel:
    """The posterior that the chains sample. `alpha`, `beta`: fixed, or None to be sampled by slice sampling."""

    prior: str = "fsd"
    truncation: int = 100
    alpha: float | None = None
    beta: float | None = None
    alpha_prior: tuple[float, float] = ALPHA_PRIOR
    beta_prior: tuple[float, float] = BETA_PRIOR

    def params(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> Self:
        priors = {name: tuple(params[name]) for name in ("alpha_prior", "beta_prior")}
        return cls(**{**params, **priors})

    def samplers(self, inputs: Mapping[str, NDArray[Any]], plan: Plan) -> Sequence[Sampler]:
        codes = inputs["codes"]
        _check_inputs(self, codes, inputs["n_labels"])
        make = getattr(_core, _CHAINS[codes.itemsize])
        unsigned = np.ascontiguousarray(codes).view(f"u{codes.itemsize}")  # -1 becomes the core's missing label
        alpha = _concentration(self.alpha, START_ALPHA, self.alpha_prior)
        beta = _concentration(self.beta, START_BETA, self.beta_prior)
        n_labels = inputs["n_labels"].astype(np.uint32)
        weights = _check_powers(inputs["weights"], n_labels)
        sticks = self.prior == "tsb"
        return [
            make(unsigned, n_labels, weights, sticks, self.truncation, alpha, beta, plan.seed, stream)
            for stream in range(plan.chains)
        ]


def _check_inputs(model: NBCEModel, codes: NDArray[Any], n_labels: NDArray[Any]) -> None:
    """Checks the model and the data; those of `NBCE` are valid, but a run to be resumed may come from anywhere."""
    if model.prior not in ("fsd", "tsb") or not 1 <= model.truncation <= MAX_CLUSTERS:
        raise ValueError(f"NBCE has no prior {model.prior!r} with truncation {model.truncation}")
    for name in ("alpha", "beta"):
        if getattr(model, name) is not None:
            check_shape(getattr(model, name), name)
        GammaPrior(*getattr(model, f"{name}_prior"))
    signed = codes.dtype.kind == "i" and codes.dtype.isnative and codes.itemsize in _CHAINS
    if not signed or codes.ndim != 2 or codes.size == 0 or n_labels.shape != codes.shape[1:]:
        raise ValueError("the codes are not those of base clusterings")
    if n_labels.dtype.kind not in "iu" or codes.min() < -1 or (codes.max(axis=0) >= n_labels).any():
        raise ValueError("some codes exceed the number of labels of their clustering")
    if n_labels.min() < 1 or n_labels.max() > np.iinfo(codes.dtype).max or (codes < 0).all(axis=1).any():
        raise ValueError("an item has no label, or a clustering has more labels than its codes can hold")


def _check_powers(weights: NDArray[Any], n_labels: NDArray[Any]) -> NDArray[np.float64]:
    """The powers w_m of the likelihoods, one per clustering."""
    if weights.shape != n_labels.shape or weights.dtype != np.float64 or not ((weights >= 0) & (weights <= 1)).all():
        raise ValueError("the weights are not those of base clusterings")
    return np.ascontiguousarray(weights)


def _concentration(
    value: float | None, start: float, prior: tuple[float, float]
) -> _core.FixedConcentration | _core.GammaConcentration:
    return _core.GammaConcentration(*prior, start) if value is None else _core.FixedConcentration(value)


def sample_nbce(
    model: NBCEModel, base: Base, plan: Plan, weights: NDArray[np.float64] | None = None, **running: Any
) -> Chain:
    """Chains of partitions of the items of `base`; every item must have a label.

    The likelihood of clustering m has the power `weights[m]`. The weights are written with the run, as its data are.
    """
    powers = np.ones(base.n_clusterings) if weights is None else weights
    inputs = {"codes": base.codes, "n_labels": base.sizes, "weights": powers}
    return sample_model(model, inputs, plan, names=base.names, **running)


def draw_mixtures(chain: Chain, base: Base, most: int = PREDICTIVE_DRAWS) -> list[Mixture]:
    """The predictive distribution of each of at most `most` draws."""
    labels = chain.labels.reshape(-1, chain.n_items)
    alpha, beta = chain.stats["alpha"].ravel(), chain.stats["beta"].ravel()
    chosen = np.unique(np.linspace(0, len(labels) - 1, min(most, len(labels))).round().astype(int))
    model = chain.model
    return [
        partition_mixture(labels[s], base, alpha[s], beta[s], model.truncation, model.prior == "tsb") for s in chosen
    ]


def together(labels: Labels, draws: NDArray[Any]) -> NDArray[np.float64]:
    """Certainty of each item: the mean probability of being together with the other members of its cluster, (items,).

    For an item that is alone in its cluster, the probability of being alone. Needs no items × items table.
    """
    sizes = np.bincount(labels)[labels]
    total = np.zeros(len(labels))
    for draw in draws:
        k = int(draw.max()) + 1
        joint = labels * k + draw
        shared = np.bincount(joint)[joint] - 1.0
        alone = np.bincount(draw)[draw] == 1
        total += np.where(sizes > 1, shared / np.maximum(sizes - 1, 1), alone)
    return total / len(draws)


INFERENCES = ("gibbs", "vb", "cvb")
PRIORS = ("tsb", "fsd")


class NBCE(EnsembleEstimator):
    """A Dirichlet-process mixture over base clusterings: estimates the consensus and its number of clusters.

    Item n has cluster z_n ~ π and base labels y_nm ~ θ_{z_n m}, with θ_km ~ Dirichlet(β, ..., β) and π from
    the Dirichlet process with concentration α0, truncated at K clusters: by stick-breaking ("tsb") or as a
    finite symmetric Dirichlet ("fsd"). docs/ensembles.md derives each inference.

    Clusterings of the same data by similar methods are not independent given the consensus, as this assumes: the
    likelihood of clustering m has a power w_m, so that dependent clusterings count less (`dependence`).

    Parameters
    ----------
    inference : "gibbs", "vb" or "cvb"
        Collapsed Gibbs sampling, variational Bayes (with prior "fsd" only) or collapsed variational Bayes.
    prior : "fsd" or "tsb"
        How the Dirichlet process is truncated: see above.
    truncation : int
        K, the maximum number of clusters, at most 1,000,000.
    alpha, beta : float, optional
        Concentrations α0 and β, from 1e-100 to 1e8. By default they are learned under Gamma priors: sampled with the
        partition (gibbs), or set to the maximum of the bound (vb, cvb).
    weights : "dependence", None or (clusterings,) array_like
        "dependence" estimates the powers w_m from `base`. None sets them to 1, as in the paper, and warns if the
        clusterings are far from independent. Otherwise one number from 0 to 1 per clustering (a Series is matched by
        name).
    alpha_prior, beta_prior : (float, float)
        Shape and rate of these Gamma priors, each at most 1e100. By default (1, 30), which expects few clusters, and
        (1, 1); `alpha_prior=(1, 1)` is more ready to open clusters of few items.
    loss : str or Loss
        The loss whose posterior expectation `labels_` minimises (gibbs).
    sampling : models.Sampling, optional
        Length, number and threads of the Gibbs chains; by default 500 draws after 500 sweeps of warm-up.
    ascent : Ascent, optional
        Restarts, iterations and tolerance of vb and cvb.
    progress : bool
        Show a progress line.
    random_state : None, int or numpy Generator
        Seed or source of random numbers.

    Attributes
    ----------
    n_features_in_, feature_names_in_ : int, array of str
        Number of base clusterings, and their names if `fit` received a data frame with column names; later data frames
        must have the same columns in the same order.
    labels_ : (items,) integer array
        Canonical labels; −1 for an item that no clustering labels.
    n_clusters_, outliers_ : int, integer array
        Number of clusters, and the items that are alone in their cluster.
    certainty_ : (items,) array
        The largest responsibility (vb, cvb), or the mean probability of being with the other members of the item's
        cluster (gibbs); 0 for an item without labels.
    weights_ : (clusterings,) array
        The powers w_m.
    dependence_ : Dependence or None
        The dependence of the clusterings; None if weights were given.
    alpha_, beta_ : float
        The concentrations, given or learned; posterior means for gibbs.
    chain_, estimate_ : Chain, Estimate
        The draws and the estimate (gibbs).
    responsibilities_, bound_, bounds_ : (items, K) array, float, array
        Probability of each cluster for each item, and the variational bound at the end and after each iteration (vb,
        cvb).

    Examples
    --------
    >>> base = [[0, 0, 1], [0, 0, 1], [0, 0, 0], [1, 2, 0], [1, 2, 0], [1, -1, 0]]
    >>> NBCE(inference="vb", truncation=10, random_state=1).fit(base).labels_.tolist()
    [0, 0, 0, 1, 1, 1]

    References
    ----------
    Wang, Domeniconi & Laskey (2010), Nonparametric Bayesian clustering ensembles, ECML PKDD.
    """

    groups: ClassVar = {"sampling": Sampling(draws=500, warmup=500), "ascent": Ascent()}

    def __init__(
        self,
        inference: str = "gibbs",
        prior: str = "fsd",
        truncation: int = 100,
        alpha: float | None = None,
        beta: float | None = None,
        *,
        weights: Any = "dependence",
        alpha_prior: tuple[float, float] = ALPHA_PRIOR,
        beta_prior: tuple[float, float] = BETA_PRIOR,
        loss: Any = "vi",
        sampling: Sampling | None = None,
        ascent: Ascent | None = None,
        progress: bool = False,
        random_state: Any = None,
    ) -> None:
        self.inference, self.prior, self.truncation = inference, prior, truncation
        self.alpha, self.beta = alpha, beta
        self.alpha_prior, self.beta_prior = alpha_prior, beta_prior
        self.weights, self.loss, self.sampling, self.ascent = weights, loss, sampling, ascent
        self.progress, self.random_state = progress, random_state

    def fit(self, base: Any, y: Any = None, *, levels: Any = None, path: str | os.PathLike[str] | None = None) -> Self:
        """Find the consensus of base clusterings.

        Parameters
        ----------
        base : (items, clusterings) labels, or membership probabilities
            Labels of any kind; −1, NaN and None are missing. For vb and cvb also membership probabilities, one (items,
            clusters) table per clustering (see `as_base`).
        levels : sequence of sequences, optional
            All labels that each clustering can give, if some of them do not occur in `base`.
        path : path, optional
            Folder to which the Gibbs chains are written as they grow, so that `partita.resume` can continue them.
        """
        self._check()
        self._take_base(base, levels, soft=True)
        if self.inference == "gibbs" and isinstance(self.base_, SoftBase):
            raise ValueError(
                "inference='gibbs' needs one label per item and clustering, but base has membership probabilities; use "
                "inference='vb' or 'cvb'"
            )
        labelled = warn_unlabelled(self.base_)
        used = self.base_ if labelled.all() else self.base_.rows(labelled)
        self.weights_, self.dependence_ = as_powers(self.weights, base, used)
        if self.inference == "gibbs":
            self._fit_gibbs(used, labelled, path)
        else:
            self._fit_variational(LocalHost(used, self.weights_), labelled, check_random_state(self.random_state))
        return self

    def predict_proba(self, base: Any) -> NDArray[np.float64]:
        """p(consensus cluster | labels) of new items, (items, n_clusters_), given the consensus partition."""
        read = self._read(base)
        return self._consensus.responsibilities(read)

    def perplexity(self, base: Any) -> float:
        """exp(−log p(Y) / number of labels): eq. 12, with p(Y) = Π_n p(y_n | fitted data).

        The predictive p(y_n | ...) is averaged over draws (gibbs), or is that of the fitted q (vb, cvb). The perplexity
        is at least 1; if all labels of a clustering have the same probability, it is their number.
        """
        read = self._read(base)
        return perplexity_of(averaged_log_likelihood(self._predictive, read), read)

    def _fit_gibbs(self, base: Base, labelled: NDArray[np.bool_], path: Any) -> None:
        rng = check_random_state(self.random_state)
        sampling = self.settings_of("sampling")
        plan = make_plan(sampling.draws, sampling.warmup, sampling.thin, sampling.chains, rng)
        alpha_prior, beta_prior = _pair(self.alpha_prior), _pair(self.beta_prior)
        model = NBCEModel(self.prior, self.truncation, self.alpha, self.beta, alpha_prior, beta_prior)
        running = {"path": path, "n_jobs": sampling.n_jobs, "progress": self.progress}
        self.chain_: Chain = sample_nbce(model, base, plan, self.weights_, **running)
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
        self._consensus = whole.only(np.arange(found.max() + 1)).powered(Layout(base.sizes, self.weights_))

    def _fit_variational(self, hosts: Hosts, labelled: NDArray[np.bool_], rng: np.random.Generator) -> None:
        run = fit_vb if self.inference == "vb" else fit_cvb
        fit, gamma = best_of(run, hosts, self._settings(), self.settings_of("ascent").restarts, rng)
        self._take(fit, gamma, hosts.layout, labelled)

    def _take(self, fit: Fit, gamma: NDArray[np.float64], layout: Layout, labelled: NDArray[np.bool_]) -> None:
        """Sets the attributes of a variational fit."""
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
        self._consensus = mixture.only(modal[np.sort(first)]).powered(layout)

    def _settings(self) -> Settings:
        ascent = self.settings_of("ascent")
        tolerance = ascent.tol if ascent.tol is not None else 1e-7 if self.inference == "vb" else 1e-4
        return Settings(
            truncation=self.truncation,
            sticks=self.prior == "tsb",
            alpha=self.alpha,
            beta=self.beta,
            alpha_prior=GammaPrior(*self.alpha_prior),
            beta_prior=GammaPrior(*self.beta_prior),
            max_iter=ascent.max_iter,
            tolerance=tolerance,
        )

    def _check(self) -> None:
        check_choice(self.inference, "inference", INFERENCES)
        check_choice(self.prior, "prior", PRIORS)
        check_weighting(self.weights)
        if self.inference == "vb" and self.prior == "tsb":
            raise ValueError("inference 'vb' supports the prior 'fsd' only; use 'cvb' or 'gibbs' for 'tsb'")
        sampling, ascent = self.settings_of("sampling"), self.settings_of("ascent")
        counts = sampling.settings() | ascent.settings() | {"truncation": self.truncation}
        for name, minimum in (MINIMUM | {"truncation": 1, "restarts": 1, "max_iter": 1}).items():
            check_count(counts[name], name, minimum=minimum)
        if self.truncation > MAX_CLUSTERS:
            raise ValueError(f"truncation must be at most {MAX_CLUSTERS:,}, but it is {self.truncation}")
        for name in ("alpha", "beta"):
            if getattr(self, name) is not None:
                check_shape(getattr(self, name), name)
        if ascent.tol is not None:
            check_positive(ascent.tol, "tol")
        for name in ("alpha_prior", "beta_prior"):
            GammaPrior(*getattr(self, name))


def _pair(prior: tuple[float, float]) -> tuple[float, float]:
    shape, rate = prior
    return float(shape), float(rate)
