"""What the mixtures share: fitting, and new items."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from partita._support.arrays import Floats
from partita._support.names import check_names
from partita._support.validate import check_random_state
from partita.estimation.convergence import MixingWarning
from partita.models.chains.chain import Chain
from partita.models.chains.checkpoint import Plan
from partita.models.chains.listener import Callback
from partita.models.chains.plan import make_plan
from partita.models.chains.sampling import Sampler, sample_model
from partita.models.estimator import Estimator
from partita.models.mixtures.maximum import IclSearch, MixtureFit
from partita.models.mixtures.priors import from_plain, to_plain
from partita.partitions.labels import contingency


class NewScores(NamedTuple):
    """New items in one draw of a chain."""

    scores: NDArray[np.float64]  # (items, clusters + 1): log weights, the last for a new cluster
    labels: NDArray[np.uint32]  # of the draw
    weight: float  # of the prior: what the weights without data sum to


class MixtureModel(Estimator):
    """A mixture with its parameters integrated out.

    A subclass has `samplers` and `_inputs` for `sample`, for new items `_new_scores` and `_log_carrier`, and
    `_icl_search` for `maximize`.
    """

    chain_: Chain
    components: Any
    loss: Any
    random_state: Any

    def samplers(self, inputs: Mapping[str, NDArray[Any]], plan: Plan) -> Sequence[Sampler]:
        """The core's samplers, one per chain."""
        raise NotImplementedError

    def _inputs(self, X: Any) -> tuple[dict[str, NDArray[Any]], tuple[str, ...] | None]:
        """The data that `samplers` takes, and the names of the items, if they have any."""
        raise NotImplementedError

    def _new_scores(self, chain: Chain, X: Any) -> Iterator[NewScores]:
        """The scores of new items in every draw."""
        raise NotImplementedError

    def _log_carrier(self, chain: Chain, X: Any) -> NDArray[np.float64]:
        """The log density of each item minus its score; (items,)."""
        raise NotImplementedError

    def _icl_search(self, X: Any, n0: float) -> IclSearch:
        """The search for the largest ICL of a table."""
        raise NotImplementedError

    def _count_features(self, X: Any) -> int:
        raise NotImplementedError

    def sample(
        self,
        X: Any,
        *,
        draws: int = 1000,
        warmup: int = 1000,
        thin: int = 1,
        chains: int = 4,
        rng: Any = None,
        path: str | os.PathLike[str] | None = None,
        n_jobs: int = -1,
        progress: bool = False,
        names: Sequence[str] | None = None,
        callback: Callback | None = None,
    ) -> Chain:
        """Draws partitions from the posterior.

        Parameters
        ----------
        X : array_like, table or path
            For `GaussianDPM`, (items, dimensions) finite numbers: an array or a data frame. For `MixtureDPM`, (items,
            columns): a table of pandas, polars or Arrow, a dictionary of columns, an array, or the path of a csv file;
            None, NaN and empty cells are missing. The row names of a data frame name the items.
        draws : int
            Number of draws kept of each chain.
        warmup : int
            Number of sweeps to discard first.
        thin : int
            Keep every `thin`-th sweep after the warm-up.
        chains : int
            Number of independent chains, each with its own stream of random numbers.
        rng : None, int or numpy Generator
            Seed or source of random numbers; the same seed gives the same chains on any number of threads.
        path : path, optional
            A new directory to which the run is written as it grows; `partita.resume(path)` continues it.
        n_jobs : int
            Number of threads; −1 uses all cores. The result does not depend on it.
        progress : bool
            Show a progress line.
        names : (items,) sequence of str, optional
            Names of the items, instead of the row names of a data frame.
        callback : callable, optional
            Called with the labels of each draw, (chains, items), in their order; `partita.monitor()` is one. The chains
            end after the first draw for which it returns true.

        Returns
        -------
        Chain
            After Ctrl-C it has the draws so far, and there is a warning. `impute` of a chain of `MixtureDPM` draws the
            missing cells.

        Raises
        ------
        ValueError
            If a log density is not a number, as happens when data of 1e300 are squared.
        """
        plan = make_plan(draws, warmup, thin, chains, rng)
        inputs, own = self._inputs(X)
        if names is not None:
            own = check_names(names, len(next(iter(inputs.values()))))
        running: dict[str, Any] = {"path": path, "n_jobs": n_jobs, "progress": progress, "callback": callback}
        return sample_model(self, inputs, plan, names=own, **running)

    def icl(self, X: Any, labels: ArrayLike, n0: float = 1.0) -> float:
        """Exact log p(X, z | K) of a partition (natural logarithm), K its number of clusters; see `maximize`.

        Parameters
        ----------
        X : (items, columns) data
            Anything that `sample` takes.
        labels : (items,) array_like
            A partition; a Series is matched by name if the items have names.
        n0 : float
            Dirichlet parameter of the cluster proportions, from 1e-100 to 1e8.
        """
        return self._icl_search(X, n0).icl(labels)

    def maximize(
        self,
        X: Any,
        k_max: int | None = None,
        restarts: int = 10,
        rng: Any = None,
        *,
        n0: float = 1.0,
        starts: ArrayLike | None = None,
        seconds: float | None = None,
        n_jobs: int = -1,
    ) -> MixtureFit:
        """Search the partition, and the number of clusters, of largest exact integrated complete-data log likelihood.

        ICL(z) = log p(X, z | K) = Σ_k log ∫ ∏_{i in k} f(x_i | θ) dP0(θ) +
        log Γ(K n0) / Γ(K n0 + n) + Σ_k log Γ(n0 + n_k) / Γ(n0)

        with the base measure P0 of the model; its prior on partitions (alpha, discount, components) is not used.

        Parameters
        ----------
        X : (items, columns) data
            Anything that `sample` takes.
        k_max : int, optional
            Largest number of clusters; by default no limit.
        restarts : int
            Number of runs. Each climbs from a start of its own: items that join the nearest of 8 to 128 seeds or, up to
            2,000 items, annealed partitions. A climb moves items and merges and splits clusters until nothing helps.
            Runs that do not agree are crossed: first within up to three separate groups, then all together. Above 2,000
            items the other runs are left out if the first three agree.
        rng : None, int or numpy Generator
            Seed or source of random numbers; the same seed gives the same result.
        n0 : float
            Dirichlet parameter of the cluster proportions, from 1e-100 to 1e8.
        starts : (s, items) array_like, optional
            Partitions to climb from first; each takes one of the runs.
        seconds : float, optional
            Time limit. When it is reached, the best partition so far is returned.
        n_jobs : int
            Number of threads; −1 uses all cores. The result does not depend on it.

        Returns
        -------
        MixtureFit
            `runs`, `times_reached` and `notes` describe the agreement between runs; `path` has the greedy merges.

        Examples
        --------
        >>> import partita as pt
        >>> table = {"size": [1.0, 1.2, None, 7.9, 8.1, 8.0], "colour": ["red", "red", "red", "blue", None, "blue"]}
        >>> fit = pt.models.MixtureDPM(b=0.1).maximize(table, rng=1)
        >>> fit.labels, round(fit.icl, 3)
        (array([0, 0, 0, 1, 1, 1]), -26.849)

        References
        ----------
        Biernacki, Celeux & Govaert (2010), J. Stat. Plan. Inference 140; Côme, Jouvin, Latouche & Bouveyron (2021),
        Adv. Data Anal. Classif. 15.
        """
        return self._icl_search(X, n0).maximize(k_max, restarts, rng, starts, seconds, n_jobs)

    def params(self) -> dict[str, Any]:
        """The model's settings in a form that JSON can hold."""
        skipped = {"sampling", "random_state", "loss"}
        own = {name: value for name, value in self.get_params().items() if name not in skipped | set(self.groups)}
        for name in set(self.groups) - skipped:
            own |= self.settings_of(name).settings()
        return {name: to_plain(value) for name, value in own.items()}

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> Self:
        own = {name: from_plain(value) for name, value in params.items()}
        for name, group in cls.groups.items():
            if found := {field: own.pop(field) for field in group.settings() if field in own}:
                own[name] = type(group)(**found)
        return cls(**own)

    def predictive_density(self, chain: Chain, X: Any) -> NDArray[np.float64]:
        """Density of new items, averaged over a chain's draws; (items,)."""
        return np.exp(self._log_predictive(chain, X))

    def _log_predictive(self, chain: Chain, X: Any) -> NDArray[np.float64]:
        carrier = self._log_carrier(chain, X)
        total = np.full(len(carrier), -np.inf)
        for new in self._new_scores(chain, X):
            total = np.logaddexp(total, logsumexp(new.scores, axis=1) - np.log(new.weight))
        average: NDArray[np.float64] = total - np.log(chain.n_chains * chain.n_draws)
        return average + carrier

    def allocation(self, chain: Chain, labels: ArrayLike, X: Any) -> NDArray[np.float64]:
        """Probability that new items belong to each cluster of a reported partition, or to a new one.

        In each draw t an item belongs to a cluster of the draw, which belongs to the reported clusters in proportion
        to the items that it shares with them, and a draw counts by the density of the new item, so that this is the
        posterior given the data and the new item:
        P(r | x, X) = Σ_t p(x | t) Σ_k p(k | x, t) |k ∩ r| / |k| / Σ_t p(x | t).
        The new items do not inform each other.

        Parameters
        ----------
        chain : Chain
            Draws of this model.
        labels : (items,) integer array_like
            The reported partition, numbered from 0.
        X : (new items, columns) data
            The new items.

        Returns
        -------
        (new items, clusters + 1) array
            Rows sum to 1; the last column is the probability of a new cluster.
        """
        reported = np.asarray(labels)
        n_reported = int(reported.max()) + 1
        result, top = np.zeros((1, n_reported + 1)), np.array([-np.inf])
        for new in self._new_scores(chain, X):
            shared = contingency(new.labels, reported, (new.scores.shape[1] - 1, n_reported))
            shared /= shared.sum(axis=1, keepdims=True)
            scores = new.scores - np.log(new.weight)
            higher = np.maximum(top, scores.max(axis=1))  # the largest so far, in place of which exp would underflow
            joint = np.exp(scores - higher[:, None])
            result = result * np.exp(top - higher)[:, None] + np.column_stack([joint[:, :-1] @ shared, joint[:, -1]])
            top = higher
        return np.asarray(result / result.sum(axis=1, keepdims=True))

    def _draws_with_weights(self, chain: Chain) -> Iterator[tuple[tuple[int, ...], NDArray[np.uint32], float, float]]:
        """Index, labels, concentration and total prior weight of every draw."""
        n_items = chain.n_items
        log_v = self.components.log_v(n_items + 1) if self.components is not None else None
        for index in np.ndindex(chain.n_chains, chain.n_draws):
            alpha, clusters = float(chain.alpha[index]), int(chain.n_clusters[index])
            weight = n_items + alpha
            if log_v is not None:
                weight = n_items + alpha * (clusters + np.exp(log_v[clusters + 1] - log_v[clusters]))
            yield index, chain.labels[index].astype(np.uint32), alpha, weight

    def fit(self, X: Any, y: Any = None) -> Self:
        """Samples, and reports the partition of least expected loss.

        Sets `chain_`, `estimate_`, `labels_` (items,), `n_clusters_`, `n_features_in_` and, for a data frame whose
        columns have names, `feature_names_in_`. y is ignored.
        """
        from partita.estimation.estimate import estimate

        n_features = self._count_features(X)
        generator = check_random_state(self.random_state)
        self.chain_ = self.sample(X, rng=generator, **self.settings_of("sampling").settings())
        with warnings.catch_warnings():
            if self.chain_.notes:
                warnings.simplefilter("ignore", MixingWarning)  # `sample` has said so
            self.estimate_ = estimate(self.chain_, loss=self.loss, rng=generator)
        self.labels_ = self.estimate_.labels
        self.n_clusters_ = self.estimate_.n_clusters
        self._remember_features(X, n_features)
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Posterior probability of each reported cluster given the new item; the last column is a new one."""
        self._check_new(X)
        return self.allocation(self.chain_, self.labels_, X)

    def predict(self, X: Any) -> NDArray[np.int64]:
        """The most probable reported cluster of new items; −1 where a new one is more probable."""
        probabilities = self.predict_proba(X)
        best = probabilities.argmax(axis=1)
        return np.where(best == probabilities.shape[1] - 1, -1, best)

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log predictive density of new items: `score_samples(X).mean()`. y is ignored."""
        return float(self.score_samples(X).mean())

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Log predictive density of new items, averaged over the draws; (items,)."""
        self._check_new(X)
        return self._log_predictive(self.chain_, X)


DEFAULT_SHARE = 0.05


@dataclass(frozen=True)
class NoisePrior:
    """The share of noise is Beta(a, b), with a = 1."""

    a: float
    b: float

    def new_scores(self, scores: Floats, labels: NDArray[np.uint32], alpha: float) -> NewScores:
        """A new row in a draw of a Dirichlet process, in which each row that is alone counts as noise.

        The new row joins the n − s rows that are not noise with their prior, or is noise, with the parameters of a new
        cluster: both are in the last column.
        """
        alone = np.bincount(labels) == 1
        n, s = len(labels), int(alone.sum())
        odds, total = (self.a + s) / (self.b + n - s), n - s + alpha
        scores[:, :-1][:, alone] = -np.inf
        scores[:, -1] += np.log1p(odds * total / alpha)
        return NewScores(scores, labels, (1.0 + odds) * total)


def noise_prior(noise: Any) -> NoisePrior | None:
    """The prior of the share of noise; None if there is none.

    >>> noise_prior(False), noise_prior(0.2)
    (None, NoisePrior(a=1.0, b=4.0))
    """
    if isinstance(noise, bool | np.bool_):
        noise = DEFAULT_SHARE if noise else None
    if noise is None:
        return None
    if not isinstance(noise, int | float | np.number) or not 0 < float(noise) < 1:
        raise ValueError(
            "noise must be True, False or the expected share of rows that belong to no cluster, between 0 and 1, but it"
            f" is {noise!r}"
        )
    return NoisePrior(1.0, 1.0 / float(noise) - 1.0)
