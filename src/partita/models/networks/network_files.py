"""Networks in GraphML and GML files, read by networkx."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from partita._support.errors import ArgumentError, Sentence, Setting, Within
from partita.models.networks.edge_list import as_weight, check_binary, check_columns

NETWORK_FILES = (".graphml", ".gml")


def read_network(path: Path, columns: Sequence[str] | None, kind: str) -> Any:
    """The networkx graph of a GraphML or GML file; nodes are named by their ids in GraphML, by their labels in GML.

    Weights are the edges' attribute "weight", or the third of `columns`; with two columns there are none.
    """
    if columns is not None:
        check_columns(columns)
    wanted = "weight" if columns is None else columns[2] if len(columns) == 3 else None
    network = _parsed(path)
    for i, j, data in network.edges(data=True):
        place = f"the edge from {i} to {j} of {path.name}"
        if columns is not None and wanted is not None and wanted not in data:
            raise ArgumentError(Within("graph"), f"{place} has no attribute {wanted!r}")
        weight = data.get(wanted)
        data.pop("weight", None)
        if weight is not None:
            data["weight"] = as_weight(weight, place)
            if kind == "binary":
                ends = Setting("columns", ("source", "target"))
                check_binary(data["weight"], place, Sentence(", ", ends, f" leaves {wanted} out"))
    return network


def _parsed(path: Path) -> Any:
    try:
        import networkx as nx
    except ImportError:
        raise ImportError("GraphML and GML files need networkx: pip install 'partita[graph]'") from None
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist")
    try:
        return nx.read_graphml(path) if path.suffix.lower() == ".graphml" else nx.read_gml(path)
    except Exception as error:  # the parsers of networkx raise errors of many kinds for a file that is not well formed
        kind = "GraphML" if path.suffix.lower() == ".graphml" else "GML"
        raise ArgumentError(Within("graph"), f"{path.name} is no {kind} file: {error}") from None
