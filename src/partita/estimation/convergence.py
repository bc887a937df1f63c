"""Whether the draws look like those of converged chains: what is compared, and warnings."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.arrays import Floats
from partita._support.warn import local_of_caller, warn_user
from partita.draws.sample import PartitionSample, as_sample
from partita.estimation.r_hat import convergence
from partita.estimation.standard_errors import by_chain, is_sequence, mean_error
from partita.losses.expected import unique_distances
from partita.losses.losses import VI

#: Above this R-hat the chains have not mixed. Vehtari et al. (2021) recommend 1.01. At the limit on the effective
#: sample size below, 50 per chain, four converged chains exceed that in 84 % of cases, and 1.05 in 1 %.
R_HAT_LIMIT = 1.05
#: The probability that independent draws exceed the limit on R-hat, which is larger for short chains.
FALSE_ALARM = 1e-3
#: Below this effective sample size per chain, probabilities are noisy.
ESS_LIMIT = 50
#: Below this effective sample size, weighted draws carry little information.
WEIGHTED_LIMIT = 50
#: A weight below this share of the average is negligible.
NEGLIGIBLE = 1e-3
#: In chains shorter than this the effective sample size is noise.
MIN_LENGTH = 20
#: Shorter chains have no halves to compare.
MIN_SUMMARY = 4
#: The partitions of chains are compared on at most about this many items, evenly spread.
COMPARED_ITEMS = 10_000


IN_CROSS_VALIDATION = (
    "Chains of the cross-validation have not mixed, or have few effective draws: scores are rough. Run them longer"
    " (warmup, draws); a fit to all rows says which quantities are concerned."
)
#: The cross-validations of which this has been said.
_told: weakref.WeakSet[Any] = weakref.WeakSet()


class MixingWarning(UserWarning):
    """The draws are poor: chains that disagree, few effective draws, or weights that leave few of them."""


@dataclass(frozen=True)
class Quantity:
    """A summary of each draw, and how well the chains explored it."""

    name: str
    mean: float
    sd: float
    r_hat: float
    ess: float


@dataclass(frozen=True)
class DrawsCheck:
    """Sentences about problems with the draws of a sample, and the Monte Carlo standard error of the mean loss, None
    where the draws may not be chains."""

    warnings: tuple[str, ...] = ()
    standard_error: float | None = None


def check_sample(sample: PartitionSample, distance: Floats, n_jobs: int = -1) -> DrawsCheck:
    """Checks the clusters, the entropy and the distance to the estimate of each draw: two reads of all labels.

    The standard error is sd / √(effective draws) of the distances. Weighted draws, and fewer than 100 draws without
    known chains, which may be any list of partitions, have none.

    Parameters
    ----------
    distance : (n_unique,) array
        Loss between the estimate and each distinct draw.
    """
    if sample.is_weighted:
        return DrawsCheck(tuple(_on_weights(sample)))
    if not is_sequence(sample):
        return DrawsCheck()
    summaries = draw_summaries(sample, distance, n_jobs)
    checked, losses = quantities(summaries), summaries["distance to estimate"]
    ess = checked[-1].ess if losses.shape[1] >= MIN_SUMMARY else losses.size
    return DrawsCheck(
        tuple(mixing_sentences(checked, *losses.shape)),
        mean_error(losses, ess),
    )


def sample_warnings(sample: PartitionSample, distance: Floats, n_jobs: int = -1) -> tuple[str, ...]:
    """Sentences about problems with the draws of a sample; empty if there are none.

    >>> from partita.draws.sample import as_sample
    >>> sample = as_sample([[[0, 0, 1]] * 30, [[0, 1, 2]] * 30])
    >>> print(sample_warnings(sample, np.array([0.0, 0.7]))[0])
    The chains have not mixed: clusters (R-hat ∞), entropy (R-hat ∞), distance to estimate (R-hat ∞). The draws \
