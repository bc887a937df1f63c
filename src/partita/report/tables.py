"""Tables of the page: each cell has a text to show and a value to sort by."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

FORMATS: dict[str, Callable[[Any], str]] = {
    "text": str,
    "number": lambda value: f"{value:,}",
    "percent": lambda value: f"{value:.1%}",
    "share": lambda value: "< 0.001" if 0 < value < 0.0005 else f"{value:.3f}",
    "loss": lambda value: f"{value:.6g}" if isinstance(value, float) else str(value),
    "log": lambda value: f"{value:,.2f}",
    "rounded": lambda value: f"{value:,.0f}",
    "seconds": lambda value: f"{value:.2f}",
}


@dataclass(frozen=True)
class Column:
    """A column; `kind` is a key of FORMATS, and everything but text is sorted as a number."""

    name: str
    kind: str
    help: str | None = None


@dataclass(frozen=True)
class Table:
    """A table that the page can sort and, on request, search."""

    id: str
    caption: str
    columns: tuple[Column, ...]
    rows: Sequence[Sequence[Any]]
    note: str | None = None
    search: bool = False

    def cells(self, row: Sequence[Any]) -> Iterator[tuple[str, str, Any]]:
        """The kind, the text and the sort value of each cell."""
        for column, value in zip(self.columns, row, strict=True):
            known = value == value  # NaN: there are too few draws to compute it
            yield column.kind, FORMATS[column.kind](value) if known else "–", value if known else -1
