"""Chains that keep to one mode each: how much of the posterior a mode holds, and their draws weighted by it."""

from __future__ import annotations

from math import lgamma, log

import numpy as np
from numpy.typing import NDArray

import partita as pt


def log_mass(labels: NDArray[np.unsignedinteger], log_density: NDArray[np.float64]) -> float:
    """Log of the unnormalised posterior mass of the mode that a chain visits.

    log mass = log p(z, K) + log K! − log f

    z is the partition seen most often, with no empty group; K! labelled allocations have it, each of density p(z, K);
    f is the share of the draws that are one of them. Draws of z with empty groups have a lower density.
    """
    sample = pt.as_sample(labels)
    most_often = sample.index == sample.weights.argmax()
    highest = log_density[most_often].max()
    share = np.mean(most_often & np.isclose(log_density, highest, rtol=0, atol=1e-6))
    return float(highest + lgamma(sample.n_clusters[sample.weights.argmax()] + 1) - log(share))


def weigh(masses: NDArray[np.float64], estimates: list[NDArray[np.int64]]) -> NDArray[np.float64]:
    """Weights of chains, by mass; those with the same estimate are in the same mode and share its weight."""
    modes = pt.as_sample(np.array(estimates)).index
    shares = np.exp(masses - masses.max()) / np.bincount(modes)[modes]
    return shares / shares.sum()


def in_words(labels: NDArray[np.unsignedinteger], log_density: NDArray[np.float64]) -> str:
    """Of chains (chains, draws, items): groups and mass of each one's mode, and the VI estimate weighted by mass."""
    estimates = [pt.estimate(chain, "vi", rng=1) for chain in labels]
    masses = np.array([log_mass(*chain) for chain in zip(labels, log_density, strict=True)])
    each = [f"{estimates[chain].n_clusters} ({masses[chain]:.1f})" for chain in np.argsort(-masses)]
    weights = weigh(masses, [found.labels for found in estimates])
    draws = labels.reshape(-1, labels.shape[-1])
    weighted = pt.as_sample(draws, weights=np.repeat(weights, labels.shape[1]))
    posterior = np.bincount(weighted.n_clusters, weighted.weights)
    shown = ", ".join(f"{k}: {share:.2f}" for k, share in enumerate(posterior) if share >= 0.005)
    return (
        f"Groups of the VI estimate of each chain, and the log mass of its mode: {', '.join(each)}. With draws "
        f"weighted by mass, the VI estimate has {pt.estimate(weighted, 'vi', rng=1).n_clusters} groups, and the "
        f"posterior of their number is {shown}."
    )
