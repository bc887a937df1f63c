"""Known labels of nodes, from a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.hints import listed
from partita._support.text.cells import is_number, whole_or_text
from partita._support.text.header import Kind, shown
from partita._support.text.table import Table, read_table, split_column

NODES = Kind("node", "put node,label above it", is_header=lambda cells: not is_number(cells[0]))
LABEL_NAMES = ("label", "labels", "cluster")


def read_node_names(path: str | Path) -> list[Any]:
    """The first column of a CSV file with a header, whole numbers read as such."""
    return list(map(whole_or_text, _table(path, []).columns[0]))


def read_node_labels(path: str | Path, names: Sequence[Any]) -> NDArray[np.str_]:
    """Labels of the named nodes from a CSV file with a header and the columns node, label.

    Of more columns than two, the one named label or cluster is read, or that of `file.csv:column`. Returns the labels
    as texts, in the order of `names`. A node that the file does not know, or that the graph does not know, is an error.
    """
    source, column = split_column(str(path))
    file = Path(source).name
    table = _table(source, [] if column is None else [column])
    place = _label_column(table) if column is None else table.column(column)
    given: dict[Any, str] = {}
    known = set(names)
    for line, row in table.rows:
        name = whole_or_text(row[0])
        if name not in known:
            raise ValueError(f"{file}: node {row[0]!r} in line {line} is not in the graph")
        if name in given:
            raise ValueError(f"{file}: node {row[0]!r} in line {line} has a label already")
        given[name] = row[place]
    without = [name for name in names if name not in given]
    if without:
        raise ValueError(f"{file}: node {without[0]!r} has no label")
    return np.array([given[name] for name in names], dtype=str)


def _table(path: str | Path, columns: Sequence[str]) -> Table:
    table = read_table(path, NODES, columns)
    if not table.has_header:
        first = table.rows[0]
        raise ValueError(
            f"{Path(path).name}, line {first.line} is {shown(first.cells)}; it must be a header, as in node,label"
        )
    return table


def _label_column(table: Table) -> int:
    named = [j for j, name in enumerate(table.names) if name.lower() in LABEL_NAMES and j > 0]
    if len(named) == 1 or len(table.names) == 2:
        return named[0] if named else 1
    if len(table.names) == 1:
        raise ValueError(f"{table.path} has one column, {table.names[0]}; it needs a node and a label")
    raise ValueError(
        f"{table.path} has the columns {listed(table.names)}; write {table.path}:NAME to choose that of the labels"
    )
