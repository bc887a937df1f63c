"""The methods of `estimate` as objects: a name is looked up once, at the entry."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from partita._support.hints import did_you_mean
from partita.search.result import SearchResult

#: The keyword for starting partitions.
STARTS = "starts"


@dataclass(frozen=True)
class CoreSearch:
    """A search of the native core.

    `name` is its name in the core. `coarsens` means that it may first work on items that represent others, and that the
    partitions it ends with are not one per run.
    """

    name: str
    coarsens: bool = False


SEARCH = CoreSearch("search", coarsens=True)
SALSO = CoreSearch("salso")
GREEDY = CoreSearch("greedy")


@dataclass(frozen=True)
class Method:
    """A way to find the partition of least expected loss.

    Attributes
    ----------
    name : str
        Its name for users.
    find : callable
        Takes (sample, loss, search, rng) and the method's own options by name.
    core : CoreSearch or None
        The search of the core behind the method, if there is one. Its runs can be made by the workers of a cluster, and
        without ``max_clusters`` it obeys the default limit on clusters.
    repeats : bool
        Whether it makes as many runs as ``Search(runs=...)`` says.
    constrained : callable or None
        The search under constraints, if the method supports them. Takes (sample, loss, search, rng, constraints,
        starts).
    of_pairs : callable or None
        The search of pair probabilities, if the method supports them. Takes (pair search, pair loss, rng).
    """

    name: str
    find: Callable[..., SearchResult]
    core: CoreSearch | None = None
    repeats: bool = False
    constrained: Callable[..., SearchResult] | None = None
    of_pairs: Callable[..., Any] | None = None

    def __call__(self, *arguments: Any, **options: Any) -> SearchResult:
        """Calls `find`."""
        return self.find(*arguments, **options)

    @property
    def options(self) -> list[str]:
        """Its own keywords: those beyond the four arguments of all methods, except `starts`."""
        return [name for name in self._keywords if name != STARTS]

    @property
    def takes_starts(self) -> bool:
        """Whether it can start from given partitions."""
        return STARTS in self._keywords

    @property
    def _keywords(self) -> list[str]:
        return list(inspect.signature(self.find).parameters)[4:]


def look_up(method: str | Method, methods: Mapping[str, Method]) -> Method:
    """The method with this name; the error for an unknown name suggests a similar one."""
    if isinstance(method, Method):
        return method
    if method not in methods:
        names = ", ".join(map(repr, methods))
        raise ValueError(f"unknown method {method!r}{did_you_mean(method, methods)}; the names are {names}")
    return methods[method]
