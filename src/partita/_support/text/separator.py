"""The separator of the cells of a line: commas, semicolons, tabs, or spaces if these are unambiguous."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence

from partita._support.text.cells import has_decimal_comma, is_word

SPACE = " "
SEPARATORS = (",", ";", "\t")
_QUOTED = re.compile(r'"[^"]*"')
_QUOTED_OR_SPACES = re.compile(r'"[^"]*"|[ \t]+')


def find_separator(lines: Sequence[str], where: str) -> str:
    """The separator of a file that begins with these lines; a comma for a file of one column.

    A separator splits all lines into the same number of cells; the first line, a header, may have one fewer.
    Spaces separate cells only if these are numbers or in quotes: "New York" is one label.
    """
    fitting = [separator for separator in SEPARATORS if _fits(lines, separator)]
    if len(fitting) > 1:
        clean = [one for one in fitting if not _holds_another(lines, one)]
        if len(clean) != 1:
            raise ValueError(
                f"{where}: the cells could be separated by {' or '.join(_NAMES[one] for one in fitting)}; "
                "put cells that contain a separator in quotes"
            )
        return clean[0]
    if fitting:
        return fitting[0]
    if any(
        one in line for one in SEPARATORS for line in lines[1:] or lines
    ):  # cells are missing: the reader of the file reports them
        return max(SEPARATORS, key=lambda one: sum(line.count(one) for line in lines))
    return SPACE if _spaces_separate(lines, where) else ","


_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs"}


def _fits(lines: Sequence[str], separator: str) -> bool:
    widths = [len(split_line(line, separator)) for line in lines]
    width = widths[-1]
    return width > 1 and widths[0] in (width, width - 1) and all(one == width for one in widths[1:])


def _holds_another(lines: Sequence[str], separator: str) -> bool:
    """Whether a cell contains another separator that is not a decimal comma."""
    cells = (cell for line in lines for cell in split_line(line, separator))
    others = [one for one in SEPARATORS if one != separator]
    return any(one in cell for cell in cells for one in others if not has_decimal_comma(cell))


def split_line(line: str, separator: str) -> list[str]:
    """The cells of one line; a line with broken quotes is one cell, and the reader of the file reports it."""
    try:
        return next(csv.reader([line], delimiter=separator, strict=True), [])
    except csv.Error:
        return [line]


def _spaces_separate(lines: Sequence[str], where: str) -> bool:
    rows = [split_line(single_spaces(line), SPACE) for line in lines]
    width = len(rows[-1])
    if width < 2 or any(len(row) != width for row in rows[1:]) or len(rows[0]) not in (width, width - 1):
        return False
    if not any(_has_plain_words(line) for line in lines[1:] or lines):
        return True
    if len(rows[0]) > 1:
        raise ValueError(
            f"{where}: its lines are {width} words each, which could be {width} cells or one; "
            "put commas between cells, or quotes around a cell that contains spaces"
        )
    return False


def _has_plain_words(line: str) -> bool:
    """Whether words after the first are not in quotes."""
    return any(map(is_word, _QUOTED.sub("0", line).split()[1:]))


def single_spaces(text: str) -> str:
    """The text with runs of spaces outside quotes replaced by one space, and none at the ends of a line."""
    lines = (_QUOTED_OR_SPACES.sub(lambda m: m[0] if m[0][0] == '"' else SPACE, line) for line in text.split("\n"))
    return "\n".join(line.strip(" \r") for line in lines)


def all_end_in(lines: Sequence[str], separator: str) -> bool:
    """Whether several lines all end in one separator, as if there were a last column without a name and cells."""
    ends = [line.rstrip(" \r") for line in lines]
    one = all(end.endswith(separator) and not end.endswith(2 * separator) for end in ends)
    return separator != SPACE and len(lines) > 1 and one


def without_last_separators(text: str, separator: str) -> str:
    """The text without one separator at the end of each line."""
    return re.sub(f"{re.escape(separator)}[ \r]*$", "", text, flags=re.MULTILINE)
