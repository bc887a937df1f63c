"""The certainty of each item in an estimate from pair probabilities, and the pairs that contradict the estimate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from partita.estimation.pair_estimate import PairEstimate

#: Clusters with more items are not searched for pairs that are not listed.
LARGE_CLUSTER = 200


@dataclass(frozen=True)
class UncertainPair:
    """Two items, whether the estimate joins them, their probability, and the probability that this is wrong.

    The probability of a pair that is not `listed` is the default.
    """

    left: int
    right: int
    together: bool
    probability: float
    doubt: float
    listed: bool = True


def uncertain_pairs(best: PairEstimate, most: int = 1000) -> list[UncertainPair]:
    """The pairs whose own probability is most against what the estimate does with them, worst first.

    The doubt is 1 - π where two items are together and π where they are apart. Pairs that are not listed but joined
    count with the default probability, in clusters of up to 200 items.

    >>> from partita import as_similarity, estimate
    >>> best = estimate(as_similarity([[1, 0.9, 0.8], [0.9, 1, 0.3], [0.8, 0.3, 1]]), "binder", rng=1)
    >>> [(pair.left, pair.right, pair.doubt) for pair in uncertain_pairs(best, most=1)]
    [(1, 2, 0.7)]
    """
    left, right, probability = best.similarity.pairs()
    together = best.labels[left] == best.labels[right]
    doubt = np.where(together, 1 - probability, probability)
    worst = largest_first(doubt, most)
    found = [
        UncertainPair(int(left[p]), int(right[p]), bool(together[p]), float(probability[p]), float(doubt[p]))
        for p in worst
    ]
    for i, j in _joined_unlisted(best, left[together], most):
        found.append(UncertainPair(i, j, True, best.similarity.default, 1 - best.similarity.default, listed=False))
    return sorted(found, key=lambda pair: (-pair.doubt, pair.left, pair.right))[:most]


def largest_first(values: NDArray[np.float64], most: int) -> NDArray[np.intp]:
    """Where the largest values are, the first among equals first; without sorting all of them."""
    at = np.arange(values.size) if values.size <= most else np.flatnonzero(values >= -np.partition(-values, most)[most])
    return at[np.argsort(-values[at], kind="stable")[:most]]


def _joined_unlisted(best: PairEstimate, joined: NDArray[np.int64], most: int) -> Iterator[tuple[int, int]]:
    """The first pairs of one cluster that have no probability of their own; `joined` has one end of those that have."""
    sizes = best.sizes
    listed = np.bincount(best.labels[joined], minlength=sizes.size)
    lacking = np.flatnonzero((listed < sizes * (sizes - 1) // 2) & (sizes <= LARGE_CLUSTER))
    order, ends = np.argsort(best.labels, kind="stable"), np.cumsum(sizes)
    count = 0
    for cluster in lacking.tolist():
        items = order[ends[cluster] - sizes[cluster] : ends[cluster]].tolist()
        for i, j in combinations(items, 2):
            row = best.similarity.neighbors[best.similarity.offsets[i] : best.similarity.offsets[i + 1]]
            if j not in row:
                yield i, j
                count += 1
                if count == most:
                    return


def pair_certainty(best: PairEstimate) -> NDArray[np.float64]:
    """For each item the mean probability of being with the others of its cluster; for an item alone, of being alone.

    The latter is one minus the largest probability of its pairs.
    """
    pairs, labels, sizes = best.similarity, best.labels, best.sizes
    item = np.repeat(np.arange(pairs.n_items), np.diff(pairs.offsets))
    own = labels[item] == labels[pairs.neighbors]
    listed = np.bincount(item[own], minlength=pairs.n_items)
    sums = np.bincount(item[own], pairs.probabilities[own], minlength=pairs.n_items)
    others = sizes[labels] - 1
    sums = sums + pairs.default * (others - listed)
    largest = np.full(pairs.n_items, pairs.default)
    np.maximum.at(largest, item, pairs.probabilities)
    return np.asarray(np.where(others > 0, sums / np.maximum(others, 1), 1 - largest))
