"""Files other than draws: one partition, or a table of numbers."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LABEL_COLUMNS = ("cluster", "label", "labels")


def read_partition(source: str) -> NDArray[Any]:
    """Labels from a file: a column named cluster or label, the only column, or `file.csv:column`.

    An npy file holds one row of labels; - is standard input.
    """
    import numpy as np

    path, column = _split_column(source)
    if path.endswith(".npy"):
        labels: NDArray[Any] = np.load(path, allow_pickle=False)
        if labels.ndim != 1:
            raise ValueError(f"{path} must hold one row of labels, but its shape is {labels.shape}")
        return labels
    header, rows = _read_table(path)
    index = _label_column(path, header, column)
    labels = np.array([cells[index] for _, cells in rows], dtype=object)
    empty = [line for (line, _), label in zip(rows, labels.tolist(), strict=True) if label == ""]
    if empty:
        raise ValueError(f"{path}, line {empty[0]}: the label is empty")
    return labels


def read_data(source: str) -> NDArray[np.float64]:
    """Numbers from a csv or npy file, a row for each item; `file.csv:column` picks one column."""
    import numpy as np

    path, column = _split_column(source)
    if path.endswith(".npy"):
        return np.asarray(np.load(path, allow_pickle=False), dtype=np.float64)
    header, rows = _read_table(path)
    wanted = range(len(header)) if column is None else [_named_column(path, header, column)]
    return np.array([[_number(path, line, header[j], cells[j]) for j in wanted] for line, cells in rows])


def _split_column(source: str) -> tuple[str, str | None]:
    if source == "-" or Path(source).exists() or ":" not in source:
        return source, None
    path, column = source.rsplit(":", 1)
    return path, column


def _read_table(path: str) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Header and numbered rows of a csv file; a first row of numbers is no header."""
    if path == "-":
        lines = _cells(sys.stdin)
    else:
        with open(path, encoding="utf-8-sig", newline="") as stream:
            lines = _cells(stream)
    if not lines:
        raise ValueError(f"{path} is empty")
    width = len(lines[0][1])
    for line, cells in lines:
        if len(cells) != width:
            raise ValueError(f"{path}, line {line}: {len(cells)} cells, but the first line has {width}")
    if _is_header(lines):
        return lines[0][1], lines[1:]
    return [f"column {j + 1}" for j in range(width)], lines


def _cells(stream: Any) -> list[tuple[int, list[str]]]:
    reader = csv.reader(stream)
    return [(reader.line_num, [cell.strip() for cell in row]) for row in reader if row]


def _is_header(lines: list[tuple[int, list[str]]]) -> bool:
    """Whether the first row is of another kind than the rest: a known name, or words above numbers."""
    first = lines[0][1]
    if len(lines) < 2:
        return False
    if any(cell.lower() in LABEL_COLUMNS for cell in first):
        return True
    return any(not _is_number(cell) and _is_number(below) for cell, below in zip(first, lines[1][1], strict=True))


def _label_column(path: str, header: list[str], column: str | None) -> int:
    if column is not None:
        return _named_column(path, header, column)
    named = [j for j, name in enumerate(header) if name.lower() in LABEL_COLUMNS]
    if named or len(header) == 1:
        return named[0] if named else 0
    raise ValueError(
        f"{path} has {len(header)} columns and none is named cluster or label; write {path}:NAME for one of"
        f" {', '.join(header[:8])}{', ...' if len(header) > 8 else ''}"
    )


def _named_column(path: str, header: list[str], column: str) -> int:
    if column not in header:
        raise ValueError(f"{path} has no column {column!r}; its columns are {', '.join(header[:20])}")
    return header.index(column)


def _number(path: str, line: int, column: str, cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        raise ValueError(f"{path}, line {line}, {column}: {cell!r} is not a number") from None


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
