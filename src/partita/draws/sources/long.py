"""Long ("tidy") tables: one row per draw and item, with columns for the draw, the item and its label."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.errors import Argument, ArgumentError, Setting
from partita._support.names import names_or_none
from partita.draws.sources.columns import (
    ALL_COLUMNS,
    ROWS_ARE_ITEMS,
    WEIGHT,
    belongs,
    check_one_variable,
    first_position,
    is_chain,
    is_counter,
    is_special,
    plain,
    variable_of,
)
from partita.draws.sources.source import Block, Source, row_slices
from partita.partitions.codes import is_null

#: Column names by which a long table is recognised, in lower case and without a leading dot.
ITEM_NAMES = ("item", "i", "id", "name", "node", "unit", "subject", "obs", "observation", "variable", "parameter")
LABEL_NAMES = ("label", "labels", "cluster", "z", "value", "class", "component", "allocation", "group")
_MELTED = ("Var1", "Var2", "value")  # a matrix that reshape2::melt has turned into a table

Names = Sequence[str]


@dataclass(frozen=True)
class LongColumns:
    """Positions of the columns of a long table; several may number the draws together."""

    draws: tuple[int, ...]
    item: int
    label: int
    chain: int | None = None
    weight: int | None = None
    variable: int | None = None  # names the variable of each row, if the item's column has only the index

    @property
    def used(self) -> tuple[int, ...]:
        """The positions, in the order of the fields."""
        every = (*self.draws, self.item, self.label, self.chain, self.weight, self.variable)
        return tuple(position for position in every if position is not None)


def find_long(
    header: Sequence[str], long: Names | None, where: str, variable_asked: str | None = None
) -> LongColumns | None:
    """The columns of a long table; None if the table is not long."""
    chain = next((i for i, name in enumerate(header) if is_chain(name)), None)
    weight = first_position(header, (WEIGHT,))
    if long is not None:
        draw, item, label = _named(header, long, where)
        return LongColumns((draw,), item, label, None if chain in (draw, item, label) else chain, weight)
    if tuple(name for name in header if name != "") == _MELTED:
        draw, item, label = _named(header, _MELTED, where)
        return LongColumns((draw,), item, label)
    draws = tuple(i for i, name in enumerate(header) if is_counter(name))
    rest = [i for i, name in enumerate(header) if not is_special(name)]
    variable = _variable_beside_index(header, rest)
    pair = [i for i in rest if i != variable]
    items = [i for i in pair if plain(header[i]) in ITEM_NAMES or header[i].endswith("_dim_0")]
    labels = [i for i in pair if i not in items and (plain(header[i]) in LABEL_NAMES or len(pair) == 2)]
    if not draws and variable_asked is None:
        _check_not_long([header[i] for i in pair], where)
    if not draws or len(items) != 1 or len(labels) != 1:
        return None
    if not (plain(header[labels[0]]) in LABEL_NAMES or header[items[0]].endswith("_dim_0")):
        return None
    if len(pair) > 2:
        extra = ", ".join(header[i] for i in pair if i not in (items[0], labels[0]))
        raise ArgumentError(
            f"{where} has the columns of a long table, and also {extra}; name those of the draw, the item and "
            "the label, as in ",
            Setting("long", (header[draws[-1]], header[items[0]], header[labels[0]])),
        )
    return LongColumns(draws, items[0], labels[0], chain, weight, variable)


def _check_not_long(names: Sequence[str], where: str) -> None:
    """Raises an error for three columns, one named like items and one like labels: the third may number the draws."""
    items = [name for name in names if plain(name) in ITEM_NAMES]
    labels = [name for name in names if plain(name) in LABEL_NAMES]
    if len(names) == 3 and len(items) == len(labels) == 1 and plain(items[0]) not in ROWS_ARE_ITEMS:
        draw = next(name for name in names if name not in (items[0], labels[0]))
        raise ArgumentError(
            f"{where} has the columns {', '.join(names)}: if it has one row per draw and item, use ",
            Setting("long", (draw, items[0], labels[0])),
            "; if each column is an item, ",
            Setting("variable", ALL_COLUMNS),
        )


def _variable_beside_index(header: Sequence[str], rest: Sequence[int]) -> int | None:
    """The column .variable of tidybayes, which comes with an index column; alone it names the items."""
    found = next((i for i in rest if header[i] == ".variable"), None)
    return found if len(rest) > 2 else None


def _named(header: Sequence[str], long: Names, where: str) -> list[int]:
    names = list(long) if not isinstance(long, str) else []
    if len(names) != 3 or len(set(names)) < 3:
        said = f" must name three columns, of the draw, the item and the label, but it is {long!r}"
        raise ArgumentError(Argument("long"), said)
    for name in names:
        if list(header).count(name) != 1:
            problem = "no column" if name not in header else "several columns"
            raise ValueError(f"{where} has {problem} {name!r}; its columns are {', '.join(header[:20])}")
    return [list(header).index(name) for name in names]


@dataclass(frozen=True)
class LongRows:
    """The values of a long table's columns, row by row; `place` tells how messages name a row."""

    columns: dict[int, list[Any]]
    place: Callable[[int], str]


