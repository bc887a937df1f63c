"""Draws in the CODA files of JAGS and BUGS: one file per chain, one variable below the other, and an index."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import numpy as np

from partita.draws.sources.source import Source
from partita.draws.sources.text import text_source

_CHAIN = re.compile(r"(.*)chain\d+\.txt", re.IGNORECASE)


def coda_index(path: Path) -> Path | None:
    """The index beside a chain: CODAindex.txt for CODAchain1.txt; None if the file has another name, or no index."""
    match = _CHAIN.fullmatch(path.name)
    if match is None or not path.parent.is_dir():
        return None
    wanted = f"{match[1]}index.txt".lower()
    return next((other for other in sorted(path.parent.iterdir()) if other.name.lower() == wanted), None)


def coda_source(path: Path, index: Path, variable: str | None) -> Source:
    """The draws of one chain, as a table with one column per variable of the index."""
    values = _values(path)
    columns = {name: values[first - 1 : last] for name, first, last in _entries(index, len(values))}
    if len({column.size for column in columns.values()}) != 1:
        raise ValueError(f"{index}: its variables have different numbers of draws")
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(columns)
    rows = np.column_stack(list(columns.values()))
    writer.writerows([int(cell) if cell == int(cell) else cell for cell in row] for row in rows.tolist())
    return text_source(io.BytesIO(text.getvalue().encode()), str(path), variable, header=True, index=False)


def _values(path: Path) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The second number of each line; the first is the iteration."""
    try:
        lines = np.loadtxt(path, np.float64, ndmin=2)
    except ValueError as error:
        raise ValueError(f"{path} is not a CODA file of iterations and values: {error}") from None
    if lines.shape[1:] != (2,) or not np.isfinite(lines).all():
        raise ValueError(f"{path} is not a CODA file: its lines must be an iteration and a finite value")
    return lines[:, 1]


def _entries(index: Path, n_lines: int) -> list[tuple[str, int, int]]:
    """Name, first and last line of each variable."""
    found = []
    for number, line in enumerate(index.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        words = line.rsplit(maxsplit=2)
        if len(words) != 3 or not (words[1].isdecimal() and words[2].isdecimal()):
            raise ValueError(f"{index}, line {number}: it must be a name, its first line and its last, not {line!r}")
        first, last = int(words[1]), int(words[2])
        if not 1 <= first <= last <= n_lines:
            raise ValueError(f"{index}, line {number}: lines {first} to {last} of a chain that has {n_lines}")
        found.append((words[0].strip('"'), first, last))
    if not found:
        raise ValueError(f"{index} is empty")
    return found
