"""Convergence and mixing on partition space: R-hat, effective sample size, distances between chains."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._facts import rows_table
from partita.estimate import Estimate, Search, estimate
from partita.losses import Loss, as_loss, unique_distances
from partita.sample import PartitionSample, as_sample

Floats = NDArray[np.float64]

#: Above this R-hat the chains have not mixed (Vehtari et al. 2021 ask for 1.01, for four chains and more).
R_HAT_LIMIT = 1.05
#: Below this effective sample size a chain, estimates are noisy.
ESS_LIMIT = 50


@dataclass(frozen=True)
class Quantity:
    """One number a draw, and how well the chains explored it."""

    name: str
    mean: float
    sd: float
    r_hat: float
    ess: float


@dataclass(frozen=True, eq=False)
class Diagnostics:
    """How well the chains explored the partitions; `diagnostics` makes it.

    Attributes
    ----------
    quantities : tuple of Quantity
    chain_distances : (chains, chains) array
        Loss between the estimates of the chains; element [s, t] takes that of chain s as the truth.
    advice : tuple of str
        What to do about what was found; empty if all is well.
    """

    quantities: tuple[Quantity, ...]
    chain_distances: Floats
    advice: tuple[str, ...]

    @property
    def converged(self) -> bool:
        """Whether there is nothing to advise."""
        return not self.advice

    def to_pandas(self) -> Any:
        """The quantities as a pandas table, a row a quantity."""
        import pandas as pd

        return pd.DataFrame([vars(q) for q in self.quantities]).set_index("name")

    def __repr__(self) -> str:
        rows = "".join(
            f"\n  {q.name:<22}{q.mean:>10.4g} ± {q.sd:<9.3g} R-hat {q.r_hat:.3f}  ESS {q.ess:.0f}"
            for q in self.quantities
        )
        return "Diagnostics" + rows + "".join(f"\n  {line}" for line in self.advice)

    def _repr_html_(self) -> str:
        header = ("quantity", "mean", "sd", "R-hat", "ESS")
        rows = [(q.name, f"{q.mean:.4g}", f"{q.sd:.3g}", f"{q.r_hat:.3f}", f"{q.ess:.0f}") for q in self.quantities]
        return rows_table("Diagnostics", header, rows) + "".join(f"<p>{line}</p>" for line in self.advice)


def diagnostics(
    draws: Any,
    loss: str | Loss | None = None,
    *,
    log_density: ArrayLike | None = None,
    search: Search | None = None,
    rng: Any = None,
) -> Diagnostics:
    """R-hat and effective sample size of summaries of the draws, and how far apart the chains' estimates are.

    The summaries are the number of clusters, the entropy in bits, the size of the largest cluster, the loss to the
    estimate, and the log density where it is given. R-hat is split and rank-normalised; ArviZ computes it where it is
    installed. Weights of the draws play no part.

    Parameters
    ----------
    draws : Estimate, or anything that `as_sample` takes, best with chains: a (chain, draw, item) array
    loss : str or Loss, optional
        For distances; by default the estimate's own, or VI.
    log_density : (draws,) or (chain, draw) array_like, optional
    search : Search, optional
        How estimates are searched for; by default with four runs.
    rng : None, int or numpy Generator

    Returns
    -------
    Diagnostics
        With a warning that says what to do if chains disagree or draws are too alike.

    Examples
    --------
    >>> chains = np.random.default_rng(1).integers(2, size=(4, 200, 6))
    >>> diagnostics(chains, rng=1).converged
    True

    References
    ----------
    Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021), Rank-normalization, folding, and localization.
    """
    how = search or Search(runs=4)
    sample = draws.sample if isinstance(draws, Estimate) else as_sample(draws)
    kind = as_loss(loss if loss is not None else draws.loss if isinstance(draws, Estimate) else "vi")
    center = draws.labels if isinstance(draws, Estimate) else estimate(sample, kind, search=how, rng=rng).labels
    by_draw = _summaries(sample, unique_distances(center, sample, kind))
    if log_density is not None:
        by_draw["log density"] = _checked_density(log_density, sample)
    quantities = tuple(_quantity(name, _by_chain(values, sample)) for name, values in by_draw.items())
    apart = _chain_distances(sample, kind, how, rng)
    advice = tuple(_advice(quantities, sample, apart))
    if advice:
        warnings.warn(" ".join(advice), stacklevel=2)
    return Diagnostics(quantities, apart, advice)


def r_hat(values: Floats) -> float:
    """Split, rank-normalised R-hat of a (chain, draw) array: the larger of that of the values and of their distances
    to the median; 1 for constant values."""
    folded = np.abs(values - np.median(values))
    return max(_plain_r_hat(_normal_scores(_halves(x))) for x in (values, folded))


def effective_sample_size(values: Floats) -> float:
    """Bulk effective sample size of a (chain, draw) array, by Geyer's initial monotone sequence."""
    scores = _normal_scores(_halves(values))
    chains, length = scores.shape
    within = scores.var(axis=1, ddof=1).mean()
    if length < 4 or within == 0:
        return float(values.size)
    covariance = np.mean([_autocovariance(chain) for chain in scores], axis=0)
    between = scores.mean(axis=1).var(ddof=1) if chains > 1 else 0.0
    total = within * (length - 1) / length + between
    correlation = 1 - (within - covariance * length / (length - 1)) / total
    correlation[0] = 1.0
    pairs = correlation[: length // 2 * 2].reshape(-1, 2).sum(axis=1)
    positive = pairs[: int(np.argmax(pairs < 0))] if (pairs < 0).any() else pairs
    time = -1 + 2 * np.minimum.accumulate(positive).sum()
    return float(scores.size / max(time, 1 / np.log10(scores.size)))


def _summaries(sample: PartitionSample, distance: Floats) -> dict[str, Floats]:
    sizes = np.zeros((sample.n_unique, int(sample.n_clusters.max())))
    for k in range(sizes.shape[1]):
        sizes[:, k] = (sample.labels == k).sum(axis=1)
    share = sizes / sizes.sum(axis=1, keepdims=True)
    entropy = -np.sum(share * np.log2(share, out=np.zeros_like(share), where=share > 0), axis=1)
    found = {
        "clusters": sample.n_clusters.astype(np.float64),
        "entropy": entropy,
        "largest cluster": sizes.max(axis=1),
        "distance to estimate": distance,
    }
    return {name: values[sample.index] for name, values in found.items()}


def _checked_density(log_density: ArrayLike, sample: PartitionSample) -> Floats:
    values = np.asarray(log_density, np.float64).ravel()
    if values.size != sample.n_draws:
        raise ValueError(f"log_density has {values.size} values, but there are {sample.n_draws} draws")
    if not np.isfinite(values).all():
        place = int(np.argmin(np.isfinite(values)))
        raise ValueError(f"log_density[{place}] is {values[place]}; it must be finite")
    return values


def _by_chain(values: Floats, sample: PartitionSample) -> Floats:
    """A (chain, draw) array; longer chains lose their first draws."""
    chains = np.zeros(sample.n_draws, np.int64) if sample.chains is None else sample.chains
    pieces = [values[chains == chain] for chain in range(sample.n_chains)]
    shortest = min(map(len, pieces))
    return np.array([piece[len(piece) - shortest :] for piece in pieces])


def _quantity(name: str, values: Floats) -> Quantity:
    sd = float(values.std(ddof=1)) if values.size > 1 else 0.0
    if values.shape[1] < 4:
        return Quantity(name, float(values.mean()), sd, np.nan, np.nan)
    if np.ptp(values) == 0:
        return Quantity(name, float(values.mean()), 0.0, 1.0, float(values.size))
    hat, size = _arviz(values) or (r_hat(values), effective_sample_size(values))
    return Quantity(name, float(values.mean()), sd, hat, size)


def _arviz(values: Floats) -> tuple[float, float] | None:
    if len(values) < 2:  # ArviZ has no R-hat for one chain; ours compares its halves
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # ArviZ announces its future at import
            import arviz as installed
    except ImportError:
        return None
    arviz: Any = installed
    return float(arviz.rhat(values)), float(arviz.ess(values))


def _chain_distances(sample: PartitionSample, loss: Loss, search: Search, rng: Any) -> Floats:
    if sample.n_chains == 1:
        return np.zeros((1, 1))
    assert sample.chains is not None
    draws = sample.to_numpy()
    gap = -1 if sample.has_gaps else None
    parts = [as_sample(draws[sample.chains == chain], missing=gap) for chain in range(sample.n_chains)]
    found = np.array([estimate(part, loss, search=search, rng=rng).labels for part in parts])
    return np.array([[float(unique_distances(y, as_sample(x[None, :]), loss)[0]) for y in found] for x in found])


def _advice(quantities: tuple[Quantity, ...], sample: PartitionSample, apart: Floats) -> list[str]:
    advice = []
    unmixed = [q for q in quantities if q.r_hat > R_HAT_LIMIT]
    if unmixed:
        names = ", ".join(f"{q.name} (R-hat {q.r_hat:.2f})" for q in unmixed)
        advice.append(
            f"The chains have not mixed: {names}. Run them longer, with more warmup, or look at modes(): they may be "
            f"in different modes. The estimates of the chains are up to {apart.max():.3g} apart."
        )
    few = [q for q in quantities if q.ess < ESS_LIMIT * sample.n_chains]
    if few:
        names = ", ".join(f"{q.name} (ESS {q.ess:.0f})" for q in few)
        advice.append(f"The draws are worth few independent ones: {names}. Draw more, or thin less.")
    return advice


def _halves(values: Floats) -> Floats:
    half = values.shape[1] // 2
    return np.concatenate([values[:, :half], values[:, values.shape[1] - half :]])


def _normal_scores(values: Floats) -> Floats:
    from scipy.stats import norm, rankdata

    ranks = rankdata(values.ravel(), method="average").reshape(values.shape)
    scores: Floats = norm.ppf((ranks - 0.375) / (values.size + 0.25))
    return scores


def _plain_r_hat(values: Floats) -> float:
    length = values.shape[1]
    within, between = values.var(axis=1, ddof=1).mean(), length * values.mean(axis=1).var(ddof=1)
    return float(np.sqrt((between / within + length - 1) / length)) if within > 0 else 1.0


def _autocovariance(chain: Floats) -> Floats:
    centred = chain - chain.mean()
    spectrum = np.fft.rfft(centred, 2 * chain.size)
    covariance: Floats = np.fft.irfft(spectrum * spectrum.conj(), 2 * chain.size)[: chain.size] / chain.size
    return covariance
