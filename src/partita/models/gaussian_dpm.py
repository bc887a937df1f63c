"""Dirichlet process mixtures of Gaussians, sampled by collapsed Gibbs with split–merge moves."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from partita import _core
from partita._validate import check_count, check_random_state, check_rng
from partita.models.chain import Chain
from partita.models.checkpoint import Plan
from partita.models.data import as_data
from partita.models.estimator import Estimator
from partita.models.gaussian_base import diagonal_base, full_base, partition_prior, scaling
from partita.models.priors import FiniteMixture, GammaAlpha, PowerAlpha, WishartGrid, from_plain, to_plain
from partita.models.running import Registry, Sampler, sample_model


@Registry.add
class GaussianDPM(Estimator):
    """Dirichlet process mixture of Gaussians, its parameters integrated out.

    x_i | z ~ N(mu_{z_i}, Sigma_{z_i}),  (mu_k, Sigma_k) ~ P0,  z ~ CRP(alpha)

    covariance="full":  Sigma ~ IW(nu0, scale), mu | Sigma ~ N(mu0, Sigma / kappa0)
    covariance="diag":  s_j² ~ IG(a_j, b_j), mu_j | s_j² ~ N(mu0_j, s_j² / c_j), in each dimension j

    Parameters
    ----------
    covariance : "full" or "diag".
    alpha : concentration: a number, None for GammaAlpha(1, 1), a GammaAlpha or a PowerAlpha.
    discount : of the Pitman–Yor process, in [0, 1); 0 is the Dirichlet process.
    components : None, or FiniteMixture(...) for a finite symmetric Dirichlet mixture with unknown K.
    mu0 : number or (d,); None is the mean of X.
    kappa0, nu0, scale : of "full"; None is 0.5, d + 3 and twice the diagonal of sample variances.
    hyperprior : None, or WishartGrid(...) to draw kappa0, nu0 and scale as `rDPGibbs` does; mu0 is then 0.
    c, a, b : of "diag", numbers or (d,); None is 0.5, 2 and the sample variances (Wade & Ghahramani, 6.2).
    standardize : centre and scale each column first; the base measure is then that of the scaled data.
    split_merge : split–merge proposals (Jain & Neal 2004) a sweep, on average; 0 is none.
    restricted_scans : Gibbs scans that prepare each proposal.
    draws, warmup, thin, chains, n_jobs, random_state : for `fit`; as in `sample`.
    loss : for `fit`; the loss whose expectation `labels_` minimises.

    Examples
    --------
    >>> import numpy as np, partita as pt
    >>> X = np.array([[0.0], [0.1], [0.2], [9.0], [9.1], [9.3]])
    >>> chain = pt.models.GaussianDPM(covariance="diag", b=0.1).sample(X, draws=200, chains=2, rng=1)
    >>> chain.labels.shape
    (2, 200, 6)

    References
    ----------
    Neal (2000), J. Comput. Graph. Stat. 9, Algorithm 3; Jain & Neal (2004), J. Comput. Graph. Stat. 13;
    Escobar & West (1995), J. Am. Stat. Assoc. 90; Miller & Harrison (2018), J. Am. Stat. Assoc. 113.
    """

    def __init__(
        self,
        covariance: str = "full",
        alpha: float | GammaAlpha | PowerAlpha | None = None,
        mu0: ArrayLike | None = None,
        *,
        kappa0: float | None = None,
        nu0: float | None = None,
        scale: ArrayLike | None = None,
        hyperprior: WishartGrid | None = None,
        c: ArrayLike | None = None,
        a: ArrayLike | None = None,
        b: ArrayLike | None = None,
        discount: float = 0.0,
        components: FiniteMixture | None = None,
        standardize: bool = False,
        split_merge: float = 0.2,
        restricted_scans: int = 1,
        draws: int = 1000,
        warmup: int = 1000,
        thin: int = 1,
        chains: int = 4,
        loss: Any = "vi",
        n_jobs: int = -1,
        random_state: Any = None,
    ) -> None:
        self.covariance = covariance
        self.alpha = alpha
        self.mu0 = mu0
        self.kappa0 = kappa0
        self.nu0 = nu0
        self.scale = scale
        self.hyperprior = hyperprior
        self.c = c
        self.a = a
        self.b = b
        self.discount = discount
        self.components = components
        self.standardize = standardize
        self.split_merge = split_merge
        self.restricted_scans = restricted_scans
        self.draws = draws
        self.warmup = warmup
        self.thin = thin
        self.chains = chains
        self.loss = loss
        self.n_jobs = n_jobs
        self.random_state = random_state

    def sample(
        self,
        X: ArrayLike,
        *,
        draws: int = 1000,
        warmup: int = 1000,
        thin: int = 1,
        chains: int = 4,
        rng: Any = None,
        path: str | os.PathLike[str] | None = None,
        n_jobs: int = -1,
        progress: bool = False,
    ) -> Chain:
        """Draws partitions from the posterior.

        Parameters
        ----------
        X : (items, dimensions) finite numbers.
        draws : draws kept of each chain.
        warmup : sweeps thrown away first.
        thin : sweeps between kept draws.
        chains : independent chains, each from its own stream of random numbers.
        rng : None, a seed or a NumPy generator; the same seed gives the same chains on any number of threads.
        path : a new directory that the run is written to as it grows; `partita.resume(path)` goes on with it.
        n_jobs : threads; −1 is all cores.
        progress : show a progress line.

        Returns
        -------
        Chain : Ctrl-C gives back the draws so far, with a warning.
        """
        plan = Plan(
            draws=check_count(draws, "draws", minimum=1),
            warmup=check_count(warmup, "warmup"),
            thin=check_count(thin, "thin", minimum=1),
            chains=check_count(chains, "chains", minimum=1),
            seed=int(check_rng(rng).integers(2**63)),
        )
        return sample_model(self, {"X": as_data(X)}, plan, path=path, n_jobs=n_jobs, progress=progress)

    def params(self) -> dict[str, Any]:
        """The model's settings in a form that JSON can hold."""
        skipped = {"n_jobs", "random_state", "loss"}
        return {name: to_plain(value) for name, value in self.get_params().items() if name not in skipped}

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> Self:
        return cls(**{name: from_plain(value) for name, value in params.items()})

    def samplers(self, inputs: Mapping[str, NDArray[Any]], plan: Plan) -> Sequence[Sampler]:
        return [self._sampler(inputs["X"], plan.seed, chain) for chain in range(plan.chains)]

    def _sampler(
        self,
        X: NDArray[np.float64],
        seed: int,
        stream: int,
        labels: NDArray[np.uint32] | None = None,
        log_v_items: int | None = None,
    ) -> Any:
        """The core's sampler at its start, or at these labels."""
        if self.covariance not in ("full", "diag"):
            raise ValueError(f"covariance must be 'full' or 'diag', but it is {self.covariance!r}")
        _check_base_arguments(self)
        scaled = scaling(X, self.standardize).apply(X)
        prior = partition_prior(self, len(X), log_v_items)
        if not 0 <= self.split_merge < np.inf:
            raise ValueError(f"split_merge must be a number from 0 up, but it is {self.split_merge}")
        moves = (float(self.split_merge), check_count(self.restricted_scans, "restricted_scans"))
        start = np.empty(0, np.uint32) if labels is None else labels
        if self.covariance == "full":
            return _core.FullGaussianSampler(scaled, full_base(self, scaled), prior, *moves, seed, stream, start)
        return _core.DiagonalGaussianSampler(scaled, diagonal_base(self, scaled), prior, *moves, seed, stream, start)

    def predictive_density(self, chain: Chain, X: ArrayLike) -> NDArray[np.float64]:
        """Density of new points, averaged over a chain's draws; (points,)."""
        points = self._points(chain, X)
        width = scaling(chain.inputs["X"], self.standardize).width
        total = np.zeros(len(points))
        for scores, _, weight in self._new_scores(chain, points):
            total += np.exp(logsumexp(scores, axis=1) - np.log(weight))
        return total / (chain.n_chains * chain.n_draws) / np.prod(width)

    def allocation(self, chain: Chain, labels: ArrayLike, X: ArrayLike) -> NDArray[np.float64]:
        """Probability that new points belong to each cluster of a reported partition, or to a new one.

        In each draw a point belongs to a cluster of the draw, which belongs to the reported clusters in
        proportion to the items that it shares with them:
        P(r | x) = mean over draws of Σ_k p(k | x) |k ∩ r| / |k|.

        Parameters
        ----------
        chain : draws of this model.
        labels : (items,) the reported partition, 0-based.
        X : (points, dimensions).

        Returns
        -------
        (points, clusters + 1) : rows sum to 1; the last column is the probability of a new cluster.
        """
        points, reported = self._points(chain, X), np.asarray(labels)
        n_reported = int(reported.max()) + 1
        result = np.zeros((len(points), n_reported + 1))
        for scores, draw, _ in self._new_scores(chain, points):
            clusters = scores.shape[1] - 1
            shared = np.zeros((clusters, n_reported))
            np.add.at(shared, (draw, reported), 1.0)
            shared /= shared.sum(axis=1, keepdims=True)
            probabilities = np.exp(scores - logsumexp(scores, axis=1, keepdims=True))
            result[:, :-1] += probabilities[:, :-1] @ shared
            result[:, -1] += probabilities[:, -1]
        return result / (chain.n_chains * chain.n_draws)

    def _points(self, chain: Chain, X: ArrayLike) -> NDArray[np.float64]:
        points, seen = as_data(X), chain.inputs["X"]
        if points.shape[1] != seen.shape[1]:
            raise ValueError(
                f"X has {points.shape[1]} features, but {type(self).__name__} is expecting "
                f"{seen.shape[1]} features as input"
            )
        return scaling(seen, self.standardize).apply(points)

    def _new_scores(self, chain: Chain, points: NDArray[np.float64]) -> Any:
        """For every draw: log weights of the points for its clusters and a new one; labels; prior weight."""
        n_items = chain.n_items
        sampler = self._sampler(chain.inputs["X"], 0, 0, np.zeros(n_items, np.uint32), n_items + 1)
        log_v = self.components.log_v(n_items + 1) if self.components is not None else None
        for index in np.ndindex(chain.n_chains, chain.n_draws):
            draw = chain.labels[index].astype(np.uint32)
            alpha, clusters = float(chain.alpha[index]), int(chain.n_clusters[index])
            scores = sampler.score_new(draw, alpha, self._grid_place(chain, index), points)
            weight = n_items + alpha
            if log_v is not None:
                weight = n_items + alpha * (clusters + np.exp(log_v[clusters + 1] - log_v[clusters]))
            yield scores, draw, weight

    def _grid_place(self, chain: Chain, index: tuple[int, ...]) -> list[int]:
        if self.hyperprior is None:
            return [0, 0, 0]
        grids = self.hyperprior.grids(chain.inputs["X"].shape[1])
        names = ("kappa0", "nu0", "spread")
        return [int(np.abs(grid - chain.stats[name][index]).argmin()) for grid, name in zip(grids, names, strict=True)]

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Samples, and reports the partition of least expected loss.

        Sets `chain_`, `estimate_`, `labels_` (items,), `n_clusters_` and `n_features_in_`. y is ignored.
        """
        from partita.estimate import estimate

        data = as_data(X)
        generator = check_random_state(self.random_state)
        self.chain_ = self.sample(
            data,
            draws=self.draws,
            warmup=self.warmup,
            thin=self.thin,
            chains=self.chains,
            rng=generator,
            n_jobs=self.n_jobs,
        )
        self.estimate_ = estimate(self.chain_, loss=self.loss, rng=generator)
        self.labels_ = self.estimate_.labels
        self.n_clusters_ = self.estimate_.n_clusters
        self.n_features_in_ = data.shape[1]
        return self

    def fit_predict(self, X: ArrayLike, y: Any = None) -> NDArray[Any]:
        """`fit(X).labels_`."""
        labels: NDArray[Any] = self.fit(X).labels_
        return labels

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Posterior probability of each reported cluster for new points; the last column is a new one."""
        self._check_fitted()
        return self.allocation(self.chain_, self.labels_, X)

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """The most probable reported cluster of new points; −1 where a new one is more probable."""
        probabilities = self.predict_proba(X)
        best = probabilities.argmax(axis=1)
        return np.where(best == probabilities.shape[1] - 1, -1, best)

    def _check_fitted(self) -> None:
        if hasattr(self, "chain_"):
            return
        message = f"this {type(self).__name__} is not fitted yet; call fit first"
        try:
            from sklearn.exceptions import NotFittedError
        except ImportError:
            raise AttributeError(message) from None
        raise NotFittedError(message)


_BASE_ARGUMENTS = {"full": ("kappa0", "nu0", "scale", "hyperprior"), "diag": ("c", "a", "b")}


def _check_base_arguments(model: GaussianDPM) -> None:
    """An argument of the other covariance would be ignored, which nobody wants who gives one."""
    for covariance, names in _BASE_ARGUMENTS.items():
        for name in names:
            if covariance != model.covariance and getattr(model, name) is not None:
                raise ValueError(
                    f"{name} is for covariance={covariance!r}, but covariance is {model.covariance!r}, "
                    f"which takes mu0, {', '.join(_BASE_ARGUMENTS[model.covariance])}"
                )
