"""Monte Carlo standard errors of what is computed from draws: of means, such as an expected loss, and of quantiles."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from partita._support.arrays import Floats
from partita.draws.sample import PartitionSample, chain_places
from partita.estimation.r_hat import effective_sample_size

#: At least this many draws without known chains are treated as one chain; fewer may be any list of partitions.
MIN_SEQUENCE = 100


def mean_error(values: Floats, ess: float) -> float:
    """That of the mean of values with this effective sample size."""
    return float(values.std() / np.sqrt(ess))


def standard_error(sample: PartitionSample, distance: Floats) -> float | None:
    """That of the mean of a value per distinct draw; None unless the draws can be taken for those of chains."""
    if not is_sequence(sample):
        return None
    values = by_chain(distance[sample.index], sample)
    return mean_error(values, effective_sample_size(values))


def quantile_error(sample: PartitionSample, distance: Floats, level: float) -> float | None:
    """Monte Carlo standard error of a quantile of one value per distinct draw, such as the radius of a ball.

    The share of draws below the quantile has the standard error s = √(level (1 - level) / effective draws), and
    `quantile_spread` that of the quantile. None where `standard_error` is None, and at level 1.

    Examples
    --------
    >>> from partita.draws.sample import as_sample
    >>> sample = as_sample([[0, 0, 1], [0, 1, 1]] * 200)
    >>> quantile_error(sample, np.array([1.0, 2.0]), 0.95)
    0.0
    """
    if not is_sequence(sample) or level >= 1:
        return None
    values = by_chain(distance[sample.index], sample)
    below = (values <= np.quantile(values, level, method="inverted_cdf")).astype(np.float64)
    return quantile_spread(values, level, float(np.sqrt(level * (1 - level) / effective_sample_size(below))))


def quantile_spread(values: Floats, level: float, share_error: float) -> float:
    """Standard deviation of the quantile of other draws, if shares of draws near it have this standard error s.

    The quantile of other draws is at most r if at least `level` of them are, so that P(quantile ≤ r) is about
    Φ((F(r) - level) / s) with F the shares of these draws. This also holds where few values occur, as among distances
    of few items; there the spread of quantiles of batches over √batches is far too small.

    >>> round(quantile_spread(np.arange(10_000) / 10_000, 0.95, 0.01), 4)  # s over the density, which is 1
    0.01
    >>> round(quantile_spread(np.repeat([0.0, 1.0], [95, 5]), 0.95, 0.01), 4)  # 0 or 1, each with probability 1/2
    0.5
    """
    places, counts = np.unique(values, return_counts=True)
    if share_error == 0 or len(places) == 1:
        return 0.0
    at_most = ndtr((np.cumsum(counts) / values.size - level) / share_error)
    at_most[-1] = 1.0
    probability = np.diff(at_most, prepend=0.0)
    mean = float(probability @ places)
    return float(np.sqrt(probability @ (places - mean) ** 2))


def is_sequence(sample: PartitionSample) -> bool:
    """Whether the draws can be taken for those of chains: equal weights, and known chains or at least 100 draws."""
    return not sample.is_weighted and (sample.chains is not None or sample.n_draws >= MIN_SEQUENCE)


def by_chain(values: Floats, sample: PartitionSample) -> Floats:
    """Values by draw, (..., draw), as a (..., chain, draw) array; longer chains lose their first draws."""
    if sample.chains is None:
        return values[..., None, :]
    pieces = chain_places(sample)
    shortest = min(map(len, pieces))
    return np.stack([values[..., piece[-shortest:]] for piece in pieces], axis=-2)
