"""What a careful reader would ask about the columns of a table before it is clustered."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.errors import MissingCells, Repeated, Sentence, Setting
from partita._support.hints import plural
from partita.models.mixtures.raw import NUMBERS, TEXTS, RawColumn, RawTable
from partita.models.mixtures.schema import CATEGORICAL, GAUSSIAN, IGNORE, ORDINAL, Schema

MAX_CODES, REPEATS = 12, 3  # whole numbers are codes if no more than 12 differ, and each occurs three times on average
MIN_NAMES = 20  # cells, from which on a different value in each of them is no accident
MOSTLY = 0.8  # share of different values in a column that has the name of an identifier
DENSE = 2  # range of the numbers of items, per item
MIN_LONG = 10  # rows of a table in which items repeat
FILLED = 0.5  # share of the combinations of item and time that such a table has
#: Numbers that often mark missing cells.
SENTINELS = {sign * int("9" * digits) for sign in (-1, 1) for digits in (1, 2, 3, 4, 5)}
#: Words that often stand for a missing cell; NA, NaN and empty cells are missing in any case.
MARKERS = {"?", ".", "-", "--", "*", "n/a", "#n/a", "missing", "unknown", "none", "null"}
_ITEM = re.compile(r"(.*[ _.])?(id|subject|patient|person|participant|respondent|pupil|student|case|country|firm)s?")
_IDENTIFIER = re.compile(rf"{_ITEM.pattern}|(.*[ _.])?(number|code|key|index|nr|no|account)|.*id")
_TIME = re.compile(r"(.*[ _.])?(time|date|day|week|month|year|visit|wave|period|session|occasion|age|round)s?")
_NAMES_SHOWN = 3


def column_notes(table: RawTable, schema: Schema, given: Collection[str]) -> tuple[Sentence, ...]:
    """Questions, each with what answers it; none about the family of a column that is `given` one."""
    used = [
        _Facts(raw, column.family, raw.name in given)
        for raw, column in zip(table.columns, schema.columns, strict=True)
        if column.family != IGNORE
    ]
    checks = (_on_repeated_items, _on_names, _on_sentinels, _on_codes, _on_markers)
    return tuple(note for check in checks for note in check(used))


@dataclass(frozen=True, eq=False)
class _Facts:
    """A column that is used, its family, and whether the user gave it."""

    raw: RawColumn
    family: str
    given: bool

    @property
    def name(self) -> str:
        return self.raw.name

    @property
    def cells(self) -> NDArray[Any]:
        """The observed cells: numbers, or places of texts. They are not kept: the columns may be large."""
        return self.raw.values if self.n_cells == len(self.raw.values) else self.raw.values[self.raw.observed()]

    @cached_property
    def n_cells(self) -> int:
        return int(self.raw.observed().sum())

    @cached_property
    def is_whole(self) -> bool:
        """Whether all are whole numbers."""
        return self.raw.kind == NUMBERS and are_whole(self.cells)

    @cached_property
    def n_distinct(self) -> int:
        return len(self.raw.texts) if self.raw.kind == TEXTS else len(np.unique(self.cells))


def are_whole(cells: NDArray[Any]) -> bool:
    """Whether all of these numbers are whole."""
    return cells.dtype.kind in "iu" or bool(np.isfinite(cells).all() and (cells % 1 == 0).all())


def are_few(n_distinct: int, n_cells: int) -> bool:
    """Whether whole numbers with so many different ones may be codes."""
    return n_distinct <= min(MAX_CODES, n_cells / REPEATS)


def _on_codes(used: Sequence[_Facts]) -> Iterator[Sentence]:
    found = [
        own
        for own in used
        if own.family == GAUSSIAN and not own.given and own.is_whole
        if own.n_distinct > 1 and are_few(own.n_distinct, own.n_cells)
    ]
    if not found:
        return
    several = len(found) > 1
    most = max(own.n_distinct for own in found)
    which = "one" if several else "them"
    ways = [Sentence(Setting("columns", {found[0].name: CATEGORICAL}), f" takes {which} as categories")]
    ways += [Sentence(", ", Setting("columns", {found[0].name: ORDINAL}), " as answers in order")]
    prefix, times = Counter(own.name.rstrip("0123456789") for own in found).most_common(1)[0]
    if prefix and times > 1:
        begin = Setting("columns", {f"{prefix}*": CATEGORICAL})
        ways += [Sentence(", ", begin, f" those that begin with {prefix}")]
    if several:
        ways += [Sentence(", ", Setting("columns", CATEGORICAL), " all columns")]
    yield Sentence(
        f"{_listed(found)} {'have' if several else 'has'} only whole numbers, {most} different ones"
        f"{' at most' if several else ''}, and {'are' if several else 'is'} modelled as {'' if several else 'a '}"
        f"measurement{'s' if several else ''} (gaussian). Are they codes or answers on a scale? ",
        *ways,
        ".",
    )


def _on_names(used: Sequence[_Facts]) -> Iterator[Sentence]:
    for own in used:
        n = own.n_cells
        if own.given or n < MIN_NAMES:
            continue
        if own.family == GAUSSIAN and own.is_whole and own.n_distinct == n and _may_number(own):
            said = "a different whole number in each row"
        elif own.family == GAUSSIAN and own.is_whole and own.n_distinct > MOSTLY * n and _is_named_so(own):
            said = f"{own.n_distinct:,} different whole numbers in {n:,} rows"
        elif own.family == CATEGORICAL and own.raw.kind == TEXTS and own.n_distinct > n / 2:
            said = f"{own.n_distinct:,} categories in {n:,} rows"
        else:
            continue
        ignored = Setting("columns", {own.name: IGNORE})
        yield Sentence(f"{own.name} has {said}. Does it name the items? ", ignored, " leaves it out.")


def _may_number(own: _Facts) -> bool:
    """Whether different whole numbers are dense, as numbers of items are, or have the name of an identifier."""
    dense = float(own.cells.max()) - float(own.cells.min()) < DENSE * own.n_cells
    return dense or _is_named_so(own)


def _is_named_so(own: _Facts) -> bool:
    """Whether it has the name of an identifier."""
    return _IDENTIFIER.fullmatch(own.name.lower()) is not None


def sentinel_questions(table: RawTable) -> Iterator[tuple[int, str]]:
    """Numbers that may mark missing cells of a table of numbers, each with the question about it."""
    return _questions([_Facts(raw, GAUSSIAN, False) for raw in table.columns])


def _on_sentinels(used: Sequence[_Facts]) -> Iterator[Sentence]:
    for value, said in _questions(used):
        yield Sentence(f"{said} ", MissingCells(str(value)), ".")


def _questions(used: Sequence[_Facts]) -> Iterator[tuple[int, str]]:
    by_value: dict[int, list[_Facts]] = {}
    for own in used:
        for value in _sentinels(own):
            by_value.setdefault(value, []).append(own)
    for value, found in by_value.items():
        n_cells = sum(int((own.cells == value).sum()) for own in found)
        places = f"{plural(n_cells, 'cell')} of {_listed(found)}"
        yield value, f"{value} is in {places}, far from the other values. Does it mark missing cells?"


def _sentinels(own: _Facts) -> list[int]:
    """Smallest and largest value, if they are of the usual form and as far from the others as these spread."""
    if own.raw.kind != NUMBERS or own.family == CATEGORICAL or not own.n_cells:
        return []
    ends = {int(end) for end in (own.cells.min(), own.cells.max()) if end in SENTINELS}
    rest = own.cells[~np.isin(own.cells, list(ends))] if ends else own.cells[:0]
    if not len(rest) or rest.min() == rest.max():
        return []
    low, high = float(rest.min()), float(rest.max())
    far = [value for value in sorted(ends) if max(low - value, value - high) >= high - low]
    return [value for value in far if abs(value) > 9 or (own.cells == value).sum() >= REPEATS]


def _on_markers(used: Sequence[_Facts]) -> Iterator[Sentence]:
    texts = {text for own in used if own.family != GAUSSIAN for text in own.raw.texts}
    for marker in sorted(text for text in texts if text.lower() in MARKERS)[:1]:
        found = [own for own in used if marker in own.raw.texts]
        said = f"{marker!r} is a level of {_listed(found)}. Does it mark missing cells? "
        yield Sentence(said, MissingCells(marker), ".")


def _on_repeated_items(used: Sequence[_Facts]) -> Iterator[Sentence]:
    """A long table, with a row per item and time: its rows are clustered, not its items."""
    complete = [own for own in used if own.n_cells == len(own.raw.values) >= MIN_LONG and not own.given]
    n = complete[0].n_cells if complete else 0
    items = [own for own in complete if (own.raw.kind == TEXTS or own.is_whole) and 3 <= own.n_distinct <= n / 2]
    times = [own for own in complete if own.raw.kind == NUMBERS]
    for item in items:
        for time in times:
            if time is not item and _repeats(item, time, n):
                yield Sentence(
                    f"{item.name} repeats, with another {time.name} in each row: {n:,} rows of {item.n_distinct:,}"
                    " items. Clusters will be of rows. Should they be of items, by their curves over time? ",
                    Repeated(item.name, time.name),
                    " does that.",
                )
                return


def _repeats(item: _Facts, time: _Facts, n: int) -> bool:
    """Whether no item has a time twice, most combinations occur, and names or the order of rows agree with it.

    By their order alone, rows that are numbered within a few groups would look the same.
    """
    if not 2 <= time.n_distinct <= n / 2 or not FILLED * item.n_distinct * time.n_distinct <= n:
        return False
    if n > item.n_distinct * time.n_distinct:
        return False
    pairs = np.unique(np.stack([item.cells.astype(np.float64), time.cells.astype(np.float64)]), axis=1)
    named = _ITEM.fullmatch(item.name.lower()) or _TIME.fullmatch(time.name.lower())
    ordered = item.n_distinct >= time.n_distinct and _in_order(item, time)
    return pairs.shape[1] == n and (named is not None or ordered)


def _in_order(item: _Facts, time: _Facts) -> bool:
    """Whether the rows of an item are together, and its times increase."""
    changes = item.cells[1:] != item.cells[:-1]
    grows = time.cells[1:] > time.cells[:-1]
    return int(changes.sum()) == item.n_distinct - 1 and bool((grows | changes).all())


def _listed(found: Sequence[_Facts]) -> str:
    names = [own.name for own in found]
    if len(names) <= _NAMES_SHOWN + 1:
        return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    return f"{', '.join(names[:_NAMES_SHOWN])} and {len(names) - _NAMES_SHOWN} more columns"
