"""Base clusterings from a file: which columns are clusterings, and which one names the items."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from partita._support.text.cells import Cell, parse_cell
from partita._support.text.header import Kind
from partita._support.text.table import Table, read_table
from partita.cli.inputs import DATA, different_words, named_rows, read_labels, variables

if TYPE_CHECKING:
    from partita.ensembles.base_clusterings import Base

BASE = Kind("item", DATA.choose, labels_by_column=True)
GAPS = {"", "-1", "na", "nan", "none", "null"}


def read_base(source: str, items: str | None = None) -> Base:
    """Base clusterings, with None for missing labels and the names of the items and of the clusterings.

    The column `items` names the items; by default a column named item, node, name or id, row names, or a first column
    with a different word for each item. Such a column elsewhere is refused: it may name the items.
    """
    from partita._support.names import Named
    from partita.ensembles.base_clusterings import as_base

    if source.endswith(".npy"):
        if items is not None:
            raise ValueError(f"--items names a column of a csv file, but {source} is an array without names")
        return as_base(read_labels(source))
    table = read_table(source, BASE, [] if items is None else [items])
    named, columns = _chosen_columns(table, items)
    rows = [[_label(cells[j]) for j in columns] for _, cells in table.rows]
    given = named_rows(rows, table, columns, source)
    if named is not None:
        given = Named(rows, tuple(table.columns[named]), source)
    titles = tuple(table.names[j] for j in columns)
    return replace(as_base(rows), names=given.distinct_names(), clusterings=titles)


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
