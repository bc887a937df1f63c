"""A search on some of the draws, and the evaluation of its result on the others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita._support.shown import ShownAsFacts
from partita.draws.sample import PartitionSample


@dataclass(frozen=True, repr=False)
class HeldOut(ShownAsFacts):
    """How good a partition found on some of the draws is on the others.

    The loss on the draws of the search is too small, because the search has adapted to them, and no partition can be
    better than that of least loss on all draws. So if the search finds the least loss on its draws, in expectation

        search_loss <= least expected loss <= loss,

    and `gap` limits what could be gained with more draws. Standard errors are those of choosing draws at random from
    all draws; for the Monte Carlo error of the chain itself see `diagnostics`.

    Attributes
    ----------
    n_search, n_held_out : int
        Number of draws that were searched, and of draws that were not.
    search_loss, loss : float
        Expected loss on the draws that were searched, and on the others.
    standard_error : float
        Of `loss`.
    gap, gap_standard_error : float
        loss - search_loss, and its standard error.

    References
    ----------
    Mak, Morton & Wood (1999), Monte Carlo bounding techniques for determining solution quality in stochastic programs.
    """

    n_search: int
    n_held_out: int
    search_loss: float
    loss: float
    standard_error: float
    gap_standard_error: float

    @property
    def gap(self) -> float:
        """In expectation, the largest possible gain from more draws."""
        return self.loss - self.search_loss

    def _facts(self) -> list[tuple[str, str]]:
        return [
            ("searched", f"{self.n_search:,} draws"),
            ("held out", f"{self.n_held_out:,} draws"),
            ("loss", f"{self.loss:.6g} ± {self.standard_error:.2g}"),
            ("gap", f"{self.gap:.2g} ± {self.gap_standard_error:.2g}"),
        ]


def some_draws(
    sample: PartitionSample, count: int, rng: np.random.Generator
) -> tuple[PartitionSample, NDArray[np.bool_]]:
    """A given number of draws, chosen at random, as a new sample, and which draws they are.

    >>> from partita.draws.sample import as_sample
    >>> part, chosen = some_draws(as_sample([[0, 0, 1], [0, 1, 1], [0, 0, 1]]), 2, np.random.default_rng(1))
    >>> part.n_draws, int(chosen.sum())
    (2, 2)
    """
    with_weight = np.flatnonzero(sample.draw_weights > 0)
    chosen = np.zeros(sample.n_draws, np.bool_)
    chosen[rng.choice(with_weight, min(count, len(with_weight)), replace=False)] = True
    rows, index = np.unique(sample.index[chosen], return_inverse=True)
    weights = np.bincount(index, weights=sample.draw_weights[chosen])
    labels = np.ascontiguousarray(sample.labels[rows])
    return PartitionSample(labels, weights / weights.sum(), index, names=sample.names, noise=sample.noise), chosen


def held_out(sample: PartitionSample, losses: NDArray[np.float64], searched: NDArray[np.bool_]) -> HeldOut | None:
    """The result, from the loss of a partition against each distinct draw; None if no draw with weight is left."""
    of_draws, weights = losses[sample.index], sample.draw_weights
    if not weights[~searched].any():
        return None
    inside, inside_error = _mean(of_draws[searched], weights[searched])
    outside, outside_error = _mean(of_draws[~searched], weights[~searched])
    both = float(np.hypot(inside_error, outside_error))
    return HeldOut(int(searched.sum()), int((~searched).sum()), inside, outside, outside_error, both)


def _mean(values: NDArray[np.float64], weights: NDArray[np.float64]) -> tuple[float, float]:
    """Weighted mean and its standard error, which is NaN for a single value."""
    share = weights / weights.sum()
    mean = float(share @ values)
    effective = 1 / float(share @ share)
    if effective <= 1:
        return mean, np.nan
    unit = float(np.abs(values - mean).max()) or 1.0  # squares of large losses would overflow
    return mean, unit * float(np.sqrt((share**2) @ ((values - mean) / unit) ** 2 * effective / (effective - 1)))
