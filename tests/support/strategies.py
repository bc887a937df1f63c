"""Hypothesis strategies for partitions and samples of them, and plain random ones for larger loops."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from partita.losses.losses import LOSSES
from support.reference import GAP, canonical

#: The losses that a search minimises move by move; for the 0-1 loss it takes the modal draw.
SEARCHED = tuple(name for name in LOSSES if name != "zero-one")
positive = st.floats(0.05, 20.0)


def labels(n: int) -> st.SearchStrategy[list[int]]:
    """Any labels of n items: not canonical, with holes, from one cluster to all singletons."""
    return st.integers(1, n).flatmap(lambda k: st.lists(st.integers(0, k - 1), min_size=n, max_size=n))


@st.composite
def partitions(draw: st.DrawFn, count: int = 1, max_items: int = 12) -> list[list[int]]:
    """`count` partitions of the same items."""
    n = draw(st.integers(1, max_items))
    return [draw(labels(n)) for _ in range(count)]


@st.composite
def samples(draw: st.DrawFn, max_items: int = 9, max_draws: int = 8) -> tuple[list[list[int]], list[float]]:
    """Draws, some of them repeated, and a positive weight for each."""
    n = draw(st.integers(1, max_items))
    distinct = draw(st.lists(labels(n), min_size=1, max_size=max_draws))
    rows = distinct + draw(st.lists(st.sampled_from(distinct), max_size=3))
    weights = draw(st.lists(positive, min_size=len(rows), max_size=len(rows)))
    return rows, weights


@st.composite
def gappy_samples(draw: st.DrawFn, max_items: int = 8) -> tuple[list[list[int]], list[float]]:
    """Samples with gaps; every draw labels at least one item, and every item is labelled by some draw."""
    rows, weights = draw(samples(max_items=max_items))
    n = len(rows[0])
    rows = [[GAP if draw(st.booleans()) else label for label in row] for row in rows]
    for row in rows:
        if all(label == GAP for label in row):
            row[draw(st.integers(0, n - 1))] = 0
    return [*rows, draw(labels(n))], [*weights, 1.0]


def random_sample(n: int, draws: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Noisy copies of one partition, canonical, with uneven weights: like a posterior, only small.

    Noise and weights are such that the best partition is often not among the draws.
    """
    base = rng.integers(rng.integers(1, n + 1), size=n)
    noise = rng.integers(rng.integers(1, n + 1), size=(draws, n))
    kept = rng.random((draws, n)) < rng.uniform(0.3, 0.8)
    rows = np.array([canonical(row) for row in np.where(kept, base, noise).tolist()])
    return rows, rng.gamma(5.0, size=draws)
