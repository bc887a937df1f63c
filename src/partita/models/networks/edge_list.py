"""Lists of edges and labels of nodes from csv files or tables: which columns count, and which values edges may have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita._support.errors import Argument, ArgumentError, Sentence, Setting, Within
from partita._support.hints import listed
from partita._support.text.cells import is_number, parse_cell, whole_or_text
from partita._support.text.header import Kind, shown
from partita._support.text.table import Table, read_table, split_column
from partita._support.validate import check_choice

KINDS = ("binary", "counts", "real", "categories", "signed")
#: Kinds whose edges are there or not, and carry a mark if they are.
MARKED = ("real", "categories", "signed")
MAX_CATEGORIES = 100
_COUNTS, _REAL = Setting("edges", "counts"), Setting("edges", "real")
_NEEDED = {
    "binary": Sentence("0 or 1; ", _COUNTS, " takes whole numbers, ", _REAL, " any weights"),
    "counts": Sentence("counts (whole numbers, not negative); ", _REAL, " takes any weights"),
    "real": Sentence("finite numbers; 0 is no edge"),
    "categories": Sentence(f"categories (whole numbers from 1 to {MAX_CATEGORIES}); 0 is no edge"),
    "signed": Sentence("-1, 0 or 1"),
}


def check_kind(edges: Any) -> str:
    """One of the kinds of edges."""
    return check_choice(edges, "edges", KINDS)


def check_values(adjacency: sp.csr_array, edges: str) -> None:
    """Raises an error for entries that the kind of edges does not have, naming the first."""
    bad = _wrong(adjacency.data, edges)
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        row = int(np.searchsorted(adjacency.indptr, at, side="right")) - 1
        entry = f" has {adjacency.data[at]:g} at row {row}, column {adjacency.indices[at]}; entries must be "
        raise ArgumentError(Argument("graph", value=float(adjacency.data[at])), entry, _NEEDED[edges])


def _wrong(values: NDArray[Any], edges: str) -> NDArray[np.bool_]:
    if edges == "binary":
        return np.asarray(values != 1)
    if edges == "signed":
        return np.asarray(np.abs(values) != 1)
    if edges == "real":
        return np.asarray(~np.isfinite(values))
    least, most = (1, MAX_CATEGORIES) if edges == "categories" else (0, np.iinfo(np.int32).max)
    whole = np.isfinite(values) & (values == np.round(values))
    return np.asarray(~whole | (values < least) | (values > most))


def check_weight(weight: Any, place: str, edges: str) -> float:
    """The weight of one edge of a list; a mark that is not there, or that says there is no edge, raises an error."""
    if weight is None or (isinstance(weight, float) and np.isnan(weight)):
        raise ArgumentError(
            Within("graph"), f"{place} has no weight; leave the edge out, or give it one in a column of weights"
        )
    if edges in MARKED and weight == 0:
        problem = f"{place} has weight 0, which is no edge if "
        raise ArgumentError(Within("graph"), problem, Setting("edges", edges), "; leave it out")
    return float(weight)


def check_listed_once(n_listed: int, n_entries: int, edges: str) -> None:
    """Raises an error for a list that gives two marks to one edge."""
    if edges in MARKED and n_listed > n_entries:
        problem = "an edge is listed twice, and "
        raise ArgumentError(Within("graph"), problem, Setting("edges", edges), " has one value for each edge")


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
