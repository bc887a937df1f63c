"""One page that lists every table and figure of the papers, and what became of each.

The verdict is read from what the papers' scripts wrote: a table is reproduced if none of its numbers differs from the
paper's by more than Monte Carlo error, and differs otherwise, with the reasons that its page gives.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from frame.markdown import EarlierSection, read_sections, table
from frame.rows import read_rows


@dataclass(frozen=True)
class Exhibit:
    """A table or figure of a paper.

    `sections` are the beginnings of the titles of our sections, `figure` is the name of our picture. An exhibit without
    both has a `reason`, and so may one that is there; `computed` is false for notation and diagrams.
    """

    name: str
    sections: tuple[str, ...] = ()
    figure: str = ""
    reason: str = ""
    computed: bool = True


@dataclass(frozen=True)
class Paper:
    """A paper, its script's name, and its exhibits."""

    title: str
    script: str
    exhibits: tuple[Exhibit, ...]


class Overview:
    """The verdicts on the exhibits of one paper."""

    def __init__(self, paper: Paper, results: Path, pages: Path) -> None:
        self.paper = paper
        self.page = (pages / f"{paper.script}.md").read_text(encoding="utf-8")
        self.sections = read_sections(self.page, read_rows(results / f"{paper.script}.csv"))

    def markdown(self) -> str:
        lines = [[exhibit.name, *self.verdict(exhibit)] for exhibit in self.paper.exhibits]
        return f"## {self.paper.title}\n\n[All numbers]({self.paper.script}.md)\n\n" + table(["", "", "why"], lines)

    def verdict(self, exhibit: Exhibit) -> tuple[str, str]:
        """Reproduced, differs, drawn or not reproducible; and why."""
        if not exhibit.sections and not exhibit.figure:
            return "not reproducible" if exhibit.computed else "nothing to compute", exhibit.reason
        rows = [row for section in self.shown(exhibit) for row in section.rows if row.paper]
        differing = [row for row in rows if row.note]
        reasons = " ".join(dict.fromkeys(row.note for row in differing))
        if not rows:
            return "drawn", exhibit.reason
        if not differing:
            return f"reproduced ({len(rows)} numbers)", exhibit.reason
        share = "differs" if len(rows) == 1 else f"differs in {len(differing)} of {len(rows)} numbers"
        return share, f"{exhibit.reason} {reasons}".strip()

    def shown(self, exhibit: Exhibit) -> Iterator[EarlierSection]:
        return (section for section in self.sections if section.title.startswith(exhibit.sections))

    def gaps(self) -> Iterator[str]:
        """What is wrong with the list: an exhibit without its section or picture, or with nothing at all."""
        for exhibit in self.paper.exhibits:
            where = f"{self.paper.script}, {exhibit.name}"
            if not exhibit.sections and not exhibit.figure and not exhibit.reason:
                yield f"{where}: neither shown nor explained"
            for beginning in exhibit.sections:
                if not any(section.title.startswith(beginning) for section in self.sections):
                    yield f"{where}: the page has no section {beginning!r}"
            if exhibit.figure and f"{self.paper.script}/{exhibit.figure}.png" not in self.page:
                yield f"{where}: the page shows no {exhibit.figure}.png"


def write_overview(papers: tuple[Paper, ...], results: Path, pages: Path) -> list[str]:
    """Writes overview.md beside the pages; returns what is missing."""
    overviews = [Overview(paper, results, pages) for paper in papers]
    head = (
        "# All tables and figures\n\nEvery table and figure of the five papers. A table is *reproduced* if all of our "
        "numbers are within two Monte Carlo errors (and rounding) of the paper's; where they are not, the reasons "
        "stand beside it. Figures that the paper shows without numbers are *drawn* anew. Made by `python "
        "reproduce/overview.py` from the committed results."
    )
    (pages / "overview.md").write_text("\n\n".join([head, *(one.markdown() for one in overviews)]) + "\n", "utf-8")
    return [gap for one in overviews for gap in one.gaps()]
