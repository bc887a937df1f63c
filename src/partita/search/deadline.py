"""Deadlines: the time limit of `Search` applies to the whole call, however many searches it makes."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from partita.search.settings import Search

Item = TypeVar("Item")

#: Seconds for a search that starts after the deadline: enough to return some partition.
LAST_MOMENT = 1e-3


@dataclass(frozen=True)
class Deadline:
    """A point on the clock of `time.monotonic`; infinity means no limit.

    Examples
    --------
    >>> Deadline.after(None).is_past, Deadline.after(0.0).is_past, Deadline.after(None).left
    (False, True, inf)
    """

    at: float

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """The deadline this many seconds from now; None means no limit."""
        return NEVER if seconds is None else cls(time.monotonic() + seconds)

    @property
    def left(self) -> float:
        """Remaining seconds, at least 0."""
        return max(self.at - time.monotonic(), 0.0)

    @property
    def is_past(self) -> bool:
        """Whether the deadline has passed."""
        return time.monotonic() >= self.at

    def share(self, part: float) -> Deadline:
        """The end of this part of the remaining time."""
        return Deadline.after(self.left * part)

    def while_time(self, items: Iterable[Item]) -> Iterator[Item]:
        """The items, one after the other, until the deadline; at least the first.

        >>> list(Deadline.after(0.0).while_time([1, 2])), list(Deadline.after(None).while_time([1, 2]))
        ([1], [1, 2])
        """
        for place, item in enumerate(items):
            if place and self.is_past:
                return
            yield item

    def limit(self, search: Search) -> Search:
        """The search settings with the remaining time as the time limit."""
        return search if math.isinf(self.at) else replace(search, seconds=max(self.left, LAST_MOMENT))


#: No limit.
NEVER: Deadline = Deadline(math.inf)
