"""What the parts of a bound have in common: time, threads, progress, and when the estimate is provably optimal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from partita.search.clique_lp import Tell

#: An estimate is provably optimal if its gap is below this.
PROVEN = 1e-7


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
