"""The probabilities of the clusters for each item: columns of its table, and a stacked strip on the page."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from partita._support.arrays import Floats
from partita.results.colors import shades
from partita.results.drawings import LEFT, RIGHT, TOP, WIDTH, Drawing
from partita.results.parts import drawing, section
from partita.results.tables import Column
from partita.uncertainty.memberships import OTHER, Memberships

#: With more clusters, or more numbers in all, there are no columns of memberships.
MOST_CLUSTERS, MOST_NUMBERS = 50, 5_000_000
#: Names of the columns in files: this, and the number of the cluster or "other".
PREFIX = "p_"
STRIPS, HEIGHT = 180, 150
KEY = "Each cluster has the colour that fills most of the strips above its number."
#: Shares that are too small to be drawn.
UNSEEN = 0.005
GREY = "#9A9A9A"
NARROW = 14  # units below which a cluster has no number


def is_shown(n_items: int, n_clusters: int) -> bool:
    """Whether tables and pages have the memberships."""
    return 0 < n_clusters <= MOST_CLUSTERS and n_items * (n_clusters + 1) <= MOST_NUMBERS


def membership_columns(n_clusters: int, first: int) -> tuple[Column, ...]:
    """One column per reported cluster, and "other"."""
    names = {str(number): f"cluster {number}" for number in range(first, n_clusters + first)}
    names[OTHER] = "a cluster that is not reported"
    return tuple(Column(f"In {k}", "share", f"Probability of {told}", key=PREFIX + k) for k, told in names.items())


def membership_section(found: Memberships, first: int) -> dict[str, Any]:
    """The items as thin stacked strips, in the order of the clusters, the surest first."""
    told = (
        "The probability of each reported cluster for each item, in the order of the clusters and the surest items of"
        f" each first; grey is a cluster that is not reported ({np.nanmean(found.other):.1%} on average)."
        " Certainty, by contrast, says how firmly the items of a cluster hold together."
    )
    picture = drawing("memberships", _strips(found, first), "Probabilities of the clusters, one strip per item", KEY)
    return section("memberships", "Memberships", told, picture)


def _strips(found: Memberships, first: int) -> dict[str, Any]:
    """Neighbouring items share a strip if there are many."""
    known = np.flatnonzero(~np.isnan(found.other))
    place = np.where(found.labels[known] < 0, found.n_clusters, found.labels[known])
    order = known[np.lexsort((-np.nan_to_num(found.own[known]), place))]
    palette, parts = shades(), np.array_split(order, min(STRIPS, len(order)))
    made = Drawing(WIDTH, TOP + HEIGHT + 40)
    width = (WIDTH - LEFT - RIGHT) / len(order)
    start = float(LEFT)
    for part in parts:
        shares: Floats = found.probabilities[part].mean(axis=0)
        bottom = float(TOP + HEIGHT)
        for cluster in np.flatnonzero(shares > UNSEEN).tolist():
            other = cluster == found.n_clusters
            name = OTHER if other else f"cluster {cluster + first}"
            height = HEIGHT * float(shares[cluster])
            colour = GREY if other else palette[cluster % len(palette)]
            made.cell(start, bottom - height, width * len(part), height, f"{name}: {shares[cluster]:.2f}", colour)
            bottom -= height
        start += width * len(part)
    for share in (0, 0.5, 1):
        made.words.append((LEFT - 8, TOP + HEIGHT * (1 - share) + 4, "end", f"{share:g}"))
    made.words.append((0, TOP - 16, "start", "probability"))
    ends = LEFT + width * np.cumsum(np.bincount(place, minlength=found.n_clusters))[: found.n_clusters]
    for cluster, (left, right) in enumerate(pairwise([LEFT, *ends.tolist()])):
        if right - left >= NARROW:
            made.words.append(((left + right) / 2, TOP + HEIGHT + 16, "middle", str(cluster + first)))
    made.words.append(((LEFT + WIDTH - RIGHT) / 2, TOP + HEIGHT + 34, "middle", "items, by cluster"))
    return made.content()
