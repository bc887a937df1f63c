"""Draws at the peaks of the posterior density, by their distances to each other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita._support.memory import check_fits
from partita.draws.sample import PartitionSample
from partita.losses.base import Loss
from partita.losses.expected import pairwise_distances

#: Share of the distances between distinct draws that are below the width of the kernel (Rodriguez & Laio: 1 to 2 %).
NEAR = 0.02


def density_peaks(sample: PartitionSample, loss: Loss, n_jobs: int) -> NDArray[np.intp]:
    """The distinct draws by decreasing γ = ρ δ (Rodriguez & Laio 2014), of which the first are the peaks.

    ρ_i = Σ_j w_j exp(−(d_ij / h)²) is the density at draw i, and δ_i its distance to the nearest draw that is denser;
    of the densest, to the farthest of all. Of equal densities the first draw counts as denser.
    """
    n = sample.n_unique
    check_fits(4 * 8 * n**2, f"distances between {n:,} distinct draws (batch= uses some of them)")
    if n == 1:
        return np.zeros(1, np.intp)
    distance = pairwise_distances(sample, loss, n_jobs=n_jobs)
    distance = (distance + distance.T) / 2
    width = np.quantile(distance[np.triu_indices(n, 1)], NEAR)
    density = np.exp(-((distance / max(width, np.finfo(np.float64).tiny)) ** 2)) @ sample.weights
    order = np.argsort(-density, kind="stable")
    among = distance[np.ix_(order, order)]
    among[np.triu_indices(n)] = np.inf
    separation = among.min(axis=1)
    separation[0] = distance[order[0]].max()
    return order[np.argsort(-density[order] * separation, kind="stable")]
