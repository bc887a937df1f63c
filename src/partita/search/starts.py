"""Checks of the starting partitions that users give."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.arrays import Labels
from partita._support.names import Names
from partita.partitions.checks import check_placed_of, is_one_partition
from partita.partitions.labels import each_alone
from partita.search.constraints import Resolved

#: The `start` of a run that begins at a given partition.
GIVEN = "given"


def check_starts(
    start: Any,
    names: Names | None,
    n_items: int,
    constraints: Resolved | None = None,
    whose: str = "draws",
    may_lack: NDArray[np.bool_] | None = None,
) -> tuple[Labels, ...]:
    """`start=`: None, one partition, or several of them; each must obey the constraints.

    Items of `may_lack` may be in no cluster (-1): they start in the first one, or alone if there are constraints.
    """
    if start is None:
        return ()
    one = is_one_partition(start, "start")
    given = {"start": start} if one else {f"start[{i}]": row for i, row in enumerate(start)}
    lacking = np.zeros(n_items, np.bool_) if may_lack is None else may_lack
    checked = [check_placed_of(labels, names, n_items, what, lacking, whose) for what, labels in given.items()]
    starts = tuple(np.maximum(labels, 0) if constraints is None else each_alone(labels) for labels in checked)
    for what, labels in zip(given, starts, strict=True):
        problem = None if constraints is None else constraints.broken_by(labels)
        if problem:
            raise ValueError(f"{what} does not obey the constraints: {problem}")
    return starts


def check_starts_within(starts: tuple[Labels, ...], limit: int) -> None:
    """Raises an error if a start has more clusters than are allowed."""
    for place, labels in enumerate(starts):
        if labels.max() >= limit:
            raise ValueError(
                f"start[{place}] has {labels.max() + 1} clusters, but at most {limit} are allowed:"
                " Search(max_clusters=...) allows more"
            )
