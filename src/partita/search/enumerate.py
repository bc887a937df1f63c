"""Method "enumerate": the best of all partitions of a few items."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from partita import _core
from partita._validate import check_n_jobs
from partita.losses import Loss, core_sample
from partita.sample import PartitionSample
from partita.search.found import Found
from partita.search.limits import given_limit

if TYPE_CHECKING:
    from partita.estimate import Search

#: There are 4,213,597 partitions of 12 items.
MAX_ITEMS = 12


def find_by_enumeration(sample: PartitionSample, loss: Loss, search: Search, rng: np.random.Generator) -> Found:
    """The partition of least expected loss among all, for at most 12 items and any loss."""
    if sample.n_items > MAX_ITEMS:
        raise ValueError(f"method 'enumerate' takes at most {MAX_ITEMS} items, but there are {sample.n_items}")
    native = loss._native(sample.n_items)
    limit = given_limit(sample, search)
    labels, _, interrupted = _core.enumerate_best(core_sample(sample), native, limit, check_n_jobs(search.n_jobs))
    gap = None if interrupted else 0.0
    return Found(labels.astype(np.int64), interrupted=interrupted, proven=not interrupted, gap=gap)
