"""Hellinger distances between the kernels of clusters, and their mean over draws for each pair of items."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from partita._support.arrays import Floats, Ints, Labels
from partita.draws.sample import PartitionSample, as_sample, check_complete
from partita.models.mixtures.cluster_means import kernel_drawer

#: At most so many draws, evenly spread, give the expected distances.
MOST_DRAWS = 2000
#: Columns of indicators that are multiplied at once.
BLOCK_COLUMNS = 4096


@dataclass(frozen=True, eq=False)
class Kernels:
    """Draws of partitions with the distances of their clusters."""

    sample: PartitionSample
    draws: tuple[tuple[Labels, Floats], ...]  # labels and (clusters, clusters) distances of each draw that is used

    def __iter__(self) -> Iterator[tuple[Labels, Floats]]:
        return iter(self.draws)


def kernels_of(chain: Any, means: Any, covariances: Any, rng: np.random.Generator) -> Kernels:
    if (means is None) != (covariances is None):
        raise TypeError("means and covariances go together")
    sample = as_sample(chain)
    check_complete(sample, "fuse")
    used = np.unique(np.linspace(0, sample.n_draws - 1, min(sample.n_draws, MOST_DRAWS)).astype(np.int64))
    if means is not None:
        return Kernels(sample, tuple(_given(chain, np.asarray(means), np.asarray(covariances), sample, used)))
    if not hasattr(getattr(chain, "model", None), "draw_means"):
        raise TypeError("fuse needs a chain of GaussianDPM, or means and covariances of the components")
    draw = kernel_drawer(chain.model, np.asarray(chain.inputs["X"], np.float64))
    rows = (sample.labels[sample.index[t]].astype(np.int64) for t in used)
    return Kernels(sample, tuple((labels, hellinger(*draw(labels, rng))) for labels in rows))


def _given(
    chain: Any, means: Any, covariances: Any, sample: PartitionSample, used: Ints
) -> Iterator[tuple[Labels, Floats]]:
    labels = np.asarray(chain).reshape(-1, sample.n_items)
    per_draw = [_per_draw(each, name, sample) for each, name in ((means, "means"), (covariances, "covariances"))]
    components = per_draw[0].shape[1]
    if labels.dtype.kind not in "iu" or labels.min() < 0 or labels.max() >= components:
        raise ValueError(f"labels must be whole numbers from 0 to {components - 1}: places of components in means")
    for t in used:
        own, places = np.unique(labels[t], return_inverse=True)
        yield places.astype(np.int64), hellinger(per_draw[0][t, own], per_draw[1][t, own])


def _per_draw(values: Any, name: str, sample: PartitionSample) -> Floats:
    per_chain = (sample.n_chains, sample.n_draws // sample.n_chains)
    if values.shape[:2] == per_chain and values.ndim > 3:
        values = values.reshape(sample.n_draws, *values.shape[2:])
    if values.ndim < 3 or len(values) != sample.n_draws:
        wanted = f"(draws, components, d, ...) for {sample.n_draws} draws"
        raise ValueError(f"{name} has shape {values.shape}; it must be {wanted}")
    return np.asarray(values, np.float64)


def hellinger(means: Floats, covariances: Floats) -> Floats:
    """Hellinger distances √(1 − ∫ √(f g)) of Gaussians: (k, k) from (k, d) means and (k, d[, d]) covariances.

    ∫ √(f g) = |S|^¼ |T|^¼ |(S + T) / 2|^−½ exp(−(m − n)ᵀ (S + T)⁻¹ (m − n) / 4)

    >>> hellinger(np.array([[0.0], [2.0]]), np.ones((2, 1))).round(4).tolist()
    [[0.0, 0.6273], [0.6273, 0.0]]
    """
    off = means[:, None] - means[None]
    both = covariances[:, None] + covariances[None]
    if covariances.ndim == 2:
        logs = np.log(covariances).sum(axis=1)
        half = np.log(both / 2).sum(axis=2)
        form = (off**2 / both).sum(axis=2)
    else:
        logs = np.linalg.slogdet(covariances)[1]
        half = np.linalg.slogdet(both / 2)[1]
        form = (off * np.linalg.solve(both, off[..., None])[..., 0]).sum(axis=2)
    overlap = np.exp((logs[:, None] + logs[None]) / 4 - half / 2 - form / 4)
    found = np.sqrt(np.clip(1 - overlap, 0, 1))
    np.fill_diagonal(found, 0)
    return np.asarray(found)


def expected_distances(kernels: Any, items: Ints | None = None) -> Floats:
    """Mean over draws of the distances between the kernels of items, (n, n); of some items if they are given.

    Σ_t H_t[z_t, z_t] is Σ_t (Z_t H_t) Z_tᵀ with indicators Z_t of the clusters: a product of two wide matrices, made of
    some draws at a time. Single precision suffices for them, as sums are kept in double precision.
    """
    total, count = np.zeros(0), 0
    left: list[Any] = []
    right: list[Any] = []

    def add() -> None:
        nonlocal total
        product = np.hstack(left) @ np.hstack(right).T
        total = product.astype(np.float64) if total.size == 0 else total + product

    for labels, distance in kernels:
        own = labels if items is None else labels[items]
        left.append(distance[own].astype(np.float32))
        right.append((own[:, None] == np.arange(len(distance))).astype(np.float32))
        count += 1
        if sum(part.shape[1] for part in right) >= BLOCK_COLUMNS:
            add()
            left, right = [], []
    if left:
        add()
    found = np.clip((total + total.T) / (2 * count), 0, 1)
    np.fill_diagonal(found, 0)
    return np.asarray(found)
