"""Parameters on grids given the cells of clusters: draws and posteriors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, gammaln

from partita._support.arrays import Floats
from partita.models.mixtures.base import SIZES


def draw_place(logs: Floats, rng: np.random.Generator) -> NDArray[np.intp]:
    """A place of each row of unnormalised log probabilities; (rows,)."""
    noise = rng.gumbel(size=logs.shape)
    return np.asarray((logs + noise).argmax(axis=1))


def size_posterior(values: Floats, labels: NDArray[Any], size: int, shape: float, rate: float) -> tuple[Floats, ...]:
    """Of the sizes r of negative binomials in the clusters 0, ..., size − 1, each (clusters, sizes): log probabilities,
    unnormalised, and the parameters of the Beta distribution of p for each r."""
    n = np.bincount(labels, minlength=size)[:, None]
    sums = np.bincount(labels, values, size)[:, None]
    terms = [np.bincount(labels, gammaln(values + r) - gammaln(r), size) for r in SIZES]
    prior = 1.0 + SIZES * rate
    first, second = prior + n * SIZES, np.broadcast_to(shape + sums, (size, len(SIZES)))
    logs: Floats = np.stack(terms, axis=1) + betaln(first, second) - betaln(prior, shape)
    return logs, first.astype(np.float64), second.astype(np.float64)
