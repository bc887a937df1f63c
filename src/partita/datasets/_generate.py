"""Draws that resemble those of a posterior: one partition, uncertain items, clusters that split and merge."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.validate import check_count, check_probability, check_rng

_ROWS_PER_BLOCK = 256


def make_draws(
    n_items: int,
    n_draws: int,
    n_clusters: int = 8,
    *,
    doubt: float = 0.1,
    split: float = 0.1,
    merge: float = 0.1,
    rng: Any = None,
) -> NDArray[np.int64]:
    """Draws of a partition that vary like those of an MCMC sampler.

    A base partition is drawn first. Each item also has a second cluster and a probability of being there:
    near zero for most items, large for some. In each draw a cluster may also split in two along a hidden
    order of its items, or merge with the cluster before it.

    Parameters
    ----------
    n_items, n_draws : int
        The shape of the result.
    n_clusters : int
        Clusters of the base partition; some may be empty if there are few items.
    doubt : float
        The average probability that an item is in its second cluster.
    split, merge : float
        The probability that a cluster is split, or merged with the one before it, in a draw.
    rng : None, int or numpy Generator
        The same seed gives the same draws.

    Returns
    -------
    (n_draws, n_items) integer array
        Labels, not canonical.

    Examples
    --------
    >>> draws = make_draws(60, 500, n_clusters=4, rng=1)
    >>> draws.shape, bool((draws == make_draws(60, 500, n_clusters=4, rng=1)).all())
    ((500, 60), True)
    """
    n_items, n_draws = check_count(n_items, "n_items", 1), check_count(n_draws, "n_draws", 1)
    n_clusters = check_count(n_clusters, "n_clusters", 1)
    split, merge = check_probability(split, "split"), check_probability(merge, "merge")
    generator = check_rng(rng)
    base = generator.choice(n_clusters, n_items, p=generator.dirichlet(np.full(n_clusters, 5.0)))
    other = generator.integers(n_clusters, size=n_items)
    item_doubt = _item_doubts(n_items, check_probability(doubt, "doubt"), generator)
    order = generator.random(n_items)
    draws = np.empty((n_draws, n_items), np.int64)
    for start in range(0, n_draws, _ROWS_PER_BLOCK):
        block = draws[start : start + _ROWS_PER_BLOCK]
        moved = generator.random(block.shape) < item_doubt
        block[:] = np.where(moved, other, base)
        _split_and_merge(block, order, n_clusters, split, merge, generator)
    return draws


def _item_doubts(n_items: int, mean: float, generator: np.random.Generator) -> NDArray[np.float64]:
    """Beta distributed, so that few items have most of the doubt."""
    if mean in (0.0, 1.0):
        return np.full(n_items, mean)
    return generator.beta(0.5, 0.5 * (1 - mean) / mean, n_items)


def _split_and_merge(
    draws: NDArray[np.int64],
    order: NDArray[np.float64],
    n_clusters: int,
    split: float,
    merge: float,
    generator: np.random.Generator,
) -> None:
    """Changes the draws in place; a split-off part gets the label of its cluster plus n_clusters."""
    shape = (len(draws), n_clusters)
    cut = np.where(generator.random(shape) < split, generator.uniform(0.2, 0.8, shape), np.inf)
    stays = generator.random(shape) >= merge
    stays[:, 0] = True
    group = np.cumsum(stays, axis=1) - 1
    rows = np.arange(len(draws))[:, None]
    split_off = order > cut[rows, draws]
    draws[:] = group[rows, draws] + n_clusters * split_off
