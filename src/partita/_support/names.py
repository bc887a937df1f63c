"""Items by name: two objects that both have item names are matched by name, all others by position."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray


class LabelledSample(Protocol):
    """An estimate: labels of the items of a sample, which may have names."""

    @property
    def labels(self) -> NDArray[Any]: ...

    @property
    def sample(self) -> Any: ...


Names = tuple[str, ...]
Order = NDArray[np.intp]
PartitionLike = ArrayLike | LabelledSample

NAMES_LISTED = 5
#: Prefix and start of names that are only numbers: 0, 1, ...; the names written for draws without names; 1, 2, ...
_COUNTS = (("", 0), ("item", 0), ("", 1))


@dataclass(frozen=True, eq=False)
class Named:
    """Rows, one per item, and the names of the items if they have any; `what` is what messages call the rows.

    `as_they_are` says how the user can specify that the rows are in the order of the other side, if numbers may be
    those of the items or a remnant of an earlier order; it is empty if they certainly number the items. `columns` are
    the names of the columns of a table.
    """

    values: Any
    names: Names | None
    what: str
    as_they_are: str = ""
    columns: Names | None = None

    def in_order_of(self, names: Names | None, n_items: int, whose: str) -> Any:
        """The values in the order of the items of `whose`; by position unless both have names."""
        order = self.order_for(names, n_items, whose)
        return self.values if order is None else self.values[order]

    def order_for(self, names: Names | None, n_items: int, whose: str) -> Order | None:
        """The row of each item of `whose`; None if the order is the same."""
        if self.names is not None and names is not None:
            return order_by_name(self.names, names, self.what, whose)
        if len(self.values) != n_items:
            raise ValueError(f"{self.what} has {len(self.values)} items, but {whose} has {n_items}")
        numbers = names if self.names is None else self.names
        order = None if numbers is None else _order_of_numbers(numbers)
        if numbers is not None and order is not None and self.as_they_are:
            shown = ", ".join(numbers[:3])
            raise ValueError(
                f"{self.what} and {whose} number their items in different orders ({shown}, ...): {self.as_they_are} if "
                "their rows are nevertheless in the same order, or sort both by these numbers first"
            )
        return None if self.names is None else order

    def distinct_names(self) -> Names | None:
        """The names, which must be distinct; None if they only number the items."""
        if self.names is None or counts_items(self.names):
            return None
        if len(set(self.names)) < len(self.names):
            raise ValueError(_twice(self.names, self.what))
        return self.names


def order_by_name(names: Names, reference: Names, what: str, whose: str) -> Order | None:
    """The position in `names` of each name of `reference`; None if both only number the items, or are the same.

    Names must be the same on both sides and occur once; numbers 0, 1, ... or 1, 2, ... in order do not count as names
    if the other side has names.
    """
    if names == reference:
        return None
    place = {name: row for row, name in enumerate(names)}
    if len(place) == len(names) == len(reference) == len(set(reference)) and all(name in place for name in reference):
        return np.array([place[name] for name in reference], np.intp)
    if len(names) == len(reference) and (counts_items(names) or counts_items(reference)):
        return None
    raise ValueError(_difference(names, reference, what, whose))


def check_names(names: Sequence[str], n_items: int) -> Names:
    """The names given by a user, as text, one per item."""
    if isinstance(names, str) or len(names) != n_items:
        raise ValueError(f"names must contain {n_items} names, one per item, not {names!r}")
    return tuple(map(str, names))


def names_or_none(names: Sequence[Any]) -> Names | None:
    """Names as text; None if they only number the items: 0, 1, ... or item0, item1, ..."""
    texts = tuple(map(str, names))
    prefix = "item" if texts and texts[0].startswith("item") else ""
    only_counts = all(
        text == f"{prefix}{number}" for number, text in enumerate(texts)
    )  # ends at the first that differs
    return None if only_counts else texts


def counts_items(names: Names) -> bool:
    """Whether the names are 0, 1, ... or 1, 2, ... or item0, item1, ..."""
    return any(names == _counted(len(names), *count) for count in _COUNTS)


def row_names(x: Any) -> Names | None:
    """The row names of a pandas Series or table, or of an xarray array; None if they only number the rows."""
    if _is_pandas(x):
        index = x.index
        counts = type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1)
        return None if counts else names_or_none(index.tolist())
    if hasattr(x, "coords") and hasattr(x, "dims") and x.dims and x.dims[0] in x.coords:
        return names_or_none(x.coords[x.dims[0]].values.tolist())
    return None


def as_named(x: Any, what: str) -> Named:
    """Labels or data with their item names: those of an estimate, or the row names of pandas and xarray objects."""
    if isinstance(x, Named):
        return x
    for holder in ("sample", "similarity"):  # of draws, or of pair probabilities
        if hasattr(x, "labels") and hasattr(x, holder):
            return Named(x.labels, getattr(x, holder).names, what)
    if _is_pandas(x):
        return Named(np.asarray(x), row_names(x), what, f"pass {what}.to_numpy()")
    return Named(x, row_names(x), what)


def _is_pandas(x: Any) -> bool:
    return hasattr(x, "iloc") and hasattr(x, "index")


def default_names(n_items: int) -> Names:
    """The column names of items that have none: item0, item1, ..."""
    return _counted(n_items, "item")


def _counted(n: int, prefix: str = "", start: int = 0) -> Names:
    return tuple(f"{prefix}{start + i}" for i in range(n))


def _order_of_numbers(names: Names) -> Order | None:
    """The position of each item, if the names are the numbers of all items in a different order."""
    for count in _COUNTS:
        counted = _counted(len(names), *count)
        if names == counted:
            return None
        if len(set(names)) == len(names) and set(names) == set(counted):
            return order_by_name(names, counted, "", "")
    return None


def _difference(names: Names, reference: Names, what: str, whose: str) -> str:
    if twice := _twice(names, what) or _twice(reference, whose):
        return twice
    own, others = set(names), set(reference)
    lacks = tuple(name for name in reference if name not in own)
    unknown = tuple(name for name in names if name not in others)
    parts = [f"not in {what}: {_listed(lacks)}"] if lacks else []
    parts += [f"not in {whose}: {_listed(unknown)}"] if unknown else []
    return f"the items of {what} and of {whose} have different names; {'; '.join(parts)}"


def _twice(names: Names, whose: str) -> str:
    """The problem with names that are not distinct; "" if they are distinct."""
    counts = Counter(names)
    several = [name for name, count in counts.items() if count > 1]
    return f"{whose} has duplicate item names, which cannot be matched: {_listed(several)}" if several else ""


def _listed(names: Sequence[str], most: int = NAMES_LISTED) -> str:
    """The first few names, and how many there are."""
    shown = ", ".join(map(repr, names[:most]))
    return shown if len(names) <= most else f"{shown}, ... ({len(names):,} in all)"
