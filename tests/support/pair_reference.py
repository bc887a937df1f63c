"""Losses of pair probabilities, straight from their formulas over all pairs, and the best of all partitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations
from math import log2

import numpy as np

from support.reference import all_partitions

Labels = Sequence[int]


def binder(labels: Labels, psm: np.ndarray, a: float = 1.0, b: float = 1.0) -> float:
    """(2/n²) Σ_{i<j} a π_ij where apart, b (1 - π_ij) where together."""
    pairs = combinations(range(len(labels)), 2)
    costs = (b * (1 - psm[i, j]) if labels[i] == labels[j] else a * psm[i, j] for i, j in pairs)
    return 2 / len(labels) ** 2 * sum(costs)


def vi_lower_bound(labels: Labels, psm: np.ndarray, a: float = 1.0, b: float = 1.0) -> float:
    """(1/n) Σ_i b log |C_i| - (a + b) log Σ_{j in C_i} π_ij."""
    total = 0.0
    for i in range(len(labels)):
        own = [j for j in range(len(labels)) if labels[j] == labels[i]]
        total += b * log2(len(own)) - (a + b) * log2(sum(1.0 if j == i else psm[i, j] for j in own))
    return total / len(labels)


def one_minus_pear(labels: Labels, psm: np.ndarray) -> float:
    """One minus (R - P Q / N) / ((P + Q) / 2 - P Q / N)."""
    pairs = list(combinations(range(len(labels)), 2))
    p = sum(psm[i, j] for i, j in pairs)
    q = sum(labels[i] == labels[j] for i, j in pairs)
    r = sum(psm[i, j] for i, j in pairs if labels[i] == labels[j])
    chance = p * q / len(pairs)
    spread = (p + q) / 2 - chance
    return 0.0 if spread <= 0 else 1 - (r - chance) / spread


def obeys(
    labels: Labels,
    together: Sequence = (),
    apart: Sequence = (),
    one_per: Sequence | None = None,
    max_size: int | None = None,
) -> bool:
    """Whether a partition obeys constraints on items by number."""
    if max_size is not None and max(Counter(np.asarray(labels).tolist()).values()) > max_size:
        return False
    if any(len({labels[i] for i in group}) > 1 for group in together):
        return False
    if any(labels[i] == labels[j] for i, j in apart):
        return False
    if one_per is None:
        return True
    known = [(labels[i], source) for i, source in enumerate(one_per) if source is not None]
    return len(set(known)) == len(known)


def best_value(
    psm: np.ndarray, loss: Callable[[Labels, np.ndarray], float], allowed: Callable[[Labels], bool] = lambda _: True
) -> float:
    """The least loss of all partitions that are allowed."""
    return min(loss(labels, psm) for labels in all_partitions(len(psm)) if allowed(labels))
