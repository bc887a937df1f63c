"""A block model of a network: clusters of nodes, blocks, uncertain nodes, the matrix and a drawing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from partita.models.networks.nested import NestedBlockModel, NestedFit
from partita.results.block_tables import EDGE_MODELS, all_blocks, blocks_table
from partita.results.colors import shades
from partita.results.extras import extra_sections
from partita.results.icl import IclPresentation
from partita.results.network_matrix import PIXELS, matrix_map
from partita.results.parts import figure, listed, section
from partita.results.presentation import Note, Presentation, facts
from partita.results.tables import Column, Table, columns

if TYPE_CHECKING:
    from partita.models.networks.graph import Graph

LARGEST_DRAWN = 300  # nodes of a network that is drawn


class NetworkPresentation(IclPresentation):
    """A fit of a block model, with draws of its posterior and the score of hidden dyads if they are given."""

    kind = "network"
    noun = "node"
    heading = "Clusters of a network"
    whose = "the fit of a block model"
    takes: ClassVar[dict[str, str]] = {
        **IclPresentation.takes,
        "partita.models.networks.prediction.HeldOut": "held_out",
        "partita.models.networks.prediction.ModelComparison": "models",
    }
    written = ("items", "clusters", "blocks", "levels", "runs", "path", "models")
    printed: ClassVar[dict[str, int]] = Presentation.printed | {"models": 50}
    own = IclPresentation.own | facts("""
        directed = result.edges.directed | whether edges have a direction
        levels = level_facts | clusters and ICL of each level of a nested model, fine to coarse; null for a flat one
        held_out = held_out_facts | prediction of hidden dyads; null if it was not computed
        models = model_facts | block models that were compared, the best first; null without a comparison""")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(map(str, self.result.graph.names))

    def of_what(self) -> str:
        """The network."""
        directed = self.result.edges.directed
        edges = n_edges(self.result.graph, directed)
        return f" of the {'directed' if directed else 'undirected'} network with {edges:,} edges"

    def more_answer(self) -> Iterator[str]:
        scored = self.extras.get("held_out")
        if scored is not None:
            hidden = f"{scored.n_pairs:,} pairs of nodes, {scored.n_edges:,} of them linked, were hidden from the model"
            yield f"{hidden}, which predicts them {_verdict(scored)} than the density of the network alone."

    @cached_property
    def details(self) -> str:
        """The criterion and, for a nested model, what the runs are about."""
        if not isinstance(self.result, NestedFit):
            return super().details
        counts = ", ".join(str(level.n_clusters) for level in self.result.levels)
        return (
            f"{super().details} This is about the flat search that the levels were refined from. Levels from fine to"
            f" coarse: {counts} clusters."
        )

    @property
    def can_be_sampled(self) -> bool:
        """Not one layer of several, and not a nested model."""
        return self.result.model is not None and not isinstance(self.result, NestedFit)

    def find_notes(self) -> Iterator[Note]:
        yield from super().find_notes()
        if "held_out" not in self.extras and self.result.model is not None:
            yield Note(
                "Whether the model predicts unseen edges is not known: hiding some and fitting again would tell."
            )

    @property
    def level_facts(self) -> list[dict[str, Any]] | None:
        """Clusters and ICL of each level of a nested model."""
        return [{"n_clusters": at.n_clusters, "icl": at.icl} for at in getattr(self.result, "levels", ())] or None

    @property
    def held_out_facts(self) -> dict[str, Any] | None:
        """The prediction of hidden dyads."""
        scored, names = self.extras.get("held_out"), ("n_pairs", "n_edges", "auc", "log_score", "baseline")
        return None if scored is None else {name: getattr(scored, name) for name in names}

    @property
    def model_facts(self) -> list[dict[str, Any]] | None:
        """The models that were compared."""
        compared = self.extras.get("models")
        if compared is None:
            return None
        return [dict(zip(compared.header(), row, strict=True)) for row in compared.cells()]

    def settings(self) -> Iterator[tuple[str, str]]:
        fit, edges = self.result, self.result.edges
        yield from super().settings()
        yield "Edges", f"{n_edges(fit.graph, edges.directed):,}, {'directed' if edges.directed else 'undirected'}"
        yield "Loops", "allowed" if edges.loops else "not allowed"
        yield "Edge model", EDGE_MODELS[edges.kind]
        blocks = "free"
        if isinstance(fit, NestedFit):
            yield "Levels", ", ".join(f"{level.n_clusters:,} clusters" for level in fit.levels)
            blocks = "free, with priors whose means are shared by groups of clusters"
        yield "Blocks", "affiliation: one parameter inside clusters, one between" if edges.affiliation else blocks
        if edges.degree_corrected:
            yield "Degree correction", f"yes{'' if edges.loops else '; without loops the ICL is an approximation'}"
        if fit.graph.missing.nnz:
            yield "Missing dyads", f"{fit.graph.missing.nnz:,}"

    def clusters_table(self) -> Table:
        """With the edge probability (or rate) within each cluster."""
        table, blocks = super().clusters_table(), self.result.blocks()
        mean = blocks.mean
        name = "Rate within" if self.result.edges.counts else "Probability within"
        known = [float(mean[k, k]) if blocks.dyads[k, k] else None for k in range(len(mean))]
        return table.beside(len(table.columns) - 1, (Column(name, "rate"),), [known])

    def more_tables(self) -> Iterator[Table | None]:
        yield all_blocks(self.result.blocks())
        yield self._levels()
        yield self._models()
        yield from super().more_tables()

    def _levels(self) -> Table | None:
        """The group of each node on every level; None for a flat model."""
        if not isinstance(self.result, NestedFit):
            return None
        levels = self.result.levels
        columns = (Column("Node", "text"), *(Column(f"level_{at}", "cluster") for at in range(len(levels))))
        rows = list(zip(self.item_names, *(level.labels.tolist() for level in levels), strict=True))
        return Table("levels", "Groups of the nodes from fine to coarse", columns, rows, indexed=True)

    def _models(self) -> Table | None:
        compared = self.extras.get("models")
        if compared is None:
            return None
        header = columns("""
            Model; Clusters; ICL; Scale | ICLs are compared within a scale
            ICL deficit | Below the best of the same scale
            Exact:text | Whether the ICL is exact, not approximate
            AUC | Of hidden dyads
            Log score | Mean log probability of hidden dyads; higher is better""")
        rows = [
            (name, *row[1:5], "yes" if row[5] else "no", *row[6:])
            for name, row in zip(model_names([row.model for row in compared.rows]), compared.cells(), strict=True)
        ]
        return Table("models", "Block models, the best first", header, rows)

    # The page.

    def more_sections(self) -> Iterator[dict[str, Any] | None]:
        fit, tables = self.result, self.tables
        if self.sample is not None:
            yield self.members_section()
        if "held_out" in self.extras:
            yield _prediction(self.extras["held_out"])
        yield section("models", "Comparison of models", tables["models"]) if "models" in tables else None
        yield _blocks_section(fit)
        yield section(
            "matrix",
            "Matrix in the order of the clusters",
            _matrix_words(len(fit.labels)),
            figure("map", "map", matrix_map(fit), "Matrix sorted by cluster"),
            menu="Matrix",
        )
        yield self._drawing_section()
        yield self._levels_section()
        yield self.members_section() if self.sample is None else None

    def _drawing_section(self) -> dict[str, Any] | None:
        """The network, if it is small."""
        fit, n = self.result, len(self.labels)
        if n > LARGEST_DRAWN:
            return None
        try:
            import networkx as nx
        except ImportError:
            return None
        graph = nx.from_scipy_sparse_array(fit.graph.adjacency)
        layout = nx.spring_layout(graph, seed=1, k=2 / np.sqrt(n))
        place = np.array([layout[i] for i in range(n)])
        low, high = place.min(axis=0), place.max(axis=0)
        place = (place - low) / np.where(high > low, high - low, 1.0)
        data = {
            "x": place[:, 0].round(4).tolist(),
            "y": place[:, 1].round(4).tolist(),
            "links": [(i, j) for i, j in graph.edges() if i != j],
            "labels": fit.labels.tolist(),
            "names": list(self.item_names),
            "colors": shades(),
        }
        caption = "Clusters differ by colour and, beyond seven, by shape."
        hint = "Point at or tap a node for its name."
        picture = figure("drawing", "network", data, "The network, its nodes coloured by cluster", caption, hint)
        return section("drawing", "Network", picture)

    def _levels_section(self) -> dict[str, Any] | None:
        """The levels of a nested model, and the groups of every cluster."""
        fit = self.result
        if not isinstance(fit, NestedFit):
            return None
        rows = []
        for at, level in enumerate(fit.levels):
            sizes = np.bincount(level.labels)
            rows.append((at, level.n_clusters, int(sizes.min()), int(sizes.max()), level.icl))
        header = columns("""
            Level; Clusters; Smallest; Largest; ICL | If the levels below were left out""")
        first = np.unique(fit.labels, return_index=True)[1]
        members = [tuple(int(level.labels[i]) for level in fit.levels) for i in first]
        names = tuple(
            Column("Cluster" if at == 0 else f"Group, level {at}", "cluster") for at in range(len(fit.levels))
        )
        told = (
            "Clusters of nodes, groups of clusters, and so on: blocks between the same two groups share the mean of"
            " their prior."
        )
        tables = (
            Table("levels", "Levels from fine to coarse", header, rows),
            Table("groups", "The groups of each cluster", names, members),
        )
        return section("levels", "Levels", told, *tables[: len(fit.levels)])  # groups are of several


def model_names(models: Sequence[Any]) -> list[str]:
    """What tells block models of one network apart, in words; all settings of those that this does not tell apart."""
    words = []
    for model in models:
        kinds = {
            "nested": isinstance(model, NestedBlockModel),
            "degree correction": model.degree_corrected,
            "affiliation": getattr(model, "blocks", "free") == "affiliation",
        }
        words.append(", ".join(kind for kind, holds in kinds.items() if holds) or "free blocks")
    return [word if words.count(word) == 1 else repr(model) for word, model in zip(words, models, strict=True)]


def n_edges(graph: Graph, directed: bool) -> int:
    """The number of linked pairs (with a direction, if edges have one) and loops."""
    loops = int(np.count_nonzero(graph.adjacency.diagonal()))
    entries = int(graph.adjacency.nnz)
    return entries if directed else (entries - loops) // 2 + loops


def _blocks_section(fit: Any, name: str = "blocks", title: str = "Blocks") -> dict[str, Any]:
    """The blocks of a network, or of one layer."""
    n, counts, directed = fit.n_clusters, fit.edges.counts, fit.edges.directed
    pairs = [(k, m) for k in range(n) for m in range(0 if directed else k, n)]
    what = "How many edges a node of one cluster has to" if counts else "How likely a node of one cluster links to"
    told = f"{what} a node of another{' on average' if counts else ''}, given the partition."
    blocks = blocks_table(fit.blocks(), pairs, ("From", "To", "Edges", "Dyads"), counts=counts)
    if name != blocks.id:
        blocks = replace(blocks, id=name, caption=f"{title}: {blocks.caption.lower()}")
    return section(name, title, told, blocks)


def _matrix_words(n: int) -> str:
    if n <= PIXELS:
        return "Rows and columns sorted by cluster; each cell is one dyad, coloured if there is an edge."
    many = f"{round(n / PIXELS)} × {round(n / PIXELS)}"
    return f"Rows and columns sorted by cluster; each cell is about {many} dyads, with a stronger shade for more edges."


def _prediction(scored: Any) -> dict[str, Any]:
    told = (
        "A share of the dyads was hidden, the model fitted to the others, and the hidden ones predicted:"
        f" {_verdict(scored)} than by the density of the network alone."
    )
    rows = [
        ("Hidden dyads", f"{scored.n_pairs:,}, {scored.n_edges:,} of them edges"),
        ("AUC", "–" if np.isnan(scored.auc) else f"{scored.auc:.3f}"),
        ("Mean log score", f"{scored.log_score:.4f}".replace("-", "−")),
        ("Density baseline", f"{scored.baseline:.4f}".replace("-", "−")),
    ]
    return section("prediction", "Prediction of hidden dyads", told, listed(rows), menu="Prediction")


def _verdict(scored: Any) -> str:
    return "better" if scored.log_score > scored.baseline else "no better"


class LayersPresentation(IclPresentation):
    """A fit of several networks on the same nodes, and of tables of them."""

    kind = "layers"
    noun = "node"
    heading = "Clusters by several sources"
    whose = "the fit of a layered block model"
    takes: ClassVar[dict[str, str]] = {
        **IclPresentation.takes,
        "partita.profiling.profiles.Profiles": "profiles",
    }
    written = (*IclPresentation.written, "layers")
    printed: ClassVar[dict[str, int]] = Presentation.printed | {"layers": 50}
    own = IclPresentation.own | facts("""
        evidence = result.evidence | log Bayes factor of these clusters against a single one, by each layer
        shares = share_facts | each layer's share of the evidence of all; null if that is not above 0""")

    @property
    def names(self) -> tuple[str, ...] | None:
        return tuple(map(str, self.result.names))

    @property
    def share_facts(self) -> dict[str, float] | None:
        """The shares, if there is evidence to be shared."""
        shares = self.result.shares
        return None if np.isnan(list(shares.values())).any() else shares

    def more_answer(self) -> Iterator[str]:
        shares = self.share_facts
        if shares is None:
            return
        found = [f"{share:.0%} is from {name}" for name, share in shares.items() if share > 0]
        yield f"Of the evidence for these clusters against a single one, {' and '.join(found)}."
        against = [name for name, share in shares.items() if share <= 0]
        if against:
            yield f"There is evidence against them in {' and '.join(against)}."

    def more_tables(self) -> Iterator[Table | None]:
        header = columns("""
            Layer
            Observations:number | Edges of a network, observed cells of a table
            ICL | Of the layer alone
            Evidence:log | log p(layer given the clusters) − log p(layer given one cluster); below 0: against them
            Share | Of the evidence of all layers""")
        fit = self.result
        rows = [
            (
                name,
                _observations(own, fit.data[name]),
                float(own.icl),
                fit.evidence[name],
                (self.share_facts or {}).get(name),
            )
            for name, own in fit.layers.items()
        ]
        yield Table("layers", "Layers", header, rows)
        yield from super().more_tables()

    def more_sections(self) -> Iterator[dict[str, Any] | None]:
        yield section("layers", "Layers", self.tables["layers"])
        yield from extra_sections(self, first=True)
        for at, (name, fit) in enumerate(self.result.layers.items()):
            if hasattr(fit, "blocks"):
                yield _blocks_section(fit, f"blocks-{at}", f"Blocks of {name}")
        yield self.members_section()


def _observations(fit: Any, data: Any) -> int:
    """Edges of a network, observed cells of a table."""
    if hasattr(fit, "edges"):
        return n_edges(fit.graph, fit.edges.directed)
    return sum(int(column.observed().sum()) for column in data.columns)
