"""What the text of one cell means."""

from __future__ import annotations

import re

_NULLS = ("", "NA", "NaN", "nan", "None", "null", "<NA>")
_INTEGER = re.compile(r"[+-]?[0-9]+")
_FLOAT = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?[iI]nf(inity)?")

Cell = int | float | str | None


def parse_cell(text: str) -> Cell:
    """A number where the text is one, None where it says that nothing is there, else the text itself.

    Examples
    --------
    >>> [parse_cell(text) for text in ("3", "2.0", "NA", "urban")]
    [3, 2.0, None, 'urban']
    """
    text = text.strip()
    if text in _NULLS:
        return None
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text


def is_number(text: str) -> bool:
    """Whether the text is a number; what says that nothing is there (nan, NA) is none."""
    return isinstance(parse_cell(text), int | float)


def is_word(text: str) -> bool:
    """Whether the text is neither a number nor a gap."""
    return isinstance(parse_cell(text), str)


def whole_or_text(text: str) -> int | str:
    """A name: a whole number as such, anything else as its text.

    Examples
    --------
    >>> [whole_or_text(text) for text in ("-1", "1.0", "NA", "ann")]
    [-1, '1.0', 'NA', 'ann']
    """
    cell = parse_cell(text)
    return cell if isinstance(cell, int) else text


class ParsedCells(dict[str, Cell]):
    """Parses each distinct text once."""

    def __missing__(self, text: str) -> Cell:
        self[text] = cell = parse_cell(text)
        return cell
