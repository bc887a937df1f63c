"""Large tables: pyarrow reads them in one pass to numbers, where it reads what the reader of text would read."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from partita._support.text.cells import NULLS, has_decimal_comma, is_word
from partita._support.text.header import HeadRow, Kind, has_header, is_quoted
from partita._support.text.packed import Texts
from partita._support.text.separator import SEPARATORS, all_end_in, find_separator
from partita._support.text.table import NAMELESS, Table
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
        try:
            found = arrow.read_csv(
                path, arrow.ReadOptions(block_size=_BLOCK), arrow.ParseOptions(delimiter=separator), options
            )
            break
        except pyarrow.ArrowInvalid as error:
            words = next((name for j, name in enumerate(head.names) if f"In CSV column #{j}:" in str(error)), None)
            if words is None or types[words] == pyarrow.string():
                return None
            types[words] = pyarrow.string()
    numbers = _filled(found, [name for name in head.names if types[name] == pyarrow.float64()])
    columns = [
        numbers[name] if name in numbers else [text.strip() for text in found.column(name).to_pylist()]
        for name in head.names
    ]
    return replace(head, columns=cast(Any, columns), lines=range(2, found.num_rows + 2)), head


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


def _filled(table: Any, names: Sequence[str]) -> dict[str, NDArray[np.float64]]:
    """Numeric columns as columns of one array, each given back to pyarrow when it is copied."""
    import numpy as np

    numbers = np.empty((table.num_rows, len(names)))
    for j, name in enumerate(names):
        start = 0
        for chunk in table.column(name).chunks:
            numbers[start : start + len(chunk), j] = chunk.to_numpy(zero_copy_only=False)
            start += len(chunk)
    numbers.flags.writeable = False
    return {name: numbers[:, j] for j, name in enumerate(names)}


def read_parquet(path: str, named: Sequence[str]) -> RawTable:
    """The columns of a parquet file; one called item, node, name or id names the items, unless it is `named`."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise ImportError(f"{path}: parquet files are read with pyarrow: pip install 'partita[io]'") from None
    from partita.models.mixtures.raw import from_columns, read_raw

    try:
        found = parquet.read_table(path)
    except pyarrow.ArrowInvalid as error:
        raise ValueError(f"{path} is not a parquet file: {' '.join(str(error).split())}") from None
    plain = [
        field.name
        for field in found.schema
        if (pyarrow.types.is_floating(field.type) or pyarrow.types.is_integer(field.type))
        and field.name.lower() not in NAME_COLUMNS
    ]
    numbers = _filled(found, plain)
    others = (
        {raw.name: raw for raw in read_raw(found.drop_columns(plain)).columns} if len(plain) < found.num_columns else {}
    )
    names = None
    for name in NAME_COLUMNS:
        own = next((own for own in others if own.lower() == name and own not in named), None)
        if own is not None and len(others[own].distinct()[0]) == found.num_rows:
            texts, places = others.pop(own).distinct()
            names = tuple(texts[place] for place in places.tolist())
            break
    read = from_columns(
        ((name, numbers[name]) for name in found.column_names if name in numbers),
        names,
        line_of=lambda row: f"{path}, row {row + 1}",
    )
    by_name = {raw.name: raw for raw in read.columns} | others
    return replace(read, columns=tuple(by_name[name] for name in found.column_names if name in by_name))
