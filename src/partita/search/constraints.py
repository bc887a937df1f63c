"""Constraints on partitions (together, apart, at most one item of each source, a limit on size), and given starts."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.arrays import Labels
from partita._support.errors import Argument, ArgumentError, Sentence
from partita._support.hints import did_you_mean, hinted_init, plural
from partita._support.names import Names, as_named
from partita._support.shown import ShownAsText
from partita._support.validate import check_count
from partita.partitions.checks import check_placed_of, is_one_partition
from partita.partitions.codes import is_null
from partita.partitions.labels import canonical, each_alone

#: Stands for the source of an item without a source, and for the size of clusters without a limit.
NOTHING = 2**32 - 1


@hinted_init
@dataclass(frozen=True, eq=False, repr=False)
class Constraints(ShownAsText):
    """Constraints that a partition must obey.

    Items are given by their numbers from 0, or by their names if they have names.

    Parameters
    ----------
    together : sequence of groups of items
        The items of each group (two or more) are in one cluster.
    apart : sequence of pairs of items
        The two items are in different clusters.
    one_per : (n,) array_like, optional
        The source of each item; a cluster contains at most one item of each source. None or NaN: the item has no
        source. A Series with row names is matched by name.
    max_size : int, optional
        The maximum number of items in a cluster.

    Examples
    --------
    >>> Constraints(together=[("ann", "bob")], apart=[("ann", "cy")], max_size=4)
    Constraints: 1 group together, 1 pair apart, at most 4 items in a cluster
    """

    together: Sequence[Sequence[Any]] = ()
    apart: Sequence[Sequence[Any]] = ()
    one_per: Any = None
    max_size: int | None = None

    def summary(self) -> str:
        """How many of each kind there are."""
        parts = [
            f"{plural(len(self.together), 'group')} together" if len(self.together) else "",
            f"{plural(len(self.apart), 'pair')} apart" if len(self.apart) else "",
            "" if self.one_per is None else "at most one item of each source in a cluster",
            "" if self.max_size is None else f"at most {plural(self.max_size, 'item')} in a cluster",
        ]
        return ", ".join(filter(None, parts)) or "none"

    def __repr__(self) -> str:
        return f"Constraints: {self.summary()}"


@dataclass(frozen=True, eq=False)
class Resolved:
    """Constraints on items by number, free of contradictions.

    Items with the same number in `atom` must be together; atoms are numbered by first appearance. `source` and
    `max_size` are `NOTHING` where an item has no source, and where sizes have no limit.
    """

    atom: Labels
    apart: NDArray[np.int64]
    source: NDArray[np.int64] | None
    max_size: int = NOTHING

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.atom)

    @cached_property
    def n_atoms(self) -> int:
        """Number of atoms, the sets of items that must be together."""
        return int(self.atom.max()) + 1

    def broken_by(self, labels: Labels) -> str | None:
        """A message about the first constraint that a partition breaks; None if it obeys all."""
        first = np.unique(self.atom, return_index=True)[1]
        split = np.flatnonzero(labels != labels[first[self.atom]])
        if split.size:
            return f"items {first[self.atom[split[0]]]} and {split[0]} must be together"
        joined = np.flatnonzero(labels[self.apart[:, 0]] == labels[self.apart[:, 1]])
        if joined.size:
            i, j = self.apart[joined[0]]
            return f"items {i} and {j} must be apart"
        same = next(same_source(labels, self.source), None)
        if same is not None:
            return f"items {same[0]} and {same[1]} have the same source"
        largest = int(np.bincount(labels).max())
        return f"a cluster has {largest} items, but max_size={self.max_size}" if largest > self.max_size else None

    def atoms(self) -> list[list[int]]:
        """The items of each atom."""
        atoms: list[list[int]] = [[] for _ in range(self.n_atoms)]
        for item, atom in enumerate(self.atom.tolist()):
            atoms[atom].append(item)
        return atoms

    def rows_apart(self) -> list[list[int]]:
        """For each item, the items that it must not be with: those of `apart`, and those of the same source."""
        rows: list[list[int]] = [[] for _ in range(self.n_items)]
        for i, j in self.apart.tolist():
            rows[i].append(j)
            rows[j].append(i)
        if self.source is not None:
            known = np.flatnonzero(self.source != NOTHING)
            for source in np.unique(self.source[known]):
                items = known[self.source[known] == source].tolist()
                for item in items:
                    rows[item] += [other for other in items if other != item]
        return rows

    def repaired(self, labels: Labels) -> Labels:
        """A partition near `labels` that obeys: atoms go where most of their items are, those in conflict into parts.

        >>> resolve(Constraints(together=[(0, 1, 2)], apart=[(3, 4)]), None, 6).repaired(np.array([1, 0, 1, 0, 0, 0]))
        array([0, 0, 0, 1, 2, 1])
        """
        atoms, apart = self.atoms(), self.rows_apart()
        parts: dict[int, list[set[int]]] = {}  # of each cluster of `labels`
        found = np.empty(self.n_items, np.int64)
        for atom in atoms:
            largest = int(np.bincount(labels[atom]).argmax())
            others = {other for item in atom for other in apart[item]}
            room = self.max_size - len(atom)
            open_parts = (part for part in parts.setdefault(largest, []) if len(part) <= room)
            free = next((part for part in open_parts if part.isdisjoint(others)), None)
            if free is None:
                free = set()
                parts[largest].append(free)
            free.update(atom)
        for number, part in enumerate(part for cluster in parts.values() for part in cluster):
            found[list(part)] = number
        return canonical(found)

    def forbidden_pairs(self) -> NDArray[np.bool_]:
        """(n, n): which pairs of items must be in different clusters; for small n only."""
        forbidden = np.zeros((self.n_atoms, self.n_atoms), np.bool_)
        left, right = self.atom[self.apart[:, 0]], self.atom[self.apart[:, 1]]
        forbidden[left, right] = forbidden[right, left] = True
        if self.source is not None:
            for source in np.unique(self.source[self.source != NOTHING]):
                atoms = self.atom[self.source == source]
                forbidden[np.ix_(atoms, atoms)] = True
        np.fill_diagonal(forbidden, False)
        return forbidden[np.ix_(self.atom, self.atom)]


def same_source(labels: Labels, source: NDArray[np.int64] | None) -> Iterator[tuple[int, int]]:
    """Pairs of items with the same cluster and the same source: neighbours when items are sorted by both."""
    if source is None:
        return
    items = np.flatnonzero(source != NOTHING)
    order = items[np.lexsort((items, source[items], labels[items]))]
    again = (np.diff(labels[order]) == 0) & (np.diff(source[order]) == 0)
    for place in np.flatnonzero(again):
        yield int(order[place]), int(order[place + 1])


def resolve(constraints: Constraints, names: Names | None, n_items: int, whose: str = "draws") -> Resolved:
    """The constraints in terms of item numbers; an error names the groups and pairs that contradict each other.

    In messages `whose` names the object that the items belong to.
    """
    if not isinstance(constraints, Constraints):
        raise TypeError(f"constraints must be Constraints(...), not {type(constraints).__name__}")
    items = _Items(names, n_items)
    groups = [items.group(group, Argument("together", g, group)) for g, group in enumerate(constraints.together)]
    pairs = [items.group(pair, Argument("apart", p, pair), exactly=2) for p, pair in enumerate(constraints.apart)]
    for p, pair in enumerate(pairs):
        if pair[0] == pair[1]:
            raise ArgumentError(Argument("apart", p, pair), f" is a pair of {items.shown(pair[0])} with itself")
    atom = _atoms(groups, n_items)
    source = _sources(constraints.one_per, names, n_items, whose)
    for p, (i, j) in enumerate(pairs):
        if atom[i] == atom[j]:
            said = f" keeps {items.shown(i)} and {items.shown(j)} apart, but "
            raise ArgumentError(Argument("apart", p, (i, j)), said, _chain(groups, i, j, items))
    for i, j in same_source(atom, source):
        said = f" has the same source for {items.shown(i)} and {items.shown(j)}, but "
        raise ArgumentError(Argument("one_per"), said, _chain(groups, i, j, items))
    limit = NOTHING if constraints.max_size is None else check_count(constraints.max_size, "max_size", 1)
    sizes = np.bincount(atom)
    if sizes.max() > limit:
        first, *others = (items.shown(int(item)) for item in np.flatnonzero(atom == sizes.argmax())[: limit + 1])
        more = ", ".join(others[:3]) + ", ..." * (len(others) > 3)
        problem = f" is {limit}, but together joins {first} with {more}: {sizes.max()} items"
        raise ArgumentError(Argument("max_size", value=limit), problem)
    return Resolved(atom, np.array(pairs, np.int64).reshape(-1, 2), source, min(limit, NOTHING))


def native_restrictions(rules: Resolved | None) -> tuple[list[list[int]], list[list[int]], int]:
    """Constraints as the searches of draws in the core take them: atoms, rows of items apart, the limit on size."""
    return ([], [], NOTHING) if rules is None else (rules.atoms(), rules.rows_apart(), rules.max_size)


class _Items:
    """Turns items, as users give them, into numbers."""

    def __init__(self, names: Names | None, n_items: int) -> None:
        self.names, self.n_items = names, n_items
        self.place = {} if names is None else {name: number for number, name in enumerate(names)}

    def group(self, group: Any, where: Argument, exactly: int | None = None) -> list[int]:
        if isinstance(group, str) or not hasattr(group, "__len__"):
            raise TypeError(f"{where} must be a group of items, not {group!r}")
        if len(group) < 2 or (exactly is not None and len(group) != exactly):
            problem = f" must have {'two' if exactly else 'at least two'} items, but it is {group!r}"
            raise ArgumentError(where, problem)
        return [self.number(item, where) for item in group]

    def number(self, item: Any, where: Argument) -> int:
        if isinstance(item, str):
            if item in self.place:
                return self.place[item]
            hint = did_you_mean(item, (self.names or ())[:10_000])
            raise ArgumentError(where, f" names {item!r}, which is not an item{hint}")
        if isinstance(item, bool) or not isinstance(item, int | np.integer):
            raise TypeError(f"{where} has {item!r}: an item is a number from 0, or a name")
        if not 0 <= item < self.n_items:
            raise ArgumentError(where, f" has item {item}, but there are items 0..{self.n_items - 1}")
        return int(item)

    def shown(self, item: int) -> str:
        return f"item {item}" if self.names is None else repr(self.names[item])


def _atoms(groups: list[list[int]], n_items: int) -> Labels:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    left = [group[0] for group in groups for _ in group[1:]]
    right = [item for group in groups for item in group[1:]]
    links = coo_array((np.ones(len(left)), (left, right)), shape=(n_items, n_items))
    return canonical(connected_components(links, directed=False)[1])


def _sources(one_per: Any, names: Names | None, n_items: int, whose: str) -> NDArray[np.int64] | None:
    if one_per is None:
        return None
    values = as_named(one_per, "one_per").in_order_of(names, n_items, whose)
    numbers: dict[Any, int] = {}
    source = np.full(n_items, NOTHING, np.int64)
    for item, value in enumerate(values.tolist() if hasattr(values, "tolist") else values):
        if not is_null(value):
            source[item] = numbers.setdefault(value, len(numbers))
    return source


def _chain(groups: list[list[int]], start: int, end: int, items: _Items) -> Sentence:
    """The groups that connect two items, one after the other, for a message."""
    of_item: dict[int, list[int]] = {}
    for g, group in enumerate(groups):
        for item in group:
            of_item.setdefault(item, []).append(g)
    came: dict[int, tuple[int, int] | None] = {start: None}
    queue = deque([start])
    while queue and end not in came:
        item = queue.popleft()
        for g in of_item.get(item, ()):
            for other in groups[g]:
                if other not in came:
                    came[other] = (item, g)
                    queue.append(other)
    steps = []
    item = end
    while (step := came[item]) is not None:
        steps.append((Argument("together", step[1]), f" joins {items.shown(step[0])} and {items.shown(item)}"))
        item = step[0]
    return Sentence(*[part for step in reversed(steps) for part in (" and ", *step)][1:])


#: The `start` of a run that begins at a given partition.
GIVEN = "given"


def check_starts(
    start: Any,
    names: Names | None,
    n_items: int,
    constraints: Resolved | None = None,
    whose: str = "draws",
    may_lack: NDArray[np.bool_] | None = None,
) -> tuple[Labels, ...]:
    """`start=`: None, one partition, or several of them; each must obey the constraints.

    Items of `may_lack` may be in no cluster (-1): they start in the first one, or alone if there are constraints.
    """
    if start is None:
        return ()
    one = is_one_partition(start, "start")
    given = {"start": start} if one else {f"start[{i}]": row for i, row in enumerate(start)}
    lacking = np.zeros(n_items, np.bool_) if may_lack is None else may_lack
    checked = [check_placed_of(labels, names, n_items, what, lacking, whose) for what, labels in given.items()]
    starts = tuple(np.maximum(labels, 0) if constraints is None else each_alone(labels) for labels in checked)
    for what, labels in zip(given, starts, strict=True):
        problem = None if constraints is None else constraints.broken_by(labels)
        if problem:
            raise ValueError(f"{what} does not obey the constraints: {problem}")
    return starts


def check_starts_within(starts: tuple[Labels, ...], limit: int) -> None:
    """Raises an error if a start has more clusters than are allowed."""
    for place, labels in enumerate(starts):
        if labels.max() >= limit:
            raise ValueError(
                f"start[{place}] has {labels.max() + 1} clusters, but at most {limit} are allowed:"
                " Search(max_clusters=...) allows more"
            )
