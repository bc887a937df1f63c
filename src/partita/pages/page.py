"""Renders a presentation into one HTML file, which also holds its content as JSON; it knows no kinds of results."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from partita.pages.terms import SPELLED, terms_of
from partita.results.parts import listed, section
from partita.results.presentation import Presentation
from partita.results.tables import Table

#: Number of the layout of the JSON; a page with another one comes from another version of partita.
FORMAT = 2
SCRIPTS = ("chart.js", "theme.js", "tables.js", "downloads.js", "map.js", "figures.js", "draw.js")
#: Characters that could end the script element that holds the JSON.
ESCAPED = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def page_content(
    shown: Presentation, *, title: str | None = None, command: str | None = None, labels_file: str | None = None
) -> dict[str, Any]:
    """Everything that a page shows, as plain values and tables.

    Parameters
    ----------
    shown : Presentation
    title : str, optional
        Heading of the page; by default that of the kind.
    command : str, optional
        The command that made the result.
    labels_file : str, optional
        Name of a file with the labels of all items beside the page.
    """
    made = [part for part in shown.sections() if part is not None]
    made.append(section("reproduce", "How to reproduce this", listed(_reproduce(shown, command)), menu="Reproduce"))
    return {
        "kind": shown.kind,
        "title": title or shown.heading,
        "first": shown.first,
        "answer": shown.answer,
        "notes": [{"text": note.text, "warning": note.warning} for note in shown.notes],
        "sections": made,
        "labels": shown.held_labels(),
        "labels_file": labels_file,
    }


def _reproduce(shown: Presentation, command: str | None) -> Iterator[tuple[str, str]]:
    import platform

    import numpy as np

    yield "partita", version("partita")
    yield "NumPy", np.__version__
    yield "Python", platform.python_version()
    yield from shown.reproduce()
    if command is not None:
        yield "Command", command


def render(content: dict[str, Any]) -> str:
    """The page as a string; jinja2 escapes every value."""
    try:
        from jinja2 import Environment, FunctionLoader, StrictUndefined, UndefinedError
    except ImportError:
        raise ImportError("the report needs jinja2: pip install 'partita[report]'") from None
    environment = Environment(
        loader=FunctionLoader(_asset), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    data = to_json(content)
    shown = from_json(data)
    for block in blocks_of(shown):
        if "table" in block:
            block["table"] = block["table"].counted_from(shown["first"])
    own = {  # replaces what a page from elsewhere may call the same
        "data": data,
        "terms": terms_of(tables_of(shown)),
        "spelled": SPELLED,
        "style": _asset("style.css"),
        "scripts": [_asset(name) for name in SCRIPTS],
    }
    try:
        return environment.get_template("page.html").render({**shown, **own})
    except UndefinedError as error:
        raise ValueError(f"the content of the page is not complete: {error}") from None


def blocks_of(content: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The parts of all sections."""
    for part in content["sections"]:
        yield from part["blocks"]


def tables_of(content: dict[str, Any]) -> list[Table]:
    """The tables of all sections."""
    return [block["table"] for block in blocks_of(content) if "table" in block]


def to_json(content: dict[str, Any]) -> str:
    """The content of a page as JSON that may stand in a script element."""
    head = {"partita": version("partita"), "format": FORMAT}
    text = json.dumps(head | content, default=_as_json, allow_nan=False, separators=(",", ":"))
    for character, escape in ESCAPED.items():
        text = text.replace(character, escape)
    return text


def from_json(text: str) -> dict[str, Any]:
    """The content of a page from its JSON."""
    content = json.loads(text, object_hook=_table_or_dict)
    if not isinstance(content, dict) or not isinstance(content.get("kind"), str) or "format" not in content:
        raise ValueError("it is not the content of a page of partita")
    if content["format"] != FORMAT:
        raise ValueError(f"it was written by partita {content['partita']}, which this version cannot read")
    if not all(isinstance(part, dict) and isinstance(part["blocks"], list) for part in content["sections"]):
        raise ValueError("it is not the content of a page of partita")
    return {key: value for key, value in content.items() if key not in ("partita", "format")}


def _table_or_dict(found: dict[str, Any]) -> Any:
    return Table.from_json(found) if {"columns", "rows"} <= found.keys() else found


def _as_json(value: Any) -> Any:
    if isinstance(value, Table):
        return value.to_json()
    raise TypeError(f"a page cannot hold {type(value).__name__}")


def _asset(name: str) -> str:
    return (files("partita.pages") / "assets" / name).read_text(encoding="utf-8")
