"""Text that is safe to print on a terminal: control characters in names and paths are escaped."""

from __future__ import annotations

import re

#: C0 and C1 controls, marks that change the direction of writing, and halves of surrogate pairs.
_OBEYED = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    r"""The text with control characters shown as escapes.

    >>> print(printable("a\x1b[31mb\n"))
    a\x1b[31mb\n
    """
    return _OBEYED.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def print_lines(text: str) -> None:
    """Prints a text of several lines, control characters within its lines as escapes."""
    for line in text.split("\n"):
        print(printable(line))
