"""Which measured figures of README.md, docs/ and benchmarks/NOTES.md are older than their code: `make figures`.

A section with measured times or results of a benchmark has a comment that names where they come from,

    <!-- measured: COMMIT; COMMAND; PATH PATH ... -->

and is listed if a path has changed since that commit. A figure that cannot be rerun has the reason in place of the
paths: `<!-- measured: COMMIT; not rerun: REASON -->`.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[1]
MARK = re.compile(r"<!-- measured: (?P<commit>[0-9a-f]{7,40}); (?P<command>[^;]+?)(?:; (?P<paths>[^;]+?))? -->")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ ", re.MULTILINE)
#: What a section has if somebody measured something for it.
MEASURED = re.compile(r"CPU (?:seconds|s|time|minutes|ms)\b|python -m benchmarks")
NOT_RERUN = "not rerun: "
#: Pages that a program writes, or that are not about partita's own results.
LEFT_OUT = {"reproduce", "develop", "api", "gallery", "_tables", "benchmarks.md", "release.md", "changelog.md"}


@dataclass(frozen=True)
class Figure:
    """A measured figure: where it stands, at which commit it was measured, how, and what it depends on."""

    place: str
    commit: str
    command: str
    paths: tuple[str, ...]


def pages(root: Path) -> list[Path]:
    """README.md, the measurements and the pages of docs/ that people write."""
    notes = root / "benchmarks" / "NOTES.md"
    found = [root / "README.md", *([notes] if notes.exists() else []), *sorted((root / "docs").rglob("*.md"))]
    return [page for page in found if not LEFT_OUT & set(page.relative_to(root).parts)]


def sections(page: Path) -> Iterator[tuple[int, str]]:
    """The first line and the text of each section, without its code."""
    text = FENCE.sub(lambda block: "\n" * block[0].count("\n"), page.read_text(encoding="utf-8"))
    starts = [match.start() for match in HEADING.finditer(text)]
    for start, end in pairwise([*starts, len(text)]):
        yield text.count("\n", 0, start) + 1, text[start:end]


def figures(root: Path) -> list[Figure]:
    """All figures that are marked."""
    return [
        Figure(
            f"{page.relative_to(root)}:{line}", mark["commit"], mark["command"], tuple((mark["paths"] or "").split())
        )
        for page in pages(root)
        for line, text in sections(page)
        for mark in MARK.finditer(text)
    ]


def unmarked(root: Path) -> list[str]:
    """The places of sections that have measured figures and no mark."""
    return [
        f"{page.relative_to(root)}:{line}"
        for page in pages(root)
        for line, text in sections(page)
        if MEASURED.search(text) and not MARK.search(text)
    ]


def state(figure: Figure, root: Path) -> str:
    """Why the figure is not of the head; empty if it is."""
    if figure.command.startswith(NOT_RERUN):
        return f"measured at {figure.commit}, {figure.command}"
    if _git(root, "cat-file", "-e", f"{figure.commit}^{{commit}}").returncode:
        return f"commit {figure.commit} is unknown"
    wrong = [path for path in figure.paths if _git(root, "cat-file", "-e", f"{figure.commit}:{path}").returncode]
    if wrong:
        return f"{wrong[0]} did not exist at {figure.commit}"
    changed = _git(root, "diff", "--name-only", figure.commit, "HEAD", "--", *figure.paths).stdout.split()
    return f"{len(changed)} files changed since {figure.commit}: {figure.command}" if changed else ""


def _git(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False)


def main(root: Path = ROOT) -> int:
    """Prints the figures that are not of the head; 1 if a section has figures without a mark."""
    found = figures(root)
    old = [(figure.place, why) for figure in found if (why := state(figure, root))]
    for place, why in old:
        print(f"{place:40} {why}")
    missing = unmarked(root)
    for place in missing:
        print(f"{place:40} has measured figures, and no comment says how they were measured")
    print(f"{len(found) - len(old)} of {len(found)} figures are of the head.")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
