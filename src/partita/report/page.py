"""The page itself: template, style and script put into one file."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

from partita._replace import replacing


def write_page(page: dict[str, Any], path: Path) -> Path:
    """Renders the template and writes the file in one piece."""
    text = render(page)
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return path


def render(page: dict[str, Any]) -> str:
    """The page as a string; jinja2 escapes every value, and JSON for the script has no `<` in it."""
    try:
        from jinja2 import Environment, StrictUndefined
        from plotly.offline import get_plotlyjs
    except ImportError:
        raise ImportError("the report needs plotly and jinja2: pip install 'partita[report]'") from None
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(_asset("template.html"))
    return template.render(**page, style=_asset("style.css"), script=_asset("script.js"), plotly=get_plotlyjs())


def _asset(name: str) -> str:
    return (files("partita.report") / "assets" / name).read_text(encoding="utf-8")
