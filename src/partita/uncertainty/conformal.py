"""Credible sets of partitions by conformal prediction, and a p-value for any partition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._support.arrays import Floats, Labels
from partita._support.shown import ShownAsFacts
from partita._support.tolerance import ROUNDING
from partita._support.validate import check_count, check_level
from partita.draws.sample import PartitionSample, as_sample, chain_places, check_complete, some_rows
from partita.estimation.convergence import mixing_warnings, warn_mixing
from partita.estimation.r_hat import effective_sample_size
from partita.estimation.result import sample_of
from partita.losses.base import Loss
from partita.losses.expected import unique_distances
from partita.losses.losses import as_loss
from partita.partitions.checks import check_partition_of


@dataclass(frozen=True, eq=False, repr=False)
class ConformalSet(ShownAsFacts):
    """The partitions that conform to the draws: the result of `conformal_set`.

    Attributes
    ----------
    level : float
        The probability with which the set contains a new draw from the posterior.
    loss : Loss
        The loss that was used.
    scores : (chains, n) array
        How typical each calibration draw is: the mean of exp(-loss / scale) over the reference draws.
    weights : (chains, n) array
        Weights of the calibration draws; they sum to 1.
    n_calibration, n_effective : int, float
        Number of calibration draws, and their effective sample size.
    reference : (m, items) integer array
        The draws that a partition is compared with.
    reference_weights : (m,) array
        Their weights; they sum to 1.
    scale : float
        Median distance between reference and calibration draws.
    sample : PartitionSample
        The draws.
    notes : tuple of str
        Reasons for caution: chains that have not mixed, few effective draws, too few for the level.
    """

    level: float
    loss: Loss
    scores: Floats
    weights: Floats
    n_effective: float
    reference: Labels
    reference_weights: Floats
    scale: float
    sample: PartitionSample
    calibration: NDArray[np.int64]
    notes: tuple[str, ...] = ()

    @property
    def n_calibration(self) -> int:
        """Number of draws that calibrate the set."""
        return int(self.scores.size)

    def p_value(self, partition: ArrayLike) -> float:
        """The p-value of a partition: small if hardly any draw is as untypical.

        p = (1 + m F) / (1 + m) + max(0, 1/2 - F) (1 / m_eff - 1 / m), with the share F of the calibration draws that
        are at most as typical, their number m and their effective number m_eff. For independent draws the second term
        vanishes and the p-value is exact: a new draw has p <= α with probability at most α.
        """
        score = self._score(check_partition_of(partition, self.sample.names, self.sample.n_items, "partition"))
        share = self.weights[self.scores <= score + ROUNDING].sum()
        return float(_p_value(share, self.n_calibration, self.n_effective))

    def contains(self, partition: ArrayLike) -> bool:
        """Whether a partition is in the set: its p-value is above 1 - level."""
        return self.p_value(partition) > 1 - self.level

    @cached_property
    def members(self) -> Labels:
        """The distinct calibration draws in the set, the most typical first."""
        rows = self.sample.index[self.calibration].ravel()
        distinct, first = np.unique(rows, return_index=True)
        scores = self.scores.ravel()[first]
        order = np.lexsort((first, -scores))
        typical = [row for row, score in zip(distinct[order], scores[order], strict=True) if score >= self.threshold]
        return self.sample.labels[typical].astype(np.int64)

    @cached_property
    def threshold(self) -> float:
        """The set consists of the partitions whose score is at least this; 0 if it contains all partitions."""
        order = np.argsort(self.scores, axis=None)
        share = np.cumsum(self.weights.ravel()[order])
        inside = np.flatnonzero(_p_value(share, self.n_calibration, self.n_effective) > 1 - self.level)
        if _p_value(0.0, self.n_calibration, self.n_effective) > 1 - self.level or not inside.size:
            return 0.0
        return float(self.scores.ravel()[order[inside[0]]]) - ROUNDING

    def _score(self, labels: Labels) -> float:
        as_truth = as_sample(labels[None, :])
        distance = np.array([unique_distances(row, as_truth, self.loss, 1)[0] for row in self.reference])
        return float(self.reference_weights @ np.exp(-distance / self.scale))

    def _facts(self) -> Iterator[tuple[str, str]]:
        yield "level", f"{self.level:g}"
        yield "loss", str(self.loss)
        yield "distinct draws inside", f"{len(self.members):,}"
        yield "calibrated by", f"{self.n_calibration:,} draws, effective sample size {self.n_effective:,.0f}"
        yield from (("warning", sentence) for sentence in self.notes)


def conformal_set(
    draws: Any, level: float = 0.95, loss: str | Loss = "vi", *, references: int = 200, n_jobs: int = -1
) -> ConformalSet:
    """A set of partitions that contains a new draw from the posterior with probability at least `level`.

    The first half of each chain provides reference draws x_1, ..., x_r; a partition y has the score

    s(y) = Σ_i w_i exp(-L(y, x_i) / scale)

    and the second half of each chain calibrates it: the set holds the partitions whose score is not among the lowest
    1 - level of the calibration draws. In contrast to a credible ball it may have several parts, and it answers for
    every partition, drawn or not. Coverage is exact, for any sample size, if draws are exchangeable. Draws of a chain
    are not: then their effective number enters the p-value, and coverage holds to first order in one over that number
    (docs/uncertainty.md). Takes O(references × draws × items) time.

    Parameters
    ----------
    draws : Estimate, or anything that `as_sample` takes, without missing labels
        Posterior draws: labels in any form, or an estimate, whose own draws are used.
    level : float in (0, 1]
        Probability with which the set contains a new draw.
    loss : str or Loss
        The loss, by name or as an object such as ``VI(a=0.5, b=1)``.
    references : int
        Largest number of reference draws, evenly spread over the first halves.
    n_jobs : int
        Threads; -1 uses all cores.

    Returns
    -------
    ConformalSet

    Examples
    --------
    >>> draws = np.tile([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 1, 2]], (50, 1))
    >>> likely = conformal_set(draws, level=0.9)
    >>> likely.contains([0, 0, 1, 1]), likely.contains([0, 1, 0, 1])
    (True, False)
    >>> round(likely.p_value([0, 1, 0, 1]), 3)
    0.01

    References
    ----------
    Vovk, Gammerman & Shafer (2005), Algorithmic learning in a random world; Bariletto, Ho & Rinaldo (2025),
    Conformalized Bayesian inference.
    """
    sample = sample_of(draws)
    wanted, kind, most = check_level(level), as_loss(loss), check_count(references, "references", minimum=1)
    check_complete(sample, "conformal_set")
    training, calibration = _halves(sample)
    chosen = _spread(training.ravel(), most)
    reference = sample.labels[sample.index[chosen]].astype(np.int64)
    reference_weights = sample.draw_weights[chosen] / sample.draw_weights[chosen].sum()
    scores, scale = _scores(reference, reference_weights, sample, calibration, kind, n_jobs)
    weights = sample.draw_weights[calibration]
    weights = weights / weights.sum()
    effective = _effective(scores, weights, wanted)
    warnings = (
        *_on_level(scores.size, effective, wanted),
        *(() if sample.is_weighted else mixing_warnings({"scores": scores})),
    )
    warn_mixing(warnings)
    return ConformalSet(
        wanted, kind, scores, weights, effective, reference, reference_weights, scale, sample, calibration, warnings
    )


def _p_value(share: Any, count: int, effective: float) -> Any:
    """The p-value of a partition, if this share of the calibration draws is at most as typical."""
    exchangeable = (1 + count * share) / (1 + count)
    return np.minimum(1.0, exchangeable + np.maximum(0, 0.5 - share) * (1 / effective - 1 / count))


def _halves(sample: PartitionSample) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The draws of the first and of the second half of each chain, as (chain, draw) arrays; weightless draws are out.

    Longer chains lose their first draws.
    """
    pieces = [places[sample.draw_weights[places] > 0] for places in chain_places(sample)]
    half = min(map(len, pieces)) // 2
    if half < 1:
        raise ValueError(f"conformal_set needs at least 2 draws of each chain, but one has {min(map(len, pieces))}")
    return np.array([p[-2 * half : -half] for p in pieces]), np.array([p[-half:] for p in pieces])


