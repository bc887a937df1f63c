"""Text that is safe to print on a terminal: control characters in names and paths are escaped.

And streams that are safe to print to, where there is no terminal.
"""

from __future__ import annotations

import codecs
import os
import re
import shutil
import sys
import textwrap
from contextlib import suppress
from io import TextIOWrapper

#: C0 and C1 controls, marks that change the direction of writing, and halves of surrogate pairs.
_OBEYED = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

_NEAREST = "partita.nearest"
_PLAIN = {"−": "-", "–": "-", "…": "...", "→": "->", "×": "x", "±": "+-", "≤": "<=", "≥": ">="}


def printable(text: str) -> str:
    r"""The text with control characters shown as escapes.

    >>> print(printable("a\x1b[31mb\n"))
    a\x1b[31mb\n
    """
    return _OBEYED.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def open_closed_streams() -> None:
    """Opens standard streams that the parent has closed, as `>&-` does: the next file would take their number."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:  # the lowest that is free
        pass
    os.close(descriptor)
    sys.stdin = sys.stdin or os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", encoding="utf-8", closefd=False)


def show_what_has_no_code() -> None:
    """Lets standard output show a character that its encoding lacks by the nearest that it has, or as an escape."""
    codecs.register_error(_NEAREST, _nearest)
    if isinstance(sys.stdout, TextIOWrapper):
        with suppress(OSError):  # a stream that was a file and is a pipe by now cannot tell its place
            sys.stdout.reconfigure(errors=_NEAREST)


def _nearest(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    character = error.object[error.start]
    return _PLAIN.get(character) or character.encode("ascii", "backslashreplace").decode(), error.start + 1


def print_text(text: str) -> None:
    """Prints a paragraph, on a terminal with whole words in its lines."""
    shown = printable(text)
    if sys.stdout.isatty():
        width = shutil.get_terminal_size().columns
        shown = textwrap.fill(shown, width, break_long_words=False, break_on_hyphens=False)
    print(shown)


def print_lines(text: str) -> None:
    """Prints a text of several lines, control characters within its lines as escapes."""
    for line in text.split("\n"):
        print(printable(line))
