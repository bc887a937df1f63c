"""Numeric columns that depend on each other: how much they do within clusters, and their principal components."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.arrays import Floats
from partita._support.validate import check_count
from partita.models.mixtures.base import log_positive
from partita.models.mixtures.cells import Cells
from partita.models.mixtures.schema import GAUSSIAN, NUMERIC, Column, Schema

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


#: Keys of the cells: the loadings with centre and spread of the columns, (columns, components + 2), and the schema.
LOADINGS, TABLE_SCHEMA = "loadings", "table_schema"
MAX_COMPONENTS = 50


def project(cells: Cells, schema: Schema, projection: Any) -> Cells:
    """The cells with the scores of the components in place of the numbers; missing cells count as column means."""
    numbers = log_positive(cells["numbers"], schema)
    if numbers.shape[1] < 2:
        raise ValueError("projection needs two numeric columns or more")
    center, spread = np.nanmean(numbers, axis=0), np.nanstd(numbers, axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    standardized = _standardized(numbers, center, spread)
    _, values, axes = np.linalg.svd(standardized - standardized.mean(axis=0), full_matrices=False)
    size = _size(projection, values, numbers.shape)
    axes = axes[:size] * np.sign(axes[:size].sum(axis=1, keepdims=True) + 1e-300)  # the same signs on every machine
    loadings = np.column_stack([center, spread, axes.T])
    return _projected(cells | {LOADINGS: loadings, TABLE_SCHEMA: cells["schema"]}, schema)


def project_new(cells: Cells, fitted: Mapping[str, NDArray[Any]]) -> Cells:
    """New rows by the components of a fit."""
    schema = Schema.from_array(fitted[TABLE_SCHEMA])
    known = {name: np.asarray(fitted[name]) for name in (LOADINGS, TABLE_SCHEMA)}
    return _projected(cells | known | {"schema": known[TABLE_SCHEMA]}, schema)


def _projected(cells: Cells, schema: Schema) -> Cells:
    center, spread, axes = cells[LOADINGS][:, 0], cells[LOADINGS][:, 1], cells[LOADINGS][:, 2:]
    scores = _standardized(log_positive(cells["numbers"], schema), center, spread) @ axes
    others = tuple(column for column in schema.columns if column.family not in NUMERIC)
    components = tuple(Column(f"component {j + 1}", GAUSSIAN) for j in range(axes.shape[1]))
    scores = np.ascontiguousarray(scores)
    scores.flags.writeable = False
    return cells | {"numbers": scores, "schema": Schema(components + others, schema.named).to_array()}


def _standardized(numbers: Floats, center: Floats, spread: Floats) -> Floats:
    return np.asarray(np.nan_to_num((numbers - center) / spread, nan=0.0))


def _size(projection: Any, values: Floats, shape: tuple[int, ...]) -> int:
    """The number of components: given, or those of larger variance than columns of independent noise have.

    Of n rows of p such columns the largest eigenvalue of the covariance matrix is about (1 + √(p / n))² (Marchenko &
    Pastur 1967).
    """
    n, p = shape
    if projection is not True:
        return min(check_count(projection, "projection", minimum=1), len(values))
    found = int((values**2 / n > (1 + np.sqrt(p / n)) ** 2).sum())
    return min(max(found, 1), MAX_COMPONENTS)
