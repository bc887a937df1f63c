"""What a search asks of a shard of the draws about one partition: one small message per kind of question.

A message has the number of the partition under search (its slot) and its labels, in any unsigned type; `answer` runs on
the worker, on the shard of the core.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Value:
    """The shard's part of the expected loss, in units."""

    slot: int
    labels: NDArray[Any]

    def answer(self, shard: Any) -> Any:
        """A whole number."""
        return shard.value(self.slot, self.labels.astype(np.uint32))


@dataclass(frozen=True, eq=False)
class MergeChanges:
    """What each merge of two clusters would change, in units."""

    slot: int
    labels: NDArray[Any]

    def answer(self, shard: Any) -> Any:
        """Whole numbers, (clusters, clusters)."""
        return shard.merge_changes(self.slot, self.labels.astype(np.uint32))


@dataclass(frozen=True, eq=False)
class ItemScores:
    """The scores of some items in each cluster and in a new one, in units; `precise` ones in double precision."""

    slot: int
    labels: NDArray[Any]
    items: NDArray[np.uint32]
    precise: bool

    def answer(self, shard: Any) -> Any:
        """Whole numbers, (items, clusters + 1)."""
        return shard.scores(self.slot, self.labels.astype(np.uint32), self.items, self.precise)


Question = Value | MergeChanges | ItemScores
