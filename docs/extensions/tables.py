"""What other steps wrote, found at every build: the benchmarks' tables, and pages that may or may not be there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.page import write_page

#: Tables of contents over pages that other steps write, by the file to include. (Sphinx's own globs warn when empty.)
CONTENTS = {"reproduced.md": "reproduce/*.md", "capacity.md": "capacity*.md"}


def write_contents(docs: Path, file_name: str) -> None:
    """A table of contents over the pages there are; an empty file if there are none."""
    pages = sorted(path.relative_to(docs).with_suffix("").as_posix() for path in docs.glob(CONTENTS[file_name]))
    lines = ["```{toctree}", ":maxdepth: 1", "", *pages, "```", ""] if pages else [""]
    (docs / "_tables" / file_name).write_text("\n".join(lines), encoding="utf-8")


def setup(app: Any) -> dict[str, Any]:
    """Sphinx calls this."""
    here = Path(app.srcdir)
    write_page(here / "_tables", here / "_figures", "/_figures")
    for file_name in CONTENTS:
        write_contents(here, file_name)
    return {"parallel_read_safe": True}
