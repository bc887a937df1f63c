"""The one way to show a result: answer, notes, facts, tables and sections, computed once and shared by all views.

A kind of result is one subclass of `Presentation`. The views (repr and notes in Python, `to_pandas`, JSON, the files of
`--out`, the terminal, the report) are made from it by code that knows no kinds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, is_dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from partita._support.arrays import Floats
from partita._support.names import as_named, names_or_none
from partita.results.parts import button, listed, section
from partita.results.sentences import fall_into, listed_names, uncertain_sentence
from partita.results.tables import ColumnRows, Table, columns, table
from partita.results.truth import agreement, crossed, truth_measures

#: Number of the layout of `facts`.
SCHEMA = 1
#: The page itself holds the labels of this many items; those of more are in a file beside it.
LABELS_HELD = 100_000
LISTED = 2000  # rows of a table on a page
#: What every kind says in `facts`.
COMMON = {
    "schema": "number of this layout",
    "kind": "kind of result",
    "version": "version of partita",
    "first_cluster": "number of the first cluster in `labels`: 0, as in Python; files and reports count from 1",
    "answer": "the result in words",
    "notes": "what a careful reader needs to know, the most important first",
    "n_items": "number of items",
    "n_clusters": "number of clusters",
    "sizes": "number of items of each cluster; null for `partita link --tables changed`",
    "labels": "cluster of each item; -1 for an item in no cluster; null for `partita link --tables changed`",
    "names": "names of the items; null if they have none",
    "certainty": "certainty of each item, null where it is unknown; null if it was not computed",
    "agreement": "agreement with a given truth; null without one",
    "interrupted": "whether Ctrl-C ended the work early: this is the best so far",
}


@dataclass(frozen=True)
class Note:
    """A sentence for a careful reader, which says what to do; a warning is about whether the result can be trusted."""

    text: str
    warning: bool = False


class Presentation:
    """What there is to say about a result and about what was computed beside it (the extras).

    Subclasses set the class attributes and override what differs; what a method is for is said here. What is costly is
    a `cached_property`: all views share it. Clusters are numbered as in Python; views add 1 (or what the user asked
    for), so that one numbering holds.

    Attributes
    ----------
    result : object
        The result.
    truth : (n,) array_like or None
        A partition to compare with, in the order of the items.
    first : int
        Number of the first item without a name, in sentences and tables.
    """

    #: Kind in JSON and on the page, what an item is called, the heading of the page.
    kind: ClassVar[str]
    noun: ClassVar[str] = "item"
    #: Where the names of the items are, a path such as those of `own`.
    names_at: ClassVar[str] = "result.names"
    heading: ClassVar[str] = "Cluster analysis"
    #: What messages call the result.
    whose: ClassVar[str] = "the estimate"
    #: Extras by type ("module.Class"): their names in `extras`. A method `check_<name>` may refuse one.
    takes: ClassVar[dict[str, str]] = {}
    #: Extras that must be about the same items: where their labels, or the number of their items, are.
    same_items: ClassVar[dict[str, str]] = {}
    #: Extras of which there may be several: a list.
    several: ClassVar[frozenset[str]] = frozenset()
    #: Keys of `facts` beyond the common ones: where their values are, and their meaning.
    own: ClassVar[dict[str, tuple[str, str]]] = {}
    #: Tables that `--out` writes, and those that the terminal shows with the number of their rows.
    written: ClassVar[tuple[str, ...]] = ("items", "clusters")
    printed: ClassVar[dict[str, int]] = {"clusters": 50, "uncertain": 5}
    #: Whether there are tables, facts and a page of all items, and not only of those that changed.
    of_all: ClassVar[bool] = True
    #: Whether measurements of the items can be shown, and whether a truth is compared by pairs as in record linkage.
    takes_data: ClassVar[bool] = False
    of_pairs: ClassVar[bool] = False

    def __init__(
        self, result: Any, extras: Iterable[Any] = (), *, data: Any = None, truth: Any = None, first: int = 0
    ) -> None:
        self.result, self.first = result, first
        self.extras: dict[str, Any] = {}
        for extra in extras:
            self._take(extra)
        if data is not None and not self.takes_data:
            raise ValueError(f"data is for estimates from draws, and this is {self.whose}")
        self.data = data
        self.truth = None if truth is None else self._in_order(truth)

    def _take(self, extra: Any) -> None:
        """Keeps an extra under its name; one of a type that does not belong here is refused."""
        types = [f"{kind.__module__}.{kind.__qualname__}" for kind in type(extra).__mro__]
        name = next((self.takes[kind] for kind in types if kind in self.takes), None)
        if name is None:
            known = ", ".join(sorted({kind.rpartition(".")[2] for kind in self.takes})) or "nothing"
            raise TypeError(f"{type(extra).__name__} does not belong to {self.whose}, which takes {known}")
        if name in self.same_items:
            found, n_items = look_up(extra, self.same_items[name]), len(self.labels)
            theirs = found if isinstance(found, int) else len(found)
            if theirs != n_items:
                raise ValueError(f"{type(extra).__name__} has {theirs} items, but {self.whose} has {n_items}")
        check: Callable[[Any], None] | None = getattr(self, f"check_{name}", None)
        if check is not None:
            check(extra)
        if name in self.several:
            self.extras.setdefault(name, []).append(extra)
        elif name in self.extras:
            raise ValueError(f"{type(extra).__name__} is given twice")
        else:
            self.extras[name] = extra

    def _in_order(self, truth: Any) -> NDArray[Any]:
        given = as_named(truth, "truth")
        return np.asarray(given.in_order_of(self.names, len(self.labels), self.whose))

    # The items.

    @property
    def labels(self) -> NDArray[np.int64]:
        """The cluster of each item; -1 for an item in no cluster."""
        return np.asarray(self.result.labels, np.int64)

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the items; None if they have none."""
        return look_up(self, self.names_at)  # type: ignore[no-any-return]

    @cached_property
    def certainty(self) -> Floats | None:
        """The certainty of each item, NaN where it is unknown; None if nothing tells it."""
        return None

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.labels.max()) + 1

    @cached_property
    def item_names(self) -> tuple[str, ...]:
        """The names of the items, or their numbers."""
        return self.names or tuple(map(str, range(self.first, len(self.labels) + self.first)))

    # The five questions.

    @cached_property
    def answer(self) -> str:
        """The result in words, for a co-author."""
        uncertain = uncertain_sentence(self.labels, self.certainty, self.item_names, self.noun)
        return " ".join(
            filter(None, [fall_into(self.labels, self.noun, self.of_what()), uncertain, *self.more_answer()])
        )

    @cached_property
    def details(self) -> str:
        """How the result was found, in words: for the terminal and the section on diagnostics."""
        return ""

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """What a careful reader needs, warnings first, each sentence once."""
        found = dict.fromkeys(self.find_notes())
        return tuple(sorted(found, key=lambda note: not note.warning))

    @cached_property
    def facts(self) -> dict[str, Any]:
        """Plain data for scripts: the keys of COMMON and `own`."""
        from importlib.metadata import version

        labels = self.labels
        return {
            "schema": SCHEMA,
            "kind": self.kind,
            "version": version("partita"),
            "first_cluster": 0,
            "answer": self.answer,
            "notes": [note.text for note in self.notes],
            "n_items": len(labels),
            "n_clusters": self.n_clusters,
            **dict.fromkeys(("sizes", "labels", "names", "certainty")),
            **(self._item_facts() if self.of_all else {}),
            "agreement": None if self.truth is None else agreement(labels, self.truth, of_pairs=self.of_pairs),
            "interrupted": self.interrupted,
        } | {key: plain(look_up(self, where)) for key, (where, _) in self.own.items()}

    def _item_facts(self) -> dict[str, Any]:
        return {
            "sizes": np.bincount(self.labels[self.labels >= 0]).tolist(),
            "labels": self.labels.tolist(),
            "names": None if self.names is None else list(self.names),
            "certainty": None if self.certainty is None else plain(self.certainty),
        }

    @cached_property
    def tables(self) -> dict[str, Table]:
        """The tables by name, in full."""
        made = (self.clusters_table(), self.items_table(), *self.more_tables())
        return {table.id: table for table in made if table is not None}

    def sections(self) -> Iterator[dict[str, Any] | None]:
        """The sections of the page, in the same order for all kinds; None is left out."""
        yield section("clusters", "Clusters", *self.clusters_blocks())
        yield from self.more_sections()
        yield self.truth_section()
        yield from self.search_sections()
        details, rows = self.details, list(self.settings())
        blocks = (*self.diagnostics_blocks(),)
        if details or blocks or len(rows) > 1:
            yield section("diagnostics", "Diagnostics", details, listed(rows), *blocks)

    def frame(self, table: str = "items") -> Any:
        """A table as a pandas DataFrame; items without names have their numbers."""
        if table not in self.tables:
            raise ValueError(f"table must be one of {', '.join(self.tables)}, but it is {table!r}")
        frame = self.tables[table].to_pandas()
        if table == "items" and names_or_none(self.item_names) is None:
            import pandas as pd

            frame.index = pd.RangeIndex(len(frame), name=frame.index.name)
        return frame

    # What kinds override.

    @property
    def noise(self) -> Floats | None:
        """For each item, the share of the draws or runs that label it which call it noise; None if no label does."""
        return None

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the work early."""
        return bool(getattr(self.result, "interrupted", False))

    def of_what(self) -> str:
        """Of what the items are, in the first sentence."""
        return ""

    def more_answer(self) -> Iterator[str]:
        """Further sentences of the answer."""
        return iter(())

    def find_notes(self) -> Iterator[Note]:
        """The notes, in any order; the most important of the warnings first."""
        return iter(())

    def more_tables(self) -> Iterator[Table | None]:
        """Tables beside those of the clusters and of the items."""
        return iter(())

    def clusters_blocks(self) -> Iterator[Any]:
        """What the first section shows."""
        yield self.tables["clusters"].head(LISTED, "clusters")

    def more_sections(self) -> Iterator[dict[str, Any] | None]:
        """The sections between the clusters and the comparison with a truth."""
        yield self.items_section()

    def search_sections(self) -> Iterator[dict[str, Any] | None]:
        """The sections on the search before the diagnostics."""
        return iter(())

    def diagnostics_blocks(self) -> Iterator[Any]:
        """What the diagnostics show below the settings."""
        return iter(())

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Arrays that `--out` writes as npy files, by name."""
        return {}

    def settings(self) -> Iterator[tuple[str, str]]:
        """The data and the settings, as rows of a list."""
        yield f"{self.noun.capitalize()}s", f"{len(self.labels):,}"

    def reproduce(self) -> Iterator[tuple[str, str]]:
        """Seed and calls that give the same answer again."""
        seed = look_up(self, self.own["seed"][0]) if "seed" in self.own else None
        if seed is not None:
            yield "Seed", str(seed)

    def items_table(self) -> Table:
        """One row per item: its name, its cluster and its certainty."""
        certainty = [None] * len(self.labels) if self.certainty is None else self.certainty
        told = "Mean probability of being with the other members of its cluster"
        spec = f"{self.noun.capitalize()}; Cluster; Certainty | {told}"
        rows = ColumnRows(self.item_names, self.labels, certainty)
        made = table("items", f"The cluster of each {self.noun}", spec, rows, indexed=True)
        if self.noise is None:
            return made
        told = f"Share of those that label the {self.noun} which call it noise"
        return made.beside(3, columns(f"Noise:share | {told}"), [self.noise])

    def clusters_table(self) -> Table:
        """One row per cluster: its size, its certainty and its first members."""
        members, noun = members_of(self.labels), self.noun
        sizes = np.bincount(self.labels[self.labels >= 0])
        means = [] if self.certainty is None else [means_of(self.certainty, self.labels)]
        told = f"Certainty | Mean certainty of its {noun}s\n" if means else ""
        spec = f"Cluster; {noun.capitalize()}s:number; Share\n{told}First {noun}s"
        first = [first_names(self.item_names, own) for own in members]
        rows = ColumnRows(np.arange(len(members)), sizes, sizes / len(self.labels), *means, first)
        return table("clusters", "Clusters", spec, rows, indexed=True)

    # What the pages of several kinds have.

    def items_section(self, title: str | None = None, *more: Any, of_all: bool = True) -> dict[str, Any]:
        """The items sorted by cluster; `of_all`: with the button for all of them, if no other section has it."""
        found = self.tables["items"]
        known = [at for at, own in enumerate(found.columns) if own.name != "Certainty" or self.certainty is not None]
        placed, count = np.asarray(found.by_column()[1]), len(found.rows)
        first = np.lexsort((placed, placed < 0))[:LISTED].tolist()
        rows = [[found.rows[row][at] for at in known] for row in first]
        header = tuple(found.columns[at] for at in known)
        left = f"The first {LISTED:,} of {count:,} {self.noun}s." if count > LISTED else None
        name = title or f"{self.noun.capitalize()}s"
        shown = replace(found, columns=header, rows=rows, note=left, search=True, indexed=False)
        return section("items", name, button() if of_all else None, shown, *more)

    def truth_section(self) -> dict[str, Any] | None:
        """The result against a given truth; None without one."""
        if self.truth is None:
            return None
        placed = self.labels >= 0
        known, classes = np.unique(self.truth[placed].astype(str), return_inverse=True)
        labels = self.labels[placed]
        counts = crossed(classes.astype(np.int64), labels, [str(name) for name in known], self.noun)
        measures = truth_measures(classes, labels, of_pairs=self.of_pairs)
        return section("truth", "Comparison with the truth", counts, measures)

    def held_labels(self) -> dict[str, Any] | None:
        """Names, clusters and certainties of all items as content of a page; None if there are too many."""
        if len(self.labels) > LABELS_HELD:
            return None
        known = None if self.certainty is None else [None if p is None else round(p, 6) for p in plain(self.certainty)]
        own = None if self.names is None else list(self.names)
        return {"names": own, "cluster": self.labels.tolist(), "certainty": known}


