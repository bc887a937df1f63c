"""The methods of `estimate`: one file a method, one line here."""

from __future__ import annotations

from collections.abc import Callable

from partita.search.draws import find_draw
from partita.search.enumerate import find_by_enumeration
from partita.search.exact import find_exact
from partita.search.found import Found
from partita.search.hasse import find_hasse
from partita.search.laugreen import find_laugreen
from partita.search.linkage import find_medv, find_pear
from partita.search.map import find_map
from partita.search.native import find_greedy, find_salso, find_search

#: A method takes (sample, loss, search, rng) and its own options by name.
METHODS: dict[str, Callable[..., Found]] = {
    "search": find_search,
    "salso": find_salso,
    "greedy": find_greedy,
    "draws": find_draw,
    "map": find_map,
    "medv": find_medv,
    "pear": find_pear,
    "hasse": find_hasse,
    "laugreen": find_laugreen,
    "exact": find_exact,
    "enumerate": find_by_enumeration,
}
