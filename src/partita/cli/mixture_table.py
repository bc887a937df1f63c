"""Tables of columns of several kinds, as `partita sample mixture` and `partita cluster` read them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import partita as pt
from partita._support.atomic import atomic_file
from partita._support.hints import plural
from partita._support.text.cells import parse_cell
from partita._support.text.header import MIXED, Kind
from partita._support.text.table import Table, read_table
from partita._support.text.write_table import write_table
from partita.cli.given import refuse
from partita.cli.inputs import ROW_NUMBERS, counts_rows, different_words, name_column, named_rows, split_names
from partita.cli.large_table import PARQUET, read_large, read_parquet
from partita.cli.option import arg, opt
from partita.cli.options import MissingCells
from partita.cli.steps import step
from partita.cli.terminal import print_lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from partita.models.mixtures.raw import RawTable
    from partita.models.mixtures.schema import Schema

SCHEMA = Kind("column", "put column,family in its first line")
SCHEMA_COLUMNS = ("column", "family")
Expect = Annotated[
    str | None,
    "How many clusters you expect, as in 3-8, in place of --alpha: the prior that comes nearest to 5 % on each side.",
]
AsTable = Annotated[bool, "Read the file as a table of data even if it looks like draws of labels."]
#: What is for draws of a mixture, not for a search.
SAMPLED = ("alpha", "expect", "noise")


@dataclass(frozen=True)
class TableOptions:
    """A table with columns of several kinds, and how its rows are modelled."""

    data: Annotated[
        str,
        arg(
            "CSV or parquet with one row per item and one column per variable: numbers, words, missing values. A column"
            " named item, node, name or id, or a first column with a different word in each row, names the items."
        ),
    ]
    family: Annotated[
        list[str] | None,
        opt(
            "NAME=gaussian, positive, months, count, negative-binomial, categorical, binary, ordinal or ignore, for a"
            " column that is to be modelled differently from its type; 'A*=categorical' for all columns that begin"
            " with A, categorical alone for all; may be repeated.",
            "--family",
            metavar="[NAME=]FAMILY",
        ),
    ] = None
    schema: Annotated[
        Path | None,
        "CSV with the columns column and family. If it does not exist, it is written with the families that the types"
        " suggest, for you to edit, and nothing else is done; --family takes precedence.",
    ] = None
    missing: MissingCells = None
    subject: Annotated[
        str | None,
        opt(
            "Column that names the subject of each row, if subjects have several rows; with --time. Clusters are then"
            " of subjects, by their curves over time.",
            "--id",
        ),
    ] = None
    time: Annotated[str | None, "Column with the time of each row, numbers or dates; with --id."] = None
    regression: Annotated[
        str | None,
        "A linear regression in each cluster, as in 'y ~ x1 + x2': y depends on the others, which are not modelled.",
    ] = None
    full: Annotated[
        list[str] | None,
        "Numeric columns that share a covariance matrix within a cluster, as in length,width; all for all of them. May"
        " be repeated.",
    ] = None
    select: Annotated[bool, "Select the columns that take part; columns.csv has the probability of each."] = False
    noise: Annotated[
        bool,
        opt(
            "Rows may belong to no cluster: they are noise in the draws, and -1 in labels.csv if in half.",
            "--noise",
            rich_help_panel="Model",
        ),
    ] = False
    clusters: Annotated[
        int | None,
        "Number of components, as in latent class analysis; some may stay empty. Without it the number is estimated.",
    ] = None
    projection: Annotated[
        bool, "Cluster the principal components of the numeric columns; for many columns that are correlated."
    ] = False
    as_table: AsTable = False
    alpha: Annotated[float | None, "Concentration; a Gamma(1, 1) prior if not given."] = None
    expect: Expect = None

    @cached_property
    def families(self) -> dict[str, str]:
        """The families by column, of the schema file and of --family."""
        return families_of_file(self.schema) | parse_families(self.family)

    @cached_property
    def curves(self) -> pt.models.Curves | None:
        """The columns of a long table that make curves, if both are given."""
        if (self.subject is None) != (self.time is None):
            raise ValueError("--id and --time go together: the subject and the time of each row")
        if self.subject is None or self.time is None:
            return None
        if self.regression is not None:
            raise ValueError("--id and --regression cannot be used together")
        return pt.models.Curves(self.subject, self.time)

    @property
    def covariances(self) -> list[list[str]] | str | None:
        """The groups of columns with a covariance matrix, as MixtureDPM takes them."""
        if not self.full or self.full == ["all"]:
            return self.full[0] if self.full else None
        return [split_names(names, "--full") for names in self.full]

    def read(self) -> RawTable:
        """The columns of the file."""
        return read_mixed(self.data, self.families, self.missing, as_table=self.as_table, curves=self.curves)

    def writes_schema(self) -> bool:
        """Whether the schema file is still to be written; it is then, and nothing else is to be done."""
        from partita.models.mixtures.schema import given_families

        if self.schema is None or self.schema.exists():
            return False
        table = self.read()
        write_schema(self.schema, table, given_families(table, self.families))
        return True

    def model(
        self, table: RawTable, *, sampled: bool = True, json: bool
    ) -> tuple[pt.models.MixtureDPM, Schema, tuple[str, ...]]:
        """The model of a table, what it takes the columns for, and questions about them, printed unless in JSON."""
        from partita._support.validate import check_count

        if (k := self.clusters) is not None:
            refuse(["alpha", "expect"], "is for an unknown number of clusters; --clusters fixes it")
        model = pt.models.MixtureDPM(
            self.families,
            full=self.covariances,
            select=self.select,
            noise=self.noise,
            curves=self.curves or self.regression,
            components=None if k is None else pt.models.FiniteMixture(components=check_count(k, "--clusters", 1)),
            projection=self.projection,
        )
        schema = model.describe(table)
        items, families, _ = model.items(table)
        if sampled:
            model.alpha = concentration(self.alpha, self.expect, items.n_items, json=json)
        notes = typed_notes(items, schema, families or {})
        if not json:
            print_schema(schema, notes)
        return model, schema, notes


def concentration(alpha: float | None, expect: str | None, n_items: int, *, json: bool) -> Any:
    """The concentration or its prior, and what the prior of --expect says, printed unless the output is JSON."""
    if expect is None:
        return alpha
    refuse(["alpha"], "is set by --expect: give one of them")
    ends = expect.split("-")
    if len(ends) not in (1, 2) or not all(end.strip().isdecimal() for end in ends):
        raise ValueError(f"--expect must be a number of clusters or a range, as in 3-8, but it is {expect}")
    low, high = int(ends[0]), int(ends[-1])
    if not 1 <= low <= high <= n_items:
        raise ValueError(f"--expect must be a range within 1 and {n_items:,}, the number of items, but it is {expect}")
    found = pt.prior_clusters(n_items, (low, high))
    if not json:
        asked = plural(low, "cluster") if low == high else f"{low} to {high} clusters"
        have = "has" if low == high == 1 else "have"
        print_lines(f"Prior: {found.in_words()} {asked} {have} probability {found.between(low, high):.0%}.")
    return found.prior


def print_schema(schema: Schema, notes: Sequence[str]) -> None:
    """Prints the family of each column, or their number if they are many, and the notes."""
    print_lines(schema.summary())
    for note in notes:
        print_lines(f"Note: {note}")


def typed_notes(table: RawTable, schema: Schema, families: Mapping[str, str]) -> tuple[str, ...]:
    """Questions about the columns, with the options that answer them."""
    from partita.cli.errors import as_option
    from partita.models.mixtures.column_notes import column_notes
    from partita.models.mixtures.schema import given_families

    notes = column_notes(table, schema, given_families(table, families))
    return tuple(note.worded(as_option) for note in notes)


def parse_families(given: Sequence[str] | None) -> dict[str, str]:
    """The families by column; a family without a name is for all columns."""
    from partita.models.mixtures.schema import ALL, FAMILIES, NAMED_FAMILIES

    families: dict[str, str] = {}
    for text in given or ():
        name, _, family = text.rpartition("=") if text not in FAMILIES else (ALL, "=", text)
        if not name:
            raise ValueError(
                "--family must be NAME=FAMILY, as in visits=count or 'A*=categorical', or one family for all columns"
                f" ({', '.join(NAMED_FAMILIES)}), but it is {text!r}"
            )
        if name in families:
            raise ValueError(f"--family names {'all columns' if name == ALL else f'the column {name!r}'} twice")
        families[name] = family
    return families


def families_of_file(path: Path | None) -> dict[str, str]:
    """The families that a schema file gives, by column; none if it is still to be written."""
    if path is None or not path.exists():
        return {}
    table = read_table(path, SCHEMA, SCHEMA_COLUMNS)
    names, families = (table.columns[table.column(name)] for name in SCHEMA_COLUMNS)
    _refuse_two_of_a_name(list(names), str(path))
    return dict(zip(names, families, strict=True))


def write_schema(path: Path, table: RawTable, families: Mapping[str, str]) -> None:
    """Writes the families that are given or follow from the types, and prints them with questions."""
    from partita.models.mixtures.schema import propose_schema

    schema, reasons = propose_schema(table, families)
    rows = []
    for raw, column in zip(table.columns, schema.columns, strict=True):
        texts, seen = raw.distinct()[0], int(raw.observed().sum())
        examples = "; ".join(text for text in texts[:3] if text)
        rows.append([column.name, column.family, seen, len(texts), examples, reasons.get(column.name, "")])
    with atomic_file(path) as temporary:
        write_table(temporary, [*SCHEMA_COLUMNS, "cells", "different", "examples", "why"], rows)
    print_schema(schema, typed_notes(table, schema, families))
    for name, why in reasons.items():
        print_lines(f"Note: {name} {why}, and is ignored in {path}")
    print_lines(f"{path} has the family of each column. Change what is wrong, and give the same command again.")


def read_mixed(
    path: str,
    families: Mapping[str, str],
    missing: Sequence[str] | None,
    *,
    as_table: bool = False,
    curves: pt.models.Curves | None = None,
) -> RawTable:
    """The columns of a csv file; one that names the items is not a variable, unless it has a family."""
    import numpy as np

    from partita.cli.mistaken import refuse_draws, refuse_networks
    from partita.models.mixtures.raw import from_columns
    from partita.models.mixtures.schema import is_pattern

    refuse_networks(path)
    gaps = set(missing or ())
    own = [name for name in families if not is_pattern(name)]
    if curves is not None:
        own += [name for name in (curves.id, curves.time) if name not in own]
    if path.lower().endswith(PARQUET):
        if gaps:
            raise ValueError(f"--missing is for text: {path} marks its missing cells itself")
        return read_parquet(path, own)
    with step("read the table"):
        table, head = read_large(path, MIXED, gaps, own) or (read_table(path, MIXED, own), None)
    table.require_names()
    if not as_table and not families and curves is None:
        refuse_draws(head or table)
    given = [table.column(name) for name in own]
    names_at = name_column(table, given)
    words = [j for j in range(len(table.names)) if j not in given and _names_rows(table, j)]
    if names_at is None and table.row_names is None and words[:1] == [0] and len(table.names) > 1:
        names_at = 0
    positions = [j for j in range(len(table.names)) if j != names_at]
    _refuse_two_of_a_name([table.names[j] for j in positions], path)
    rows = named_rows(np.arange(len(table.lines)), table, positions, path)
    if names_at is not None and rows.names is None:
        rows = replace(rows, names=tuple(table.columns[names_at]))
    columns = ((table.names[j], cells_of(table, j, gaps)) for j in positions)
    lines = table.lines
    read = from_columns(columns, rows.distinct_names(), line_of=lambda row: f"{path}, line {lines[row]}")
    problems = _problems(table, words, positions, given)
    return replace(
        read, columns=tuple(replace(raw, problem=problems.get(raw.name, raw.problem)) for raw in read.columns)
    )


def _refuse_two_of_a_name(names: Sequence[str], path: str) -> None:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"{path} has two columns named {twice!r}")


def cells_of(table: Table, column: int, gaps: set[str]) -> Any:
    """The cells of a column; None where they are missing, NaN in an array of numbers."""
    if _is_numeric(table, column):
        return table.columns[column]
    return [None if cell in gaps else parse_cell(cell) for cell in table.columns[column]]


def _is_numeric(table: Table, column: int) -> bool:
    """Whether the column was read to an array of numbers."""
    return hasattr(table.columns[column], "dtype")


def _names_rows(table: Table, column: int) -> bool:
    cells = table.columns[column]
    return (
        not _is_numeric(table, column)
        and isinstance(parse_cell(cells[0]), str)
        and different_words([parse_cell(cell) for cell in cells])
    )


def _texts(table: Table, column: int) -> Sequence[str]:
    """The cells of a column as texts, whole numbers without a point."""
    if not _is_numeric(table, column):
        return table.columns[column]
    numbers: Any = table.columns[column]
    return [f"{number:g}" for number in numbers.tolist()]


def _problems(table: Table, words: Sequence[int], positions: Sequence[int], given: Sequence[int]) -> dict[str, str]:
    """Columns that are hardly variables, and why: a different word in each row, or first of all numbers of the rows."""
    found = {}
    for j in set(words) & set(positions):
        shown = ", ".join(table.columns[j][:2])
        found[table.names[j]] = f"has a different word in each row ({shown}, ...) and is hardly a variable"
    if len(positions) > 1 and (first := positions[0]) not in given:
        may_number = not table.has_header or table.names[first] in ROW_NUMBERS
        if may_number and counts_rows(_texts(table, first)):
            found[table.names[first]] = "counts the rows and may not be a variable"
    return found
