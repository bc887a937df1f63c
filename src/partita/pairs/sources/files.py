"""Files of pair probabilities: a matrix (npy, npz) or a table of pairs (csv, parquet)."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, BinaryIO, cast

from partita._support.errors import ArgumentError, sentence_of
from partita._support.memory import check_fits
from partita._support.npy import read_header, read_npy
from partita._support.optional import optional
from partita.pairs.sources.columns import find_columns
from partita.pairs.sources.tables import table_pairs
from partita.pairs.sources.text import csv_pairs

_COPIES = 4  # of a sparse matrix while it is checked and sorted


def open_pairs(path: str | PathLike[str], wanted: Sequence[str] | None) -> Any:
    """What a file holds, by the ending of its name: pairs, or a matrix."""
    where = os.fspath(path)
    if where.endswith(".npy"):
        return _read(_dense, where, "npy")
    if where.endswith(".npz"):
        return _read(_sparse, where, "npz")
    if where.endswith((".parquet", ".pq")):
        return _parquet(where, wanted)
    return csv_pairs(where, wanted)


def _read(read: Callable[[str], Any], where: str, kind: str) -> Any:
    """What a library reads, or what is wrong in one sentence, whatever exception the library has raised."""
    try:
        return read(where)
    except Exception as error:
        if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.filename is not None):
            raise
        raise ArgumentError(f"{where}, read as {kind}: ", sentence_of(error)) from error


def _dense(where: str) -> Any:
    with open(where, "rb") as stream:
        return read_npy(stream, os.fstat(stream.fileno()).st_size)


def _sparse(where: str) -> Any:
    """A sparse matrix; the headers of its arrays are checked first."""
    from scipy.sparse import load_npz

    with open(where, "rb") as stream, zipfile.ZipFile(stream) as archive:
        for info in archive.infolist():
            with archive.open(info) as member:
                read_header(cast(BinaryIO, member), info.file_size)
        check_fits(_COPIES * sum(info.file_size for info in archive.infolist()), f"the numbers of {where}")
        stream.seek(0)
        try:
            return load_npz(stream)  # never unpickles
        except KeyError as error:
            raise ValueError(f"it is not a sparse matrix as scipy.sparse.save_npz writes it: {error}") from None


def _parquet(where: str, wanted: Sequence[str] | None) -> Any:
    parquet = optional("pyarrow.parquet", "parquet files are read with pyarrow", "io")
    from pyarrow import ArrowException

    try:
        header = parquet.read_schema(where).names
        used = [header[column] for column in find_columns(header, wanted, where).used]
        return table_pairs(parquet.read_table(where, columns=used), wanted, where)
    except (ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ValueError(f"{where} is not a parquet file: {' '.join(str(error).split())}") from None
