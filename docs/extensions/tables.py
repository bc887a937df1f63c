"""The benchmarks' tables and figures, made anew from benchmarks/results at every build."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.page import write_page


def setup(app: Any) -> dict[str, Any]:
    """Sphinx calls this."""
    here = Path(app.srcdir)
    write_page(here / "_tables", here / "_figures", "/_figures")
    return {"parallel_read_safe": True}
