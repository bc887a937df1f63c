"""What the parts of a bound have in common: time, threads, progress, and when the estimate is provably optimal.

Progress is what is known after 1, 10 and 60 seconds, and after every further minute.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from partita.search.clique_lp import Tell

#: An estimate is provably optimal if its gap is below this.
PROVEN = 1e-7
#: Seconds after which the bound is reported; then every minute.
MARKS = (1.0, 10.0, 60.0)


def ignore(value: float) -> None:
    """For work of whose progress nobody asks."""


@dataclass
class Marks:
    """Tells whether a mark has passed since the last report.

    >>> marks = Marks()
    >>> [marks.is_due(seconds) for seconds in (0.5, 1.2, 9, 70, 100, 121)]
    [False, True, False, True, False, True]
    """

    next: float = MARKS[0]

    def is_due(self, seconds: float) -> bool:
        """Whether to report now; the next mark is then the first one after this time."""
        if seconds < self.next:
            return False
        later = (mark for mark in MARKS if mark > seconds)
        self.next = next(later, 60.0 * (seconds // 60 + 1))
        return True


@dataclass
class BoundProgress:
    """Reports a bound on its way to the user's function, with the seconds so far, or to the terminal."""

    report: Any
    as_bound: Callable[[float], Any]
    best: float = 0.0
    started: float = field(default_factory=time.monotonic)
    marks: Marks = field(default_factory=Marks)

    def tell(self, value: float) -> None:
        """A new value; the best so far is reported if a mark has passed."""
        self.best = max(self.best, value)
        seconds = time.monotonic() - self.started
        if self.report and self.marks.is_due(seconds):
            (self.report if callable(self.report) else _print)(seconds, self.as_bound(self.best))

    def part(self, before: float, share: float) -> Tell:
        """For one of several parts: its values count with a share, beside what is known of the others."""
        return lambda value: self.tell(before + share * max(value, 0.0))


def _print(seconds: float, bound: Any) -> None:
    print(f"after {seconds:.0f} s: {bound}", file=sys.stderr)


@dataclass(frozen=True)
class Work:
    """What a bound may cost, whom to tell of its progress, and the value that proves the estimate best."""

    seconds: float
    n_jobs: int
    tell: Tell
    enough: float = np.inf
    max_passes: int = 10**18

    def ended(self, value: float, interrupted: bool) -> float:
        """The value; after Ctrl-C it is told, and no further work is done."""
        if interrupted:
            self.tell(value)
            raise KeyboardInterrupt
        return value
