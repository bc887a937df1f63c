"""A latent block model of a matrix: clusters of rows and of columns, and the blocks they make."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from partita._support.names import names_or_none
from partita.draws.sample import as_sample
from partita.models.networks.fit import Blocks
from partita.results.block_tables import EDGE_MODELS, blocks_table
from partita.results.drawings import Drawing
from partita.results.icl import IclPresentation
from partita.results.parts import drawing, section, subheading
from partita.results.presentation import LISTED, facts, first_names, members_of
from partita.results.sentences import fall_into
from partita.results.tables import Table, columns, table
from partita.uncertainty.certainty import item_certainty

WIDTH, HEIGHT, LEFT, TOP = 640, 420, 46, 26  # of the picture, and its margins for the numbers of clusters
NARROW = 14  # units below which a cluster has no number


class MatrixPresentation(IclPresentation):
    """A fit of a latent block model; its items are the rows."""

    kind = "matrix"
    noun = "row"
    heading = "Clusters of a matrix"
    whose = "the fit of a latent block model"
    written = ("items", "clusters", "columns", "column_clusters", "blocks", "runs", "path")
    printed: ClassVar[dict[str, int]] = {"clusters": 50, "column_clusters": 50}
    own = IclPresentation.own | facts("""
        column_labels = result.columns | cluster of each column
        column_names = column_names | names of the columns; null if they have none
        n_column_clusters = result.n_clusters.1 | number of clusters of columns""")

    @property
    def labels(self) -> NDArray[np.int64]:
        return self.result.rows  # type: ignore[no-any-return]

    @property
    def names(self) -> tuple[str, ...] | None:
        return names_or_none(self.result.graph.names)

    @property
    def column_names(self) -> tuple[str, ...] | None:
        """The names of the columns."""
        given = self.result.graph.column_names
        return None if given is None else names_or_none(given)

    def more_answer(self) -> Iterator[str]:
        yield fall_into(self.result.columns, "column")

    def settings(self) -> Iterator[tuple[str, str]]:
        fit = self.result
        yield from super().settings()
        yield "Columns", f"{len(fit.columns):,}"
        yield "Edges", f"{fit.graph.adjacency.nnz:,}"
        yield "Edge model", EDGE_MODELS[fit.edges.kind]
        if fit.graph.missing.nnz:
            yield "Missing cells", f"{fit.graph.missing.nnz:,}"

    def more_tables(self) -> Iterator[Table | None]:
        fit = self.result
        names = self.column_names or tuple(map(str, range(self.first, len(fit.columns) + self.first)))
        members = list(zip(names, fit.columns.tolist(), strict=True))
        made = table("columns", "The cluster of each column", "Column; Cluster", members, indexed=True)
        drawn = getattr(self.extras.get("draws"), "columns", None)
        if drawn is not None:
            new = columns("Certainty | Mean probability of being with the others of its cluster")
            known = item_certainty(fit.columns, as_sample(drawn)).probability.tolist()
            made = made.beside(2, new, [known])
        yield made
        rows = [(k, len(own), first_names(names, own)) for k, own in enumerate(members_of(fit.columns))]
        yield table("column_clusters", "Clusters of columns", "Cluster; Columns; First columns", rows)
        pairs = [(k, m) for k in range(fit.n_clusters[0]) for m in range(fit.n_clusters[1])]
        yield blocks_table(fit.blocks(), pairs, ("Rows", "Columns", "Edges", "Cells"), counts=fit.edges.counts)
        yield from super().more_tables()

    def clusters_table(self) -> Table:
        return replace(super().clusters_table(), caption="Clusters of rows")

    def path_table(self) -> Table:
        path = self.result.path
        rows = [(*map(int, counts), float(icl)) for counts, icl in zip(path.n_clusters, path.icl, strict=True)]
        return table("path", "Greedy merges down to one cluster of each", "Row clusters; Column clusters; ICL", rows)

    def clusters_blocks(self) -> Iterator[Any]:
        yield from (self.tables[name] for name in ("clusters", "column_clusters"))

    def more_sections(self) -> Iterator[dict[str, Any] | None]:
        tables, fit = self.tables, self.result
        told = (
            "Each rectangle is a cluster of rows (numbered at the left) and a cluster of columns (numbered at the"
            " top), as large as the block and of a stronger shade the more likely an edge is."
        )
        picture = _picture(fit.rows, fit.columns, fit.blocks(), self.first)
        yield section(
            "blocks",
            "Blocks",
            told,
            drawing("blocks", picture, "The blocks of the matrix", "Point at or tap a block for its value."),
            tables["blocks"],
        )
        members = [subheading("Columns"), tables["columns"].head(LISTED, "columns")]
        yield self.items_section("Rows and columns", *members)


def _picture(rows: NDArray[np.int64], columns: NDArray[np.int64], blocks: Blocks, first: int) -> dict[str, Any]:
    """Rectangles as large as the blocks, darker for larger means, and the numbers of the clusters beside them."""
    picture = Drawing(WIDTH + LEFT + 1, HEIGHT + TOP + 1)
    down, across = _edges(rows, HEIGHT) + TOP, _edges(columns, WIDTH) + LEFT
    top = float(blocks.mean.max()) or 1.0
    for k, (y, below) in enumerate(pairwise(down.tolist())):
        for m, (x, beyond) in enumerate(pairwise(across.tolist())):
            told = f"rows {k + first}, columns {m + first}: {blocks.mean[k, m]:.3g}"
            picture.cell(x, y, beyond - x, below - y, told, shade=float(np.sqrt(blocks.mean[k, m] / top)))
    picture.words += [(round(at, 1), TOP - 8, "middle", str(m + first)) for m, at in _middles(across)]
    picture.words += [(LEFT - 8, round(at + 4, 1), "end", str(k + first)) for k, at in _middles(down)]
    return picture.content()


def _edges(labels: NDArray[np.int64], length: int) -> NDArray[np.float64]:
    """Where each cluster begins and ends on a line of this length."""
    return np.concatenate([[0.0], np.cumsum(np.bincount(labels)) / len(labels) * length])


def _middles(edges: Sequence[float] | NDArray[np.float64]) -> Iterator[tuple[int, float]]:
    """The number and the middle of each cluster that is wide enough for its number."""
    for k, (start, end) in enumerate(pairwise(np.asarray(edges).tolist())):
        if end - start >= NARROW:
            yield k, (start + end) / 2