def long_source(rows: LongRows, long: LongColumns, variable: str | None, where: str) -> Source:
    """One row per draw, one column per item."""
    rows = _of_variable(rows, long, variable, where)
    columns = rows.columns
    n_rows = len(columns[long.label])
    if n_rows == 0:
        raise ValueError(f"{where} has no draws")
    long = _without_empty(rows, long)
    _check_known(rows, long)
    chain_values = columns[long.chain] if long.chain is not None else [0] * n_rows
    chains, chain_codes = _ordered(chain_values)
    keys = list(zip(chain_codes.tolist(), *(columns[j] for j in long.draws), strict=True))
    draws, draw_codes = _ordered(keys)
    items, item_codes = _ordered(columns[long.item])
    shape = (len(draws), len(items))
    row_of = _row_of_each_cell(draw_codes, item_codes, shape, rows, draws, items)
    cells = _cells(columns[long.label], row_of)
    weights = None if long.weight is None else _draw_weights(rows, long.weight, draw_codes, len(draws))
    draw_chains = np.array([draw[0] for draw in draws], np.int64) if long.chain is not None else None
    names = names_or_none(items)

    def place(row: int, column: int) -> str:
        line = int(row_of[row, column])
        at = f"{where}, draw {draws[row][-1]}" if line < 0 else rows.place(line)
        chain = f" of chain {chains[draws[row][0]]}" if long.chain is not None and line < 0 else ""
        return f"{at}{chain}, item {items[column]!s}{'' if line >= 0 else ' (which has no row)'},"

    return Source(len(items), _blocks(cells, place, draw_chains, weights), names)


def _of_variable(rows: LongRows, long: LongColumns, variable: str | None, where: str) -> LongRows:
    """The rows of one variable, if the table holds several: in the names of the items, or in a separate column."""
    of = [str(name) for name in rows.columns[long.item if long.variable is None else long.variable]]
    distinct = list(dict.fromkeys(of))
    if variable == ALL_COLUMNS:
        return rows
    if variable is None:
        if long.variable is None:
            check_one_variable(distinct, False, where)
        elif len(distinct) > 1:
            raise ArgumentError(
                f"{where} has the variables {', '.join(distinct[:8])}; name the one that holds the labels, as in ",
                Setting("variable", distinct[0]),
            )
        return rows
    kept = {name for name in distinct if name == variable or belongs(name, variable)}
    if not kept:
        found = ", ".join(dict.fromkeys(variable_of(name)[0] for name in distinct[:20]))
        raise ValueError(f"{where} has no variable {variable!r}; its variables: {found}")
    numbers = [row for row, name in enumerate(of) if name in kept]
    columns = {position: [values[row] for row in numbers] for position, values in rows.columns.items()}
    return replace(rows, columns=columns, place=lambda row: rows.place(numbers[row]))


def _without_empty(rows: LongRows, long: LongColumns) -> LongColumns:
    """The columns without empty ones for chain and iteration: tidybayes writes NA if they are unknown."""
    empty = {position for position in (*long.draws, long.chain) if position is not None}
    empty = {position for position in empty if all(map(is_null, rows.columns[position]))}
    counting = tuple(position for position in long.draws if position not in empty)
    return replace(long, draws=counting or long.draws, chain=None if long.chain in empty else long.chain)


