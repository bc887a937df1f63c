"""What a method of `estimate` hands back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita._facts import ShownAsText


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


@dataclass(frozen=True, repr=False)
class Compression(ShownAsText):
    """How much smaller than the draws as given the problem was that was searched, without loss; 1 is not smaller.

    `items`: how many items of the draws each item of the search stood for (those that no draw tells apart).
    `draws`: how many draws each distinct one stood for.
    `clusters`: how many clusters of distinct draws each stored cluster stood for.

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
class Found:
    """The partition that a method found, and what it knows about it.

    `criterion` is the method's own criterion where that is not the expected loss; `proven` says that no partition
    within the bound on clusters is better, and `gap` how much better one may be at most, as a share of the loss.
    `compression` says what the method searched as one; that equal draws are, all methods have in common.
    """

    labels: NDArray[np.int64]
    runs: tuple[RunRow, ...] = ()
    criterion: float | None = None
    interrupted: bool = False
    proven: bool = False
    gap: float | None = None
    compression: Compression = Compression()
