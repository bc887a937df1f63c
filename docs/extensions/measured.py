"""Where measured figures come from: the comments that `make figures` reads are shown to readers of the site."""

from __future__ import annotations

import re
from typing import Any

from tools.figures import MARK, NOT_RERUN


def shown(text: str) -> str:
    """The text of a page with its comments on measured figures as sentences.

    >>> shown("<!-- measured: 0d32ba4; python -m benchmarks.search; cpp/search -->")
    '*Measured at commit 0d32ba4 with `python -m benchmarks.search`.*'
    >>> shown("<!-- measured: 0d32ba4; not rerun: measured by hand -->")
    '*Measured at commit 0d32ba4 and not since: measured by hand.*'
    """
    return MARK.sub(_sentence, text)


def _sentence(mark: re.Match[str]) -> str:
    command = mark["command"]
    how = f"and not since: {command.removeprefix(NOT_RERUN)}" if command.startswith(NOT_RERUN) else f"with `{command}`"
    return f"*Measured at commit {mark['commit']} {how}.*"


def setup(app: Any) -> dict[str, Any]:
    """Reads every page."""
    app.connect("source-read", lambda app, name, source: source.__setitem__(0, shown(source[0])))
    return {"parallel_read_safe": True}
