"""The galaxy data: the draws behind the paper, and chains of our own."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from partita.models import Chain, GaussianDPM
from wade.analysis import Floats


def velocities(folder: Path) -> Floats:
    """82 velocities in 1,000 km/s, as R's MASS has them, (82, 1)."""
    return np.loadtxt(folder / "galaxies.csv", delimiter=",", skiprows=1)[:, :1] / 1000


def paper_draws(folder: Path) -> np.ndarray | None:
    """The paper's 10,000 draws as one chain; None where they are not at hand."""
    path = folder / "galaxy.npz"
    return np.load(path)["draws"][None] if path.exists() else None


def our_chain(data: Floats, draws: int) -> Chain:
    """mu0 the mean, c = 1/2, a = 2, b = s², alpha ~ Gamma(1, 1): the defaults of covariance="diag"."""
    return GaussianDPM("diag").sample(data, draws=draws // 4, warmup=1000, thin=4, chains=4, rng=1)
