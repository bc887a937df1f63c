"""A lower bound on the expected one minus adjusted Rand index, by intervals of the number of pairs together.

Of N pairs of items let A be together in the estimate, B in the draw, and X in both. The loss is

    M / D,   M = (A + B) / 2 - X,   D = (A + B) / 2 - A B / N.

1. With D at some A = A0, the expectation is linear in the pairs x_ij that the estimate has together: Binder's problem
   with weights w / D. For every price λ its linear program, or the choice of pairs one by one, gives b with
   E M / D(A0) >= b - (λ - Ω / 2) A,  Ω = E 1 / D(A0).
2. D is linear in A: D(A) = D(A0) (1 + ρ (A - A0)), with a slope ρ of each draw. The largest slope of a draw (the least
   for A < A0) turns this into a bound on the loss at every A: a ratio of two linear functions of A, which is least at
   an end of the interval or at A0.

The interval with the least bound is improved first: by a linear program if it is narrow, by splitting it otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.util import find_spec

import numpy as np

from partita._support.arrays import Labels
from partita._support.tolerance import BOUND_MARGIN
from partita.draws.sample import PartitionSample, with_weight
from partita.losses.expected import expected_loss
from partita.losses.losses import OneMinusARI
from partita.pairs.similarity import similarity
from partita.partitions.labels import pairs_together
from partita.proofs.work import ignore
from partita.search.clique_lp import Tell
from partita.search.deadline import Deadline
from partita.search.exact import solve_clique_parts

#: With more items, the linear programs take too long to help.
MAX_PROGRAM = 600
#: An interval is worth a linear program if hi <= NARROW * lo.
NARROW = 1.1
#: The largest share of the time for one linear program: many intervals need one.
SHARE = 0.05


@dataclass(frozen=True)
class Interval:
    """Partitions with lo..hi pairs together: a bound on their loss, and how many linear programs have raised it."""

    bound: float
    lo: int
    hi: int
    programs: int = 0

    @property
    def middle(self) -> int:
        """Where the interval is split, and where D is taken."""
        return int(np.sqrt(self.lo * self.hi))

    @property
    def is_narrow(self) -> bool:
        """Whether a linear program is likely to give more than a split."""
        return self.hi <= NARROW * self.lo


class PairCounts:
    """Pairs together in the draws, and bounds for intervals of the number of pairs together in the estimate."""

    def __init__(self, sample: PartitionSample, labels: Labels) -> None:
        self.sample, self.labels = with_weight(sample)[0], labels
        self.n_pairs = sample.n_items * (sample.n_items - 1) // 2
        rows = [row.astype(np.int64) for row in self.sample.labels]
        self.in_draw = np.array([pairs_together(row) for row in rows])
        both = np.array([pairs_together(row * (labels.max() + 1) + labels) for row in rows])
        self.apart = (pairs_together(labels) + self.in_draw) / 2 - both  # M of the estimate
        self.upper = np.triu_indices(sample.n_items, 1)

    def bounded(self, lo: int, hi: int, at_least: float = 0.0) -> Interval:
        """The interval with the bound of pairs chosen one by one."""
        at = _BinderProblem(self, Interval(at_least, lo, hi))
        return at.raised(*((price, float(np.minimum(price - at.together, 0).sum())) for price in at.prices))

    def programmed(self, node: Interval, seconds: float) -> Interval:
        """The interval with the bound of a linear program over partitions."""
        at = _BinderProblem(self, node)
        price = at.prices[node.programs]
        cost = price - at.similarity
        np.fill_diagonal(cost, 0)
        solved = solve_clique_parts(cost, Deadline.after(seconds), self.labels)
        if solved.interrupted:
            raise KeyboardInterrupt
        return replace(at.raised((price, solved.bound)), programs=node.programs + 1)


class _BinderProblem:
    """Binder's problem with D at the middle of an interval."""

    def __init__(self, counts: PairCounts, node: Interval) -> None:
        self.node = node
        share = counts.in_draw / counts.n_pairs
        spread = (node.middle + counts.in_draw) / 2 - node.middle * share  # D
        weights = counts.sample.weights / spread
        self.slopes = (0.5 - share) / spread
        self.half = weights.sum() / 2
        self.constant = weights @ counts.in_draw / 2
        self.similarity = similarity(replace(counts.sample, weights=weights / weights.sum())) * weights.sum()
        self.together = self.similarity[counts.upper]
        rank = counts.n_pairs - node.middle
        threshold = np.partition(self.together, rank)[rank]
        #: That for which the estimate is stationary, and that for which as many pairs as in the middle are chosen.
        self.prices = (float(self.half - weights * counts.apart @ self.slopes), float(threshold))

    def raised(self, *least: tuple[float, float]) -> Interval:
        """The interval with the best of the bounds that follow from prices λ and b = min Σ (λ - q) x."""
        bounds = (min(self._loss(price, value, at) for at in self._ends()) for price, value in least)
        return replace(self.node, bound=max(self.node.bound, *bounds))

    def _ends(self) -> tuple[int, int, int]:
        return self.node.lo, self.node.middle, self.node.hi

    def _loss(self, price: float, value: float, together: int) -> float:
        """The bound at one number of pairs together, from D there at its largest."""
        step = together - self.node.middle
        slope = self.slopes.max() if step > 0 else self.slopes.min()
        linear = self.constant + value - (price - self.half) * together - BOUND_MARGIN
        return float(linear / (1 + slope * step))


def adjusted_rand_bound(sample: PartitionSample, labels: Labels, seconds: float, tell: Tell = ignore) -> float:
    """The bound, improved until it reaches the loss of `labels`, for at most `seconds`, or until Ctrl-C."""
    until = Deadline.after(seconds)
    loss, n = OneMinusARI(), sample.n_items
    ends = np.arange(n), np.zeros(n, np.int64)  # no pair together, and all: D may be 0
    least = min(float(expected_loss(partition, sample, loss)) for partition in (labels, *ends))
    counts = PairCounts(sample, labels)
    if counts.n_pairs < 2:
        return least
    may_program = n <= MAX_PROGRAM and find_spec("highspy") is not None
    nodes = [counts.bounded(1, counts.n_pairs - 1)]
    try:
        while nodes[0].bound < least and not until.is_past:
            better = _improved(nodes[0], counts, min(until.left, seconds * SHARE) if may_program else 0.0)
            if not better:
                break
            nodes = sorted([*nodes[1:], *better], key=lambda node: node.bound)
            tell(nodes[0].bound)
    except KeyboardInterrupt:
        pass  # the intervals of the last assignment cover all partitions
    return min(least, nodes[0].bound)


def _improved(node: Interval, counts: PairCounts, seconds: float) -> list[Interval]:
    """The interval with a larger bound, or its two parts; nothing if there is no more to do."""
    if seconds > 0 and node.is_narrow and node.programs < 2:
        return [counts.programmed(node, seconds)]
    if node.lo == node.hi:
        return []
    return [counts.bounded(lo, hi, node.bound) for lo, hi in ((node.lo, node.middle), (node.middle + 1, node.hi))]
