"""Rows that belong nowhere: the prior of their share, and what a new row makes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.arrays import Floats
from partita.models.mixtures.mixture_model import NewScores

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
