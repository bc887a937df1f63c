"""Sets of posterior samples of 60, 200 and 1,072 items: eight models on each of several data sets.

The paper's sets (PM10, Gaskins, SIMCE) are not public. Ours have their numbers of items and of draws. Data set d has
4 + 2 d overlapping normal clusters in the plane. All models are Dirichlet process mixtures of normals: six of the
points (full or diagonal covariances; concentration 0.3, 3, or learned), two of their first coordinate alone
(concentration 0.3 and 3), which leaves much in doubt.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import partita as pt

WARMUP = 500
SPREAD = 2.0  # standard deviation of the centres, in those of a cluster: clusters overlap

# covariance, concentration (None: learned), coordinates
MODELS = [(covariance, alpha, 2) for covariance in ("full", "diag") for alpha in (0.3, 3.0, None)]
MODELS += [("full", alpha, 1) for alpha in (0.3, 3.0)]


@dataclass(frozen=True)
class Fit:
    """The posterior sample of one model on one data set."""

    name: str
    sample: pt.PartitionSample


def fits(n_items: int, n_draws: int, n_datasets: int) -> Iterator[Fit]:
    """The samples of all models on all data sets, one chain each."""
    for number in range(n_datasets):
        rng = np.random.default_rng([n_items, number])
        points = mixture_points(n_items, 4 + 2 * number, rng)
        for covariance, alpha, coordinates in MODELS:
            model = pt.models.GaussianDPM(covariance, alpha)
            chain = model.sample(points[:, :coordinates], draws=n_draws, warmup=WARMUP, chains=1, rng=rng)
            concentration = "learned" if alpha is None else f"{alpha:g}"
            name = f"data set {number}, {coordinates} coordinates, {covariance}, concentration {concentration}"
            yield Fit(name, pt.as_sample(chain))


def mixture_points(n_items: int, n_clusters: int, rng: np.random.Generator) -> NDArray[np.float64]:
    centres = SPREAD * rng.normal(size=(n_clusters, 2))
    return centres[rng.integers(n_clusters, size=n_items)] + rng.normal(size=(n_items, 2))
