"""Tables of columns of several kinds, as `partita sample mixture` and `partita cluster` read them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from partita._text.cells import Cell, parse_cell
from partita._text.header import Kind
from partita._text.table import Table, read_table
from partita.cli.inputs import ROW_NUMBERS, counts_rows, different_words, name_column, named_rows
from partita.cli.terminal import print_lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from partita.models.mixtures.raw import RawTable
    from partita.models.mixtures.schema import Schema

MIXED = Kind("item", "put the names of the columns in its first line", labels_by_column=True)
#: Words that usually stand for a missing cell; NA, NaN and empty cells are missing in any case.
MARKERS = {"?", ".", "-", "--", "*", "n/a", "#n/a", "missing", "unknown", "none", "null"}
TableFile = Annotated[
    str,
    typer.Argument(
        help="CSV with one row per item and one column per variable: numbers, words, gaps. "
        "A column named item, node, name or id, or a first column with a different word in each row, names the items."
    ),
]
Families = Annotated[
    list[str] | None,
    typer.Option(
        "--family",
        help="NAME=gaussian, positive, count, categorical, binary or ignore, for a column that is to be modelled "
        "differently from its type; may be repeated.",
        metavar="NAME=FAMILY",
        show_default=False,
    ),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(help="Marker of missing cells, such as ? or -9, beside NA; may be repeated.", show_default=False),
]


AsTable = Annotated[
    bool, typer.Option("--as-table", help="Read the file as a table of data even if it looks like draws of labels.")
]


def print_schema(schema: Schema) -> None:
    """Prints the family of each column, and advice if a level looks like the marker of missing cells."""
    print_lines(str(schema))
    if hint := _missing_hint(schema):
        print_lines(hint)


def _missing_hint(schema: Schema) -> str | None:
    levels = {level for column in schema.columns for level in column.levels}
    marker = next((level for level in sorted(levels) if level.lower() in MARKERS), None)
    if marker is None:
        return None
    names = [column.name for column in schema.columns if marker in column.levels]
    others = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"Note: {marker!r} is a level of {names[0]}{others}; --missing '{marker}' takes such cells as missing."


def parse_families(given: Sequence[str] | None) -> dict[str, str]:
    """The families by column."""
    families: dict[str, str] = {}
    for text in given or ():
        name, separator, family = text.rpartition("=")
        if not separator or not name:
            raise ValueError(f"--family must be NAME=FAMILY, as in visits=count, but it is {text!r}")
        if name in families:
            raise ValueError(f"--family names the column {name!r} twice")
        families[name] = family
    return families


def read_mixed(
    path: str, families: Mapping[str, str], missing: Sequence[str] | None, *, as_table: bool = False
) -> RawTable:
    """The columns of a csv file; one that names the items is not a variable, unless it has a family."""
    import numpy as np

    from partita.cli.mistaken import refuse_draws
    from partita.models.mixtures.raw import from_columns

    table = read_table(path, MIXED, list(families))
    table.require_names()
    if not as_table and not families:
        refuse_draws(table)
    given = [table.column(name) for name in families]
    names_at = name_column(table, given)
    words = [j for j in range(len(table.names)) if j not in given and _names_rows(table, j)]
    if names_at is None and table.row_names is None and words[:1] == [0] and len(table.names) > 1:
        names_at = 0
    positions = [j for j in range(len(table.names)) if j != names_at]
    _refuse_row_numbers(table, positions, given)
    _refuse_names(table, [j for j in words if j in positions])
    _refuse_two_of_a_name([table.names[j] for j in positions], path)
    rows = named_rows(np.arange(len(table.lines)), table, positions, path)
    if names_at is not None and rows.names is None:
        rows = replace(rows, names=tuple(table.columns[names_at]))
    gaps = set(missing or ())
    columns = ((table.names[j], _cells(table, j, gaps)) for j in positions)
    lines = table.lines
    return from_columns(columns, rows.distinct_names(), line_of=lambda row: f"{path}, line {lines[row]}")


def _refuse_two_of_a_name(names: Sequence[str], path: str) -> None:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"{path} has two columns named {twice!r}")


def _cells(table: Table, column: int, gaps: set[str]) -> list[Cell]:
    return [None if cell in gaps else parse_cell(cell) for cell in table.columns[column]]


def _names_rows(table: Table, column: int) -> bool:
    cells = table.columns[column]
    return isinstance(parse_cell(cells[0]), str) and different_words([parse_cell(cell) for cell in cells])


def _refuse_names(table: Table, columns: Sequence[int]) -> None:
    """A column with a different word in each row says nothing of clusters."""
    for column in columns:
        name, shown = table.names[column], ", ".join(table.columns[column][:2])
        raise ValueError(
            f"{table.path}: {name!r} has a different word in each row ({shown}, ...) and is hardly a variable; --family"
            f" '{name}=ignore' leaves it out"
        )


def _refuse_row_numbers(table: Table, positions: Sequence[int], given: Sequence[int]) -> None:
    """A first column that counts the rows is hardly a variable."""
    if not positions or positions[0] in given or len(positions) == 1:
        return
    name = table.names[positions[0]]
    may_number = not table.has_header or name in ROW_NUMBERS
    if may_number and counts_rows(table.columns[positions[0]]):
        raise ValueError(
            f"{table.path}: {name!r} counts the rows and may not be a variable; --family '{name}=ignore' leaves it out"
        )
