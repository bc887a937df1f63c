"""A partial clustering: the items that the draws cluster in the same way, and how the probability falls with more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from partita._support.hints import plural
from partita.draws.sample import PartitionSample
from partita.partitions.checks import canonical_placed
from partita.results.drawings import curve_drawing
from partita.results.parts import drawing, section
from partita.results.presentation import Note, facts
from partita.results.tables import Table, columns
from partita.results.uncertain import SampledPresentation, draws_warnings
from partita.uncertainty.partial import PartialClustering

#: Joint probabilities of the table.
PROBABILITIES = (0.99, 0.95, 0.9, 0.75, 0.5, 0.25)


class PartialPresentation(SampledPresentation):
    """A partial clustering."""

    kind = "partial"
    heading = "What can be clustered with confidence"
    whose = "a partial clustering"
    own = facts("""
        probability | joint probability that the clustered items are clustered exactly so
        n_clustered = result.n_items | number of items that are clustered
        area | area under the curve of probability against the share of items: 1 if all draws agree
        curve | joint probability of the first 1, 2, ... items that the search added
        completed | labels of all items; null if they were not asked for""")

    def more_answer(self) -> Iterator[str]:
        yield (
            f"These {plural(self.result.n_items, 'item')} are clustered in the same way with probability"
            f" {self.result.probability:.3f}."
        )

    @cached_property
    def sample(self) -> PartitionSample | None:
        """The draws of the items that are clustered."""
        sample: PartitionSample | None = self.result.sample
        if sample is None or not self.in_clusters.size:
            return None
        rows = [canonical_placed(row.astype(np.int64)) for row in sample.labels[:, self.in_clusters]]
        return replace(sample, labels=np.array(rows, sample.labels.dtype), names=None, noise=None)

    def find_notes(self) -> Iterator[Note]:
        if self.result.sample is not None:
            yield from draws_warnings(self.result.sample, self.labels)
        if self.interrupted:
            yield Note("The search was stopped early: a longer one may cluster more items.", warning=True)

    def items_table(self) -> Table:
        table, found = super().items_table(), self.result.completed
        new = columns("Completed:cluster | The cluster of the item if all are allocated")
        return table if found is None else table.beside(2, new, [found])

    def more_tables(self) -> Iterator[Table | None]:
        yield cuts_table(self.result)

    def settings(self) -> Iterator[tuple[str, str]]:
        yield from super().settings()
        if self.result.sample is not None:
            yield "Draws", f"{self.result.sample.n_draws:,}"
        yield "Joint probability", f"{self.result.probability:.3f}"

    def more_sections(self) -> Iterator[dict[str, Any] | None]:
        yield partial_section(self.result, self.first)
        yield self.items_section()


def cuts_table(partial: PartialClustering) -> Table:
    """How many items can be clustered at several joint probabilities."""
    cuts = [(wanted, partial.cut(wanted)) for wanted in PROBABILITIES]
    rows = [(wanted, cut.n_items, int(cut.labels.max()) + 1, cut.probability) for wanted, cut in cuts]
    header = columns("""
        At least | Joint probability that is asked for
        Items | How many items the draws then cluster in the same way
        Clusters
        Probability | Probability that all these items are clustered in exactly this way""")
    return Table("partial", "Partial clusterings", header, rows)


def partial_section(partial: PartialClustering, first: int) -> dict[str, Any]:
    """How many items can be clustered with how much confidence."""
    told = (
        f"{partial.n_items:,} of {plural(partial.labels.size, 'item')} are clustered in the same way with probability"
        f" {partial.probability:.3f}. The curve is the joint probability of the items in the order in which the search"
        f" added them; the area under it, as a share, is {partial.area:.3f}: 1 if all draws agree on all items."
    )
    curve = curve_drawing(partial.curve, partial.labels.size)
    picture = drawing("partial", curve, "Joint probability against the number of clustered items")
    return section("partial", "Partial clustering", told, picture, cuts_table(partial))
