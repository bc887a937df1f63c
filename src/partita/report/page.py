"""Renders templates, style and scripts into one file."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

from partita._atomic import write_text


def write_page(page: dict[str, Any], path: Path) -> Path:
    """Renders the template and writes the file atomically."""
    write_text(path, render(page))
    return path


def render(page: dict[str, Any]) -> str:
    """The page about an estimate from draws; the JSON for its script contains no `<`."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        raise ImportError("the report needs plotly and jinja2: pip install 'partita[report]'") from None
    return _render("draws.html", page | {"script": _asset("script.js"), "plotly": get_plotlyjs()})


def render_pairs(page: dict[str, Any]) -> str:
    """The page about an estimate from pair probabilities."""
    return _render("pairs.html", page)


def render_network(page: dict[str, Any]) -> str:
    """The page about a block model of a network."""
    return _render("network.html", page)


def _render(template: str, page: dict[str, Any]) -> str:
    """A page as a string; jinja2 escapes every value."""
    try:
        from jinja2 import Environment, FunctionLoader, StrictUndefined
    except ImportError:
        raise ImportError("the report needs jinja2: pip install 'partita[report]'") from None
    environment = Environment(
        loader=FunctionLoader(_asset), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template(template).render(**page, style=_asset("style.css"), tables=_asset("tables.js"))


def _asset(name: str) -> str:
    return (files("partita.report") / "assets" / name).read_text(encoding="utf-8")
