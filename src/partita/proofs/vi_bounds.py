"""Bounds for VI(a, b): rows of items for a first one, then clusters for a better one, where the time suffices.

Under a limit of K clusters, every cluster costs a price λ >= 0 more, and λ K is given back: a partition that obeys the
limit costs no more than without the price, and one with more clusters does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from partita import _core
from partita._support.arrays import Labels
from partita._support.validate import check_n_jobs
from partita.draws.sample import PartitionSample
from partita.losses.losses import VI
from partita.losses.problem import core_sample
from partita.proofs.set_partition import seconds_to_price, set_partition_bound
from partita.proofs.work import PROVEN, Work
from partita.search.deadline import Deadline

#: With more items, the rows of VI do not fit in memory: they take about 100 numbers per pair of items.
MAX_ITEMS = 1400
#: Passes over the rows before their multipliers move.
ROWS_ALONE = 20
#: Up to this many items, the rows of VI are distinguished by the first item of the cluster.
MAX_ANCHORED = 60
#: The bound by clusters is tried if there is this many times the time that its first gap may take.
WORTH_PRICING = 3.0
#: With this many times that time, a first gap is nearly sure.
AMPLE_FOR_PRICING = 20.0
#: The shares of the time for the rows before the bound by clusters: if a first gap is nearly sure, and if not.
SMALL_ROWS_SHARE, ROWS_SHARE = 0.1, 0.2
#: If a first gap is nearly sure, the rows get at most this many times the time that it may take.
MAX_ROWS_TIMES = 4.0
#: Prices to try with rows alone, as shares of what the cheapest merge of two clusters of the estimate costs; there is
#: time for the first in any case.
PRICES = (0.5, 1.0, 0.25, 0.0)
#: The share of the time of the rows for the choice of a price.
CHOICE_SHARE = 0.25
#: Merges of this many clusters, the smallest ones, are looked at.
MAX_MERGED = 40


@dataclass(frozen=True)
class Limit:
    """A limit on clusters, and the price of each cluster; 0 is as no limit."""

    max_clusters: int = 0
    per_cluster: float = 0.0


def bound_vi(
    sample: PartitionSample,
    loss: VI,
    labels: Labels,
    work: Work,
    max_clusters: int | None = None,
    known: float = 0.0,
) -> tuple[float, str]:
    """A bound over all partitions, or over those into at most `max_clusters` clusters, and how it was found.

    The estimate obeys the limit; only bounds above the known one are of use.

    >>> from partita.draws.sample import as_sample
    >>> from partita.proofs.work import ignore
    >>> sample, work = as_sample([[0, 0, 1, 1], [0, 0, 1, 2], [0, 0, 1, 2]]), Work(5.0, 1, ignore)
    >>> unlimited, _ = bound_vi(sample, VI(), np.array([0, 0, 1, 2]), work)
    >>> limited, _ = bound_vi(sample, VI(), np.array([0, 0, 1, 1]), work, max_clusters=2)
    >>> round(unlimited, 4), round(limited, 4)
    (0.1667, 0.3333)
    """
    n_jobs = check_n_jobs(work.n_jobs)
    times = work.seconds / seconds_to_price(sample, n_jobs)
    if times < WORTH_PRICING:
        return _rows(sample, loss, labels, work, max_clusters), "rows"
    share = min(SMALL_ROWS_SHARE, MAX_ROWS_TIMES / times) if times >= AMPLE_FOR_PRICING else ROWS_SHARE
    until = Deadline.after(work.seconds)
    first = _rows(sample, loss, labels, replace(work, seconds=share * work.seconds), max_clusters, max_anchored=0)
    if first >= work.enough * (1 - PROVEN / 2):
        return first, "rows"
    value, interrupted = set_partition_bound(
        sample, loss, labels, until.left, n_jobs, work.tell, max(first, known), max_clusters
    )
    return work.ended(value, interrupted), "clusters" if value > first else "rows"


def _rows(
    sample: PartitionSample,
    loss: VI,
    labels: Labels,
    work: Work,
    max_clusters: int | None,
    max_anchored: int = MAX_ANCHORED,
) -> float:
    """Rows; under a limit, rows alone show which price is best, and this one gets most of the time."""
    if max_clusters is None:
        return row_bound(sample, loss, work, max_anchored)
    until = Deadline.after(work.seconds)
    merge = _cheapest_merge(sample, loss, labels)
    quick = replace(work, seconds=CHOICE_SHARE * work.seconds / len(PRICES), max_passes=ROWS_ALONE)
    limits = [Limit(max_clusters, share * merge) for share in PRICES]
    alone = [row_bound(sample, loss, quick, max_anchored, limit) for limit in until.while_time(limits)]
    best = limits[int(np.argmax(alone))]
    if until.is_past:
        return max(alone)
    return max(*alone, row_bound(sample, loss, replace(work, seconds=until.left), max_anchored, best))


def row_bound(
    sample: PartitionSample, loss: VI, work: Work, max_anchored: int = MAX_ANCHORED, limit: Limit | None = None
) -> float:
    """The bound by rows, with the price of a limit on clusters."""
    anchors = list(range(sample.n_items)) if sample.n_items <= max_anchored else []
    limit = limit or Limit()
    value, *_, interrupted = _core.row_bound(
        core_sample(sample),
        loss.a / loss.unit,
        loss.b / loss.unit,
        work.seconds,
        check_n_jobs(work.n_jobs),
        anchors=anchors,
        enough=work.enough * (1 - PROVEN / 2) / loss.unit,
        report=lambda value: work.tell(loss.unit * value),
        max_passes=work.max_passes,
        per_cluster=limit.per_cluster,
        max_clusters=limit.max_clusters,
    )
    return work.ended(loss.unit * float(value), interrupted)


def _cheapest_merge(sample: PartitionSample, loss: VI, labels: Labels) -> float:
    """What the cheapest merge of two of the smallest clusters costs, in the core's units; 0 if there is one cluster.

    In an optimum under a limit that matters, no price above this makes a good bound: one cluster less would be better.
    """
    costs = _core.cluster_costs(core_sample(sample), loss.a / loss.unit, loss.b / loss.unit)
    smallest = np.argsort(np.bincount(labels), kind="stable")[:MAX_MERGED]
    clusters = [np.flatnonzero(labels == cluster).tolist() for cluster in smallest]
    alone = [costs.cost(items) for items in clusters]
    merges = (
        costs.cost(clusters[i] + clusters[j]) - alone[i] - alone[j] for i, j in combinations(range(len(clusters)), 2)
    )
    return max(min(merges, default=0.0), 0.0)
