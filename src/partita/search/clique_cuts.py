"""Cuts of the linear program of clique partitioning that a fractional solution violates: triangles, stars and cliques.

A clique inequality is about more items than there may be clusters, so that some of them are together.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from partita import _core
from partita._support.arrays import Floats, Ints

#: Triangles are added only if they are violated by more than this, ...
VIOLATION = 1e-6
#: ... and stars and clique inequalities if by more than this.
STAR_VIOLATION = CLIQUE_VIOLATION = 1e-3
#: Cliques found in a round, and the pairs that they have in all: rows of large cliques take much memory.
MAX_CLIQUES, MAX_CLIQUE_PAIRS = 200, 2_000_000


def violated_triangles(x: Floats, count: int, tolerance: float = VIOLATION) -> Ints:
    """Rows (i, j, k) with x_ij + x_ik - x_jk > 1 + tolerance, the most violated first, at most `count` of them."""
    return _core.violated_triangles(np.ascontiguousarray(x), count, tolerance)


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


@dataclass(frozen=True)
class CliqueInequality:
    """Items of which at least `pairs` pairs are together in every partition that obeys the limit on clusters."""

    items: Ints
    pairs: int


def least_pairs_together(count: int, max_clusters: int) -> int:
    """The least number of pairs of `count` items that are together: that of clusters of about equal sizes (Turán).

    >>> least_pairs_together(3, 3), least_pairs_together(4, 3), least_pairs_together(8, 3)
    (0, 1, 7)
    """
    size, larger = divmod(count, max_clusters)
    return larger * size + max_clusters * (size * (size - 1) // 2)


def violated_inequalities(x: Floats, max_clusters: int) -> list[CliqueInequality]:
    """Clique inequalities that x violates, at most one from each start, those that x is farthest from obeying first."""
    members, sizes, depths = _grown_cliques(x, max_clusters)
    farthest = np.argsort(-depths, kind="stable")[: np.count_nonzero(depths)]
    cliques = list(dict.fromkeys(tuple(sorted(members[s, : sizes[s]].tolist())) for s in farthest))
    pairs = np.cumsum([len(clique) * (len(clique) - 1) // 2 for clique in cliques])
    most = max(1, int(np.searchsorted(pairs, MAX_CLIQUE_PAIRS, "right")))
    return [
        CliqueInequality(np.array(clique), least_pairs_together(len(clique), max_clusters)) for clique in cliques[:most]
    ]


def _grown_cliques(x: Floats, max_clusters: int) -> tuple[Ints, Ints, Floats]:
    """From each start, all items in the order in which its clique grows: by the item that is least together with it.

    Also how many of them make the clique that x is farthest from obeying, as a point from a plane, and how far; 0 if x
    violates none.
    """
    n = len(x)
    members = np.arange(0, n, -(-n // MAX_CLIQUES))[:, None]
    each = np.arange(len(members))
    together = x[members[:, 0]]  # of each clique, with each item
    together[each, members[:, 0]] = np.inf
    sums, depths, sizes = np.zeros(each.size), np.zeros(each.size), np.zeros(each.size, np.int64)
    for count in range(2, n + 1):
        nearest = together.argmin(axis=1)
        members = np.column_stack([members, nearest])
        sums += together[each, nearest]
        together += x[nearest]
        together[each, nearest] = np.inf
        violation = least_pairs_together(count, max_clusters) - sums
        depth = np.where(violation > CLIQUE_VIOLATION, violation / np.sqrt(count * (count - 1) / 2), 0.0)
        sizes[depth > depths] = count
        depths = np.maximum(depths, depth)
    return members, sizes, depths


#: Costs have a common step if they are multiples of 1/d with d at most this, ...
MAX_DENOMINATOR = 1_000_000
#: ... and all of them together differ from multiples by at most this part of the step.
STEP_ERROR = 1e-6
#: A bound above a multiple by less than this part of the step may be the multiple itself, to the solver's rounding.
STEP_MARGIN = 1e-3


def common_step(cost: Floats) -> float:
    """The largest number of which all costs are whole multiples; 0 if no simple fraction is one.

    With H draws of equal weight the costs are multiples of 1/H. The value of every partition is a multiple, too, so a
    lower bound can be raised to the next one.

    >>> common_step(np.array([[0.0, 0.6], [-0.4, 0.0]]))
    0.2
    """
    denominator = 1
    for value in np.unique(np.abs(cost).round(12)).tolist():
        denominator = math.lcm(denominator, Fraction(value).limit_denominator(MAX_DENOMINATOR).denominator)
        if denominator > MAX_DENOMINATOR:
            return 0.0
    multiples = cost * denominator
    whole = multiples.round().astype(np.int64)
    if np.abs(multiples - whole).sum() > STEP_ERROR:
        return 0.0
    return int(np.gcd.reduce(whole, axis=None)) / denominator


def raised(bound: float, step: float) -> float:
    """A lower bound on whole multiples of the step."""
    return step * math.ceil(bound / step - STEP_MARGIN) if step else bound
