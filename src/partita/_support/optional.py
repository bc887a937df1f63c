"""Modules that come with an extra of partita, imported where they are used."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def optional(module: str, need: str, extra: str) -> Any:
    """The module; if it is missing, an error that states the need and how to install the extra.

    >>> optional("no_such_module", "this needs that", "graph")
    Traceback (most recent call last):
    ImportError: this needs that: pip install 'partita[graph]'
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f"{need}: pip install 'partita[{extra}]'") from error


def data_frame(rows: Any, items: Any = None, **options: Any) -> Any:
    """Rows or columns as a pandas DataFrame; `items` are the names of its rows, if these are items."""
    pd = optional("pandas", "tables of results need pandas", "io")
    named = {} if items is None else {"index": pd.Index(items, name="item")}
    return pd.DataFrame(rows, **named, **options)
