"""Partitions to climb from: k-means of the nodes' leading singular vectors, with more clusters than needed."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.cluster.vq import kmeans2

MOST_DIMENSIONS = 64
POWER_STEPS = 6


def spectral_starts(matrix: sp.csr_array, k: int, count: int, rng: np.random.Generator) -> NDArray[np.uint32]:
    """k-means partitions of the rows of a matrix into at most k clusters, (count, rows).

    The rows are seen through the leading left singular vectors of D^(−1/2) A D'^(−1/2), degrees raised by their mean so
    that nodes of few edges do not stand out.
    """
    points = embed(matrix, min(k, MOST_DIMENSIONS), rng)
    return np.stack([kmeans(points, k, rng) for _ in range(count)])


def embed(matrix: sp.csr_array, dimensions: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Leading left singular vectors times singular values, by randomised subspace iteration."""
    scaled = _normalised(matrix)
    width = min(dimensions + 8, *matrix.shape)
    basis = rng.standard_normal((matrix.shape[0], width))
    for _ in range(POWER_STEPS):
        basis = np.linalg.qr(scaled @ (scaled.T @ basis))[0]
    left, values, _ = np.linalg.svd((scaled.T @ basis).T, full_matrices=False)
    points: NDArray[np.float64] = (basis @ left * values)[:, :dimensions]
    return points


def kmeans(points: NDArray[np.float64], k: int, rng: np.random.Generator) -> NDArray[np.uint32]:
    """A few rounds of k-means; the climb does the rest. Clusters may be empty: labels are made gapless."""
    k = min(k, len(points))
    centres = points[rng.choice(len(points), size=k, replace=False)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an empty cluster is fine here
        _, labels = kmeans2(points, centres, iter=8, minit="matrix", check_finite=False)
    return np.unique(labels, return_inverse=True)[1].astype(np.uint32)


def both_directions(adjacency: sp.csr_array) -> Any:
    """[A, Aᵀ]: what a node sends and what it receives."""
    return sp.csr_array(sp.hstack([adjacency, adjacency.T], format="csr"))


def _normalised(matrix: sp.csr_array) -> Any:
    matrix = matrix.astype(float)
    scale = []
    for axis in (1, 0):
        degree = np.asarray(matrix.sum(axis=axis)).ravel()
        scale.append(1 / np.sqrt(degree + max(degree.mean(), 1.0)))
    return sp.diags_array(scale[0]) @ matrix @ sp.diags_array(scale[1])
