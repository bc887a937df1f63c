"""Networks in GraphML and GML files, read by networkx."""

from __future__ import annotations

from pathlib import Path
from typing import Any

NETWORK_FILES = (".graphml", ".gml")


def read_network(path: Path) -> Any:
    """The networkx graph of a GraphML or GML file; nodes are named by their ids in GraphML, by their labels in GML."""
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
        raise ValueError(f"graph: {path.name} is no {kind} file: {error}") from None
