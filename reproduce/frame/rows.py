"""Our numbers beside the paper's."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

FIELDS = ("section", "quantity", "column", "ours", "error", "paper", "note", "made")

Value = float | int | str | None


@dataclass(frozen=True)
class Row:
    """One number of ours, its Monte Carlo error (a standard error), the paper's, and a sentence where they differ.

    `made` has the date, the machine and the command of the run that the number comes from.
    """

    section: str
    quantity: str
    column: str
    ours: Value
    error: float | None
    paper: Value
    note: str
    made: str


def differ(ours: Value, paper: Value, error: float | None, decimals: int) -> bool:
    """Whether two numbers are farther apart than two Monte Carlo errors and the rounding of both."""
    if paper is None or ours is None:
        return False
    if isinstance(ours, str) or isinstance(paper, str):
        return str(ours) != str(paper)
    rounding = 0 if is_whole(ours) and is_whole(paper) else 0.5 * 10.0**-decimals
    return not abs(ours - paper) <= 2 * (error or 0) + rounding + 1e-12


def mean_and_error(values: Any) -> tuple[float, float | None]:
    """Mean over independent repetitions and its standard error; no error for one repetition."""
    array = np.asarray(values, dtype=float)
    return float(array.mean()), float(array.std(ddof=1) / math.sqrt(array.size)) if array.size > 1 else None


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(FIELDS)
        for row in rows:
            writer.writerow([_exact(getattr(row, name)) for name in FIELDS])


def read_rows(path: Path) -> list[Row]:
    """Rows as they stand in the file: every value is text, so that they can be written again unchanged."""
    with path.open(newline="", encoding="utf-8") as file:
        return [Row(**row) for row in csv.DictReader(file)]


def is_whole(value: Value) -> bool:
    return isinstance(value, int | np.integer)


def _exact(value: Value) -> str:
    if value is None:
        return ""
    return str(value) if isinstance(value, str) or is_whole(value) else f"{value:.10g}"
