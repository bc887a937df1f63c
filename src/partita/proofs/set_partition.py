"""A lower bound for VI(a, b): the best partition is a set partition of least cost.

With φ(m) = m log2 m and T the clusters of a draw,

    n E[VI(a, b)](c) = constant + Σ_{S in c} f(S),   f(S) = b φ(|S|) - (a + b) E Σ_T φ(|S ∩ T|).

If u(S) <= f(S) for every set S, no partition has a loss below (constant + Σ u_i) / n. If u(S) <= f(S) + λ with λ >= 0,
no partition into at most K clusters has a loss below (constant + Σ u_i - λ K) / n. `cluster_duals` finds such u and λ,
and branch and bound in the core proves that it holds for all S.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from partita import _core
from partita._support.arrays import Floats, Labels
from partita._support.tolerance import BOUND_MARGIN
from partita.draws.sample import PartitionSample
from partita.losses.losses import VI
from partita.losses.problem import core_sample
from partita.proofs.cluster_duals import ClusterDuals, Shares
from partita.search.clique_lp import Tell
from partita.search.deadline import Deadline

#: Gaps to prove, one after the other; the last counts as proven.
GAPS = (0.15, 0.1, 0.05, 0.02, 0.01, 0.003, 4e-8)
#: The last gap is tried at once if there is this many times the time that the one before took.
AMPLE = 20.0
#: It is the first to be tried if there is this many times the time that a first gap may take.
AT_ONCE = 40.0
#: The share of the remaining time for the last gap, if others are passed over.
JUMP_SHARE = 0.6
#: About the core-seconds that a first gap takes, per items³ × (draws + 2000): from timings of 60 to 100 items.
PRICING_SECONDS = 1e-9
#: With more items² × draws, a step between two looks at the clock would take seconds.
MAX_CELLS = 5e8
#: Draws whose clusters are starts of searches for clusters.
STARTS = 30


def seconds_to_price(sample: PartitionSample, n_jobs: int) -> float:
    """About the time that a first gap takes; infinite if there are too many items and draws."""
    n, draws = sample.n_items, sample.n_unique
    return PRICING_SECONDS * n**3 * (draws + 2000) / n_jobs if n**2 * draws <= MAX_CELLS else np.inf


def set_partition_bound(
    sample: PartitionSample,
    loss: VI,
    labels: Labels,
    seconds: float,
    n_jobs: int,
    tell: Tell,
    known: float = 0.0,
    max_clusters: int | None = None,
) -> tuple[float, bool]:
    """The bound, or the known one if none was proven in time, and whether Ctrl-C ended the work.

    The better the estimate, the better is the bound; under a limit on clusters it must obey it. `tell` hears every
    bound that is proven.

    >>> from partita.draws.sample import as_sample
    >>> sample = as_sample([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]])
    >>> labels = np.array([0, 0, 1, 1])
    >>> round(set_partition_bound(sample, VI(), labels, 5.0, 1, lambda value: None)[0], 6)
    0.396241
    >>> round(set_partition_bound(sample, VI(), labels * 0, 5.0, 1, lambda value: None, max_clusters=1)[0], 6)
    0.937093
    """
    until = Deadline.after(seconds)
    proofs = _Proofs.of(sample, loss, labels, n_jobs, max_clusters)
    best = known
    todo = [gap for gap in GAPS if loss.unit * proofs.reached * (1 - gap) > known]
    is_ample, has_failed = seconds > AT_ONCE * seconds_to_price(sample, n_jobs), False
    try:
        while todo and not until.is_past:
            before = until.left
            gap = todo[-1 if is_ample and not has_failed else 0]
            skips = gap < todo[0]
            value = loss.unit * proofs.attempt(gap, Deadline.after(before * (JUMP_SHARE if skips else 1)))
            if value > best:
                best = value
                todo = [smaller for smaller in todo if smaller < gap]
                tell(best)
                is_ample = until.left > AMPLE * (before - until.left)
            elif skips:
                has_failed = True
            else:
                break
    except KeyboardInterrupt:
        return best, True
    return best, False


@dataclass
class _Proofs:
    """What attempts to prove a gap share: the costs of clusters, and the last shares of the items."""

    costs: _core.ClusterCosts
    program: ClusterDuals
    draws: Labels
    labels: Labels
    n_jobs: int
    reached: float  # the expected loss of the estimate
    duals: Shares | None = None
    has_duals: bool = True  # unless the program has shown that the shares cannot reach the cost of the estimate

    @classmethod
    def of(
        cls, sample: PartitionSample, loss: VI, labels: Labels, n_jobs: int, max_clusters: int | None = None
    ) -> _Proofs:
        costs = _core.cluster_costs(core_sample(sample), loss.a / loss.unit, loss.b / loss.unit)
        own = _shares_of_the_estimate(sample, loss, labels)
        program = ClusterDuals(costs, labels, own, (loss.a + loss.b) / (2 * loss.unit), n_jobs, max_clusters)
        starts = np.linspace(0, sample.n_unique - 1, STARTS).astype(np.int64)
        reached = (costs.constant() + own.sum()) / len(labels)
        return cls(costs, program, sample.labels[starts].astype(np.int64), labels, n_jobs, reached)

    def _shares(self, gap: float, until: Deadline) -> Shares | None:
        """Shares whose total is half the gap below the estimate's cost; for the last gap that cost, if possible."""
        if gap > GAPS[-1]:
            return self.program.solve(self.draws, until, gap * self.reached * self.program.n / 2)
        if self.duals is None and self.has_duals:
            self.duals = self.program.solve(self.draws, until)
            self.has_duals = self.duals is not None or until.is_past
        if self.duals is None:
            return self.program.solve(self.draws, until, gap * self.reached * self.program.n / 2)
        return self.duals

    def attempt(self, gap: float, until: Deadline) -> float:
        """A bound with at most this gap to the estimate, or 0 if it is not proven; raises KeyboardInterrupt."""
        while not until.is_past:
            shares = self._shares(gap, until)
            if shares is None:
                return 0.0
            lowered = shares.lowered_to(self.program.own.sum() - gap * self.reached * self.program.n)
            proven, negative, interrupted = _price(self.costs, lowered, self.labels, until.left, self.n_jobs)
            if interrupted:
                raise KeyboardInterrupt
            if proven:
                return (self.costs.constant() + lowered.total) / self.program.n * (1 - BOUND_MARGIN)
            if not sum(self.program.add(frozenset(cluster)) for cluster in negative):
                return 0.0
            self.duals = None
        return 0.0


def _price(
    costs: _core.ClusterCosts, shares: Shares, labels: Labels, seconds: float, n_jobs: int
) -> tuple[bool, list[list[int]], bool]:
    """Whether u(S) <= f(S) + λ is proven for all S, clusters that violate it, and whether Ctrl-C came."""
    proven, negative, _, interrupted = costs.price(
        shares.of_items, labels.tolist(), seconds, n_jobs, shares.per_cluster
    )
    return proven, negative, interrupted


def _shares_of_the_estimate(sample: PartitionSample, loss: VI, labels: Labels) -> Floats:
    """b log|S| - (a + b) E log|S ∩ T_i| for the estimate's cluster S of each item i: their sum over S is f(S)."""
    a, b = loss.a / loss.unit, loss.b / loss.unit
    shares = b * np.log2(np.bincount(labels)[labels])
    for cluster in range(labels.max() + 1):
        items = np.flatnonzero(labels == cluster)
        within = sample.labels[:, items]
        for place, item in enumerate(items):
            overlap = (within == within[:, [place]]).sum(axis=1)
            shares[item] -= (a + b) * float(sample.weights @ np.log2(overlap))
    return shares
