"""Which values edges may have: 0 or 1, counts, or a mark (a weight, a category, a sign) on each edge that is there."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita._support.errors import Argument, ArgumentError, Sentence, Setting, Within
from partita._support.validate import check_choice

EDGES = ("binary", "counts", "real", "categories", "signed")
#: Kinds whose edges are there or not, and carry a mark if they are.
MARKED = ("real", "categories", "signed")
MAX_CATEGORIES = 100
_COUNTS, _REAL = Setting("edges", "counts"), Setting("edges", "real")
_NEEDED = {
    "binary": Sentence("0 or 1; ", _COUNTS, " takes whole numbers, ", _REAL, " any weights"),
    "counts": Sentence("counts (whole numbers, not negative); ", _REAL, " takes any weights"),
    "real": Sentence("finite numbers; 0 is no edge"),
    "categories": Sentence(f"categories (whole numbers from 1 to {MAX_CATEGORIES}); 0 is no edge"),
    "signed": Sentence("-1, 0 or 1"),
}


def check_kind(edges: Any) -> str:
    """One of the kinds of edges."""
    return check_choice(edges, "edges", EDGES)


def check_values(adjacency: sp.csr_array, edges: str) -> None:
    """Raises an error for entries that the kind of edges does not have, naming the first."""
    bad = _wrong(adjacency.data, edges)
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        row = int(np.searchsorted(adjacency.indptr, at, side="right")) - 1
        entry = f" has {adjacency.data[at]:g} at row {row}, column {adjacency.indices[at]}; entries must be "
        raise ArgumentError(Argument("graph", value=float(adjacency.data[at])), entry, _NEEDED[edges])


def _wrong(values: NDArray[Any], edges: str) -> NDArray[np.bool_]:
    if edges == "binary":
        return np.asarray(values != 1)
    if edges == "signed":
        return np.asarray(np.abs(values) != 1)
    if edges == "real":
        return np.asarray(~np.isfinite(values))
    least, most = (1, MAX_CATEGORIES) if edges == "categories" else (0, np.iinfo(np.int32).max)
    whole = np.isfinite(values) & (values == np.round(values))
    return np.asarray(~whole | (values < least) | (values > most))


def check_weight(weight: Any, place: str, edges: str) -> float:
    """The weight of one edge of a list; a mark that is not there, or that says there is no edge, raises an error."""
    if weight is None or (isinstance(weight, float) and np.isnan(weight)):
        raise ArgumentError(Within("graph"), f"{place} has no weight; leave the edge out, or give it one")
    if edges in MARKED and weight == 0:
        problem = f"{place} has weight 0, which is no edge if "
        raise ArgumentError(Within("graph"), problem, Setting("edges", edges), "; leave it out")
    return float(weight)


def check_listed_once(n_listed: int, n_entries: int, edges: str) -> None:
    """Raises an error for a list that gives two marks to one edge."""
    if edges in MARKED and n_listed > n_entries:
        problem = "an edge is listed twice, and "
        raise ArgumentError(Within("graph"), problem, Setting("edges", edges), " has one value for each edge")