# Helpers.


def cautions(sentences: Iterable[str]) -> Iterator[Note]:
    """What a search or a sampler warns of; that items are noise or in no cluster is no reason to doubt the result."""
    for sentence in sentences:
        yield Note(sentence, warning=not ("noise" in sentence or "in no cluster" in sentence))


def plain(value: Any) -> Any:
    """A value as JSON has it: null where a number is not known, dictionaries for dataclasses."""
    if isinstance(value, np.ndarray | np.generic):
        exact = value.dtype.kind in "biuU" or (value.dtype.kind == "f" and not np.isnan(value).any())
        value = value.tolist()
        if exact:
            return value
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return None if value != value else value


def facts(spec: str) -> dict[str, tuple[str, str]]:
    """Facts of a kind, one per line: key, where its value is if not in the result under that name, and its meaning.

    >>> facts("icl | what it is" + chr(10) + "runs = n_runs | how many")
    {'icl': ('result.icl', 'what it is'), 'runs': ('n_runs', 'how many')}
    """
    found = {}
    for line in spec.strip().split("\n"):
        named, _, told = line.strip().partition(" | ")
        key, _, where = named.partition(" = ")
        found[key] = (where or f"result.{key}", told)
    return found


def look_up(start: Any, where: str) -> Any:
    """What a path such as "result.loss.name" leads to, through attributes and keys; None where it ends early.

    A number is a place in a sequence, and # the length of one.
    """
    for name in where.split("."):
        if name == "#":
            start = None if start is None else len(start)
        elif name.isdecimal():
            start = start[int(name)]
        else:
            start = start.get(name) if isinstance(start, Mapping) else getattr(start, name, None)
    return start


def members_of(labels: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """The items of each cluster, in their order."""
    order = np.argsort(labels, kind="stable")[int((labels < 0).sum()) :]
    return np.split(order, np.cumsum(np.bincount(labels[labels >= 0]))[:-1])


def first_names(names: tuple[str, ...], members: NDArray[np.int64], shown: int = 12) -> str:
    """The first members of a cluster in words."""
    return listed_names([names[i] for i in members[:shown].tolist()], more=len(members) > shown)


def means_of(values: Floats, labels: NDArray[np.int64]) -> Floats:
    """The mean of the known values of each cluster; NaN if there are none."""
    known = (labels >= 0) & ~np.isnan(values)
    count = np.bincount(labels[known], minlength=int(labels.max()) + 1)
    sums = np.bincount(labels[known], values[known], minlength=count.size)
    return np.where(count > 0, sums / np.maximum(count, 1), np.nan)
