"""The words of the page that need more explanation than a line below a table."""

from __future__ import annotations

from collections.abc import Sequence

from partita.results.tables import Table

TERMS = {
    "draw": "One partition of the items from the posterior distribution.",
    "expected loss": "Mean loss of a partition over the posterior. The estimate is the partition with the lowest "
    "expected loss found by the search.",
    "certainty": "Of an item: the mean probability, over draws or base clusterings, of being with the other members of "
    "its cluster. Of a cluster: the mean over its pairs of items.",
    "credible ball": "The smallest ball around the estimate that holds the stated share of the posterior.",
    "r-hat": "Compares the spread between chains with that within them; it is 1 for chains that agree.",
    "component": "Items that are connected by pairs which may be worth joining. No best partition joins two of them, "
    "so that each can be searched by itself.",
    "doubt": "Of a pair: the probability that the estimate is wrong about it. Of a component: the sum over its items "
    "of 1 − certainty, a score for ranking.",
    "icl": "Integrated complete-data log likelihood: how well a partition explains the data, parameters integrated "
    "out.",
    "dyads": "Pairs of nodes that could be linked.",
}
#: Terms whose spelling is not that of a word at the start of a sentence.
SPELLED = {"icl": "ICL", "r-hat": "R-hat"}
#: Words that are explained beside a table of this name.
BESIDE_TABLES = {"bounds": ("credible ball",), "mixing": ("draw",), "components": ("component",)}


def terms_of(tables: Sequence[Table]) -> dict[str, str]:
    """The terms that the tables of a page use, with their meanings."""
    used = {column.name.lower() for table in tables for column in table.columns}
    used |= {word for table in tables for word in BESIDE_TABLES.get(table.id, ())}
    return {term: meaning for term, meaning in TERMS.items() if term in used}
