"""Similarity between groups of items, exact and without any matrix over all pairs of items."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.sample import PartitionSample

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]
CELLS_A_CHUNK = 8_000_000


def block_means(groups: Labels, sample: PartitionSample) -> Floats:
    """Mean posterior similarity between the items of each pair of groups.

    M_gh = Σ_t w_t Σ_k N_t[g, k] N_t[h, k] / Σ_t w_t n_t[g] n_t[h]

    N_t[g, k] counts the items of group g in cluster k of draw t, and n_t[g] those that the draw labels.
    Pairs of an item with itself count too.

    Parameters
    ----------
    groups : (n,) integer array
        Group of each item, 0..G-1.
    sample : PartitionSample

    Returns
    -------
    (G, G) array
    """
    n_groups = int(groups.max()) + 1
    together = np.zeros((n_groups, n_groups), np.float32)
    both = np.zeros_like(together)
    for counts, labelled in _scaled_counts(groups, n_groups, sample):
        together += counts @ counts.T
        both += labelled @ labelled.T
    return np.divide(together, both, out=np.zeros(together.shape), where=both > 0)


def _scaled_counts(
    groups: Labels, n_groups: int, sample: PartitionSample
) -> Iterator[tuple[NDArray[np.float32], NDArray[np.float32]]]:
    """Counts of many draws side by side, times the root of their weights: one product does them all."""
    columns = int(sample.n_clusters.max())
    step = max(1, CELLS_A_CHUNK // (n_groups * columns))
    for start in range(0, sample.n_unique, step):
        rows = range(start, min(start + step, sample.n_unique))
        tables = [_counts(groups, n_groups, sample, t) * np.sqrt(sample.weights[t]) for t in rows]
        labelled = np.stack([table.sum(axis=1) for table in tables], axis=1)
        yield np.hstack(tables).astype(np.float32), labelled.astype(np.float32)


def _counts(groups: Labels, n_groups: int, sample: PartitionSample, t: int) -> NDArray[Any]:
    """Contingency table of the groups and one draw, gaps left out."""
    draw = sample.labels[t]
    width = int(sample.n_clusters[t])
    cells = groups * width + draw
    if sample.has_gaps:
        cells = cells[draw >= 0]
    return np.bincount(cells, minlength=n_groups * width).reshape(n_groups, width)


def rivals(labels: Labels, sample: PartitionSample) -> tuple[Labels, Floats]:
    """For each item the other cluster that it is most often with, and how often.

    Parameters
    ----------
    labels : (n,) integer array
        The estimate, with at least two clusters.
    sample : PartitionSample

    Returns
    -------
    (n,) integer array, (n,) array
        The cluster, and the mean posterior similarity of the item to its members.
    """
    n_clusters = int(labels.max()) + 1
    together = np.zeros((labels.size, n_clusters))
    both = np.zeros_like(together)
    for t in range(sample.n_unique):
        counts = _counts(labels, n_clusters, sample, t)
        known = sample.labels[t] >= 0 if sample.has_gaps else slice(None)
        together[known] += sample.weights[t] * counts.T[sample.labels[t][known]]
        both[known] += sample.weights[t] * counts.sum(axis=1)
    mean = np.divide(together, both, out=np.zeros_like(both), where=both > 0)
    mean[np.arange(labels.size), labels] = -1
    best = mean.argmax(axis=1)
    return best, mean[np.arange(labels.size), best]
