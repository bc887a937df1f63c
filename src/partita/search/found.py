"""What a method of `estimate` hands back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class RunRow:
    """One run of a search: where it started, how far it went, what it reached.

    `trace` holds the expected loss after each sweep; the first sweeps of the default search are on part of the draws.
    """

    start: str
    sweeps: int
    moves: int
    loss: float
    clusters: int
    seconds: float
    trace: tuple[float, ...] = ()


@dataclass(frozen=True)
class Found:
    """The partition that a method found, and what it knows about it.

    `criterion` is the method's own criterion where that is not the expected loss; `proven` says that no partition
    within the bound on clusters is better, and `gap` how much better one may be at most, as a share of the loss.
    `compression` is the number of items for each one that was searched.
    """

    labels: NDArray[np.int64]
    runs: tuple[RunRow, ...] = ()
    criterion: float | None = None
    interrupted: bool = False
    proven: bool = False
    gap: float | None = None
    compression: float = 1.0
