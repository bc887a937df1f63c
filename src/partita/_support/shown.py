"""What every result can say of itself: its short text and tables, and its notes as its presentation has them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from html import escape
from typing import Any, ClassVar


def facts_table(title: str, facts: Iterable[tuple[str, str]]) -> str:
    """An HTML table of (what, value) rows; all content is escaped."""
    rows = "".join(f"<tr><th>{escape(what)}</th><td>{escape(value)}</td></tr>" for what, value in facts)
    return f"<table><caption>{escape(title)}</caption>{rows}</table>"


def rows_table(title: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """An HTML table with a header; all content is escaped."""
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><caption>{escape(title)}</caption><tr>{head}</tr>{body}</table>"


class Noted:
    """A result: what a careful reader needs beyond its answer is in `notes`, which is empty if there is nothing."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a careful reader needs to know beyond the answer, the most important first: as sentences."""
        return ()


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


class Shown(Noted):
    """A result whose class names its presentation, "module.Class": see `partita.results`."""

    presented_by: ClassVar[str]

    @cached_property
    def _presentation(self) -> Any:
        from partita.results.present import present

        return present(self)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a careful reader needs to know beyond the answer, the most important first: as sentences."""
        return tuple(note.text for note in self._presentation.notes)

    def to_pandas(self, table: str = "items") -> Any:
        """A table as a pandas DataFrame: by default one row per item, with its cluster and its certainty.

        Parameters
        ----------
        table : str
            Name of the table: "items", "clusters" and others, which the message about a wrong name lists.
        """
        return self._presentation.frame(table)
