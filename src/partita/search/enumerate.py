"""Method "enumerate": the best of all partitions of a few items."""

from __future__ import annotations

import numpy as np

from partita import _core
from partita._validate import check_n_jobs
from partita.losses import Loss, core_sample
from partita.sample import PartitionSample
from partita.search.deadline import Deadline
from partita.search.limits import given_limit
from partita.search.result import SearchResult
from partita.search.settings import Search

#: There are 4,213,597 partitions of 12 items.
MAX_ITEMS = 12


def find_by_enumeration(sample: PartitionSample, loss: Loss, search: Search, rng: np.random.Generator) -> SearchResult:
    """The best of all partitions of at most 12 items, for any loss."""
    if sample.n_items > MAX_ITEMS:
        raise ValueError(f"method 'enumerate' takes at most {MAX_ITEMS} items, but there are {sample.n_items}")
    return best_of_all(sample, loss, search)


def best_of_all(sample: PartitionSample, loss: Loss, search: Search) -> SearchResult:
    """The best of all partitions within the limit on clusters, or of those enumerated before the time limit."""
    native = loss._native(sample.n_items)
    limit = given_limit(sample, search)
    seconds, threads = Deadline.after(search.seconds).left, check_n_jobs(search.n_jobs)
    labels, _, interrupted, stopped = _core.enumerate_best(core_sample(sample), native, limit, threads, seconds)
    gap = None if stopped else 0.0
    return SearchResult(labels.astype(np.int64), interrupted=interrupted, proven=not stopped, gap=gap)
