"""Short facts about a result, for a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from partita._support.shown import Noted


def facts_table(title: str, facts: Iterable[tuple[str, str]]) -> str:
    """An HTML table of (what, value) rows; all content is escaped."""
    rows = "".join(f"<tr><th>{escape(what)}</th><td>{escape(value)}</td></tr>" for what, value in facts)
    return f"<table><caption>{escape(title)}</caption>{rows}</table>"


def rows_table(title: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """An HTML table with a header; all content is escaped."""
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><caption>{escape(title)}</caption><tr>{head}</tr>{body}</table>"


class ShownAsFacts(Noted):
    """A result whose facts, (what, value), are its short text, and a table in a notebook."""

    def _facts(self) -> Iterable[tuple[str, str]]:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{what} {value}' for what, value in self._facts())})"

    def _repr_html_(self) -> str:
        return facts_table(type(self).__name__, self._facts())


class ShownAsText(Noted):
    """A result whose short text is all that a notebook needs to show."""

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self))}</p>"
