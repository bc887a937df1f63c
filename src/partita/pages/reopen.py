"""A page opened again: its content as data, to be used elsewhere or rendered anew."""

from __future__ import annotations

import re
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.shown import facts_table
from partita.pages.page import from_json, render, tables_of
from partita.results.tables import INFINITE, Table

DATA = re.compile(r'<script type="application/json" id="page">(.*?)</script>', re.DOTALL)


@dataclass(frozen=True, eq=False, repr=False)
class ReportData:
    """The content of a page that `report` wrote: the result of `read_report`.

    Attributes
    ----------
    content : dict
        Sentences, tables and the data of the figures.
    """

    content: dict[str, Any]

    @property
    def kind(self) -> str:
        """What the page is about: "draws", "pairs", "network", ..."""
        return str(self.content["kind"])

    @property
    def title(self) -> str:
        """The heading."""
        return str(self.content["title"])

    @property
    def answer(self) -> str:
        """The result in words."""
        return str(self.content["answer"])

    @property
    def notes(self) -> tuple[str, ...]:
        """What a careful reader needs to know, the most important first."""
        return tuple(str(note["text"]) for note in self.content["notes"])

    @property
    def labels(self) -> NDArray[np.int64] | None:
        """The cluster of each item; None if the page does not hold them."""
        held = self.content.get("labels")
        return None if held is None else np.array(held["cluster"], np.int64)

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the items; None if they have none, or the page does not hold them."""
        held = self.content.get("labels")
        return None if held is None or held["names"] is None else tuple(held["names"])

    @property
    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """The tables by name: one dictionary per row."""
        return {table.id: [_row(table, row) for row in table.rows] for table in tables_of(self.content)}

    def write(self, path: str | PathLike[str]) -> Path:
        """Renders the page anew, with the look of this version of partita, and returns its path."""
        from partita._support.atomic import write_text
        from partita.pages.report import check_page

        check_page(Path(path))
        write_text(Path(path), render(self.content))
        return Path(path)

    def __repr__(self) -> str:
        return f"ReportData: {self.title}\n  {self.answer}\n  tables: {', '.join(self.tables)}"

    def _repr_html_(self) -> str:
        return facts_table(self.title, [("answer", self.answer), ("tables", ", ".join(self.tables))])


def read_report(path: str | PathLike[str]) -> ReportData:
    """Opens a page that `report` wrote as data.

    Parameters
    ----------
    path : path
        The page.

    Returns
    -------
    ReportData
        With `labels`, `tables` and all else that the page shows; `write` renders it anew.

    Examples
    --------
    >>> import partita as pt, tempfile, pathlib
    >>> folder = tempfile.TemporaryDirectory()
    >>> best = pt.estimate([[0, 0, 1], [0, 0, 1], [0, 1, 1]], rng=1)
    >>> page = pt.report(best, path=pathlib.Path(folder.name) / "page.html")
    >>> pt.read_report(page).labels
    array([0, 0, 1])
    >>> folder.cleanup()
    """
    found = DATA.search(Path(path).read_text(encoding="utf-8", errors="replace"))
    if found is None:
        raise ValueError(f"{path} is not a page that partita wrote")
    try:
        return ReportData(from_json(found[1]))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"{path} cannot be read as a page of partita: {error}") from None


def _row(table: Table, row: Any) -> dict[str, Any]:
    names = (column.name for column in table.columns)
    return {name: float("inf") if cell == INFINITE else cell for name, cell in zip(names, row, strict=True)}
