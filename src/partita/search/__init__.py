"""The methods of `estimate`: one file per method, and one line per method here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from partita.search.constrained import enumerate_constrained, exact_constrained, search_constrained
from partita.search.core import find_greedy, find_salso, find_search
from partita.search.draws import find_draw, find_map
from partita.search.enumerate import find_by_enumeration
from partita.search.exact import find_exact
from partita.search.lower_bound import find_lower_bound
from partita.search.method import GREEDY, SALSO, SEARCH, Method, look_up
from partita.search.pair_graph import PairSearch
from partita.search.papers.hasse import find_hasse
from partita.search.papers.laugreen import find_laugreen
from partita.search.papers.linkage import find_medv, find_pear
from partita.search.papers.mpmms import find_mpmms

_ALL = (
    Method("search", find_search, core=SEARCH, repeats=True, constrained=search_constrained, of_pairs=PairSearch.find),
    Method("salso", find_salso, core=SALSO, repeats=True),
    Method("greedy", find_greedy, core=GREEDY, repeats=True),
    Method("draws", find_draw),
    Method("map", find_map),
    Method("medv", find_medv),
    Method("pear", find_pear),
    Method("hasse", find_hasse),
    Method("lower-bound", find_lower_bound),
    Method("laugreen", find_laugreen, repeats=True),
    Method("mpmms", find_mpmms),
    Method("exact", find_exact, repeats=True, constrained=exact_constrained, of_pairs=PairSearch.prove),
    Method("enumerate", find_by_enumeration, constrained=enumerate_constrained),
)
METHODS = {method.name: method for method in _ALL}


def methods_that(have: Callable[[Method], Any]) -> str:
    """The names of the methods for which `have` is true, as a list for a message.

    >>> methods_that(lambda method: method.of_pairs)
    "'search', 'exact'"
    """
    return ", ".join(repr(method.name) for method in _ALL if have(method))


def as_method(method: str | Method) -> Method:
    """The method with this name; a `Method` is returned as it is.

    >>> as_method("salso").repeats
    True
    """
    return look_up(method, METHODS)
