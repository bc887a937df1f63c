"""The least expected loss over all partitions of a few items: reference.best_estimates, vectorised."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import numpy as np

from support import reference as ref

Combine = Callable[..., np.ndarray]


COUNTS = np.arange(13.0)
SUMMED = {
    "square": COUNTS**2,
    "log": COUNTS * np.log2(np.maximum(COUNTS, 1)),
    "pairs": COUNTS * (COUNTS - 1) / 2,
}


@cache
def one_hot_partitions(n: int) -> tuple[np.ndarray, np.ndarray]:
    """All partitions as (count, items, clusters) indicators, and their numbers of clusters."""
    labels = np.array(ref.all_partitions(n))
    return np.eye(n)[labels], labels.max(axis=1) + 1


def ratio(top: np.ndarray, bottom: np.ndarray) -> np.ndarray:
    """top / bottom, and 0 where the bottom is 0 (two equal extreme partitions)."""
    usable = bottom > 1e-12
    return np.where(usable, top / np.where(usable, bottom, 1.0), 0.0)


def losses_of(n: int, estimate: dict, draw: dict, joint: dict) -> dict[str, Combine]:
    """Losses as functions of their weights, from sums of m², m·log2 m and m(m−1)/2 over three tables."""
    h_est, h_draw, h_joint = (np.log2(n) - part["log"] / n for part in (estimate, draw, joint))
    information = h_est + h_draw - h_joint
    pairs = max(n * (n - 1) / 2, 1.0)
    chance = estimate["pairs"] * draw["pairs"] / pairs
    mean = (estimate["pairs"] + draw["pairs"]) / 2

    def binder(a: float = 1.0, b: float = 1.0) -> np.ndarray:
        return (a * draw["square"] + b * estimate["square"] - (a + b) * joint["square"]) / n**2

    return {
        "binder": binder,
        "vi": lambda a=1.0, b=1.0: b * (h_draw - information) + a * (h_est - information),
        "nvi": lambda: ratio(h_joint - information, h_joint),
        "id": lambda: np.maximum(h_est, h_draw) - information,
        "nid": lambda: ratio(np.maximum(h_est, h_draw) - information, np.maximum(h_est, h_draw)),
        "omari": lambda: ratio(mean - joint["pairs"], mean - chance),
        "zero-one": lambda: (binder() > 1e-12).astype(float),
    }


def sums(counts: np.ndarray, axes: tuple[int, ...]) -> dict[str, np.ndarray]:
    whole = np.rint(counts).astype(np.intp)
    return {name: table[whole].sum(axis=axes) for name, table in SUMMED.items()}


def tables(draws: np.ndarray) -> dict[str, Combine]:
    """Losses as (partitions, draws) arrays; one row per partition, in the order of reference.all_partitions."""
    n = draws.shape[1]
    estimates, _ = one_hot_partitions(n)
    indicators = np.eye(draws.max() + 1)[draws]
    joint = np.tensordot(estimates, indicators, axes=(1, 1)).transpose(0, 2, 1, 3)
    quick = losses_of(
        n,
        sums(estimates.sum(axis=1)[:, None, :], (2,)),
        sums(indicators.sum(axis=1)[None, :, :], (2,)),
        sums(joint, (2, 3)),
    )
    return {name: quick.get(name) or partial(plain_table, formula, draws) for name, formula in ref.LOSSES.items()}


def plain_table(formula: ref.Loss, draws: np.ndarray) -> np.ndarray:
    """The same from the plain formula, one pair after the other: slow, and right for any loss."""
    return np.array([ref.distances(p, draws.tolist(), formula) for p in ref.all_partitions(draws.shape[1])])


def least(values: np.ndarray, weights: np.ndarray, n: int, max_clusters: int | None = None) -> float:
    """The least expected loss among the partitions with at most `max_clusters` clusters."""
    expected = values @ (weights / weights.sum())
    if max_clusters is not None:
        expected = expected[one_hot_partitions(n)[1] <= max_clusters]
    return float(expected.min())
