"""Mixtures of four Gaussians in the plane, and draws with the priors of rDPGibbs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita.models import Chain, GaussianDPM, PowerAlpha, WishartGrid

SIGNS = np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
#: The paper prints means at (±1, ±1); only (±2, ±2), as in Wade & Ghahramani, gives the losses of its Table 2.
CENTRE = 2.0
EXAMPLE_1 = (1.0, 0.5, 1.0, 1.5)


@dataclass(frozen=True)
class Plan:
    """Length of a chain: draws, sweeps before the first, and sweeps from draw to draw."""

    draws: int
    warmup: int
    thin: int

    def __str__(self) -> str:
        return f"{self.draws:,} draws of each, one in {self.thin} sweeps after {self.warmup:,}"


PAPERS = Plan(5_000, 25_000, 10)


def generate(
    n: int, variances: Sequence[float], rng: np.random.Generator, centre: float = CENTRE
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """n points, and the Gaussian that each comes from (eq. 26 and 27)."""
    truth = rng.integers(4, size=n)
    deviations = np.sqrt(variances)[truth, None]
    return centre * SIGNS[truth] + deviations * rng.normal(size=(n, 2)), truth


def model() -> GaussianDPM:
    """The Dirichlet process mixture with the priors and the scaling of bayesm's rDPGibbs."""
    return GaussianDPM(standardize=True, alpha=PowerAlpha(), hyperprior=WishartGrid())


def sample(data: NDArray[np.float64], plan: Plan, seed: int) -> Chain:
    """One chain of that model."""
    lengths = {"draws": plan.draws, "warmup": plan.warmup, "thin": plan.thin}
    return model().sample(data, **lengths, chains=1, rng=seed, n_jobs=1)
