"""Monte Carlo error of an estimate: what another chain, or another half of the draws, would have given."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.arrays import Floats
from partita._support.shown import Noted, facts_table
from partita._support.tolerance import TIE
from partita._support.validate import check_count, check_level, check_rng
from partita.draws.sample import PartitionSample, chain_places
from partita.estimation.estimate import estimate_step
from partita.estimation.result import Estimate
from partita.estimation.standard_errors import quantile_spread
from partita.losses.base import Loss
from partita.losses.expected import loss_where_placed, unique_distances
from partita.search.settings import Search
from partita.uncertainty.ball import ball_radius
from partita.uncertainty.batches import block_draws, part_of
from partita.uncertainty.certainty import item_certainty

#: The draws are cut into about this many batches.
BATCHES = 20


@dataclass(frozen=True, eq=False, repr=False)
class MonteCarloError(Noted):
    """The Monte Carlo error of an estimate and of its uncertainty: the result of `monte_carlo_error`.

    Attributes
    ----------
    expected_loss, radius : float
        Standard errors of the expected loss and of the radius of the credible ball; the latter is NaN at level 1.
    certainty : (n,) array
        Standard error of the certainty of each item.
    same : float
        Share of the parts of the draws (chains, or halves) that give the reported partition.
    distance : float
        Mean loss between the reported partition and those of the parts.
    n_clusters : tuple of int
        Number of clusters of the estimate of each part.
    labels : (parts, n) integer array
        The estimates of the parts.
    level : float
        Level of the ball.
    n_batches : int
        Number of batches of consecutive draws behind the standard errors.
    loss : Loss
        The loss that was used.
    """

    expected_loss: float
    radius: float
    certainty: Floats
    same: float
    distance: float
    n_clusters: tuple[int, ...]
    labels: NDArray[np.int64]
    level: float
    n_batches: int
    loss: Loss

    def in_words(self) -> str:
        """One sentence for a report."""
        parts = len(self.n_clusters)
        if self.same == 1:
            return f"All {parts} parts of the draws give this partition."
        fewest, most = min(self.n_clusters), max(self.n_clusters)
        clusters = f"{fewest}" if fewest == most else f"{fewest} to {most}"
        return (
            f"{round(self.same * parts)} of {parts} parts of the draws give this partition; the estimates of the parts"
            f" have {clusters} clusters and are {self.distance:.3g} away on average."
        )

    def __repr__(self) -> str:
        facts = "".join(f"\n  {name:<16}{value}" for name, value in self._facts())
        return f"MonteCarloError: {self.in_words()}{facts}"

    def _repr_html_(self) -> str:
        return facts_table("MonteCarloError", [("partition", self.in_words()), *self._facts()])

    def _facts(self) -> Iterator[tuple[str, str]]:
        yield "expected loss", f"± {self.expected_loss:.2g}  {self.loss}"
        if self.level < 1:
            yield f"{self.level:.0%} radius", f"± {self.radius:.2g}"
        known = self.certainty[~np.isnan(self.certainty)]
        if known.size:
            yield "certainty", f"± {known.max():.2g} at most, of one item"


def monte_carlo_error(
    estimate: Estimate, *, level: float = 0.95, parts: int = 8, search: Search | None = None, rng: Any = None
) -> MonteCarloError:
    """Standard errors of an estimate's loss, radius and certainties, and how often other draws give another partition.

    With b batches of consecutive draws, a quantity q of all draws has the standard error sd(q_1, ..., q_b) / √b, where
    q_k is that of batch k (batch means); batches lie within chains. The radius is a quantile: the standard error of the
    share of draws within it says how often other draws have another radius, which may take few values. The estimate
    is repeated on parts of the draws: on each chain if there are at least four, else on random halves made of whole
    batches. Halves of one sample share Monte Carlo error with the whole, but have more of it: what they agree on is
    certain.

    Parameters
    ----------
    estimate : Estimate
        From draws of equal weight.
    level : float in (0, 1]
        Level of the credible ball.
    parts : int
        Number of halves.
    search : Search, optional
        Settings of the searches on parts; by default four runs on at most 2,000 draws.
    rng : None, int or numpy Generator
        Seed or source of random numbers; the same seed gives the same result.

    Returns
    -------
    MonteCarloError

    Examples
    --------
    >>> from partita import estimate
    >>> rng = np.random.default_rng(1)
    >>> draws = np.where(rng.random((400, 6)) < 0.1, 1, [0, 0, 0, 1, 1, 1])
    >>> error = monte_carlo_error(estimate(draws, rng=1), rng=1)
    >>> error.same, error.n_clusters
    (1.0, (2, 2, 2, 2, 2, 2, 2, 2))

    References
    ----------
    Flegal & Jones (2010), Batch means and spectral variance estimators in Markov chain Monte Carlo.
    """
    if not isinstance(estimate, Estimate):
        raise TypeError(f"monte_carlo_error needs a result of partita.estimate, not {type(estimate).__name__}")
    sample, kind, wanted = estimate.sample, estimate.loss, check_level(level)
    if sample.is_weighted:
        raise ValueError("monte_carlo_error needs draws of equal weight: weights hide the order of the draws")
    generator, count = check_rng(rng), check_count(parts, "parts", minimum=2)
    how = Search(runs=4, max_draws=2000, n_jobs=estimate.search.n_jobs) if search is None else search
    batches = block_draws(sample, min(BATCHES, max(2, sample.n_draws // 2)))
    pieces = _parts(sample, batches, count, generator)
    found = [estimate_step(part_of(sample, draws), kind, how, generator) for draws in pieces]
    labels = np.array([part.labels for part in found])
    apart = np.array([loss_where_placed(estimate.verdicts, part.verdicts, kind) for part in found])
    clusters = tuple((labels.max(axis=1) + 1).tolist())
    same = float((apart <= TIE * kind.unit).mean())
    errors = _standard_errors(estimate, batches, wanted)
    return MonteCarloError(*errors, same, float(apart.mean()), clusters, labels, wanted, len(batches), kind)


def _parts(
    sample: PartitionSample, batches: NDArray[np.int64], count: int, rng: np.random.Generator
) -> list[NDArray[np.int64]]:
    if sample.chains is not None and sample.n_chains >= 4:
        return chain_places(sample)
    half = max(1, len(batches) // 2)
    return [batches[np.sort(rng.permutation(len(batches))[:half])] for _ in range(count)]


def _standard_errors(estimate: Estimate, batches: NDArray[np.int64], level: float) -> tuple[float, float, Floats]:
    """Of the expected loss, the radius, and the certainty of each item."""
    sample, kind = estimate.sample, estimate.loss
    distance = unique_distances(estimate.partition, sample, kind, estimate.search.n_jobs)
    by_batch = distance[sample.index[batches]]
    certainties = np.array(
        [item_certainty(estimate, part_of(sample, draws), loss="zero-one").probability for draws in batches]
    )

    def error(values: Floats) -> Floats:
        return np.asarray(values.std(axis=0, ddof=1) / np.sqrt(len(values)))

    inside = by_batch <= ball_radius(sample, distance, level, kind)
    radius = float("nan") if level == 1 else quantile_spread(by_batch, level, float(error(inside.mean(axis=1))))
    return float(error(by_batch.mean(axis=1))), radius, error(certainties)
