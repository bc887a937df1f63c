"""Renders templates, style and scripts into one file, which also holds its content as JSON."""

from __future__ import annotations

import json
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from partita._support.atomic import write_text
from partita.pages.tables import Table
from partita.pages.terms import SPELLED, terms_of

#: Number of the layout of the JSON; a page with another one comes from another version of partita.
FORMAT = 1
#: The kinds of pages: each has a template, and scripts beside those of every page.
SCRIPTS: dict[str, tuple[str, ...]] = {
    "draws": ("figures.js", "map.js", "draws.js"),
    "pairs": (),
    "network": ("map.js", "network.js"),
    "mixture": (),
    "matrix": (),
    "ensemble": ("map.js", "ensemble.js"),
}
#: Characters that could end the script element that holds the JSON.
ESCAPED = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def write_page(kind: str, content: dict[str, Any], path: Path) -> Path:
    """Renders the page of a kind and writes the file atomically."""
    write_text(path, render(kind, content))
    return path


def render(kind: str, content: dict[str, Any]) -> str:
    """The page as a string; jinja2 escapes every value.

    Parameters
    ----------
    kind : str
        A key of SCRIPTS.
    content : dict
        Values, `Table` objects, and lists and dictionaries of them.
    """
    try:
        from jinja2 import Environment, FunctionLoader, StrictUndefined, UndefinedError
    except ImportError:
        raise ImportError("the report needs jinja2: pip install 'partita[report]'") from None
    environment = Environment(
        loader=FunctionLoader(_asset),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    data = to_json(kind, content)
    shown = from_json(data)[1]
    shown["first"] = shown.get("first", 0)
    names = ("chart.js", "theme.js", "tables.js", "downloads.js", *SCRIPTS[kind])
    tables = {name: value.counted_from(shown["first"]) for name, value in shown.items() if isinstance(value, Table)}
    own = {  # replaces what a page from elsewhere may call the same
        "data": data,
        "terms": terms_of(content),
        "spelled": SPELLED,
        "style": _asset("style.css"),
        "scripts": [_asset(name) for name in names],
    }
    try:
        return environment.get_template(f"{kind}.html").render({**shown, **tables, **own})
    except UndefinedError as error:
        raise ValueError(f"the content of the page is not complete: {error}") from None


def to_json(kind: str, content: dict[str, Any]) -> str:
    """The content of a page as JSON that may stand in a script element."""
    head = {"partita": version("partita"), "format": FORMAT, "kind": kind}
    text = json.dumps(head | content, default=_as_json, allow_nan=False, separators=(",", ":"))
    for character, escape in ESCAPED.items():
        text = text.replace(character, escape)
    return text


def from_json(text: str) -> tuple[str, dict[str, Any]]:
    """The kind and the content of a page from its JSON."""
    content = json.loads(text, object_hook=_table_or_dict)
    if not isinstance(content, dict) or content.get("kind") not in SCRIPTS:
        raise ValueError("it is not the content of a page of partita")
    if content["format"] != FORMAT:
        raise ValueError(f"it was written by partita {content['partita']}, which this version cannot read")
    return content.pop("kind"), {key: value for key, value in content.items() if key not in ("partita", "format")}


def _table_or_dict(found: dict[str, Any]) -> Any:
    return Table.from_json(found) if {"columns", "rows"} <= found.keys() else found


def _as_json(value: Any) -> Any:
    if isinstance(value, Table):
        return value.to_json()
    raise TypeError(f"a page cannot hold {type(value).__name__}")


def _asset(name: str) -> str:
    return (files("partita.pages") / "assets" / name).read_text(encoding="utf-8")
