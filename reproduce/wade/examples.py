"""Examples 1 and 2: four Gaussians in the plane; the paper's data and draws, and data sets drawn anew."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import partita as pt
from partita.models import GaussianDPM
from wade.analysis import Analysis, Floats, Labels, analyse

CENTRES = np.array([[2.0, 2.0], [2.0, -2.0], [-2.0, 2.0], [-2.0, -2.0]])
DEVIATIONS = {1: np.array([1.0, 1.0, 1.0, 1.0]), 2: np.array([1.0, 1.5, 0.5, 1.0])}
ITEMS = 200


def paper_data(folder: Path, example: int) -> tuple[Floats, Labels]:
    """The paper's points and the Gaussian that each comes from."""
    table = np.loadtxt(folder / f"ex{example}.data.csv", delimiter=",", skiprows=1)
    return table[:, :2], pt.canonical(table[:, 2].astype(np.int64))


def paper_draws(folder: Path, example: int) -> NDArray[np.int64]:
    """The paper's 10,000 draws, as one chain."""
    return np.loadtxt(folder / f"ex{example}.draw.csv", delimiter=",", skiprows=1, dtype=np.int64)[None]


def generate(example: int, seed: int) -> tuple[Floats, Labels]:
    """200 new points and the Gaussian that each comes from (Section 6.1)."""
    rng = np.random.default_rng([example, seed])
    truth = rng.integers(4, size=ITEMS)
    return CENTRES[truth] + DEVIATIONS[example][truth, None] * rng.normal(size=(ITEMS, 2)), truth


def sample_and_analyse(data: Floats, truth: Labels, draws: int, seed: int) -> Analysis:
    """The paper's model: four chains that keep `draws` partitions in all, after 1,000 sweeps each."""
    model = GaussianDPM("diag", mu0=0.0, c=0.5, a=2.0, b=1.0)
    chain = model.sample(data, draws=draws // 4, warmup=1000, chains=4, rng=seed)
    return analyse(data, chain.labels, truth)
