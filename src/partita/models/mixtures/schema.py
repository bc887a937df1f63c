"""Which family models each column, and the names of the levels: what a table must be like to be of a model."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.errors import Argument, ArgumentError, Setting
from partita._support.hints import did_you_mean, plural
from partita.models.mixtures.raw import NUMBERS, TEXTS, TRUTHS, RawColumn, RawTable, first_date, months

GAUSSIAN, POSITIVE, COUNT = "gaussian", "positive", "count"
NEGATIVE_BINOMIAL, ORDINAL = "negative-binomial", "ordinal"
CURVE, REGRESSION = "curve", "regression"
MONTHS = "months"
CATEGORICAL, BINARY, IGNORE = "categorical", "binary", "ignore"
FAMILIES = (
    GAUSSIAN, POSITIVE, MONTHS, COUNT, NEGATIVE_BINOMIAL, CATEGORICAL, BINARY, ORDINAL, CURVE, REGRESSION, IGNORE
)  # fmt: skip
#: What a user may name; regressions come from their formula.
NAMED_FAMILIES = tuple(family for family in FAMILIES if family != REGRESSION)
#: Families of numbers, of counts, and of levels, whose cells are in one array each.
NUMERIC, COUNTED, LEVELLED = (GAUSSIAN, POSITIVE, MONTHS), (COUNT, NEGATIVE_BINOMIAL), (CATEGORICAL, BINARY, ORDINAL)
#: Families of outcomes with a mean that depends on time or on other columns.
CURVED = (CURVE, REGRESSION)
#: The family of a column whose family is not given.
DEFAULTS = {NUMBERS: GAUSSIAN, TRUTHS: BINARY, TEXTS: CATEGORICAL}
ALL = "*"  # the pattern of all columns
MAX_ORDINAL = 50  # levels of an ordinal column
_LEVELS_SHOWN = 4
_COLUMNS_SHOWN = 20


@dataclass(frozen=True)
class Column:
    """A column of a table and its family; `levels` of categorical, binary and ordinal ones, `first` date of months."""

    name: str
    family: str
    levels: tuple[str, ...] = ()
    first: str = ""

    def __str__(self) -> str:
        if self.first:
            return f"{self.name}: {self.family} since {self.first}"
        if not self.levels:
            return f"{self.name}: {self.family}"
        shown = ", ".join(self.levels[:_LEVELS_SHOWN]) + (", ..." if len(self.levels) > _LEVELS_SHOWN else "")
        return f"{self.name}: {self.family} ({len(self.levels)} levels: {shown})"


@dataclass(frozen=True)
class Schema:
    """The columns of a table, in order; `named` is False if they are only counted.

    `notes` are questions about the columns, such as whether whole numbers are codes; `MixtureDPM.describe` asks them.
    """

    columns: tuple[Column, ...]
    named: bool = True
    notes: tuple[str, ...] = field(default=(), compare=False)

    def used(self, *families: str) -> tuple[Column, ...]:
        """The columns of these families; without any, all that are not ignored."""
        wanted = families or tuple(name for name in FAMILIES if name != IGNORE)
        return tuple(column for column in self.columns if column.family in wanted)

    def places(self) -> dict[str, int]:
        """The place of each column in the table, by name."""
        return {column.name: place for place, column in enumerate(self.columns)}

    def __str__(self) -> str:
        return "\n".join(map(str, self.columns))

    def summary(self) -> str:
        """One line for each column, or for each family if there are more than 20 columns."""
        if len(self.columns) <= _COLUMNS_SHOWN:
            return str(self)
        groups = {family: [column.name for column in self.used(family)] for family in FAMILIES}
        return "\n".join(
            f"{family}: {plural(len(names), 'column')} ({_shortened(names)})"
            for family, names in groups.items()
            if names
        )

    def to_array(self) -> NDArray[np.uint8]:
        """The schema as bytes, for the files of a run."""
        body = {"columns": [asdict(column) for column in self.columns], "named": self.named}
        return np.frombuffer(json.dumps(body).encode(), dtype=np.uint8)

    @classmethod
    def from_array(cls, content: NDArray[Any]) -> Schema:
        """The inverse; a run may come from anywhere, so every entry is checked."""
        body = json.loads(np.asarray(content, dtype=np.uint8).tobytes())
        columns = tuple(
            Column(str(entry["name"]), str(entry["family"]), tuple(map(str, entry["levels"])), str(entry["first"]))
            for entry in body["columns"]
        )
        bad = next((column for column in columns if column.family not in FAMILIES), None)
        if bad is not None:
            raise ValueError(f"column {bad.name!r} has the family {bad.family!r}, which is unknown")
        names = [column.name for column in columns]
        if len(set(names)) < len(names):
            raise ValueError("two columns have the same name")
        return cls(columns, bool(body["named"]))


def _shortened(names: Sequence[str]) -> str:
    return ", ".join(names if len(names) <= _LEVELS_SHOWN else [*names[: _LEVELS_SHOWN - 1], "...", names[-1]])


class _Unusable(ValueError):
    """A column that cannot be modelled; `why` completes the sentence that its name begins."""

    def __init__(self, raw: RawColumn, why: str) -> None:
        super().__init__(why)
        self.name, self.why = raw.name, why
        self.other: dict[str, str] = {}
        if raw.problem and raw.holds_dates:
            self.other[MONTHS] = "takes months since the first"
        if raw.problem and raw.may_be_levels:
            self.other[CATEGORICAL] = "takes its texts as levels"


def choose_schema(table: RawTable, given: Mapping[str, str] | Sequence[str] | str | None) -> Schema:
    """The family of each column: as given, else by its type. All columns that cannot be used are named at once."""
    schema, unusable = _proposed(table, given)
    if unusable:
        raise _refusal(unusable)
    if not schema.used():
        raise ValueError("every column is ignored: there is nothing to model")
    return schema


def propose_schema(table: RawTable, given: Mapping[str, str] | None = None) -> tuple[Schema, dict[str, str]]:
    """The same, but columns that cannot be used are ignored; the reasons by column."""
    schema, unusable = _proposed(table, given)
    return schema, {error.name: error.why for error in unusable}


def _proposed(table: RawTable, given: Any) -> tuple[Schema, list[_Unusable]]:
    families = given_families(table, given)
    columns, unusable = [], []
    for raw in table.columns:
        try:
            columns.append(_column(table, raw, families.get(raw.name)))
        except _Unusable as error:
            columns.append(Column(raw.name, IGNORE))
            unusable.append(error)
    return Schema(tuple(columns), table.named), unusable


def _refusal(unusable: Sequence[_Unusable]) -> ArgumentError:
    """One sentence for all of them, with what can be done."""
    ignored, several = Setting("columns", {error.name: IGNORE for error in unusable}), len(unusable) > 1
    ways: list[Any] = [ignored, f" leaves {'them' if several else 'it'} out"]
    for error in unusable:
        for family, told in error.other.items():
            ways += [", ", Setting("columns", {error.name: family}), f" {told}"]
    if not several:
        return ArgumentError(f"column {unusable[0].name!r} {unusable[0].why}; ", *ways)
    said = "; ".join(f"{error.name!r} {error.why}" for error in unusable)
    return ArgumentError(f"{len(unusable)} columns cannot be used as they are: {said}; ", *ways)


def given_families(table: RawTable, given: Any) -> dict[str, str]:
    """The families by column that the user gives; patterns such as "A*" stand for the columns that match.

    A column's own name counts more than a pattern, and any other pattern more than "*", all columns.
    """
    names = [column.name for column in table.columns]
    if given is None:
        return {}
    if isinstance(given, str):
        given = dict.fromkeys(names, given)
    elif not isinstance(given, Mapping):
        if not isinstance(given, Iterable):
            raise TypeError(f"columns must give the families of columns by name or in order, not {given!r}")
        given = list(given)
        if len(given) != len(names):
            raise ArgumentError(
                Argument("columns"), f" has {len(given)} families, but the table has {len(names)} columns"
            )
        given = dict(zip(names, given, strict=True))
    given = {str(name): family for name, family in given.items()}
    for name, family in given.items():
        if family not in FAMILIES:
            known = f"{', '.join(NAMED_FAMILIES)}, but it is {family!r}{did_you_mean(family, NAMED_FAMILIES)}"
            raise ArgumentError(Argument("columns", name, family), f" must be one of {known}")
    return _matched(given, names)


def _matched(given: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    """Families by column, the patterns replaced by the columns that they match."""
    known = set(names)
    families = {} if ALL in known or ALL not in given else dict.fromkeys(names, given[ALL])
    by_pattern: dict[str, str] = {}
    for pattern in given:
        if pattern in known or pattern == ALL:
            continue
        matches = [name for name in names if fnmatchcase(name, pattern)] if is_pattern(pattern) else []
        if not matches:
            what = "matches no column" if is_pattern(pattern) else "the table does not have"
            problem = f" names {pattern!r}, which {what}{did_you_mean(pattern, names)}"
            raise ArgumentError(Argument("columns", value=pattern), problem)
        for name in matches:
            other = by_pattern.setdefault(name, pattern)
            if given[other] != given[pattern]:
                raise ValueError(f"columns: {other!r} and {pattern!r} give the column {name!r} different families")
    families |= {name: given[pattern] for name, pattern in by_pattern.items()}
    return families | {name: given[name] for name in names if name in given}


def is_pattern(name: str) -> bool:
    """Whether a name may stand for several columns."""
    return any(sign in name for sign in "*?[")


def _column(table: RawTable, raw: RawColumn, family: str | None) -> Column:
    if family == IGNORE:
        return Column(raw.name, IGNORE)
    if family == MONTHS:
        if raw.kind != TEXTS or not raw.texts:
            raise ValueError(f"column {raw.name!r} is to be months, but it has no dates such as 2026-03-31")
        months(table, raw)
        return Column(raw.name, MONTHS, first=first_date(raw.texts))
    if raw.problem and not (raw.may_be_levels and family == CATEGORICAL):
        raise _Unusable(raw, raw.problem)
    given, family = family, family or DEFAULTS[raw.kind]
    cells = raw.values[raw.observed()]
    if not len(cells):
        raise _Unusable(raw, "has no cell that is observed")
    if given is None and family == GAUSSIAN and len(cells) > 1 and cells.min() == cells.max():
        raise _Unusable(raw, f"has only the value {cells[0]:g}, which would count as evidence for few clusters")
    if family not in LEVELLED:
        return Column(raw.name, family)
    if family == ORDINAL and raw.kind == TEXTS and raw.levels is None:
        raise ValueError(
            f"column {raw.name!r} is to be ordinal, but the order of its texts ({', '.join(raw.texts[:3])}, ...) is"
            " not known: use numbers, or categories in order (pandas.Categorical(..., categories=[...]))"
        )
    levels = raw.levels or level_names(raw)
    if family == ORDINAL and len(levels) > MAX_ORDINAL:
        raise ValueError(
            f"column {raw.name!r} is to be ordinal, but it has {len(levels)} levels, more than {MAX_ORDINAL}"
        )
    if len(levels) < 2:
        raise _Unusable(raw, f"has only the level {levels[0]!r} and cannot tell clusters apart")
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
