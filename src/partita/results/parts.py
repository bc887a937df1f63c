"""Parts of a page as plain data: sections, paragraphs, lists, tables, figures, drawings. The template shows each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from partita.results.tables import Table


def section(name: str, title: str, *blocks: Any, menu: str | None = None) -> dict[str, Any]:
    """A section of the page with a heading, and its name in the menu; blocks that are None are left out."""
    return {"id": name, "heading": title, "menu": menu or title, "blocks": [b for b in blocks if b is not None]}


def words(text: str | None, *, note: bool = False) -> dict[str, Any] | None:
    """A paragraph."""
    return {"note" if note else "text": text} if text else None


def subheading(text: str) -> dict[str, Any]:
    """A heading within a section."""
    return {"subheading": text}


def listed(rows: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Names and values."""
    return {"facts": [list(row) for row in rows]}


def show(table: Table | None) -> dict[str, Any] | None:
    """A table."""
    return None if table is None else {"table": table}


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
