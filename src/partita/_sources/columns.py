"""Which columns of a table are items; the names for chain, weight and draw that samplers and we write."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

CHAIN, WEIGHT = ".chain", ".weight"
_CHAIN_NAMES = (CHAIN, "chain__")
_COUNTER_NAMES = (".draw", ".iteration", "draw__", "iter__")
SPECIAL_NAMES = (*_CHAIN_NAMES, WEIGHT, *_COUNTER_NAMES)


@dataclass(frozen=True)
class Columns:
    """Positions of the columns of items, chain and weight; the items' names unless these only count."""

    items: tuple[int, ...]
    names: tuple[str, ...] | None
    chain: int | None = None
    weight: int | None = None


def default_names(n_items: int) -> tuple[str, ...]:
    """The column names of items that have none: item0, item1, ..."""
    return tuple(f"item{i}" for i in range(n_items))


def names_or_none(names: tuple[str, ...]) -> tuple[str, ...] | None:
    """None for names that only count the items."""
    counted = tuple(map(str, range(len(names))))
    return None if names in (counted, default_names(len(names))) else names


def choose_columns(header: Sequence[str], variable: str | None, where: str) -> Columns:
    """Sorts out a header; `variable="z"` keeps only the columns z[1], z[2], ... or z.1, z.2, ..."""
    chain = _first_of(header, _CHAIN_NAMES)
    weight = _first_of(header, (WEIGHT,))
    special = {chain, weight, *(i for i, name in enumerate(header) if name in _COUNTER_NAMES)}
    items = tuple(i for i, name in enumerate(header) if i not in special and _belongs(name, variable))
    if variable is not None and not items:
        found = ", ".join(dict.fromkeys(re.split(r"[\[.]", name)[0] or name for name in header))
        raise ValueError(f"{where} has no columns {variable}[1] or {variable}.1; its variables: {found}")
    return Columns(items, names_or_none(tuple(header[i] for i in items)), chain, weight)


def _first_of(header: Sequence[str], names: Sequence[str]) -> int | None:
    return next((i for i, name in enumerate(header) if name in names), None)


def _belongs(name: str, variable: str | None) -> bool:
    return variable is None or re.fullmatch(re.escape(variable) + r"(\[.+\]|\.\d+)", name) is not None
