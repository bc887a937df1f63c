"""Cuts of the linear program of clique partitioning: triangles and stars that a fractional solution violates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from partita import _core

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Triangles are added only if they are violated by more than this, ...
VIOLATION = 1e-6
#: ... and stars if by more than this.
STAR_VIOLATION = 1e-3


def violated_triangles(x: Floats, count: int) -> Ints:
    """Rows (i, j, k) with x_ij + x_ik - x_jk > 1, the most violated first, at most `count` of them."""
    return _core.violated_triangles(np.ascontiguousarray(x), count, VIOLATION)


def all_triangles(n: int) -> Ints:
    """All rows (i, j, k), j < k."""
    triples = np.array(list(combinations(range(n), 3)), np.int64).reshape(-1, 3)
    return np.concatenate([triples, triples[:, [1, 0, 2]], triples[:, [2, 0, 1]]])


@dataclass(frozen=True)
class Stars:
    """Centers i and their leaves, one star after the other; the leaves of star s are those from begins[s] on."""

    centers: Ints
    leaves: Ints
    begins: Ints

    def __len__(self) -> int:
        return len(self.centers)

    def rows(self) -> Iterator[tuple[Ints, Ints, Floats]]:
        """The pairs of each star and their coefficients: 1 for center and leaf, -1 for two leaves."""
        for center, begin, end in zip(self.centers, self.begins[:-1], self.begins[1:], strict=True):
            leaves = self.leaves[begin:end]
            first, second = np.triu_indices(leaves.size, 1)
            left = np.concatenate([np.full(leaves.size, center), leaves[first]])
            right = np.concatenate([leaves, leaves[second]])
            yield left, right, np.repeat([1.0, -1.0], [leaves.size, first.size])


def violated_stars(x: Floats, count: int) -> Stars:
    """Stars that x violates, the most violated first, at most `count` of them; they are searched greedily."""
    return Stars(*_core.violated_stars(np.ascontiguousarray(x), count, STAR_VIOLATION))
