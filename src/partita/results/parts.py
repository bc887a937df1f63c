"""Parts of a page as plain data: sections, paragraphs, lists, tables, figures, drawings. The template shows each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from partita.results.tables import Table


def section(name: str, title: str, *blocks: Any, menu: str | None = None) -> dict[str, Any]:
    """A section of the page with a heading, and its name in the menu.

    A text is a paragraph, a `Table` a table, the others are made by the functions below; empty blocks are left out.
    """
    made = [{"text": b} if isinstance(b, str) else {"table": b} if isinstance(b, Table) else b for b in blocks if b]
    return {"id": name, "heading": title, "menu": menu or title, "blocks": made}


def note(text: str) -> dict[str, Any] | None:
    """A paragraph of less importance."""
    return {"note": text} if text else None


def subheading(text: str) -> dict[str, Any]:
    """A heading within a section."""
    return {"subheading": text}


def listed(rows: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Names and values."""
    return {"facts": [list(row) for row in rows]}


def button() -> dict[str, Any]:
    """The button that downloads the labels of all items."""
    return {"button": "labels"}


def figure(name: str, kind: str, data: Any, label: str, caption: str = "", hint: str = "") -> dict[str, Any] | None:
    """A figure that the page draws: `kind` names the function of figures.js; None without data."""
    return (
        None
        if data is None
        else {"figure": kind, "id": name, "data": data, "label": label, "caption": caption, "hint": hint}
    )


def drawing(name: str, picture: Any, label: str, caption: str = "") -> dict[str, Any] | None:
    """A figure that is drawn already; None if it has too many parts."""
    return None if picture is None else {"drawing": picture, "id": name, "label": label, "caption": caption}
