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


class ParsedCells(dict[str, Cell]):
    """Parses each distinct text once."""

    def __missing__(self, text: str) -> Cell:
        self[text] = cell = parse_cell(text)
        return cell
