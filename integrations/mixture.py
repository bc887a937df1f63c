"""The data of all integrations, a plain Gibbs sampler for those that only bring files, and the check at the end."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import partita as pt

GROUPS, SIZE, DISTANCE, CONCENTRATION, SPREAD = 3, 25, 6.0, 0.5, 10.0


def make_data() -> tuple[np.ndarray, np.ndarray]:
    """Numbers in three well separated groups of unit variance, and the group of each."""
    truth = np.repeat(np.arange(GROUPS), SIZE)
    return DISTANCE * truth + np.random.default_rng(1).normal(size=truth.size), truth


def gibbs(y: np.ndarray, components: int = 5, draws: int = 300, warmup: int = 200, seed: int = 1) -> np.ndarray:
    """Labels of a finite mixture of N(mean, 1) with means N(0, SPREAD²): one row per draw."""
    rng = np.random.default_rng(seed)
    z = rng.integers(components, size=y.size)
    kept = []
    for sweep in range(warmup + draws):
        counts = np.bincount(z, minlength=components)
        sums = np.bincount(z, weights=y, minlength=components)
        precision = counts + SPREAD**-2
        means = rng.normal(sums / precision, precision**-0.5)
        weights = rng.dirichlet(counts + CONCENTRATION)
        log_p = np.log(weights) - (y[:, None] - means) ** 2 / 2
        z = (log_p + rng.gumbel(size=log_p.shape)).argmax(axis=1)
        if sweep >= warmup:
            kept.append(z)
    return np.array(kept)


def finish(draws: object, truth: np.ndarray, name: str, **options: object) -> None:
    """Estimate, ball and page; an error if the estimate is not near the truth."""
    best = pt.estimate(draws, rng=1) if not options else pt.estimate(pt.as_sample(draws, **options), rng=1)
    page = pt.report(best, pt.credible_ball(best), truth=truth, path=f"{name}.html", title=f"Draws of {name}")
    agreement = pt.nmi(best.labels, truth)
    print(best)
    size = Path(page).stat().st_size
    print(f"{name}: {best.sample.n_chains} chains, NMI with the truth {agreement:.3f}, page {size:,} bytes")
    if agreement < 0.9:
        sys.exit(f"{name}: the estimate misses the truth")
