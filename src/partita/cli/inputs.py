"""Files other than draws: one partition, or a table of numbers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from partita._cells import is_number, is_word, parse_cell
from partita._csv import STDIN, Row, read_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LABEL_COLUMNS = ("cluster", "label", "labels")


def read_partition(source: str) -> NDArray[Any]:
    """Labels from a file: a column named cluster or label, the only column, or `file.csv:column`.

    An only column has a header if its first cell is a word above numbers. An npy file holds one row of labels; - is
    standard input.
    """
    import numpy as np

    path, column = _split_column(source)
    if path.endswith(".npy"):
        labels = read_labels(path)
        if labels.ndim != 1:
            raise ValueError(f"{path} must hold one row of labels, but its shape is {labels.shape}")
        return labels
    rows = read_rows(path)
    only = len(rows[0].cells) == 1
    header, rows = _split_header(rows, _is_header(rows) or (not only and numbers_columns(path, rows)))
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
        numbers = _read_array(path)
        if numbers.dtype.kind not in "biuf":
            raise ValueError(f"{path} must hold numbers, but its type is {numbers.dtype}")
        return numbers.astype(np.float64)
    rows = read_rows(path)
    headed = _is_header(rows) or numbers_columns(path, rows)
    if headed and column is None:
        check_named(path, rows[0])
    header, rows = _split_header(rows, headed)
    wanted = range(len(header)) if column is None else [_named_column(path, header, column)]
    return np.array([[_number(path, line, header[j], cells[j]) for j in wanted] for line, cells in rows])


def read_labels(path: str) -> NDArray[Any]:
    """The labels of an npy file."""
    from partita._labels import type_problem

    labels = _read_array(path)
    if problem := type_problem(labels.dtype):
        raise ValueError(f"{path} {problem}")
    return labels


def _read_array(path: str) -> NDArray[Any]:
    """The array of an npy file, with the name of the file in every message."""
    import numpy as np

    try:
        array: NDArray[Any] = np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise ValueError(f"{path}, read as npy: {error}") from None
    return array


def _split_column(source: str) -> tuple[str, str | None]:
    if source == STDIN or Path(source).exists() or ":" not in source:
        return source, None
    path, column = source.rsplit(":", 1)
    return path, column


def _split_header(rows: list[Row], headed: bool) -> tuple[list[str], list[Row]]:
    """The header, which counts the columns if there is none, and the rows below it."""
    if headed:
        return rows[0].cells, rows[1:]
    return [f"column {j + 1}" for j in range(len(rows[0].cells))], rows


def _is_header(rows: list[Row]) -> bool:
    """Whether the first row is of another kind than the rest: a known name, or words above numbers."""
    first = rows[0].cells
    if len(rows) < 2:
        return False
    if any(cell.lower() in LABEL_COLUMNS for cell in first):
        return True
    return any(is_word(cell) and _begins_with_number(rows[1:], j) for j, cell in enumerate(first))


def _begins_with_number(rows: list[Row], column: int) -> bool:
    """Whether the first cell of the column that is no gap is a number."""
    cells = (row.cells[column] for row in rows)
    return isinstance(next((cell for cell in map(parse_cell, cells) if cell is not None), None), int | float)


def numbers_columns(path: str, rows: list[Row]) -> bool:
    """Whether the first row is 0, 1, 2, ..., as pandas heads columns without names.

    It could as well be the first item, and that is not guessed. Only where a column writes whole numbers as 1.0
    would its 0 have been written as 0.0, had it been of an item; nothing but a header has an empty corner; and three
    whole numbers, these and in this order, are no item where no column below has a single one.
    """
    first = rows[0].cells
    corner = first[0] == "" and len(first) > 1
    names = first[1:] if corner else first
    if len(rows) < 2 or names != [str(j) for j in range(len(names))]:
        return False
    columns = [[row.cells[j] for row in rows[1:] if is_number(row.cells[j])] for j in range(len(first))]
    if corner or any(map(_writes_points, columns)) or (len(names) > 2 and not any(map(_has_whole, columns))):
        return True
    shown = ", ".join(first) if len(first) < 3 else f"0, 1, ..., {len(first) - 1}"
    raise ValueError(
        f"{path}, line {rows[0].line} is {shown}: a header of column numbers, or the first item; put names "
        f"({'x1' if len(first) == 1 else 'x1,x2,...'}) in its place if it is a header, or above it if it is an item"
    )


def _writes_points(numbers: list[str]) -> bool:
    """Whether all numbers have a point, and one of them is whole."""
    return all("." in number for number in numbers) and _has_whole(numbers)


def _has_whole(numbers: list[str]) -> bool:
    return any(float(number).is_integer() for number in numbers)


def check_named(path: str, header: Row) -> None:
    """A column without a name is most often one that numbers the rows."""
    if "" in header.cells:
        raise ValueError(
            f"{path}, line {header.line}: column {header.cells.index('') + 1} has no name; leave the column out if it "
            "numbers the rows (index=False in pandas, row.names=FALSE in R), or give it a name"
        )


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
    number = parse_cell(cell)
    if not isinstance(number, int | float):
        raise ValueError(f"{path}, line {line}, {column}: {cell!r} is not a number")
    return float(number)
