"""Known labels of nodes, from a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._cells import whole_or_text
from partita._csv import Row, read_rows
from partita.models.block_fit import first_appearance
from partita.models.graph import require_names


def read_node_names(path: str | Path) -> list[Any]:
    """The first column of a CSV file with a header, whole numbers read as such."""
    return [whole_or_text(cells[0]) for _, cells in _rows(Path(path), 1)]


def read_node_labels(path: str | Path, names: Sequence[Any]) -> NDArray[np.int64]:
    """Labels of the named nodes from a CSV file with a header and the columns node, label.

    Returns canonical labels in the order of `names`. A node that the file does not know, or that the graph does not
    know, is an error.
    """
    given: dict[Any, str] = {}
    known = set(names)
    for line, row in _rows(Path(path), 2):
        name = whole_or_text(row[0])
        if name not in known:
            raise ValueError(f"{Path(path).name}: node {row[0]!r} in line {line} is not in the graph")
        if name in given:
            raise ValueError(f"{Path(path).name}: node {row[0]!r} in line {line} has a label already")
        given[name] = row[1]
    without = [name for name in names if name not in given]
    if without:
        raise ValueError(f"{Path(path).name}: node {without[0]!r} has no label")
    return first_appearance(np.array([given[name] for name in names], dtype=str))


def _rows(path: Path, columns: int) -> list[Row]:
    """The rows below the header."""
    rows = read_rows(path)
    if len(rows[0].cells) < columns:
        raise ValueError(f"{path.name}: line {rows[0].line} has {len(rows[0].cells)} fields, need {columns}")
    require_names(rows[0], [0], path.name, "node,label")
    return rows[1:]
