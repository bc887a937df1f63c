"""Which columns of a table of pairs have the items and the probability: those of Splink, recordlinkage, or as named."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from partita._support.errors import Argument, ArgumentError, Setting
from partita._support.hints import listed

SPLINK = ("unique_id_l", "unique_id_r", "match_probability")
SPLINK_SOURCES = ("source_dataset_l", "source_dataset_r")
OWN = ("left", "right", "probability")
KNOWN = (SPLINK, OWN)
#: Names of the two columns of items: those of recordlinkage, pandas and Splink, and what people write.
ITEM_NAMES = {
    ("rec_id_1", "rec_id_2"), ("level_0", "level_1"), ("index_1", "index_2"), ("record_1", "record_2"),
    ("id_1", "id_2"), ("id1", "id2"), ("id_l", "id_r"), ("unique_id_l", "unique_id_r"), ("left", "right"),
    ("first", "second"),
}  # fmt: skip


@dataclass(frozen=True)
class PairColumns:
    """Positions of the columns of a table."""

    left: int
    right: int
    probability: int
    sources: tuple[int, int] | None = None

    @property
    def used(self) -> list[int]:
        """All of them."""
        return [self.left, self.right, self.probability, *(self.sources or ())]


def find_columns(header: Sequence[str], wanted: Sequence[str] | None, where: str) -> PairColumns:
    """The columns that are wanted, or known by their names, or the only three."""
    if wanted is not None:
        return _wanted(header, wanted, where)
    lower = [name.lower() for name in header]
    for names in KNOWN:
        if all(lower.count(name) == 1 for name in names):
            left, right, probability = map(lower.index, names)
            has_sources = names is SPLINK and all(lower.count(name) == 1 for name in SPLINK_SOURCES)
            sources = (lower.index(SPLINK_SOURCES[0]), lower.index(SPLINK_SOURCES[1])) if has_sources else None
            return PairColumns(left, right, probability, sources)
    if len(header) == 3:
        return PairColumns(0, 1, 2)
    raise ArgumentError(
        f"{where} has {len(header)} columns ({listed(header)}): pairs are in three columns (left, right, probability)"
        f" or in {', '.join(SPLINK)}; name yours with ",
        Setting("columns", ("left", "right", "probability")),
    )


def names_items(cells: Sequence[str]) -> bool:
    """Whether two cells are usual names for the two columns of items."""
    return tuple(cell.lower() for cell in cells) in ITEM_NAMES


def names_columns(cells: Sequence[str]) -> bool:
    """Whether a line has the names of known columns."""
    lower = [cell.lower() for cell in cells]
    return any(all(name in lower for name in names) for names in KNOWN)


def check_wanted(columns: object) -> tuple[str, str, str] | None:
    """`columns=` as users write it: three different names."""
    if columns is None:
        return None
    names: list[Any] = list(columns) if isinstance(columns, Iterable) and not isinstance(columns, str) else [columns]
    if len(names) != 3 or len(set(names)) != 3 or not all(isinstance(name, str) for name in names):
        said = f" must be three different names (left, right, probability), not {columns!r}"
        raise ArgumentError(Argument("columns", value=columns), said)
    return names[0], names[1], names[2]


def _wanted(header: Sequence[str], wanted: Sequence[str], where: str) -> PairColumns:
    for name in wanted:
        if list(header).count(name) != 1:
            raise ValueError(f"{where} has no column {name!r}; its columns are {listed(header)}")
    left, right, probability = (list(header).index(name) for name in wanted)
    return PairColumns(left, right, probability)
