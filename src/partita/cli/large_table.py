"""Large tables: pyarrow reads them in one pass to numbers, where it reads what the reader of text would read."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from partita._support.text.cells import NULLS, has_decimal_comma, is_word
from partita._support.text.header import HeadRow, Kind, has_header, is_quoted
from partita._support.text.separator import SEPARATORS, all_end_in, find_separator
from partita._support.text.table import NAMELESS, Table, Texts
from partita.cli.inputs import NAME_COLUMNS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from partita.models.mixtures.raw import RawTable

#: Bytes from which on a csv file is large: reading it as text takes seconds, and ten times its size.
LARGE = 1 << 25
PARQUET = (".parquet", ".pq")
_HEAD, _BLOCK = 1000, 1 << 24  # lines that are looked at first, and bytes that are parsed at a time


def read_large(path: str, kind: Kind, missing: set[str], texts: Sequence[str]) -> tuple[Table, Table] | None:
    """A large csv file with a header, and its first rows as text; None if it is to be read as text.

    Columns of numbers are float arrays in which missing cells are NaN, read-only parts of one array; the others, and
    `texts`, are lists of texts.
    """
    if (known := _head(path, kind)) is None:
        return None
    head, separator = known
    try:
        import pyarrow
        from pyarrow import csv as arrow
    except ImportError:
        return None
    named = {*texts, *(name for name in head.names if name.lower() in NAME_COLUMNS)}
    numeric = [not any(map(is_word, column)) for column in head.columns]
    types = {
        name: pyarrow.float64() if numbers and name not in named else pyarrow.string()
        for name, numbers in zip(head.names, numeric, strict=True)
    }
    while True:
        options = arrow.ConvertOptions(
            column_types=types,
            null_values=[*NULLS, *missing],
            strings_can_be_null=False,
            quoted_strings_can_be_null=True,
        )
        words = [name for name in head.names if types[name] == pyarrow.string()]
        try:
            batches = arrow.open_csv(
                path, arrow.ReadOptions(block_size=_BLOCK), arrow.ParseOptions(delimiter=separator), options
            )
            columns, n_rows = _filled(batches, [name for name in head.names if name not in words], words, _lines(path))
            break
        except pyarrow.ArrowInvalid as error:
            word = next((name for j, name in enumerate(head.names) if f"In CSV column #{j}:" in str(error)), None)
            if word is None or word in words:
                return None
            types[word] = pyarrow.string()
    return replace(head, columns=cast(Any, [columns[name] for name in head.names]), lines=range(2, n_rows + 2)), head


def _head(path: str, kind: Kind) -> tuple[Table, str] | None:
    """The first rows of a file that pyarrow may read, and its separator."""
    if path.lower().endswith(".gz") or not os.path.isfile(path) or os.path.getsize(path) < LARGE:
        return None
    try:
        with open(path, encoding="utf-8-sig", newline="") as stream:
            lines = [line.rstrip("\r\n") for line in islice(stream, _HEAD)]
    except UnicodeDecodeError:
        return None
    separator = find_separator(lines[:200], path)
    if separator not in SEPARATORS or all_end_in(lines[:200], separator) or not all(lines):
        return None
    cells = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=separator)]
    rows = [HeadRow(j + 1, row, is_quoted(lines[j], len(row))) for j, row in enumerate(cells[:201])]
    names = cells[0]
    if len(cells) != len(lines) or {len(row) for row in cells} != {len(names)} or len(set(names)) < len(names):
        return None
    if names[0] in NAMELESS or "" in names or not has_header(rows, kind, path):
        return None
    if separator != "," and any(map(has_decimal_comma, (cell for row in cells[1:201] for cell in row))):
        return None
    columns = [Texts([list(column)]) for column in zip(*cells[1:], strict=True)]
    return Table(path, names, columns, range(2, len(cells) + 1), True), separator


def _lines(path: str) -> int:
    """About how many lines a file has: those that end, and one more."""
    with open(path, "rb") as stream:
        return 1 + sum(block.count(b"\n") for block in iter(lambda: stream.read(_BLOCK), b""))


def _filled(
    batches: Iterable[Any], numeric: Sequence[str], words: Sequence[str], n_rows: int
) -> tuple[dict[str, NDArray[np.float64] | list[str]], int]:
    """Numeric columns as columns of one array, the others as lists of texts, and the number of rows.

    A batch is given back when it is copied, so that the table is in memory once. `n_rows` may be a guess.
    """
    import numpy as np

    numbers, end = np.empty((n_rows, len(numeric))), 0
    texts: dict[str, list[str]] = {name: [] for name in words}
    for batch in batches:
        start, end = end, end + batch.num_rows
        if end > len(numbers):
            numbers.resize((2 * end, len(numeric)), refcheck=False)
        for j, name in enumerate(numeric):
            numbers[start:end, j] = batch.column(name).to_numpy(zero_copy_only=False)
        for name, own in texts.items():
            own += [text.strip() for text in batch.column(name).to_pylist()]
    numbers.resize((end, len(numeric)), refcheck=False)
    numbers.flags.writeable = False
    return {name: numbers[:, j] for j, name in enumerate(numeric)} | texts, end


def read_parquet(path: str, named: Sequence[str]) -> RawTable:
    """The columns of a parquet file; one called item, node, name or id names the items, unless it is `named`."""
    try:
        import pyarrow
        from pyarrow import dataset
    except ImportError:
        raise ImportError(f"{path}: parquet files are read with pyarrow: pip install 'partita[io]'") from None
    from partita.models.mixtures.raw import from_columns, read_raw

    try:
        found = dataset.dataset(path, format="parquet", partitioning="hive")
    except pyarrow.ArrowInvalid as error:
        raise ValueError(f"{path} is not a parquet file: {' '.join(str(error).split())}") from None
    plain = [
        field.name
        for field in found.schema
        if (pyarrow.types.is_floating(field.type) or pyarrow.types.is_integer(field.type))
        and field.name.lower() not in NAME_COLUMNS
    ]
    n_rows = found.count_rows()
    batches = found.to_batches(columns=plain, batch_readahead=1, fragment_readahead=1)
    numbers, _ = _filled(batches, plain, [], n_rows)
    rest = [name for name in found.schema.names if name not in numbers]
    others = {raw.name: raw for raw in read_raw(found.to_table(columns=rest)).columns} if rest else {}
    names = None
    for name in NAME_COLUMNS:
        own = next((own for own in others if own.lower() == name and own not in named), None)
        if own is not None and len(others[own].distinct()[0]) == n_rows:
            texts, places = others.pop(own).distinct()
            names = tuple(texts[place] for place in places.tolist())
            break
    read = from_columns(((name, numbers[name]) for name in plain), names, line_of=lambda row: f"{path}, row {row + 1}")
    by_name = {raw.name: raw for raw in read.columns} | others
    return replace(read, columns=tuple(by_name[name] for name in found.schema.names if name in by_name))
