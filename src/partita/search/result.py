"""The result of a method of `estimate`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita._support.shown import ShownAsText


@dataclass(frozen=True)
class RunRow:
    """One run of a search: its start, its sweeps and moves, and the partition that it reached.

    `trace` holds the expected loss after each sweep; the first sweeps of the default search are on part of the draws.
    """

    start: str
    sweeps: int
    moves: int
    loss: float
    clusters: int
    seconds: float
    trace: tuple[float, ...] = ()


@dataclass(frozen=True, repr=False)
class Compression(ShownAsText):
    """Factors by which the searched problem was smaller than the given one, with the same result; 1 means not smaller.

    `items`: how many items each searched item represents (items with the same labels in every draw).
    `draws`: how many draws each distinct draw represents.
    `clusters`: how many clusters of distinct draws each stored cluster represents.

    Examples
    --------
    >>> Compression(items=1.0, draws=2.5, clusters=40.0)
    Compression: items 1, draws 2.5, clusters 40 times fewer
    """

    items: float = 1.0
    draws: float = 1.0
    clusters: float = 1.0

    def __repr__(self) -> str:
        return f"Compression: items {self.items:.3g}, draws {self.draws:.3g}, clusters {self.clusters:.3g} times fewer"


@dataclass(frozen=True)
class SearchResult:
    """The partition that a method found, and what is known about it.

    `n_runs` is the number of runs that were made, if that is not the number of rows of `runs`. `criterion` is the
    method's own criterion, if that is not the expected loss. `proven` means that no partition within the limit on
    clusters is better; `gap` limits how much better one can be, as a share of the loss. `compression` describes items
    and clusters that the method searched as one; equal draws are searched as one by every method.
    """

    labels: NDArray[np.int64]
    runs: tuple[RunRow, ...] = ()
    criterion: float | None = None
    interrupted: bool = False
    proven: bool = False
    gap: float | None = None
    compression: Compression = Compression()
    n_runs: int | None = None
