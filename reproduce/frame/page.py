"""A paper's page as it grows, and its files."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import matplotlib as mpl

from frame.markdown import EarlierSection, Section, read_sections, section_markdown
from frame.options import ROOT, Options
from frame.png import small_png
from frame.rows import Row, Value, differ, read_rows, write_rows

sys.path.insert(0, str(ROOT))  # first: some packages install a module `benchmarks` as well
from benchmarks.record import machine

mpl.use("Agg")

SMALL_RUN = "A small run, not of the paper's size."


class Page:
    """A paper's page as it grows: sections with rows, text and figures; `write` makes the files."""

    def __init__(self, name: str, title: str, options: Options) -> None:
        self.name, self.title, self.options = name, title, options
        self.sections: list[Section | EarlierSection] = []
        self._began = cpu_seconds()
        self._made = f"{datetime.now(UTC).date().isoformat()}; {machine()}; {options.command}"

    def section(self, title: str, text: str = "", *, decimals: int = 3, differs: str = "") -> None:
        """Begins a section; `differs` is the sentence for rows that differ and bring none of their own."""
        self.sections.append(Section(title, text, decimals, differs))
        print(f"[{cpu_seconds() - self._began:6.1f} s] {title}", flush=True)

    def as_before(self, beginning: str) -> None:
        """Takes over the sections whose titles begin so from the files that are there, if any."""
        table, page = self._files()
        if table.exists() and page.exists():
            earlier = read_sections(page.read_text(encoding="utf-8"), read_rows(table))
            self.sections += [section for section in earlier if section.title.startswith(beginning)]

    def has_data(self, title: str, *names: str) -> bool:
        """Whether these files are in the data folder; if not, a section of this title says that it was left out."""
        absent = [name for name in names if not (self.options.data / name).exists()]
        if absent:
            self.section(title, f"Left out: the data folder (`--data`) has no {', '.join(absent)}.")
        return not absent

    def row(
        self,
        quantity: str,
        ours: Value,
        paper: Value = None,
        error: float | None = None,
        *,
        column: str = "",
        differs: str = "",
    ) -> None:
        """Adds a number. `differs` is kept as the note only where ours and the paper's do differ (see `differ`)."""
        now = self.sections[-1]
        sentence = (differs or now.differs) if self.options.size == "full" else SMALL_RUN
        note = sentence if differ(ours, paper, error, now.decimals) else ""
        now.rows.append(Row(now.title, quantity, column, ours, error, paper, note, self._made))

    def text(self, markdown: str) -> None:
        """Adds a paragraph below the table of the section."""
        self.sections[-1].tail.append(markdown)

    def figure(self, figure: Any, name: str, caption: str) -> None:
        """Saves a matplotlib figure as a small PNG, closes it, and shows it in the section."""
        from matplotlib import pyplot

        folder = self.options.pages / self.name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.png").write_bytes(small_png(figure))
        pyplot.close(figure)
        self.sections[-1].tail.append(f"![{caption}]({self.name}/{name}.png)\n\n*{caption}*")

    def write(self) -> None:
        """Writes CSV and page, prints the page; a full run fails if a row differs without a sentence."""
        rows = [row for section in self.sections for row in section.rows]
        table, page = self._files()
        table.parent.mkdir(parents=True, exist_ok=True)
        page.parent.mkdir(parents=True, exist_ok=True)
        write_rows(table, rows)
        page.write_text(self.markdown(), encoding="utf-8")
        print(self.markdown())
        missing = [f"{row.section}: {row.quantity} {row.column}" for row in self.unexplained()]
        if missing and self.options.size == "full":
            sys.exit("no sentence says why these differ from the paper:\n" + "\n".join(missing))

    def markdown(self) -> str:
        seconds = f"in {cpu_seconds() - self._began:.0f} CPU seconds"
        spent = seconds if self.options.keep is None else "from long runs that were kept (`--keep`)"
        taken = sum(isinstance(section, EarlierSection) for section in self.sections)
        kept = f" {taken} of {len(self.sections)} sections are as an earlier run left them." if taken else ""
        head = f"# {self.title}\n\nMade by `{self.options.command}` {spent}.{kept}"
        return "\n\n".join([head, *map(section_markdown, self.sections)]) + "\n"

    def unexplained(self) -> list[Row]:
        """The rows of this run that differ from the paper's without a sentence."""
        return [
            row
            for section in self.sections
            if isinstance(section, Section)
            for row in section.rows
            if not row.note and differ(row.ours, row.paper, row.error, section.decimals)
        ]

    def _files(self) -> tuple[Path, Path]:
        """The table of rows, and the page."""
        return self.options.results / f"{self.name}.csv", self.options.pages / f"{self.name}.md"


def cpu_seconds() -> float:
    """CPU time of this process and of those it started."""
    return sum(os.times()[:4])
