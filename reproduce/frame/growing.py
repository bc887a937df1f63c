"""Tables of runs that grow as runs are done: compressed csv files that any later session reads and appends to."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any


def read_runs(path: Path) -> list[dict[str, str]]:
    """The rows so far; none if there is no file yet."""
    if not path.exists():
        return []
    with gzip.open(path, "rt", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def append_runs(path: Path, fields: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Adds rows, as one more gzip member without a time; a new file begins with a header."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, fields, lineterminator="\n")
    if not path.exists():
        writer.writeheader()
    writer.writerows(rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(gzip.compress(text.getvalue().encode("utf-8"), mtime=0))
