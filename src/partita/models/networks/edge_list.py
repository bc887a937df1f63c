"""Lists of edges, from a csv file or a table: which columns are the ends, and which the weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from partita._support.errors import ArgumentError, Sentence, Setting, Within
from partita._support.hints import listed
from partita._support.text.cells import is_number, parse_cell, whole_or_text
from partita._support.text.header import Kind, shown
from partita._support.text.table import read_table

ENDS = (("source", "target"), ("from", "to"), ("sender", "receiver"), ("ego", "alter"), ("src", "dst"))
WEIGHTS = ("weight", "weights")
NOT_WEIGHTS = ("id", "label", "type")  # columns of Gephi that say nothing about how many edges there are

Edge = tuple[Any, ...]


def _named_ends(names: Sequence[str]) -> tuple[int, int] | None:
    """Where the columns of a known pair of names are."""
    lower = [name.lower() for name in names]
    return next(((lower.index(a), lower.index(b)) for a, b in ENDS if a in lower and b in lower), None)


EDGES = Kind(
    "edge",
    "put source,target in its place if it is a header, or above it if it is an edge",
    is_header=lambda cells: _named_ends(cells) is not None,
)


@dataclass(frozen=True)
class Columns:
    """Columns of a list of edges: their names, the values of each, and how a message names a row."""

    where: str
    names: list[str]
    values: Callable[[int], list[Any]]
    place: Callable[[int], str]

    def has_numbers(self, column: int) -> bool:
        """Whether the column has only numbers."""
        return all(is_number(str(value)) for value in self.values(column))


def read_edges(path: Path, columns: Sequence[str] | None, kind: str) -> list[Edge]:
    """The edges of a csv file with a header; node names that are whole numbers as such."""
    table = read_table(path, EDGES, columns or ())
    if not table.has_header:
        first = table.rows[0]
        raise ArgumentError(
            Within("graph"),
            f"{path.name}, line {first.line} is {shown(first.cells)}; it must be a header, as in source,target",
        )
    read = Columns(
        path.name,
        table.names,
        lambda j: list(table.columns[j]),
        lambda row: f"line {table.lines[row]} of {path.name}",
    )
    return _edges(read, columns, kind, whole_or_text)


def frame_edges(frame: Any, columns: Sequence[str] | None, kind: str) -> list[Edge]:
    """The edges of a pandas table."""
    names = [str(name) for name in frame.columns]
    read = Columns("the table", names, lambda j: frame.iloc[:, j].tolist(), lambda row: f"row {row}")
    return _edges(read, columns, kind, lambda node: node)


def _edges(read: Columns, columns: Sequence[str] | None, kind: str, as_node: Callable[[Any], Any]) -> list[Edge]:
    source, target, weight = _chosen(read, columns) if columns else _found(read)
    ends = [_ends(read, column, as_node) for column in (source, target)]
    if weight is None:
        return list(zip(*ends, strict=True))
    weights = [as_weight(value, read.place(row)) for row, value in enumerate(read.values(weight))]
    if kind == "binary":
        _check_no_counts(weights, read, (source, target, weight))
    return list(zip(*ends, weights, strict=True))


def _ends(read: Columns, column: int, as_node: Callable[[Any], Any]) -> list[Any]:
    """The nodes of a column."""
    values = read.values(column)
    for row, value in enumerate(values):
        check_end(value, f"{read.place(row)} has no {read.names[column]}")
    return list(map(as_node, values))


def check_end(node: Any, problem: str) -> None:
    """Raises an error for an end of an edge that is not there: an empty cell, None, or a missing value of pandas."""
    if isinstance(node, str):
        gap = not node.strip()
    else:
        gap = node is None or (not isinstance(node, int) and str(node) in ("nan", "<NA>", "NaT"))
    if gap:
        raise ArgumentError(Within("graph"), f"{problem}; leave the edge out, or name the node")


def as_weight(value: Any, place: str) -> float:
    """A weight that was read, as a number."""
    weight = parse_cell(str(value))
    if not isinstance(weight, int | float):
        raise ArgumentError(Within("graph"), f"weight {str(value)!r} in {place} is not a number")
    return float(weight)


def check_binary(weight: float, place: str, hint: str = "") -> None:
    """Raises an error for a weight that a model of edges without counts would ignore."""
    if weight != 1:
        counts, real = Setting("edges", "counts"), Setting("edges", "real")
        problem = f"{place} has weight {weight:g}, but edges are 0 or 1; "
        raise ArgumentError(Within("graph"), problem, counts, " takes counts, ", real, " any weights", hint)


def _check_no_counts(weights: Sequence[float], read: Columns, columns: tuple[int, int, int]) -> None:
    source, target, weight = (read.names[column] for column in columns)
    hint = Sentence(", ", Setting("columns", (source, target)), f" leaves {weight} out")
    for row, value in enumerate(weights):
        check_binary(value, read.place(row), hint)


def check_columns(columns: Sequence[str]) -> None:
    """Raises an error for columns that are not the two ends of an edge and perhaps its weight."""
    if isinstance(columns, str) or len(columns) not in (2, 3):
        raise ValueError(f"columns must name the two ends of an edge and perhaps its weight, but it is {columns!r}")


def _chosen(read: Columns, columns: Sequence[str]) -> tuple[int, int, int | None]:
    check_columns(columns)
    for name in columns:
        if read.names.count(name) != 1:
            problem = "has no column" if name not in read.names else "has several columns"
            raise ArgumentError(
                Within("graph"), f"{read.where} {problem} {name!r}; its columns are {listed(read.names)}"
            )
    positions = [read.names.index(name) for name in columns]
    return positions[0], positions[1], positions[2] if len(positions) == 3 else None


def _found(read: Columns) -> tuple[int, int, int | None]:
    if len(read.names) < 2:
        which = f"one column, {read.names[0]}" if read.names else "no columns"
        raise ArgumentError(Within("graph"), f"{read.where} has {which}; an edge list has two columns or more")
    if ends := _named_ends(read.names):
        return (*ends, _found_weight(read, ends))
    _refuse_nodes(read)
    if len(read.names) > 3:
        raise ArgumentError(
            Within("graph"),
            f"{read.where} has the columns {listed(read.names)}; name the two ends of an edge source,target, "
            "or choose them, as in ",
            Setting("columns", tuple(read.names[:2])),
        )
    return 0, 1, 2 if len(read.names) == 3 else None


def _found_weight(read: Columns, ends: tuple[int, int]) -> int | None:
    """The column of weights; other numbers might be weights too, and are not ignored."""
    others = [j for j in range(len(read.names)) if j not in ends]
    named = [j for j in others if read.names[j].lower() in WEIGHTS]
    doubtful = [
        j for j in others if j not in named and read.names[j].lower() not in NOT_WEIGHTS and read.has_numbers(j)
    ]
    if len(named) > 1 or (doubtful and not named):
        which = read.names[(named or doubtful)[0]]
        start = tuple(read.names[j] for j in ends)
        raise ArgumentError(
            Within("graph"),
            f"{read.where} has a column {which!r} of numbers, which may be weights; ",
            Setting("columns", (*start, which)),
            " takes them as such, ",
            Setting("columns", start),
            " leaves them out",
        )
    return named[0] if named else None


def _refuse_nodes(read: Columns) -> None:
    """A table of nodes has one row per node: an id and what is known of it, which might pass for an edge."""
    first, second = (list(map(str, read.values(j))) for j in (0, 1))
    joined = set(first) & set(second)
    words = not all(map(is_number, first))
    if len(set(first)) == len(first) and not (joined and words):
        a, b = read.names[:2]
        raise ArgumentError(
            Within("graph"),
            f"{read.where} has each {a!r} once, with its {b!r}: a table of nodes, or edges; if these are edges, "
            "call the two columns source,target, or choose them with ",
            Setting("columns", (a, b)),
        )
