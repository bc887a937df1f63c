"""Parts of a page opened as data."""

from __future__ import annotations

from typing import Any

from partita.pages.page import blocks_of, page_content
from partita.results.present import present
from partita.results.tables import Table


def table(page: Any, name: str) -> Table:
    """The table of a name on a page (or its content)."""
    content = getattr(page, "content", page)
    return next(block["table"] for block in blocks_of(content) if "table" in block and block["table"].id == name)


def has_table(page: Any, name: str) -> bool:
    """Whether a page has a table of this name."""
    content = getattr(page, "content", page)
    return any("table" in block and block["table"].id == name for block in blocks_of(content))


def figure(page: Any, name: str) -> Any:
    """The data of a figure or drawing; None if the page does not have it."""
    content = getattr(page, "content", page)
    found = (block for block in blocks_of(content) if block.get("id") == name)
    return next((block.get("data", block.get("drawing")) for block in found), None)


def facts(page: Any, section: str) -> dict[str, str]:
    """The facts that a section lists."""
    content = getattr(page, "content", page)
    own = next(part for part in content["sections"] if part["id"] == section)
    return {name: value for block in own["blocks"] for name, value in block.get("facts", ())}


def text(page: Any, section: str) -> str:
    """The paragraphs of a section."""
    content = getattr(page, "content", page)
    own = next(part for part in content["sections"] if part["id"] == section)
    told = (block.get("text") or block.get("note") for block in own["blocks"])
    return " ".join(filter(None, told))


def content_of(result: Any, *extras: Any, first: int = 0, **given: Any) -> dict[str, Any]:
    """What the page of a result shows."""
    return page_content(present(result, extras, first=first, **given))
