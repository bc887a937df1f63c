"""Short facts about a result, for a notebook."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape


def facts_table(title: str, facts: Iterable[tuple[str, str]]) -> str:
    """An HTML table of (what, value) rows; what a user's names contain shows as text."""
    rows = "".join(f"<tr><th>{escape(what)}</th><td>{escape(value)}</td></tr>" for what, value in facts)
    return f"<table><caption>{escape(title)}</caption>{rows}</table>"
