"""Csv files that are read whole: edges, nodes, partitions, data. Draws may be too long for that (`_sources.text`)."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import NamedTuple, TextIO

STDIN = "-"


class Row(NamedTuple):
    """The cells of a row, without spaces around them, and the number of its line."""

    line: int
    cells: list[str]


def read_rows(path: str | Path) -> list[Row]:
    """The rows that are not empty, at least one and all of one width; - is standard input."""
    if path == STDIN:
        rows = _rows(sys.stdin, path)
    else:
        with open(path, encoding="utf-8-sig", newline="") as stream:
            rows = _rows(stream, path)
    if not rows:
        raise ValueError(f"{path} is empty")
    width = len(rows[0].cells)
    for line, cells in rows:
        if len(cells) != width:
            raise ValueError(f"{path}, line {line}: {len(cells)} cells, but line {rows[0].line} has {width}")
    return rows


def _rows(stream: TextIO, path: str | Path) -> list[Row]:
    reader = csv.reader(stream)
    try:
        rows = [Row(reader.line_num, [cell.strip() for cell in cells]) for cells in reader if cells]
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path} is not a csv file: {error}") from None
    nul = next((line for line, cells in rows if any("\0" in cell for cell in cells)), None)
    if nul is not None:
        raise ValueError(f"{path} is not a csv file: line {nul} has a null byte")
    return rows
