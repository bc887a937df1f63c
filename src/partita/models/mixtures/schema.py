"""Which family models each column, and the names of the levels: what a table must be like to be of a model."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._hints import did_you_mean
from partita.models.mixtures.raw import RawTable
from partita.models.mixtures.raw_column import NUMBERS, TEXTS, TRUTHS, RawColumn

GAUSSIAN, POSITIVE, COUNT = "gaussian", "positive", "count"
CATEGORICAL, BINARY, IGNORE = "categorical", "binary", "ignore"
FAMILIES = (GAUSSIAN, POSITIVE, COUNT, CATEGORICAL, BINARY, IGNORE)
#: The family of a column whose family is not given.
DEFAULTS = {NUMBERS: GAUSSIAN, TRUTHS: BINARY, TEXTS: CATEGORICAL}
_LEVELS_SHOWN = 4


@dataclass(frozen=True)
class Column:
    """A column of a table and its family; `levels` of categorical and binary columns."""

    name: str
    family: str
    levels: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.levels:
            return f"{self.name}: {self.family}"
        shown = ", ".join(self.levels[:_LEVELS_SHOWN]) + (", ..." if len(self.levels) > _LEVELS_SHOWN else "")
        return f"{self.name}: {self.family} ({len(self.levels)} levels: {shown})"


@dataclass(frozen=True)
class Schema:
    """The columns of a table, in order; `named` is False if they are only counted."""

    columns: tuple[Column, ...]
    named: bool = True

    def used(self, *families: str) -> tuple[Column, ...]:
        """The columns of these families; without any, all that are not ignored."""
        wanted = families or tuple(name for name in FAMILIES if name != IGNORE)
        return tuple(column for column in self.columns if column.family in wanted)

    def __str__(self) -> str:
        return "\n".join(map(str, self.columns))

    def to_array(self) -> NDArray[np.uint8]:
        """The schema as bytes, for the files of a run."""
        body = {"columns": [asdict(column) for column in self.columns], "named": self.named}
        return np.frombuffer(json.dumps(body).encode(), dtype=np.uint8)

    @classmethod
    def from_array(cls, content: NDArray[Any]) -> Schema:
        """The inverse; a run may come from anywhere, so every entry is checked."""
        body = json.loads(np.asarray(content, dtype=np.uint8).tobytes())
        columns = tuple(
            Column(str(entry["name"]), str(entry["family"]), tuple(map(str, entry["levels"])))
            for entry in body["columns"]
        )
        bad = next((column for column in columns if column.family not in FAMILIES), None)
        if bad is not None:
            raise ValueError(f"column {bad.name!r} has the family {bad.family!r}, which is unknown")
        names = [column.name for column in columns]
        if len(set(names)) < len(names):
            raise ValueError("two columns have the same name")
        return cls(columns, bool(body["named"]))


def choose_schema(table: RawTable, given: Mapping[str, str] | Sequence[str] | str | None) -> Schema:
    """The family of each column: as given, else by its type."""
    families = _given_families(table, given)
    columns = tuple(_column(table, raw, families.get(raw.name)) for raw in table.columns)
    schema = Schema(columns, table.named)
    if not schema.used():
        raise ValueError("every column is ignored: there is nothing to model")
    return schema


def _given_families(table: RawTable, given: Any) -> dict[str, str]:
    names = [column.name for column in table.columns]
    if given is None:
        return {}
    if isinstance(given, str):
        given = dict.fromkeys(names, given)
    elif not isinstance(given, Mapping):
        given = list(given)
        if len(given) != len(names):
            raise ValueError(f"columns has {len(given)} families, but the table has {len(names)} columns")
        given = dict(zip(names, given, strict=True))
    for name, family in given.items():
        if str(name) not in names:
            raise ValueError(f"columns names {name!r}, which the table does not have{did_you_mean(name, names)}")
        if family not in FAMILIES:
            raise ValueError(
                f"columns[{name!r}] must be one of {', '.join(FAMILIES)}, but it is {family!r}"
                f"{did_you_mean(family, FAMILIES)}"
            )
    return {str(name): family for name, family in given.items()}


def _column(table: RawTable, raw: RawColumn, family: str | None) -> Column:
    if family == IGNORE:
        return Column(raw.name, IGNORE)
    advice = f'columns={{"{raw.name}": "ignore"}} leaves it out'
    if raw.problem and not (raw.may_be_levels and family == CATEGORICAL):
        as_levels = ', or "categorical" takes its texts as levels' if raw.may_be_levels else ""
        raise ValueError(f"column {raw.name!r} {raw.problem}; {advice}{as_levels}")
    family = family or DEFAULTS[raw.kind]
    if not raw.observed().any():
        raise ValueError(f"column {raw.name!r} has no cell that is observed; {advice}")
    if family not in (CATEGORICAL, BINARY):
        return Column(raw.name, family)
    levels = raw.levels or level_names(raw)
    if len(levels) < 2:
        raise ValueError(
            f"column {raw.name!r} has only the level {levels[0]!r} and cannot tell clusters apart; {advice}"
        )
    if family == BINARY and len(levels) != 2:
        raise ValueError(
            f"column {raw.name!r} is to be binary, but it has {len(levels)} levels: {', '.join(levels[:5])}"
            f"{', ...' if len(levels) > 5 else ''}"
        )
    return Column(raw.name, family, levels)


def level_names(raw: RawColumn) -> tuple[str, ...]:
    """The levels that occur, in order: of text by the alphabet, of numbers by size."""
    texts, _ = raw.distinct()
    return tuple(sorted(texts)) if raw.kind == TEXTS else texts