reflect where the chains were rather than the posterior: run longer chains from several starting points.
    """
    return check_sample(sample, distance, n_jobs).warnings


def draw_summaries(sample: PartitionSample, distance: Floats, n_jobs: int = -1) -> dict[str, Floats]:
    """The summaries of each draw that are compared between chains: (chain, draw) arrays, by name."""
    by_draw = np.array([sample.n_clusters, entropies(sample, n_jobs), distance])
    summaries = by_chain(by_draw[:, sample.index], sample)
    return dict(zip(("clusters", "entropy", "distance to estimate"), summaries, strict=True))


def chain_summaries(labels: NDArray[Any], clusters: Floats, log_density: Floats) -> dict[str, Floats]:
    """The summaries of (chain, draw, item) labels and of their statistics, without an estimate: (chain, draw) arrays.

    "partition" is the VI from the draw of largest log density, so that chains which stay at different partitions differ
    even if these have as many clusters and are as probable.
    """
    sample = as_sample(labels[..., :: max(1, labels.shape[-1] // COMPARED_ITEMS)])
    likeliest = sample.labels[sample.index[int(np.argmax(log_density))]]
    distance = unique_distances(likeliest, sample, VI())[sample.index].reshape(clusters.shape)
    return {"clusters": clusters, "log density": log_density, "partition": distance}


def mixing_warnings(summaries: Mapping[str, Floats]) -> tuple[str, ...]:
    """Sentences about problems with (chain, draw) arrays of summaries."""
    n_chains, length = next(iter(summaries.values())).shape
    return tuple(mixing_sentences(quantities(summaries), n_chains, length))


def mixing_sentences(quantities: Sequence[Quantity], n_chains: int, length: int) -> Iterator[str]:
    """One sentence on chains that disagree, one on few effective draws."""
    unmixed = not_mixed(quantities, n_chains, length)
    if unmixed:
        names = ", ".join(f"{q.name} (R-hat {q.r_hat:.2f})" for q in unmixed).replace("R-hat inf", "R-hat ∞")
        who = "The chains have not mixed" if n_chains > 1 else "The two halves of the draws differ"
        where = "the chains were" if n_chains > 1 else "the chain was"
        yield (
            f"{who}: {names}. The draws reflect where {where} rather than the posterior: run longer chains from several"
            " starting points."
        )
    few = too_few(quantities, n_chains, length)
    if few:
        names = ", ".join(f"{q.name} ({q.ess:.0f})" for q in few)
        yield (
            f"The {n_chains * length:,} draws have a small effective sample size: {names}. Probabilities and the"
            " credible ball are rough: run the chains longer."
        )


def not_mixed(quantities: Sequence[Quantity], n_chains: int, length: int) -> list[Quantity]:
    """The quantities whose R-hat is above the limit for this number and length of chains."""
    limit = r_hat_limit(n_chains, length)
    return [q for q in quantities if q.r_hat > limit]


def too_few(quantities: Sequence[Quantity], n_chains: int, length: int) -> list[Quantity]:
    """The quantities whose effective sample size is below 50 per chain and half the draws, in chains of 20 or more."""
    limit = min(ESS_LIMIT * n_chains, n_chains * length / 2)
    return [q for q in quantities if q.ess < limit] if length >= MIN_LENGTH else []


def r_hat_limit(n_chains: int, length: int) -> float:
    """The limit on R-hat: 1.05, or more for short chains, in which independent draws exceed 1.05 by chance.

    With 2m halves of length l, R-hat² = 1 + (F - 1) / l, and for independent draws F has an F distribution with 2m - 1
    and 2m (l - 1) degrees of freedom.

    >>> round(r_hat_limit(4, 1000), 3), round(r_hat_limit(2, 40), 3)
    (1.05, 1.118)
    """
    from scipy.special import fdtri

    halves, half = 2 * n_chains, length // 2
    if half < 2:
        return np.inf
    by_chance = fdtri(halves - 1, halves * (half - 1), 1 - FALSE_ALARM)
    return float(max(R_HAT_LIMIT, np.sqrt(1 + (by_chance - 1) / half)))


def entropies(sample: PartitionSample, n_jobs: int = -1) -> Floats:
    """Entropy in bits of each distinct draw: its VI to the partition of one cluster."""
    return unique_distances(np.zeros(sample.n_items, np.int64), sample, VI(), n_jobs)


def quantities(summaries: Mapping[str, Floats]) -> list[Quantity]:
    """Mean, spread, R-hat and effective sample size of (chain, draw) arrays, all of one shape; the last two NaN below
    four draws."""
    values = np.array(list(summaries.values()))
    means = values.mean(axis=(1, 2))
    sds = values.std(axis=(1, 2), ddof=1) if values[0].size > 1 else np.zeros(len(values))
    found = np.full((2, len(values)), np.nan) if values.shape[2] < MIN_SUMMARY else convergence(values)
    rows = zip(summaries, means.tolist(), sds.tolist(), found[0].tolist(), found[1].tolist(), strict=True)
    return [Quantity(*row) for row in rows]


def warn_mixing(sentences: Sequence[str]) -> None:
    """Issues the sentences as one warning, if there are any; once for all fits of a scikit-learn cross-validation."""
    if not sentences:
        return
    cross_validation = local_of_caller("sklearn.model_selection", "parallel")
    if cross_validation is None:
        warn_user(" ".join(sentences), MixingWarning)
    elif cross_validation not in _told:
        warn_user(IN_CROSS_VALIDATION, MixingWarning)
        _told.add(cross_validation)


def _on_weights(sample: PartitionSample) -> Iterator[str]:
    """A sentence about collapsed weights, such as importance weights. Distinct partitions weighted by their counts do
    not count as collapsed, however uneven: none of them has negligible weight."""
    idle = int(np.sum(sample.draw_weights < NEGLIGIBLE / sample.n_draws))
    effective = 1 / float(np.sum(sample.draw_weights**2))
    if idle > sample.n_draws / 2 and effective < WEIGHTED_LIMIT:
        yield (
            f"{idle:,} of the {sample.n_draws:,} draws have next to no weight, and the effective sample size is"
            f" {effective:.1f}: estimate and uncertainty rest on few draws."
        )
