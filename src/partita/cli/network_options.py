"""Options of the commands that read a network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import partita as pt
from partita._support.text.cells import whole_or_text
from partita.cli.inputs import split_names
from partita.cli.option import arg

EdgeFile = Annotated[
    Path,
    arg("Edge list: csv with a header; columns source, target (or from, to), optionally weight. Or .graphml, .gml."),
]
Counts = Annotated[bool, "Weights are counts of edges."]
Weights = Annotated[str | None, "What weights are: counts, real (any number), categories (1, 2, …) or signed (-1, 1)."]
DegreeCorrected = Annotated[bool, "Nodes of a cluster may differ in degree."]


def edge_kind(counts: bool, weights: str | None) -> str:
    """The kind of edges that `--counts` and `--weights` say.

    >>> edge_kind(False, "real"), edge_kind(True, None), edge_kind(False, None)
    ('real', 'counts', 'binary')
    """
    from partita.models.networks.edge_list import KINDS

    kinds = KINDS[1:]
    if weights is not None and weights not in kinds:
        raise ValueError(f"--weights must be {', '.join(kinds[:-1])} or {kinds[-1]}, but it is {weights}")
    if counts and weights not in (None, "counts"):
        raise ValueError(f"--counts says that weights are counts, but --weights is {weights}")
    return "counts" if counts else weights or "binary"


@dataclass(frozen=True)
class Network:
    """How to read a network, and its block model."""

    undirected: Annotated[bool, "Edges have no direction."] = False
    loops: Annotated[bool, "A node may link to itself."] = False
    counts: Counts = False
    weights: Weights = None
    blocks: Annotated[str, "free, or affiliation: one edge parameter within clusters, one between them."] = "free"
    degree_corrected: DegreeCorrected = False
    columns: Annotated[
        str | None, "Columns of the two ends of an edge and optionally its weight, as in source,target,weight."
    ] = None
    nodes: Annotated[Path | None, "csv whose first column names all nodes."] = None

    @property
    def kind(self) -> str:
        """The kind of edges."""
        return edge_kind(self.counts, self.weights)

    def read(self, edges: Path, others: Sequence[str] = ()) -> Any:
        """The network of a file; `others` are nodes even if they have no edges."""
        from partita.models.networks.edge_list import read_node_names

        names = None if self.nodes is None else read_node_names(self.nodes)
        chosen = split_names(self.columns) or None

        def read(nodes: Any) -> Any:
            how: dict[str, Any] = {"directed": not self.undirected, "edges": self.kind, "columns": chosen}
            return pt.models.as_graph(edges, nodes=nodes, **how)

        graph = read(names)
        known = set(map(str, graph.names))
        alone = [whole_or_text(name) for name in others if name not in known]
        return read([*graph.names, *alone]) if alone else graph

    def nested_model(self) -> Any:
        """The nested block model of such a network."""
        from partita.models.networks.nested import EDGE_KINDS

        if self.blocks != "free":
            raise ValueError("--nested cannot be used together with --blocks")
        if self.kind not in EDGE_KINDS:
            raise ValueError(f"--nested takes binary or counted edges, not --weights {self.weights}")
        settings: dict[str, Any] = {"edges": self.kind, "degree_corrected": self.degree_corrected}
        return pt.models.NestedBlockModel(not self.undirected, self.loops, **settings)

    def model(self) -> Any:
        """The block model of such a network."""
        settings: dict[str, Any] = {"blocks": self.blocks, "degree_corrected": self.degree_corrected}
        return pt.models.StochasticBlockModel(not self.undirected, self.loops, edges=self.kind, **settings)
