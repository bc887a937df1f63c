"""The items that are uncertain, and the map of the similarities: for kinds of results that have draws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from partita._support.arrays import Floats, Labels
from partita.draws.sample import PartitionSample
from partita.estimation.convergence import sample_warnings
from partita.losses.expected import unique_distances
from partita.losses.losses import VI
from partita.partitions.labels import each_alone
from partita.results.blocks import next_clusters
from partita.results.figures import map_figure
from partita.results.heatmap import HeatMap
from partita.results.parts import button, figure, note, section
from partita.results.presentation import Note, cautions
from partita.results.tables import Table, columns

LISTED = 1000  # rows of a table on a page
#: Labels of distinct draws up to which summaries of the chains take a moment.
MIXING_CELLS = 12_000_000


def draws_warnings(sample: PartitionSample, labels: Labels) -> Iterator[Note]:
    """Chains that have not mixed, and a small effective sample size; nothing if computing these would take long."""
    if sample.n_unique * sample.n_items <= MIXING_CELLS:
        distance = unique_distances(each_alone(labels), sample, VI())
        yield from cautions(sample_warnings(sample, distance))


def uncertain_table(
    labels: Labels, certainty: Floats, names: tuple[str, ...], sample: Any, noun: str = "item"
) -> Table:
    """The least certain items, with the other cluster that each is most often with."""
    known = np.nan_to_num(certainty)
    first = np.argsort(known, kind="stable")[:LISTED]
    told = "Mean probability of being with the other members of its cluster"
    header = columns(f"{noun.capitalize()}; Cluster; Certainty | {told}")
    cells: list[list[Any]] = [[names[i] for i in first.tolist()], labels[first].tolist(), known[first].tolist()]
    if labels.max() > 0:
        header += columns("""
            Next cluster | The other cluster with the highest mean similarity
            Affinity | Mean probability of being with the members of that cluster""")
        cells += [found.tolist() for found in next_clusters(labels, sample, first)]
    note = f"The {LISTED:,} least certain of {len(labels):,} {noun}s." if len(labels) > LISTED else None
    rows = list(zip(*cells, strict=True))
    return Table("uncertain", f"{noun.capitalize()}s, least certain first", header, rows, note, True, True)


def uncertain_section(table: Table, noun: str = "item") -> dict[str, Any]:
    """The items that are least certain, and the button for all of them."""
    title = f"{noun.capitalize()}s"
    return section("items", f"{title} to look at first", button(), replace(table, id="items"), menu=title)


def listed_rows(table: Table, column: int, most: int, what: str) -> Table:
    """The rows with the smallest values of a column, in their order."""
    order = sorted(range(len(table.rows)), key=lambda row: table.rows[row][column])[:most]
    note = f"The {most:,} least certain of {len(table.rows):,} {what}."
    return Table(table.id, table.caption, table.columns, [table.rows[row] for row in sorted(order)], note)


def map_section(
    heat: HeatMap | None, labels: Labels, names: tuple[str, ...], told: str, title: str, what: str
) -> dict[str, Any]:
    """The map of the items in clusters, with their names if a row is an item; a sentence if it would be blank.

    `told` says what a cell is, and `what` what the clusters are those of.
    """
    if heat is None:
        empty = (
            f"The map is omitted: with {len(labels):,} items and such small clusters it would be blank. The tables show"
            " what is uncertain."
        )
        return section("map", title, note(empty), menu=title.partition(" of")[0])
    told = (
        f"{told} Items are ordered by cluster, and within a cluster so that neighbours are similar; the boxes are the"
        f" clusters of the {what}."
    )
    most = int(np.diff(heat.edges).max())
    many = (
        f"There are too many items to show every pair. Each cell is the mean over up to {most:,} × {most:,} pairs"
        " of neighbours; within a cluster the most certain items come first."
    )
    data = map_figure(heat, labels, None if heat.aggregated else names)
    picture = figure("map", "map", data, f"{title.partition(' of')[0].removesuffix(' map')} map")
    blocks = (told, note(many) if heat.aggregated else None, picture)
    return section("map", title, *blocks, menu=title.partition(" of")[0])
