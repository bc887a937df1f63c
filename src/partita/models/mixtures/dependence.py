"""Whether columns that are modelled as independent within clusters are so."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita._support.arrays import Floats

MIN_COLUMNS, MIN_ROWS = 5, 30
MAX_COLUMNS, MAX_ROWS = 500, 4000  # that are looked at, evenly spread
BAD = 0.5  # effective columns per column below which clusters are far too certain


def spread_over(n: int, most: int) -> NDArray[np.intp]:
    """At most so many of n places, evenly spread."""
    return np.linspace(0, n - 1, min(n, most)).astype(np.intp)


def effective_columns(numbers: Floats, labels: NDArray[np.int64]) -> tuple[float, int] | None:
    """How many independent columns these are worth within clusters, and how many there are; None if they are few.

    With r the correlations of the residuals about the cluster means, p columns are worth p / (1 + (p − 1) r²), r² their
    mean square less what n rows give by chance: for p copies of one column 1, for independent ones p. Missing cells
    have the residual 0.
    """
    labels = labels[spread_over(len(labels), MAX_ROWS)]
    cells, own = numbers[spread_over(len(numbers), MAX_ROWS)], np.unique(labels, return_inverse=True)[1]
    cells = cells[:, spread_over(cells.shape[1], MAX_COLUMNS)]
    seen = ~np.isnan(cells)
    counts = np.maximum(np.stack([np.bincount(own, column) for column in seen.T]), 1)
    sums = np.stack([np.bincount(own, column) for column in np.where(seen, cells, 0).T])
    residuals = np.where(seen, cells - (sums / counts).T[own], 0.0)
    spread = np.sqrt((residuals**2).sum(axis=0))
    residuals = residuals[:, spread > 0] / spread[spread > 0]
    p, n = residuals.shape[1], len(own) - own.max() - 1
    if p < MIN_COLUMNS or n < MIN_ROWS:
        return None
    off = ((residuals.T @ residuals) ** 2).sum() - p
    square = max(off / (p * (p - 1)) - 1 / n, 0.0)
    return numbers.shape[1] / (1 + (numbers.shape[1] - 1) * square), numbers.shape[1]


def dependence_note(numbers: Floats, labels: NDArray[np.int64]) -> tuple[str, ...]:
    """A sentence if the columns are worth much fewer than they are."""
    found = effective_columns(numbers, labels) if numbers.shape[1] >= MIN_COLUMNS else None
    if found is None or found[0] >= BAD * found[1]:
        return ()
    return (
        f"Within clusters the {found[1]:,} numeric columns are correlated: they are worth about"
        f" {max(found[0], 1):.0f} independent ones, so that there may be too many clusters and too little"
        " uncertainty. The options projection and full=all cluster their principal components instead.",
    )
