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
        labels = read_array(path)
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
        numbers = read_array(path)
        if numbers.dtype.kind not in "biuf":
            raise ValueError(f"{path} must hold numbers, but its type is {numbers.dtype}")
        return numbers.astype(np.float64)
    header, rows = _read_table(path)
    wanted = range(len(header)) if column is None else [_named_column(path, header, column)]
    return np.array([[_number(path, line, header[j], cells[j]) for j in wanted] for line, cells in rows])


def read_array(path: str) -> NDArray[Any]:
    """The array of an npy file, with the name of the file in every message."""
    import numpy as np

    try:
        array: NDArray[Any] = np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise ValueError(f"{path}, read as npy: {error}") from None
    return array


def _split_column(source: str) -> tuple[str, str | None]:
    if source == "-" or Path(source).exists() or ":" not in source:
        return source, None
    path, column = source.rsplit(":", 1)
    return path, column


def _read_table(path: str) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Header and numbered rows of a csv file; a first row of numbers is no header, unless it numbers the columns."""
    lines = read_cells(path)
    if _is_header(lines) or numbers_columns(path, [cells for _, cells in lines]):
        return lines[0][1], lines[1:]
    return [f"column {j + 1}" for j in range(len(lines[0][1]))], lines


def read_cells(path: str) -> list[tuple[int, list[str]]]:
    """The rows of a csv file that are not empty, all of one width, each with the number of its line."""
    if path == "-":
        lines = _cells(sys.stdin, path)
    else:
        with open(path, encoding="utf-8-sig", newline="") as stream:
            lines = _cells(stream, path)
    if not lines:
        raise ValueError(f"{path} is empty")
    width = len(lines[0][1])
    for line, cells in lines:
        if len(cells) != width:
            raise ValueError(f"{path}, line {line}: {len(cells)} cells, but the first line has {width}")
    return lines


def _cells(stream: Any, path: str) -> list[tuple[int, list[str]]]:
    reader = csv.reader(stream)
    try:
        lines = [(reader.line_num, [cell.strip() for cell in row]) for row in reader if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path} is not a csv file: {error}") from None
    nul = next((line for line, cells in lines if any("\0" in cell for cell in cells)), None)
    if nul is not None:
        raise ValueError(f"{path} is not a csv file: line {nul} has a null byte")
    return lines


def numbers_columns(path: str, rows: list[list[str]]) -> bool:
    """Whether the first row is 0, 1, 2, ..., as pandas heads columns without names.

    Where whole numbers are below it could as well be the first item: that is not guessed.
    """
    first = rows[0]
    if len(rows) < 2 or first != [str(j) for j in range(len(first))]:
        return False
    if any("." in cell for row in rows[1:] for cell in row):
        return True
    if len(first) > 1:
        raise ValueError(
            f"{path}, line 1 is 0, 1, ..., {len(first) - 1}: a header of column numbers, or the first item; "
            "give the columns names if it is a header, or use an npy file if it is an item"
        )
    return False


def _is_header(lines: list[tuple[int, list[str]]]) -> bool:
    """Whether the first row is of another kind than the rest: a known name, or words above numbers."""
    first = lines[0][1]
    if len(lines) < 2:
        return False
    if any(cell.lower() in LABEL_COLUMNS for cell in first):
        return True
    return any(not is_number(cell) and is_number(below) for cell, below in zip(first, lines[1][1], strict=True))


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


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
