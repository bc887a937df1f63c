"""Geweke's joint distribution test (2004), for any model.

Parameters and data are drawn forwards from the model, and by turns: data given parameters, parameters given data by
one sweep of the sampler. The two have the same distribution if the sweep leaves the posterior invariant.
"""

from __future__ import annotations

import numpy as np


def differences(one: np.ndarray, other: np.ndarray, batches: int = 40) -> np.ndarray:
    """z scores of the means of (draws, statistics); the second is a chain, so its error is that of batch means."""
    means = other[: len(other) // batches * batches].reshape(batches, -1, other.shape[1]).mean(axis=1)
    error = np.sqrt(one.var(axis=0) / len(one) + means.var(axis=0, ddof=1) / batches)
    return (one.mean(axis=0) - means.mean(axis=0)) / error


def first_appearance(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Canonical labels, and the number that each of their clusters had in z."""
    _, first, inverse = np.unique(z, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return np.argsort(order)[inverse], z[np.sort(first)]
