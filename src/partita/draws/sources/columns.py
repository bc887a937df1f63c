"""Which columns of a table are items; the column names for chain, weight and draw that samplers and partita write."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from partita._support.errors import ArgumentError, Setting
from partita._support.hints import listed
from partita._support.names import names_or_none

CHAIN, WEIGHT = ".chain", ".weight"
ALL_COLUMNS = "*"  # variable="*" treats every column as an item
_COUNTERS = ("draw", "iteration", "iter")
_ROW_NUMBERS = ("", "Unnamed: 0")  # columns without a name, as R and pandas write and read them
ROWS_ARE_ITEMS = ("item", "items", "node", "nodes")  # a first column of this name shows that the rows are not draws
_EDGES = ({"source", "target"}, {"from", "to"})
_FEW_EDGES = {"i", "j"}  # names of edges only if there are no other items
_NUMBERED_DRAW = re.compile(r"\.?(draw|iteration|iter|sweep|sample)[ ._\[-]*[0-9]+\]?", re.IGNORECASE)
_INDEXED = re.compile(r"(.+?)\[(.+)\]")
_DOTTED = re.compile(r"(.+?)\.([0-9]+(?:\.[0-9]+)*)")


@dataclass(frozen=True)
class Columns:
    """Positions of the columns of items, chain and weight, and of those that number the draws.

    `names` are the names of the items, unless they are only numbers in order.
    """

    items: tuple[int, ...]
    names: tuple[str, ...] | None
    chain: int | None = None
    weight: int | None = None
    counters: tuple[int, ...] = ()


def plain(name: str) -> str:
    """The name in lower case, without the marks of a column that is not a parameter: .chain and chain__ are chain."""
    return name.lower().removeprefix(".").removesuffix("__")


def is_chain(name: str) -> bool:
    """Whether a column identifies the chain of a draw."""
    return plain(name) == "chain"


def is_counter(name: str) -> bool:
    """Whether a column numbers the draws."""
    return plain(name) in _COUNTERS


def is_special(name: str) -> bool:
    """Whether a column is never an item: chain, draw, iteration, .weight, and Stan's lp__, ..."""
    return is_chain(name) or is_counter(name) or name == WEIGHT or name.endswith("__") or name in _ROW_NUMBERS


def first_position(header: Sequence[str], names: Iterable[str]) -> int | None:
    """The position of the first column with one of these names."""
    wanted = set(names)
    return next((i for i, name in enumerate(header) if name in wanted), None)


def variable_of(name: str, dotted: bool = True) -> tuple[str, str | None]:
    """The variable and the index of a column: z and 3 for z[3], and for z.3 if indices are written so."""
    match = _INDEXED.fullmatch(name) or (_DOTTED.fullmatch(name) if dotted else None)
    return (name, None) if match is None else (match[1], match[2])


def choose_columns(header: Sequence[str], variable: str | None, where: str) -> Columns:
    """Interprets a header; `variable="z"` keeps only the columns z[1], z[2], ... or z.1, z.2, ..."""
    columns = [i for i, name in enumerate(header) if not is_special(name)]
    if variable is None:
        _check_kind(header, columns, where)
        check_one_variable([header[i] for i in columns], _is_stan(header), where)
    elif variable != ALL_COLUMNS:
        columns = [i for i in columns if belongs(header[i], variable)]
        if not columns:
            found = ", ".join(dict.fromkeys(variable_of(name)[0] for name in header if not is_special(name)))
            raise ValueError(f"{where} has no columns {variable}[1] or {variable}.1; its variables: {found}")
    return Columns(
        tuple(columns),
        names_or_none(tuple(header[i] for i in columns)),
        next((i for i, name in enumerate(header) if is_chain(name)), None),
        first_position(header, (WEIGHT,)),
        tuple(i for i, name in enumerate(header) if is_counter(name)),
    )


def belongs(name: str, variable: str) -> bool:
    """Whether a column is an element of the variable."""
    of, index = variable_of(name)
    return of == variable and index is not None


def _is_stan(header: Sequence[str]) -> bool:
    """z.1 means z[1] only beside Stan's own columns: elsewhere it may be the name of an item."""
    return any(name.endswith("__") for name in header)


def check_one_variable(names: Sequence[str], dotted: bool, where: str) -> None:
    """Elements of one variable are items; with other columns, or with two indices, the user must choose."""
    elements = [variable_of(name, dotted) for name in names]
    variables = list(dict.fromkeys(variable for variable, _ in elements))
    indices = [index for _, index in elements if index is not None]
    if not indices:
        return
    several = len(variables) > 1
    if several or any(re.search(r"[,.]", index) for index in indices):
        problem = f"the variables {listed(variables, 8)}" if several else f"two indices in {names[0]}"
        example = next(variable for variable, index in elements if index is not None)
        raise ArgumentError(
            f"{where} has {problem}; name the one that holds the labels, as in ",
            Setting("variable", example),
            ", or use all columns with ",
            Setting("variable", ALL_COLUMNS),
        )


def _check_kind(header: Sequence[str], columns: Sequence[int], where: str) -> None:
    """Raises an error for tables that are clearly not draws: labels of items, and edges."""
    names = [header[i].lower() for i in columns]
    if any(is_counter(name) for name in header) or not names:
        return
    if names[0] in ROWS_ARE_ITEMS and len(names) > 1:
        raise ValueError(
            f"{where} has a column {header[columns[0]]!r}: its rows are items, not draws; draws have one row "
            "per draw and one column per item, or one row per draw and item with the columns draw, item, label"
        )
    if len(names) == 1 and names[0] in ("cluster", "label", "labels"):
        raise ValueError(f"{where} has the one column {header[columns[0]]!r}: one label per item, not draws")
    if len(names) > 1 and all(_NUMBERED_DRAW.fullmatch(name) for name in names):
        raise ArgumentError(
            f"{where} has the columns {listed(names, 8)}: its columns are draws; draws have one row per draw and one "
            "column per item, so transpose it first, or treat each column as an item with ",
            Setting("variable", ALL_COLUMNS),
        )
    if any(ends <= set(names) for ends in _EDGES) or set(names) - {"weight", "w"} == _FEW_EDGES:
        raise ValueError(f"{where} has the columns {listed(names, 8)}: edges of a network, not draws")


def check_draws_differ(keys: Sequence[tuple[object, ...]], where: str) -> None:
    """Raises an error for a draw number that occurs twice in a chain: a long table, or chains that look like one."""
    seen: set[tuple[object, ...]] = set()
    for key in keys:
        if key in seen:
            raise ArgumentError(
                f"{where} has draw {key[-1]} twice: a table with one row per draw and item is read with ",
                Setting("long", ("draw", "item", "label")),
                " and the names of its columns; chains need a column chain",
            )
        seen.add(key)
