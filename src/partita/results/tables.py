"""Tables of a result: each cell has a value, and a text for people."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np

from partita._support.text.write_table import significant


def _decimals(value: Any, decimals: int) -> str:
    """Fixed decimals, so that the numbers of a column stand one below the other; small numbers keep three digits."""
    return f"{value:.3g}" if 0 < abs(value) < 10.0 ** (1 - decimals) else f"{value:,.{decimals}f}"


#: R-hat above the first and effective numbers of draws below the second are marked (Vehtari et al. 2021).
R_HAT_GOOD, DRAWS_GOOD = 1.01, 400
FORMATS: dict[str, Callable[[Any], str]] = {
    "text": str,
    "cluster": str,
    "number": lambda value: f"{value:,}",
    "percent": lambda value: f"{value:.1%}",
    "share": lambda value: "< 0.001" if 0 < value < 0.0005 else f"{value:.3f}",
    "loss": lambda value: _decimals(value, 5),
    "mean": lambda value: _decimals(value, 3),
    "rate": lambda value: _decimals(value, 3),
    "log": lambda value: f"{value:,.2f}",
    "rounded": lambda value: f"{value:,.0f}",
    "r-hat": lambda value: f"{value:.3f}{' ▲' if value > R_HAT_GOOD else ''}",
    "draws": lambda value: f"{value:,.0f}{' ▼' if value < DRAWS_GOOD else ''}",
    "seconds": lambda value: f"{value:.2f}",
}
#: The kinds of columns by their names; others are text, and "Name:kind" is an exception.
KINDS = {
    "cluster": "Cluster; Next cluster",
    "number": "Items; Clusters; Columns; Components; Edges; Cells; Dyads; Id; Items each; Items in all; Largest; Level;"
    " Moves; Observed; Row clusters; Column clusters; Run; Runs; Smallest; Sweeps",
    "percent": "Share; Labelled; Noise",
    "share": "AUC; Affinity; Agreement; At least; Bits; Certainty; Counts as; Dependence; Doubt; Exact; Probability;"
    " Recovery; Stability; Support; Together; Weight; With consensus",
    "loss": "Cost; Distance; Expected loss; High; Low",
    "mean": "Change; Log score; Mean; Spread",
    "log": "ICL; ICL deficit",
    "r-hat": "R-hat",
    "draws": "Effective draws",
    "seconds": "Seconds",
}
KIND_OF = {name: kind for kind, names in KINDS.items() for name in names.split("; ")}
#: Rows that are written at a time.
_BLOCK = 1 << 16
#: Cells without a value, of items in no cluster, and cells that are infinite; the number that sorts the latter.
UNKNOWN, NO_CLUSTER, INFINITE, LARGEST = "–", "none", "∞", 1e308


@dataclass(frozen=True)
class Column:
    """A column; `kind` is a key of FORMATS, and everything but text is sorted as a number.

    `help` says what the column means: the page shows it under the table. `key` is its name in files and data frames if
    that is not the name in lower case.
    """

    name: str
    kind: str
    help: str | None = None
    key: str | None = None

    @property
    def header(self) -> str:
        """The name in files and data frames."""
        return self.key or self.name.lower().replace(" ", "_")


def columns(spec: str) -> tuple[Column, ...]:
    """Columns by their names, `;` between them; a name may have a key for files and a kind, the last one a meaning.

    >>> [(c.name, c.header, c.kind, c.help) for c in columns("Item=left; Value:loss | What it costs")]
    [('Item', 'left', 'text', None), ('Value', 'value', 'loss', 'What it costs')]
    """
    made = []
    for line in spec.strip().split("\n"):
        names, _, told = line.strip().partition(" | ")
        for part in names.split("; "):
            named, _, kind = part.partition(":")
            name, _, key = named.partition("=")
            made.append(Column(name, kind or KIND_OF.get(name, "text"), None, key or None))
        made[-1] = replace(made[-1], help=told or None)
    return tuple(made)


def table(name: str, caption: str, spec: str, rows: Sequence[Sequence[Any]], **more: Any) -> Table:
    """A table whose columns are given as `columns` takes them; `more` are the other fields of `Table`."""
    return Table(name, caption, columns(spec), rows, **more)


class ColumnRows(Sequence[Sequence[Any]]):
    """Rows that are kept as columns (lists or arrays): millions of them take little memory and time."""

    def __init__(self, *columns: Any) -> None:
        self.columns = columns

    def __len__(self) -> int:
        return len(self.columns[0])

    def __getitem__(self, key: Any) -> Any:
        cells = [column[key] for column in self.columns]
        return ColumnRows(*cells) if isinstance(key, slice | np.ndarray) else tuple(map(_plain, cells))

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return (row for block in self.blocks() for row in zip(*block, strict=True))

    def blocks(self) -> Iterator[list[Sequence[Any]]]:
        """The columns as plain values, some rows at a time."""
        for begin in range(0, len(self), _BLOCK):
            yield [_plain(column[begin : begin + _BLOCK]) for column in self.columns]


def _plain(cells: Any) -> Any:
    return cells.tolist() if isinstance(cells, np.ndarray | np.generic) else cells


@dataclass(frozen=True)
class Table:
    """A table that the page can sort, download and, on request, search; `indexed` by its first column or not."""

    id: str
    caption: str
    columns: tuple[Column, ...]
    rows: Sequence[Sequence[Any]]
    note: str | None = None
    search: bool = False
    indexed: bool = False

    def cells(self, row: Sequence[Any]) -> Iterator[tuple[str, str, Any]]:
        """The kind, the text and the sort value of each cell."""
        for column, value in zip(self.columns, row, strict=True):
            if value is None or value != value:  # there are too few draws to compute it
                yield column.kind, UNKNOWN, -1
            elif column.kind == "cluster" and value < 0:
                yield column.kind, NO_CLUSTER, -1
            elif value in (INFINITE, float("inf")):
                yield column.kind, INFINITE, LARGEST
            else:
                text = FORMATS[column.kind](value)
                negative = column.kind != "text" and text.startswith("-")
                yield column.kind, f"−{text[1:]}" if negative else text, value

    def counted_from(self, first: int) -> Table:
        """The table with the numbers of clusters, which are kept from 0, counted from `first`."""
        at = {place for place, column in enumerate(self.columns) if column.kind == "cluster"}
        if not first or not at or not self.rows:
            return self
        cells = (_counted(c, first) if place in at else c for place, c in enumerate(self.by_column()))
        return replace(self, rows=ColumnRows(*cells))

    def by_column(self) -> Sequence[Sequence[Any]]:
        """The cells of each column."""
        return self.rows.columns if isinstance(self.rows, ColumnRows) else list(zip(*self.rows, strict=True))

    def beside(self, at: int, new: Iterable[Column], cells: Iterable[Any]) -> Table:
        """The table with further columns before the column at this place, and the cells of each of these columns."""
        own = self.by_column()
        rows = ColumnRows(*own[:at], *cells, *own[at:])
        return replace(self, columns=(*self.columns[:at], *new, *self.columns[at:]), rows=rows)

    def head(self, most: int, what: str | None = None) -> Table:
        """The first rows, with a note that says so if there are more."""
        if len(self.rows) <= most:
            return self
        note = f"The first {most:,} of {len(self.rows):,} {what or 'rows'}."
        return replace(self, rows=self.rows[:most], note=" ".join(filter(None, [note, self.note])))

    def values(self) -> Iterator[Sequence[Any]]:
        """The rows as files hold them: shares with six digits, None where a value is not known."""
        for block in ColumnRows(*self.by_column()).blocks() if self.rows else ():
            cells = [
                list(map(_rounded if column.kind in ("share", "percent") else _known, values))
                if any(isinstance(value, float) for value in values)
                else values
                for column, values in zip(self.columns, block, strict=True)
            ]
            yield from zip(*cells, strict=True)

    def to_pandas(self) -> Any:
        """The table as a pandas DataFrame in full precision; `indexed` tables are indexed by their first column."""
        import pandas as pd

        headers = [column.header for column in self.columns]
        cells = self.by_column() if self.rows else [()] * len(headers)
        frame = pd.DataFrame(dict(zip(headers, cells, strict=True)))
        for column in self.columns:
            if column.kind != "text":
                frame[column.header] = pd.to_numeric(frame[column.header])
        return frame.set_index(headers[0]) if self.indexed else frame

    def to_json(self) -> dict[str, Any]:
        """The table as values that JSON has."""
        return asdict(replace(self, rows=())) | {"rows": [[_as_json(cell) for cell in row] for row in self.rows]}

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> Table:
        """The table of `to_json`; what a later version added is left out."""
        known = {field.name for field in fields(cls)}
        columns = tuple(Column(c["name"], c["kind"], c.get("help"), c.get("key")) for c in found["columns"])
        if any(column.kind not in FORMATS for column in columns):
            raise ValueError("it has a table with an unknown kind of column")
        return cls(**{key: value for key, value in found.items() if key in known} | {"columns": columns})


def _as_json(cell: Any) -> Any:
    """A cell: null if it is not known, and a text if it is infinite, for which JSON has no number."""
    if not isinstance(cell, float) or abs(cell) < float("inf"):
        return cell
    return INFINITE if cell > 0 else None


def _counted(cells: Sequence[Any], first: int) -> Sequence[Any]:
    """Numbers of clusters that begin at `first`; items in no cluster stay as they are."""
    if isinstance(cells, np.ndarray):
        return cells + first * (cells >= 0)
    return [cell if cell is None or cell < 0 else cell + first for cell in cells]


def _rounded(cell: Any) -> Any:
    return significant(cell) if isinstance(cell, float) else cell


def _known(cell: Any) -> Any:
    return None if isinstance(cell, float) and cell != cell else cell
