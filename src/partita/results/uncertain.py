"""Kinds of results with draws: the items that are uncertain, and the map of the similarities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
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
from partita.results.heatmap import HeatMap, has_map, heat_map
from partita.results.parts import button, figure, note, section
from partita.results.presentation import Note, Presentation, cautions
from partita.results.tables import Table, columns
from partita.uncertainty.certainty import item_certainty

LISTED = 1000  # rows of a table on a page
#: Labels of distinct draws up to which summaries of the chains take a moment.
MIXING_CELLS = 12_000_000


def draws_warnings(sample: PartitionSample, labels: Labels) -> Iterator[Note]:
    """Chains that have not mixed, and a small effective sample size; nothing if computing these would take long."""
    if sample.n_unique * sample.n_items <= MIXING_CELLS:
        distance = unique_distances(each_alone(labels), sample, VI())
        yield from cautions(sample_warnings(sample, distance))


class SampledPresentation(Presentation):
    """A result whose draws, or base clusterings, say which items are uncertain: their table, and the map of all."""

    @property
    def sample(self) -> PartitionSample | None:
        """The draws of the items in clusters; None if there are none."""
        raise NotImplementedError

    @cached_property
    def in_clusters(self) -> Labels:
        """The items in clusters."""
        return np.flatnonzero(self.labels >= 0)

    @cached_property
    def certainty(self) -> Floats | None:
        """Mean probability, by the draws, of each item of being with the others of its cluster."""
        if self.sample is None:
            return None
        found = np.full(len(self.labels), np.nan)
        found[self.in_clusters] = item_certainty(self.labels[self.in_clusters], self.sample).probability
        return found

    @cached_property
    def names_in_clusters(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(self.item_names[i] for i in self.in_clusters.tolist())

    @cached_property
    def heat(self) -> HeatMap | None:
        """The map of their similarities; None if it would be empty."""
        labels = self.labels[self.in_clusters]
        return heat_map(labels, self.known, self.sample) if self.sample is not None and has_map(labels) else None

    @property
    def known(self) -> Floats:
        """Their certainty, 0 where it is unknown."""
        assert self.certainty is not None
        return np.nan_to_num(self.certainty[self.in_clusters])

    def uncertain_table(self) -> Table | None:
        """The least certain items, with the other cluster that each is most often with; None without draws."""
        if self.sample is None:
            return None
        labels, known, noun = self.labels[self.in_clusters], self.known, self.noun
        first = np.argsort(known, kind="stable")[:LISTED]
        told = "Mean probability of being with the other members of its cluster"
        header = columns(f"{noun.capitalize()}; Cluster; Certainty | {told}")
        names = [self.names_in_clusters[i] for i in first.tolist()]
        cells: list[list[Any]] = [names, labels[first].tolist(), known[first].tolist()]
        if labels.max() > 0:
            header += columns("""
                Next cluster | The other cluster with the highest mean similarity
                Affinity | Mean probability of being with the members of that cluster""")
            cells += [found.tolist() for found in next_clusters(labels, self.sample, first)]
        note = f"The {LISTED:,} least certain of {len(labels):,} {noun}s." if len(labels) > LISTED else None
        rows = list(zip(*cells, strict=True))
        return Table("uncertain", f"{noun.capitalize()}s, least certain first", header, rows, note, True, True)

    def uncertain_section(self) -> dict[str, Any]:
        """The items that are least certain, and the button for all of them."""
        title, found = f"{self.noun.capitalize()}s", replace(self.tables["uncertain"], id="items")
        return section("items", f"{title} to look at first", button(), found, menu=title)

    def map_section(self, told: str, title: str, what: str) -> dict[str, Any]:
        """The map of the items in clusters, with their names if a row is an item; a sentence if it would be blank.

        `told` says what a cell is, and `what` what the clusters are those of.
        """
        labels, heat, menu = self.labels[self.in_clusters], self.heat, title.partition(" of")[0]
        if heat is None:
            empty = (
                f"The map is omitted: with {len(labels):,} items and such small clusters it would be blank. The tables"
                " show what is uncertain."
            )
            return section("map", title, note(empty), menu=menu)
        told = (
            f"{told} Items are ordered by cluster, and within a cluster so that neighbours are similar; the boxes are"
            f" the clusters of the {what}."
        )
        most = int(np.diff(heat.edges).max())
        many = (
            f"There are too many items to show every pair. Each cell is the mean over up to {most:,} × {most:,} pairs"
            " of neighbours; within a cluster the most certain items come first."
        )
        data = map_figure(heat, labels, None if heat.aggregated else self.names_in_clusters)
        picture = figure("map", "map", data, f"{menu.removesuffix(' map')} map")
        return section("map", title, told, note(many) if heat.aggregated else None, picture, menu=menu)


def listed_rows(table: Table, column: int, most: int, what: str) -> Table:
    """The rows with the smallest values of a column, in their order."""
    order = sorted(range(len(table.rows)), key=lambda row: table.rows[row][column])[:most]
    note = f"The {most:,} least certain of {len(table.rows):,} {what}."
    return Table(table.id, table.caption, table.columns, [table.rows[row] for row in sorted(order)], note)
