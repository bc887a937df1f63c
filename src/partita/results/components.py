"""Tables for many clusters: how many there are of each size, and the components that are most uncertain."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita._support.arrays import Ints
from partita._support.hints import plural
from partita.estimation.result import Estimate
from partita.results.tables import Table, columns, table

#: With fewer clusters the table of the clusters itself shows all there is to see.
MANY_CLUSTERS = 100
COMPONENTS_LISTED = 200
SIZES_LISTED = 50


def components_table(estimate: Estimate, certainty: NDArray[np.float64], names: tuple[str, ...]) -> Table:
    """The components of several items, the most uncertain first.

    The doubt of a component is Σ_i (1 - certainty of item i), a score for ranking.
    """
    parts = estimate.components
    doubt = np.bincount(parts.labels, weights=1 - certainty)
    several = np.flatnonzero(parts.sizes > 1)
    listed = several[np.argsort(-doubt[several], kind="stable")][:COMPONENTS_LISTED]
    first = np.unique(parts.labels, return_index=True)[1]
    clusters = _clusters_of(parts.labels, estimate.labels, parts.count)
    rows = [
        (names[first[c]], int(parts.sizes[c]), int(clusters[c]), float(doubt[c]), "yes" if parts.is_proven[c] else "no")
        for c in listed.tolist()
    ]
    header = columns("""
        First item; Items; Clusters; Doubt | Sum over its items of 1 − certainty: a score for ranking
        Proven | Whether no partition of its items is better""")
    caption = "Components (items that are ever together), the most uncertain first"
    return Table("components", caption, header, rows, _note(estimate, several.size, len(rows)))


def _clusters_of(component: NDArray[np.int64], labels: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """The number of clusters with items of each component."""
    pairs = np.unique(component * (labels.max() + 1) + labels)
    return np.bincount(pairs // (labels.max() + 1), minlength=count)


def _note(estimate: Estimate, several: int, listed: int) -> str:
    parts = estimate.components
    alone = parts.count - several
    said = f"{plural(parts.count, 'component')}: {parts.proven:,} proven, {alone:,} of single items."
    return said if listed == several else f"{said} The {listed:,} most uncertain of the others are listed."


def sizes_table(of_clusters: Ints) -> Table:
    """How many clusters there are of each size, large ones first."""
    sizes, count = np.unique(of_clusters, return_counts=True)
    rows = list(zip(sizes.tolist(), count.tolist(), (sizes * count).tolist(), strict=True))[::-1][:SIZES_LISTED]
    return table("sizes", "Clusters by size", "Items each; Clusters; Items in all", rows)
