"""Options of the commands that read a network."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

EdgeFile = Annotated[
    Path,
    typer.Argument(
        help="Edge list: csv with a header; columns source, target (or from, to), maybe weight. Or .graphml, .gml."
    ),
]
Undirected = Annotated[bool, typer.Option("--undirected", help="Edges have no direction.")]
Loops = Annotated[bool, typer.Option("--loops", help="A node may link to itself.")]
Counts = Annotated[bool, typer.Option("--counts", help="Weights are counts of edges.")]
BlockKind = Annotated[
    str, typer.Option(help="free, or affiliation: one edge parameter within clusters, one between them.")
]
DegreeCorrected = Annotated[bool, typer.Option("--degree-corrected", help="Nodes of a cluster may differ in degree.")]
EdgeColumns = Annotated[
    str | None,
    typer.Option(help="Columns of the two ends of an edge and optionally its weight, as in source,target,weight."),
]
NodeFile = Annotated[Path | None, typer.Option(help="csv whose first column names all nodes.")]


def read_graph(edges: Path, *, undirected: bool, counts: bool, columns: str | None, nodes: Path | None) -> Any:
    """The network of a file, as the options say."""
    from partita.models import as_graph
    from partita.models.blocks.node_labels import read_node_names

    names = None if nodes is None else read_node_names(nodes)
    chosen = None if columns is None else [name.strip() for name in columns.split(",")]
    return as_graph(edges, directed=not undirected, counts=counts, nodes=names, columns=chosen)
