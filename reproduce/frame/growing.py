"""Tables of runs that grow as runs are done: csv files that are read, and appended to, in any later session."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path


def read_runs(path: Path) -> list[dict[str, str]]:
    """The rows so far; none if there is no file yet."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def append_runs(path: Path, fields: Sequence[str], rows: Iterable[Mapping[str, str]]) -> None:
    """Adds rows; a new file begins with a header."""
    is_new = not path.exists()
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fields, lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerows(rows)
