"""A hierarchy in Newick format, which programs for trees read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from partita.uncertainty.hierarchy import Hierarchy


def newick(tree: Hierarchy) -> str:
    """The items are the leaves; a node's label is its transfer support. Names that need it are quoted."""
    names = tree.names or tuple(map(str, range(tree.levels.shape[1])))
    written: list[str] = []
    children: dict[int, list[int]] = {}
    for node, parent in enumerate(tree.parents.tolist()):  # children come before their parents
        parts = [written[child] for child in children.get(node, [])]
        parts = parts or [_quoted(names[item]) for item in np.flatnonzero(tree.members[node])]
        written.append(parts[0] if len(parts) == 1 else f"({','.join(parts)}){_label(tree.support.transfer[node])}")
        children.setdefault(parent, []).append(node)
    top = [written[node] for node in children[-1]]
    return (top[0] if len(top) == 1 else f"({','.join(top)})") + ";"


def _label(support: float) -> str:
    return "" if np.isnan(support) else f"{support:.2f}"


def _quoted(name: str) -> str:
    """The name, in quotes if it has characters with a meaning in the format; a quote inside is doubled."""
    return name if re.fullmatch(r"[\w.+-]+", name) else "'" + name.replace("'", "''") + "'"
