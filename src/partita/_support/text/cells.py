"""What the text of one cell means."""

from __future__ import annotations

import re

NULLS = ("", "NA", "NaN", "nan", "None", "null", "<NA>")
_INTEGER = re.compile(r"[+-]?[0-9]+")
_FLOAT = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?[iI]nf(inity)?")
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+([eE][+-]?[0-9]+)?")

Cell = int | float | str | None


def parse_cell(text: str) -> Cell:
    """A number if the text is one, None if it marks a missing value, otherwise the text itself.

    >>> [parse_cell(text) for text in ("3", "2.0", "NA", "urban")]
    [3, 2.0, None, 'urban']
    """
    text = text.strip()
    if text in NULLS:
        return None
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text


def is_number(text: str) -> bool:
    """Whether the text is a number; missing markers (nan, NA) are not."""
    return isinstance(parse_cell(text), int | float)


def has_decimal_point(text: str) -> bool:
    """Whether the text is a number with a decimal point."""
    return "." in text and is_number(text)


def is_word(text: str) -> bool:
    """Whether the text is neither a number nor a missing value."""
    return isinstance(parse_cell(text), str)


def whole_or_text(text: str) -> int | str:
    """A name: an integer if the text is a whole number, otherwise the text itself.

    >>> [whole_or_text(text) for text in ("-1", "1.0", "NA", "ann")]
    [-1, '1.0', 'NA', 'ann']
    """
    cell = parse_cell(text)
    return cell if isinstance(cell, int) else text


class ParsedCells(dict[str, Cell]):
    """Parses each distinct text once; with decimal commas, 1,5 is 1.5."""

    def __init__(self, decimal_commas: bool = False) -> None:
        super().__init__()
        self._decimal_commas = decimal_commas

    def __missing__(self, text: str) -> Cell:
        self[text] = cell = parse_cell(with_decimal_point(text) if self._decimal_commas else text)
        return cell


def with_decimal_point(text: str) -> str:
    """1,5 as 1.5; anything else unchanged."""
    return text.replace(",", ".") if has_decimal_comma(text) else text


def has_decimal_comma(text: str) -> bool:
    """Whether the text is a number with a decimal comma."""
    return _DECIMAL_COMMA.fullmatch(text.strip()) is not None