def _spread(draws: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """At most this many of the draws, evenly spaced."""
    return draws[np.unique(np.linspace(0, draws.size - 1, min(most, draws.size)).round().astype(np.int64))]


def _scores(
    reference: Labels,
    weights: Floats,
    sample: PartitionSample,
    calibration: NDArray[np.int64],
    loss: Loss,
    n_jobs: int,
) -> tuple[Floats, float]:
    """The score of each calibration draw, and the scale."""
    rows, place = np.unique(sample.index[calibration], return_inverse=True)
    part = some_rows(sample, rows, np.full(rows.size, 1 / rows.size))
    distance = np.array([unique_distances(row, part, loss, n_jobs) for row in reference])
    scale = float(np.median(distance[:, place.ravel()])) or float(distance.mean()) or loss.unit
    scores: Floats = (weights @ np.exp(-distance / scale))[place].reshape(calibration.shape)
    return scores, scale


def _effective(scores: Floats, weights: Floats, level: float) -> float:
    """The effective sample size of the calibration draws."""
    order = np.argsort(scores, axis=None)
    share = np.cumsum(weights.ravel()[order])
    cut = scores.ravel()[order[min(int(np.searchsorted(share, 1 - level)), order.size - 1)]]
    tail = (scores <= cut).astype(np.float64)
    by_weight = 1 / float((weights**2).sum())
    dependent = min(effective_sample_size(scores), effective_sample_size(tail), scores.size) / scores.size
    return by_weight * dependent


def _on_level(count: int, effective: float, level: float) -> Iterator[str]:
    if level < 1 and _p_value(0.0, count, effective) > 1 - level:
        yield (
            f"The {count:,} calibration draws have an effective sample size of {effective:.1f}, too small for level"
            f" {level:g}: the set contains every partition."
        )
