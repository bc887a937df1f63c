"""Draws that look like a table of data, and tables that look like draws: the command asks instead of going on.

A false alarm costs more than a miss, so each needs two signs that do not follow from each other.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._support.text.cells import parse_cell
from partita.cli.inputs import counts_rows
from partita.draws.sources.columns import is_special, variable_of
from partita.partitions.codes import is_null

if TYPE_CHECKING:
    from partita._support.text.table import Table
    from partita.draws.sources import Block, Source

ROWS_SEEN, MIN_ROWS = 500, 5
MAX_TABLE = 100  # columns of a table that may be mistaken for draws
COLUMNS_SEEN, MIN_COLUMNS = 200, 3  # of draws that may be mistaken for a table
OWN_SHARE = 0.8  # of the cells of a column whose values no other column has
FEW_VALUES = 12  # so many may be the components of a mixture that a single item visits
REPEATED = 0.9  # distinct values per cell, from which on they may be names that a sampler makes up as it goes
AGREEMENT = 0.8  # Cohen's kappa of two columns of labels that nearly always agree
NETWORKS = (".graphml", ".gml", ".gexf", ".net", ".graphmlz")
_NUMBERED = re.compile(r"(.*?)[\[._]?([0-9]+)\]?")


def checked_draws(source: Source, files: Sequence[str]) -> Source:
    """The draws, after a look at the first of them: a table of data is refused with a question."""
    return replace(source, blocks=_looked_at(source, files))


def _looked_at(source: Source, files: Sequence[str]) -> Iterator[Block]:
    for number, block in enumerate(source.blocks):
        if number == 0 and (sign := table_sign(block.cells, source.names)):
            where = ", ".join(files)
            raise ValueError(
                f"{where} looks like a table of data, not like draws: {sign}. Is each row an item? Then use partita"
                f" cluster {shlex.join(files)} --out results. If each row is a draw of labels, --as-draws reads it so"
            )
        yield block


def table_sign(cells: Any, names: Sequence[str] | None) -> str | None:
    """Why draws are a table of data, if they are.

    Labels have no meaning outside their row, so every column of draws has about the same values. A table has a column
    with values of its own, and beside it both words and numbers, or another with other words, or more different values
    than there are columns: labels of n items need no more than n. Labels that a sampler makes up as it goes do not
    repeat, or only grow.
    """
    n_columns = cells.shape[1]
    if len(cells) < MIN_ROWS or not 2 <= n_columns <= MAX_TABLE:
        return None
    columns = [[cell for cell in column if not is_null(cell)] for column in cells[:ROWS_SEEN].T.tolist()]
    called = [repr(names[j]) if names else f"column {j + 1}" for j in range(n_columns)]
    shared = Counter(value for column in columns for value in set(column))
    own = [j for j, column in enumerate(columns) if _has_own_values(column, shared)]
    words = [j for j, column in enumerate(columns) if column and all(isinstance(cell, str) for cell in column)]
    numbers = [j for j, column in enumerate(columns) if column and not any(isinstance(cell, str) for cell in column)]
    if own and words and numbers:
        return f"{called[words[0]]} has words and {called[numbers[0]]} numbers"
    if len(apart := [j for j in own if j in words]) > 1:
        return f"{called[apart[0]]} and {called[apart[1]]} have different words"
    for j in own:
        n_values, grows = len(set(columns[j])), columns[j] == sorted(columns[j], key=_by_kind)
        if max(n_columns, FEW_VALUES) < n_values < REPEATED * len(columns[j]) and not grows:
            return (
                f"{called[j]} has {n_values} different values that other columns do not have, and {n_columns} items"
                f" need at most {n_columns} labels"
            )
    return None


def _has_own_values(column: list[Any], shared: Counter[Any]) -> bool:
    own = sum(shared[cell] == 1 for cell in column)
    return len(set(column)) > 1 and own >= OWN_SHARE * len(column)


def _by_kind(cell: Any) -> tuple[bool, Any]:
    return isinstance(cell, str), cell


def refuse_networks(path: str) -> None:
    """Raises an error if a file that is to be a table has a format of networks."""
    if path.lower().removesuffix(".gz").endswith(NETWORKS):
        raise ValueError(f"{path} is a network, not a table; for clusters of its nodes, use partita blockmodel {path}")


def refuse_draws(table: Table) -> None:
    """Raises an error with a question if a table of data looks like draws of labels."""
    if sign := draws_sign(table):
        raise ValueError(
            f"{table.path} looks like draws of labels, not like a table of data: {sign}. Is each row a draw? Then use"
            f" partita report {shlex.quote(table.path)}. If each row is an item, --as-table reads it so"
        )


def draws_sign(table: Table) -> str | None:
    """Why a table is draws of labels, if it is: whole numbers in all columns, and two of three signs.

    Labels of every row are numbered in the order in which they appear; the columns are only counted (z1, z2, ...), or
    have no names; most columns have another that nearly always agrees with them, although both change. Names such as
    z[1], z[2], ... are as good as two: samplers write them.
    """
    places = [j for j, name in enumerate(table.names) if not is_special(name)]
    if not table.has_header and table.row_names is None and counts_rows(table.columns[0][:ROWS_SEEN]):
        places = places[1:]
    if len(places) < MIN_COLUMNS or len(table.lines) < MIN_ROWS:
        return None
    rows = slice(min(ROWS_SEEN, len(table.lines)))
    cells = [[parse_cell(text) for text in table.columns[j][rows]] for j in places[:COLUMNS_SEEN]]
    if not all(isinstance(cell, int) and 0 <= cell < 2**31 for column in cells for cell in column):
        return None
    labels = np.array(cells).T
    names = [table.names[j] for j in places]
    signs = {
        "its columns have numbers for names (or none)": not table.has_header or _are_counted(names),
        f"{names[0]} is an element of a variable": table.has_header and _are_elements(names),
        "in every row labels are numbered in the order in which they appear": _in_order(labels),
        "most of its columns nearly always agree with another": _agree(labels),
    }
    found = [sign for sign, holds in signs.items() if holds]
    return f"it has whole numbers only, and {' and '.join(found)}" if len(found) > 1 else None


def _are_counted(names: Sequence[str]) -> bool:
    found = [_NUMBERED.fullmatch(name) for name in names]
    prefixes = {match[1] for match in found if match is not None}
    numbers = [int(match[2]) for match in found if match is not None]
    return len(numbers) == len(names) and len(prefixes) == 1 and numbers == list(range(numbers[0], numbers[-1] + 1))


def _are_elements(names: Sequence[str]) -> bool:
    """Whether all are elements of one variable: z[1], z[2], ..."""
    found = [variable_of(name, dotted=False) for name in names]
    return len({variable for variable, _ in found}) == 1 and all(index is not None for _, index in found)


def _in_order(labels: Any) -> bool:
    """Whether each row is 0, 1, ... or 1, 2, ... by first appearance, with three labels at least somewhere."""
    first = labels[0, 0]
    highest = np.maximum.accumulate(labels, axis=1)
    steps = np.diff(highest, axis=1)
    return bool(first in (0, 1) and (labels[:, 0] == first).all() and (steps <= 1).all() and labels.max() >= first + 2)


def _agree(labels: Any) -> bool:
    """Whether at least half of the columns change and have a partner that agrees with them, beyond chance."""
    values, codes = np.unique(labels, return_inverse=True)
    one_hot = codes.reshape(labels.shape)[:, :, None] == np.arange(len(values))
    if one_hot.size > 1 << 26:
        return False
    shares = one_hot.mean(axis=0)
    by_chance = shares @ shares.T
    equal = np.array([(labels == labels[:, [j]]).mean(axis=0) for j in range(labels.shape[1])])
    np.fill_diagonal(equal, 0.0)
    changes = shares.max(axis=1) < 1
    partner = (equal - by_chance >= AGREEMENT * (1 - by_chance)).any(axis=1)
    return bool((changes & partner).mean() >= 0.5)
