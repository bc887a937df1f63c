"""Sections of a page as Markdown."""

from __future__ import annotations

from dataclasses import dataclass, field

from frame.rows import Row, Value, is_whole

#: Cells that share a sentence are named up to this number, and counted beyond.
NAMED_CELLS = 6


@dataclass
class Section:
    title: str
    text: str
    decimals: int
    differs: str
    rows: list[Row] = field(default_factory=list)
    tail: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class EarlierSection:
    """A section as an earlier run wrote it."""

    title: str
    markdown: str
    rows: list[Row]


def read_sections(page: str, rows: list[Row]) -> list[EarlierSection]:
    """The sections of a page, each with its rows."""
    found = []
    for section in page.split("\n## ")[1:]:
        title = section.partition("\n")[0]
        found.append(EarlierSection(title, f"## {section.rstrip()}", [row for row in rows if row.section == title]))
    return found


def section_markdown(section: Section | EarlierSection) -> str:
    if isinstance(section, EarlierSection):
        return section.markdown
    parts = [f"## {section.title}", section.text]
    if section.rows:
        wide = any(row.column for row in section.rows)
        parts.append(_wide_table(section) if wide else _long_table(section))
    return "\n\n".join(part for part in [*parts, *section.tail] if part)


def _long_table(section: Section) -> str:
    head = ["", "ours", "Monte Carlo error", "paper", "where they differ"]
    lines = [
        [
            row.quantity,
            _shown(row.ours, section.decimals),
            _shown(row.error, section.decimals),
            _shown(row.paper, section.decimals),
            row.note,
        ]
        for row in section.rows
    ]
    return table(head, lines)


def _wide_table(section: Section) -> str:
    """One line per quantity, one column per column of the paper's table: ours ± Monte Carlo error (the paper's).

    Notes follow below, once each.
    """
    columns = list(dict.fromkeys(row.column for row in section.rows))
    cells = {(row.quantity, row.column): _cell(row, section.decimals) for row in section.rows}
    quantities = list(dict.fromkeys(row.quantity for row in section.rows))
    lines = [[quantity, *(cells.get((quantity, column), "") for column in columns)] for quantity in quantities]
    notes: dict[str, list[str]] = {}
    for row in section.rows:
        if row.note:
            notes.setdefault(row.note, []).append(f"{row.quantity}, {row.column}")
    explained = [f"- {_places(where)}: {note}" for note, where in notes.items()]
    legend = "Ours ± Monte Carlo error (the paper's in brackets)."
    below = "Where they differ:\n\n" + "\n".join(explained) if explained else ""
    return "\n\n".join(part for part in [legend, table(["", *columns], lines), below] if part)


def _places(cells: list[str]) -> str:
    return "; ".join(cells) if len(cells) <= NAMED_CELLS else f"{len(cells)} cells"


def _cell(row: Row, decimals: int) -> str:
    error = f" ± {_shown(row.error, decimals)}" if row.error is not None else ""
    paper = f" ({_shown(row.paper, decimals)})" if row.paper is not None else ""
    return f"{_shown(row.ours, decimals)}{error}{paper}"


def table(head: list[str], lines: list[list[str]]) -> str:
    """A Markdown table."""
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *lines])


def _shown(value: Value, decimals: int) -> str:
    if value is None:
        return ""
    return str(value) if isinstance(value, str) or is_whole(value) else f"{value:.{decimals}f}"
