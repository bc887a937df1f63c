"""Tables written as csv, tsv or parquet: the file name says which."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

SEPARATORS = {".csv": ",", ".tsv": "\t"}
PARQUET = ".parquet"
TABLES = (*SEPARATORS, PARQUET)


def write_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Writes a table with full precision; None is an empty cell, or a null in parquet."""
    suffix = path.suffix.lower()
    if suffix == PARQUET:
        _write_parquet(path, header, rows)
        return
    if suffix not in SEPARATORS:
        raise ValueError(f"{path}: the name of a table must end in {', '.join(TABLES[:-1])} or {TABLES[-1]}")
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, delimiter=SEPARATORS[suffix], lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def significant(value: float) -> float | None:
    """A number with six digits, as tables hold probabilities; None if it is not known.

    >>> significant(2 / 3), significant(float("nan"))
    (0.666667, None)
    """
    return None if value != value else float(f"{value:.6g}")


def _write_parquet(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise ImportError(f"{path}: .parquet files need pyarrow: pip install 'partita[io]'") from None
    columns = list(zip(*rows, strict=True)) or [()] * len(header)
    arrays = {name: _column(cells) for name, cells in zip(header, columns, strict=True)}
    parquet.write_table(pyarrow.table(arrays), path)


def _column(cells: Sequence[Any]) -> list[Any]:
    """The cells as values of one type: texts where some are texts."""
    plain = [cell.item() if hasattr(cell, "item") else cell for cell in cells]
    kinds = {type(cell) for cell in plain if cell is not None}
    return plain if kinds <= {int, float} or len(kinds) <= 1 else [None if c is None else str(c) for c in plain]