def _check_known(rows: LongRows, long: LongColumns) -> None:
    """Every row must identify its chain, draw and item."""
    for what, position in (("chain", long.chain), *(("draw", j) for j in long.draws), ("item", long.item)):
        if position is not None:
            bad = next((row for row, value in enumerate(rows.columns[position]) if is_null(value)), None)
            if bad is not None:
                raise ValueError(f"{rows.place(bad)} does not identify its {what}")


def _ordered(values: list[Any]) -> tuple[list[Any], NDArray[np.int64]]:
    """The distinct values, numbers sorted and others in order of appearance, and the position of each value."""
    distinct = list(dict.fromkeys(values))
    keys = [_sort_key(value) for value in distinct]
    if all(key is not None for key in keys):
        distinct = [value for _, value in sorted(zip(keys, distinct, strict=True), key=lambda pair: pair[0])]  # type: ignore[arg-type, return-value]
    codes = {value: code for code, value in enumerate(distinct)}
    return distinct, np.array([codes[value] for value in values], np.int64)


def _sort_key(value: Any) -> tuple[float, ...] | None:
    """Numbers, tuples of numbers, and elements such as z[3] have an order; words have none."""
    if isinstance(value, tuple):
        parts = [_sort_key(part) for part in value]
        return None if any(part is None for part in parts) else tuple(x for part in parts for x in part or ())
    if isinstance(value, int | float | np.integer | np.floating):
        return (float(value),)
    match = re.fullmatch(r"[^0-9]*\[([0-9]+)\]", str(value))
    return None if match is None else (float(match[1]),)


def _row_of_each_cell(
    draw_codes: NDArray[np.int64],
    item_codes: NDArray[np.int64],
    shape: tuple[int, int],
    rows: LongRows,
    draws: list[Any],
    items: list[Any],
) -> NDArray[np.int64]:
    """For each draw and item, the row that labels it, or -1 if there is none; two rows are an error."""
    position = draw_codes * shape[1] + item_codes
    row_of = np.full(shape[0] * shape[1], -1, np.int64)
    row_of[position] = np.arange(len(position))
    again = np.flatnonzero(row_of[position] != np.arange(len(position)))
    if again.size:
        first = int(again[0])
        last = int(row_of[position[first]])
        draw, item = draws[draw_codes[first]], items[item_codes[first]]
        raise ValueError(f"{rows.place(last)} labels item {item!s} of draw {draw[-1]} again, after {rows.place(first)}")
    return row_of.reshape(shape)


def _cells(labels: list[Any], row_of: NDArray[np.int64]) -> NDArray[Any]:
    """Integers if all cells are integers, otherwise objects, with None for missing rows."""
    values = np.array(labels) if all(type(label) is int for label in labels) else np.array([*labels, None], object)[:-1]
    if (row_of >= 0).all() and values.dtype.kind in "iu":
        return values[row_of]
    cells = values.astype(object)[row_of]
    cells[row_of < 0] = None
    return cells


def _draw_weights(rows: LongRows, column: int, draw_codes: NDArray[np.int64], n_draws: int) -> NDArray[np.float64]:
    try:
        values = np.array(rows.columns[column], np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{rows.place(0)} and below: a weight is not a number") from None
    weights = np.zeros(n_draws)
    weights[draw_codes] = values
    differ = np.flatnonzero(weights[draw_codes] != values)
    if differ.size:
        raise ValueError(f"{rows.place(int(differ[0]))} has a different weight from other rows of its draw")
    return weights


def _blocks(
    cells: NDArray[Any],
    place: Callable[[int, int], str],
    chains: NDArray[np.int64] | None,
    weights: NDArray[np.float64] | None,
) -> Iterator[Block]:
    for rows in row_slices(*cells.shape):
        yield Block(
            cells[rows],
            lambda row, column, start=rows.start: place(start + row, column),  # type: ignore[misc]
            None if chains is None else chains[rows],
            None if weights is None else weights[rows],
        )
