"""Base clusterings from a file: which columns are clusterings, and which one names the items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import partita as pt
from partita._support.errors import ArgumentError, Setting
from partita._support.text.cells import Cell, parse_cell
from partita._support.text.header import Kind
from partita._support.text.table import Table, read_table
from partita.cli.inputs import DATA, different_words, named_rows, read_labels, variables

BASE = Kind("item", DATA.choose, labels_by_column=True)
GAPS = {"", "na", "nan", "none", "null"}


def read_base(
    source: str, items: str | None = None, missing: Sequence[str] | None = None, noise: Sequence[str] | None = None
) -> pt.ensembles.Base:
    """Base clusterings, with None for missing labels and the names of the items and of the clusterings.

    A label of -1 is an error unless it is a marker of missing labels or of noise.

    The column `items` names the items; by default a column named item, node, name or id, row names, or a first column
    with a different word for each item. Such a column elsewhere is refused: it may name the items.
    """
    from partita._support.names import Named

    if source.endswith(".npy"):
        if items is not None:
            raise ValueError(f"--items names a column of a csv file, but {source} is an array without names")
        labels = read_labels(source)
        rows, marks = _marked(labels.tolist(), missing, noise, source)
        return pt.ensembles.as_base(rows, noise=marks)
    table = read_table(source, BASE, [] if items is None else [items])
    named, columns = _chosen_columns(table, items)
    rows, marks = _marked([[_label(cells[j]) for j in columns] for _, cells in table.rows], missing, noise, source)
    given = named_rows(rows, table, columns, source)
    if named is not None:
        given = Named(rows, tuple(table.columns[named]), source)
    titles = tuple(table.names[j] for j in columns)
    return replace(pt.ensembles.as_base(rows, noise=marks), names=given.distinct_names(), clusterings=titles)


def _marked(
    rows: list[list[Any]], missing: Sequence[str] | None, noise: Sequence[str] | None, source: str
) -> tuple[list[list[Any]], list[Any] | None]:
    """The labels with None where they are missing, and the labels that mean noise; -1 must be one or the other."""
    from partita.draws.collect import Markers
    from partita.draws.io import missing_in_text

    markers = Markers(missing_in_text(missing), missing_in_text(noise))
    rows = [[None if markers.missing.marks(cell) else cell for cell in row] for row in rows]
    if not markers.noise.marks(-1):
        place = next(((i, j) for i, row in enumerate(rows) for j, cell in enumerate(row) if cell == -1), None)
        if place is not None:
            raise ArgumentError(
                f"{source}: item {place[0] + 1} has the label -1 in clustering {place[1] + 1}: ",
                Setting("missing", -1),
                " if the clustering does not label the item, or ",
                Setting("noise", -1),
                " if it says that the item is in no cluster",
            )
    return rows, list(markers.noise.values) or None


def _chosen_columns(table: Table, items: str | None) -> tuple[int | None, list[int]]:
    """The column that names the items, if it is not one that every command knows, and those of the clusterings."""
    if items is not None:
        named = table.column(items)
        columns = [j for j in range(len(table.names)) if j != named]
        if not columns:
            raise ValueError(f"{table.path}: no base clustering is left beside the column {items}")
        return named, columns
    table.require_names()
    columns = variables(table)
    words = [j for j in columns if different_words([_label(cell) for cell in table.columns[j]])]
    if words == columns[:1] == [0] and len(columns) > 1 and table.row_names is None:
        return 0, columns[1:]
    if words:
        name, shown = table.names[words[0]], ", ".join(table.columns[words[0]][:2])
        raise ValueError(
            f"{table.path}: {name} has a different word for each item ({shown}, ...); use --items {name} if it names "
            "the items, or remove it"
        )
    return None, columns


def _label(cell: str) -> Cell:
    return None if cell.lower() in GAPS else parse_cell(cell)
