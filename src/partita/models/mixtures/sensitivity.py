"""What another prior on partitions would have done, from the draws at hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from partita._support.arrays import Floats, Labels
from partita._support.hints import plural
from partita._support.optional import data_frame
from partita._support.shown import rows_table
from partita.draws.sample import PartitionSample, as_sample, check_complete
from partita.estimation.estimate import estimate
from partita.estimation.result import Estimate
from partita.losses.base import Loss
from partita.losses.expected import expected_loss
from partita.models.mixtures.cluster_numbers import GibbsPrior, gibbs_prior, prior_settings
from partita.models.mixtures.priors import GammaAlpha
from partita.search.settings import Search

#: Above it, averages with these weights are not to be trusted (Vehtari et al. 2024).
MAX_PARETO_K = 0.7
#: If so few weights hold more than half of the sum, there is no tail to fit.
FEW = 5
#: The prior of the fit: so many further weights with k = 1/2.
PRIOR_COUNT, PRIOR_K = 10, 0.5
#: Weights are equal if their logarithms are, to so many decimals.
DIGITS = 9


def pareto_k(weights: Floats) -> float:
    """Shape k of the generalised Pareto distribution of the largest weights; 1 / k is the number of moments they have.

    The tail is the largest 3 √draws weights, at most a fifth of them. Weights that depend on the number of clusters
    alone have few values and many ties: ties are first spread out (`_without_ties`). -inf for weights that are all
    equal, and inf if five of them hold more than half of the sum. The fit is that of Zhang & Stephens (2009), its use
    that of Vehtari et al. (2024).

    >>> pareto_k(np.ones(100))
    -inf
    >>> rng = np.random.default_rng(1)
    >>> bool(0.8 < pareto_k(rng.pareto(1.0, 100_000)) < 1.2)
    True
    """
    ordered = np.sort(weights / weights.max())
    if ordered[0] > 1 - 10.0**-DIGITS:
        return -np.inf
    if ordered[-FEW:].sum() > ordered.sum() / 2:
        return np.inf
    count = int(np.ceil(min(0.2 * ordered.size, 3 * np.sqrt(ordered.size))))
    spread = _without_ties(ordered)
    tail = spread[-count:] - spread[-count - 1]
    return _fitted_k(tail) if tail[-1] > 10.0**-DIGITS else -np.inf


def _without_ties(ordered: Floats) -> Floats:
    """Sorted weights; ties of a positive value are spread evenly, as logarithms, halfway to the next values.

    Rounding errors make no difference. A tail of few values, each many times, is no sample of a continuous
    distribution: fitted as it is, k can be anything from -7 to 25 for weights that are bounded and harmless.
    """
    spread = ordered.copy()
    logs, counts = np.unique(np.log(ordered[ordered > 0]).round(DIGITS), return_counts=True)
    if logs.size > 1:
        middles = (logs[1:] + logs[:-1]) / 2
        edges = np.concatenate([[2 * logs[0] - middles[0]], middles, [2 * logs[-1] - middles[-1]]])
        places = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        steps = np.repeat(np.diff(edges) / counts, counts)
        spread[-counts.sum() :] = np.exp(np.repeat(edges[:-1], counts) + steps * (places + 0.5))
    return spread


def _fitted_k(x: Floats) -> float:
    """The fit of Zhang & Stephens to sorted exceedances, which averages k over a grid of b = -k / scale."""
    n = x.size
    points = np.arange(1, 31 + int(np.sqrt(n)))
    b = 1 / x[-1] + (1 - np.sqrt(points.size / (points - 0.5))) / (3 * x[max(int(n / 4 + 0.5) - 1, 0)])
    b = b[b != 0]
    k = np.array([np.log1p(-each * x).mean() for each in b])
    log_likelihood = n * (np.log(-b / k) - k - 1)
    weights = np.exp(log_likelihood - log_likelihood.max())
    mean = float((weights / weights.sum()) @ b)
    fitted = float(np.log1p(-mean * x).mean())
    return (n * fitted + PRIOR_COUNT * PRIOR_K) / (n + PRIOR_COUNT)


#: The search under each prior, which also starts at the reported partition.
SEARCH = Search(runs=4)


@dataclass(frozen=True, eq=False)
class PriorChange:
    """The draws under another prior: a row of a `Sensitivity`.

    Attributes
    ----------
    prior : str
        The prior in words.
    alpha : float or None
        Its concentration, if that is one number.
    pareto_k : float
        Tail of the weights; above 0.7 all that follows is None.
    ess : float
        1 / Σ w², the number of equal weights that are worth as much.
    mean_clusters : float or None
        Posterior mean of the number of clusters.
    labels : (items,) integer array or None
        The best partition under this prior.
    stays : bool or None
        Whether it is the reported partition.
    excess : float or None
        Expected loss of the reported partition minus that of the best one.
    """

    prior: str
    alpha: float | None
    pareto_k: float
    ess: float
    mean_clusters: float | None = None
    labels: Labels | None = None
    stays: bool | None = None
    excess: float | None = None

    @property
    def n_clusters(self) -> int | None:
        """Number of clusters of the best partition under this prior."""
        return None if self.labels is None else int(self.labels.max()) + 1


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity:
    """How the answer depends on the prior: the result of `sensitivity`.

    Attributes
    ----------
    changes : tuple of PriorChange
        One entry per prior, in the order given.
    estimate : Estimate
        The reported partition, under the prior that was sampled.
    prior : str
        That prior in words.
    mean_clusters : float
        Posterior mean of the number of clusters under it.
    """

    changes: tuple[PriorChange, ...]
    estimate: Estimate
    prior: str
    mean_clusters: float

    @property
    def range(self) -> tuple[float, float] | None:
        """The longest run of given concentrations over which the reported partition stays the best: its two ends."""
        rows = sorted((row for row in self.changes if row.alpha is not None), key=lambda row: row.alpha or 0)
        best: list[float] = []
        run: list[float] = []
        for row in rows:
            run = [*run, float(row.alpha or 0)] if row.stays else []
            best = max(best, run, key=len)
        return (best[0], best[-1]) if best else None

    @property
    def notes(self) -> tuple[str, ...]:
        """What a careful reader should know."""
        refused = [row.prior for row in self.changes if row.pareto_k > MAX_PARETO_K]
        if not refused:
            return ()
        return (
            f"Too far from the prior that was sampled to be reached by weights (Pareto k above {MAX_PARETO_K}):"
            f" {', '.join(refused)}. Sample anew with these priors.",
        )

    def in_words(self) -> str:
        """The answer in a sentence."""
        stays = self.range
        if stays is None:
            return "Under none of the given concentrations does the reported partition stay the best."
        ends = [f"{end:g}" for end in stays]
        means = [row.mean_clusters for row in self.changes if row.mean_clusters is not None]
        return (
            f"Of the concentrations given, the reported partition stays the best from {ends[0]} to {ends[1]}; the"
            f" posterior mean of the number of clusters, {self.mean_clusters:.2f} with {self.prior}, is"
            f" {min(means):.2f} to {max(means):.2f}."
        )

    def to_pandas(self) -> Any:
        """One row per prior."""
        names = ("prior", "alpha", "pareto_k", "ess", "mean_clusters", "n_clusters", "stays", "excess")
        return data_frame([{name: getattr(row, name) for name in names} for row in self.changes])

    def __repr__(self) -> str:
        lines = "".join("\n  " + "  ".join(cells) for cells in self._rows())
        return f"Sensitivity: {len(self.changes)} priors beside {self.prior}{lines}"

    def _repr_html_(self) -> str:
        return rows_table("Sensitivity", ("prior", "Pareto k", "clusters", "the reported partition"), self._rows())

    def _rows(self) -> Iterator[list[str]]:
        for row in self.changes:
            told = [f"{row.prior:<12}", f"k {row.pareto_k:.2f}"]
            if row.n_clusters is None:
                yield [*told, "", "out of reach: sample anew"]
            else:
                verdict = (
                    "stays the best"
                    if row.stays
                    else f"is not the best: {plural(row.n_clusters, 'cluster')}, {row.excess:.3g} less"
                )
                yield [*told, f"{row.mean_clusters:.2f} clusters on average", verdict]


def sensitivity(
    chain: Any,
    alpha: ArrayLike | Sequence[Any] | None = None,
    *,
    discount: Sequence[float] | None = None,
    components: Sequence[Any] | None = None,
    prior: Any = None,
    estimate: Estimate | None = None,
    loss: str | Loss = "vi",
    rng: Any = None,
) -> Sensitivity:
    """Estimates under other priors on partitions, from reweighted draws.

    The likelihood of a partition does not depend on its prior, so that draws from the posterior under prior p become
    draws under prior q with weights

    w_t ∝ q(x_t) / p(x_t),

    and both have closed forms. Where the sampler draws the concentration as well, p is its prior on partitions with the
    concentration integrated out: the draws of partitions alone follow that posterior. The estimate is searched
    again under each prior, starting from the reported partition. Pareto k of the weights says whether they can be
    trusted; above 0.7 nothing is reported for the prior. Weights are not smoothed, since most are ties.

    Parameters
    ----------
    chain : Chain of a mixture, or anything that `as_sample` takes
        Posterior draws. Draws of another sampler need ``prior``.
    alpha : list of float, GammaAlpha or PowerAlpha, optional
        Concentrations, or priors on it, to change to. By default the model's own stays, with the values of the others.
    discount : list of float, optional
        Discounts of the Pitman–Yor process; each is combined with each of ``alpha``.
    components : list of FiniteMixture, optional
        Finite mixtures with a prior on the number of components.
    prior : float, GammaAlpha, PowerAlpha, FiniteMixture or mixture, optional
        The prior under which the draws were made; by default that of the chain's model.
    estimate : Estimate, optional
        The reported partition, if already computed.
    loss : str or Loss
        The loss, unless an estimate is given.
    rng : None, int or numpy Generator
        Seed or source of random numbers; the same seed gives the same result.

    Returns
    -------
    Sensitivity

    Examples
    --------
    >>> import partita as pt
    >>> X = np.array([[0.0], [0.1], [0.2], [9.0], [9.1], [9.3]])
    >>> chain = pt.models.GaussianDPM("diag", alpha=1.0, b=0.1).sample(X, draws=500, chains=2, rng=1)
    >>> found = pt.sensitivity(chain, alpha=[0.5, 2.0], rng=1)
    >>> found.range, [row.stays for row in found.changes]
    ((0.5, 2.0), [True, True])

    References
    ----------
    Vehtari, Simpson, Gelman, Yao & Gabry (2024), J. Mach. Learn. Res. 25, for Pareto k.
    """
    sample = as_sample(chain)
    check_complete(sample, "sensitivity")
    if prior is None and getattr(getattr(chain, "model", None), "alone_is_noise", False):
        raise ValueError("sensitivity does not know the prior of a mixture with noise")
    own = prior_settings(_prior_of(chain, prior))
    others = _others(own, alpha, discount, components)
    reported = _reported(estimate, sample, loss, rng)
    old = gibbs_prior(sample.n_items, *own)
    rows = (_change(sample, old, settings, reported, rng) for settings in others)
    return Sensitivity(tuple(rows), reported, _in_words(*own), float(sample.weights @ sample.n_clusters))


def _prior_of(chain: Any, prior: Any) -> Any:
    if prior is not None:
        return prior
    model = getattr(chain, "model", None)
    if not (hasattr(model, "discount") and hasattr(model, "components")):
        raise TypeError("prior is missing: these draws do not know the prior on partitions that they were made with")
    return model


def _others(own: Any, alpha: Any, discount: Any, components: Any) -> list[tuple[Any, float, Any]]:
    if alpha is None and discount is None and components is None:
        raise TypeError("alpha, discount or components is missing: the priors to change to")
    found: list[tuple[Any, float, Any]] = []
    if alpha is not None or discount is not None:
        alphas = [own[0]] if alpha is None else _listed(alpha)
        found += [(a, float(d), None) for a, d in product(alphas, [own[1]] if discount is None else _listed(discount))]
    found += [(None, 0.0, each) for each in _listed([] if components is None else components)]
    if not found:
        raise ValueError("alpha, discount or components is empty: it lists the priors to change to")
    return found


def _listed(values: Any) -> list[Any]:
    if isinstance(values, list | tuple | np.ndarray):
        return list(values)
    return [values]


def _reported(given: Estimate | None, sample: PartitionSample, loss: str | Loss, rng: Any) -> Estimate:
    if given is None:
        return estimate(sample, loss, rng=rng)
    if given.sample.n_items != sample.n_items:
        raise ValueError(f"estimate has {given.sample.n_items} items, but chain has {sample.n_items}")
    return given


def _change(sample: PartitionSample, old: GibbsPrior, settings: Any, reported: Estimate, rng: Any) -> PriorChange:
    changed = reweighted(sample, old, gibbs_prior(sample.n_items, *settings))
    weights = changed.draw_weights
    single = None if settings[2] is not None or not isinstance(settings[0], int | float) else float(settings[0])
    row = PriorChange(_in_words(*settings), single, pareto_k(weights), float(1 / (weights**2).sum()))
    if row.pareto_k > MAX_PARETO_K:
        return row
    start = reported.partition
    best = estimate(changed, reported.loss, search=SEARCH, start=start, check_draws=False, rng=rng)
    losses = expected_loss(np.array([start, best.partition]), changed, reported.loss)
    excess = max(0.0, float(losses[0] - losses[1]))
    stays = excess <= 1e-9 * reported.loss.unit
    labels = reported.labels if stays else best.labels
    return replace(
        row, mean_clusters=float(changed.weights @ changed.n_clusters), labels=labels, stays=stays, excess=excess
    )


def reweighted(sample: PartitionSample, old: GibbsPrior, new: GibbsPrior) -> PartitionSample:
    """The same draws with the weights of another prior on partitions."""
    sizes = np.zeros(sample.n_unique) if old.sigma == new.sigma else _log_sizes(sample, new) - _log_sizes(sample, old)
    none = np.zeros(sample.n_unique)
    logs = new.log_prior(sample.n_clusters, sizes) - old.log_prior(sample.n_clusters, none)
    weights = sample.weights * np.exp(logs - logs[sample.weights > 0].max())
    return replace(sample, weights=weights / weights.sum())


def _log_sizes(sample: PartitionSample, prior: GibbsPrior) -> Floats:
    table = prior.log_size_table()
    return np.array([table[np.bincount(row)].sum() for row in sample.labels])


def _in_words(alpha: Any, discount: float, components: Any) -> str:
    if components is not None:
        return repr(components)
    alpha = GammaAlpha() if alpha is None else alpha
    told = f"{alpha:g}" if isinstance(alpha, int | float) else str(alpha)
    if isinstance(alpha, GammaAlpha):
        told = f"Gamma({alpha.shape:g}, {alpha.rate:g})"
    return f"alpha {told}" + (f", discount {discount:g}" if discount else "")
