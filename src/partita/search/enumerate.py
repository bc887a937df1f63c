"""Method "enumerate": the best of all partitions of a few items."""

from __future__ import annotations

import numpy as np

from partita import _core
from partita._support.validate import check_n_jobs
from partita.draws.sample import PartitionSample
from partita.losses.base import Loss
from partita.losses.problem import core_problem
from partita.partitions.lattice import stirling2
from partita.search.constraints import Resolved, native_restrictions
from partita.search.deadline import Deadline
from partita.search.result import SearchResult
from partita.search.settings import Search, given_limit

#: There are 4,213,597 partitions of 12 items.
MAX_ITEMS = 12
#: Enumeration takes at most this many atoms: 25 have 16,777,216 partitions into at most two clusters.
FEW_ATOMS = 25
#: This many losses of a partition against a draw are computed within seconds, ...
FEW_LOSSES = 10**9
#: ... and this many in the time of a search.
QUICK_LOSSES = 10**6


def find_by_enumeration(sample: PartitionSample, loss: Loss, search: Search, rng: np.random.Generator) -> SearchResult:
    """The best of all partitions of at most 12 items, for any loss."""
    if sample.n_items > MAX_ITEMS:
        raise ValueError(f"method 'enumerate' takes at most {MAX_ITEMS} items, but there are {sample.n_items}")
    return best_of_all(sample, loss, search)


def are_few(sample: PartitionSample, limit: int, n_atoms: int, losses: int) -> bool:
    """Whether all partitions of the atoms into at most `limit` clusters need at most so many losses against draws."""
    if n_atoms > FEW_ATOMS:
        return False
    return sum(stirling2(n_atoms, k) for k in range(1, min(limit, n_atoms) + 1)) * sample.n_unique <= losses


def best_of_all(
    sample: PartitionSample, loss: Loss, search: Search, constraints: Resolved | None = None
) -> SearchResult:
    """The best of all partitions that obey, within the limit on clusters, or of those found before the time limit."""
    limit = given_limit(sample, search)
    seconds, threads = Deadline.after(search.seconds).left, check_n_jobs(search.n_jobs)
    labels, _, interrupted, stopped = _core.enumerate_best(
        core_problem(sample, loss), limit, *native_restrictions(constraints), threads, seconds
    )
    if not labels.size:
        if not stopped:
            raise ValueError(f"no partition into at most {limit} clusters obeys the constraints")
        labels = np.zeros(sample.n_items, np.int64) if constraints is None else constraints.atom
    gap = None if stopped else 0.0
    return SearchResult(labels.astype(np.int64), interrupted=interrupted, proven=not stopped, gap=gap)
