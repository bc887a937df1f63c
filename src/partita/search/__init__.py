"""The methods of `estimate`: one file a method, one line here."""

from __future__ import annotations

from collections.abc import Callable

from partita.search.found import Found
from partita.search.map import find_map
from partita.search.native import find_greedy, find_salso, find_search

#: A method takes (sample, loss, search, rng) and its own options by name.
METHODS: dict[str, Callable[..., Found]] = {
    "search": find_search,
    "salso": find_salso,
    "greedy": find_greedy,
    "map": find_map,
}
