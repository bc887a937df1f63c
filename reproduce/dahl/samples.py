"""Sets of posterior samples of 60, 200 and 1,072 items: eight models on each of several data sets.

The paper's sets (PM10, Gaskins, SIMCE) are not public. Ours have their numbers of items, models and draws. A data set
has 4, 6 or 8 overlapping normal clusters in the plane, by turns. All models are Dirichlet process mixtures of normals:
six of the points (full or diagonal covariances; concentration 0.3, 3, or learned), two of their first coordinate alone
(concentration 0.3 and 3), which leaves much in doubt.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

import partita as pt

WARMUP = 500
SPREAD = 2.0  # standard deviation of the centres, in those of a cluster: clusters overlap
CLUSTERS = (4, 6, 8)

# covariance, concentration (None: learned), coordinates
MODELS = [(covariance, alpha, 2) for covariance in ("full", "diag") for alpha in (0.3, 3.0, None)]
MODELS += [("full", alpha, 1) for alpha in (0.3, 3.0)]


@dataclass(frozen=True)
class Design:
    """A set of posterior samples: fitted models, draws of each, and how often each search is run on each."""

    items: int
    models: int
    draws: int
    replications: int

    @property
    def name(self) -> str:
        return f"{self.items:,} items"


@cache  # all replications use it
def posterior_sample(n_items: int, n_draws: int, number: int) -> pt.PartitionSample:
    """The draws of the fitted model of this number in the set: one chain."""
    dataset, model = divmod(number, len(MODELS))
    points = mixture_points(n_items, CLUSTERS[dataset % len(CLUSTERS)], np.random.default_rng([n_items, dataset]))
    covariance, alpha, coordinates = MODELS[model]
    rng = np.random.default_rng([n_items, dataset, 1 + model])
    mixture = pt.models.GaussianDPM(covariance, alpha)
    chain = mixture.sample(points[:, :coordinates], draws=n_draws, warmup=WARMUP, chains=1, rng=rng, n_jobs=1)
    return pt.as_sample(chain)


def mixture_points(n_items: int, n_clusters: int, rng: np.random.Generator) -> NDArray[np.float64]:
    centres = SPREAD * rng.normal(size=(n_clusters, 2))
    return centres[rng.integers(n_clusters, size=n_items)] + rng.normal(size=(n_items, 2))
