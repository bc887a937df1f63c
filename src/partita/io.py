"""Draws in files: the name of a file tells its format, and what is written appears whole or not at all."""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from numpy.typing import ArrayLike

from partita import _writers
from partita._cells import parse_cell
from partita._labels import Missing, as_missing, type_problem
from partita._replace import replacing
from partita._sources import Block, Source, files
from partita._sources.blocks import joined
from partita._sources.parts import find_parts, parts_source
from partita._sources.text import text_source
from partita.sample import PartitionSample, as_sample, build_sample

STDIN = "-"
_ZARR_FILES = ("zarr.json", ".zgroup", ".zarray")  # one of them is in every store, of version 3 or 2
Reader = Callable[[Path, str | None], Source]


@dataclass(frozen=True)
class Format:
    """How files of one ending are read and written; `read` is None for text, which is read as a stream."""

    suffix: str
    read: Reader | None
    write: Callable[[Path, PartitionSample], None]
    extra: str = "io"


FORMATS = (
    Format(".csv", None, _writers.write_csv),
    Format(".csv.gz", None, _writers.write_csv_gz),
    Format(".npy", files.npy_source, _writers.write_npy),
    Format(".npz", files.npz_source, _writers.write_npz),
    Format(".parquet", files.parquet_source, _writers.write_parquet),
    Format(".zarr", files.zarr_source, _writers.write_zarr),
    Format(".nc", files.netcdf_source, _writers.write_netcdf, extra="arviz"),
)


def read_draws(
    path: Any,
    *,
    burn: int = 0,
    thin: int = 1,
    missing: Any = None,
    variable: str | None = None,
    weights: ArrayLike | None = None,
    header: bool | None = None,
    index: bool | None = None,
    store: str | PathLike[str] | None = None,
) -> PartitionSample:
    """Draws from a file, or from several that are the chains of one run.

    Parameters
    ----------
    path : path, "-", open file, or a list of them
        A file named .csv, .csv.gz, .npy, .npz, .parquet, .zarr or .nc (ArviZ netCDF); "-" is CSV from
        standard input, and an open file is CSV too. In text a line is a draw: cells apart by commas,
        semicolons or tabs, labels of any kind, with or without a header and a first column that numbers the
        draws. A folder, or a pattern such as "draws-*.csv", stands for its files in the order of their numbers and
        names: parts of one long file, of which one is open at a time.
    burn, thin, missing, variable, weights, store
        As for `as_sample`. In text an empty cell, NA and NaN are all read as NaN; gaps that `write_draws` has
        written are read with `missing=-1`.
    header, index : bool, optional
        Whether a text file has a header, and a first column that numbers the draws, where its looks mislead.

    Returns
    -------
    PartitionSample

    Examples
    --------
    >>> import io
    >>> read_draws(io.StringIO("x1,x2,x3\\n1,1,2\\n1,2,2\\n")).names
    ('x1', 'x2', 'x3')
    """
    paths = list(path) if isinstance(path, list | tuple) else [path]
    if not paths:
        raise ValueError("path is an empty list: it must name at least one file")
    with ExitStack() as opened:
        sources = [_open(p, variable, header, index, opened) for p in paths]
        source = sources[0] if len(sources) == 1 else joined(sources)
        return build_sample(source, weights, _missing_in_text(missing), burn=burn, thin=thin, store=store)


def write_draws(path: Any, sample: Any) -> None:
    """Writes all draws in their order, with chains, weights and names; a gap is written as -1.

    Parameters
    ----------
    path : path
        The name tells the format, as for `read_draws`. The file appears when it is complete. An npy file
        holds labels only, as (chain, draw, item) where the chains are known.
    sample : PartitionSample, or what `as_sample` takes

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_draws(f"{folder}/draws.csv", [[0, 0, 1], [0, 1, 1]])
    ...     read_draws(f"{folder}/draws.csv")
    PartitionSample(2 draws, 2 distinct, 3 items, 2 clusters a draw)
    """
    path = Path(path)
    form = _format_of(path)
    _check_replaceable(path)
    sample = as_sample(sample)
    with replacing(path) as temporary:
        try:
            form.write(temporary, sample)
        except ImportError as error:
            raise _missing_extra(path, form, error) from None


def _check_replaceable(path: Path) -> None:
    """A folder is replaced by a Zarr store only where it is one, or empty."""
    if path.is_dir() and any(path.iterdir()) and not any((path / name).exists() for name in _ZARR_FILES):
        raise ValueError(f"{path} is a folder that holds other things than draws: it is not replaced")


def _open(path: Any, variable: str | None, header: bool | None, index: bool | None, opened: ExitStack) -> Source:
    if hasattr(path, "read"):
        return text_source(path, str(getattr(path, "name", "the stream")), variable, header, index)
    if path == STDIN:
        return text_source(sys.stdin.buffer, "standard input", variable, header, index)
    if not isinstance(path, str | PathLike):
        raise TypeError(f"path must be a name of a file, an open file or a list of them, not {path!r}")
    path = Path(path)
    if parts := find_parts(path, [form.suffix for form in FORMATS]):
        return parts_source(parts, lambda part, own: _open(part, variable, header, index, own))
    form = _format_of(path)
    if form.read is None:
        stream = opened.enter_context(_open_bytes(path, form))
        return text_source(stream, str(path), variable, header, index)
    return _read_with(form.read, path, form, variable)


def _open_bytes(path: Path, form: Format) -> Any:
    return gzip.GzipFile(path) if form.suffix.endswith(".gz") else path.open("rb")


def _format_of(path: Path) -> Format:
    matches = [form for form in FORMATS if path.name.lower().endswith(form.suffix)]
    if not matches:
        known = ", ".join(form.suffix for form in FORMATS)
        raise ValueError(f"{path}: the name tells no format; it must end in one of {known}")
    return matches[-1]


def _read_with(read: Reader, path: Path, form: Format, variable: str | None) -> Source:
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist")
    try:
        source = read(path, variable)
    except ImportError as error:
        raise _missing_extra(path, form, error) from None
    except _READ_ERRORS as error:
        raise _unreadable(path, form, error) from None
    return replace(source, blocks=_named(source.blocks, path, form))


_READ_ERRORS = (ValueError, OSError, KeyError, EOFError, BadZipFile, zlib.error)


def _unreadable(path: Path, form: Format, error: Exception) -> ValueError:
    return ValueError(f"{path}, read as {form.suffix[1:]}: {str(error) or type(error).__name__}")


def _missing_extra(path: Path, form: Format, error: ImportError) -> ImportError:
    return ImportError(f"{path}: {error}; {form.suffix} files need pip install 'partita[{form.extra}]'")


def _named(blocks: Iterator[Block], path: Path, form: Format) -> Iterator[Block]:
    """The blocks with the file's name in each message."""
    while True:
        try:
            block = next(blocks, None)
        except _READ_ERRORS as error:
            raise _unreadable(path, form, error) from None
        if block is None:
            return
        if problem := type_problem(block.cells.dtype):
            raise _unreadable(path, form, ValueError(f"it {problem}"))
        yield replace(block, place=_place_in_file(path, block))


def _place_in_file(path: Path, block: Block) -> Callable[[int, int], str]:
    return lambda row, column: f"{path}: {block.place(row, column)}"


def _missing_in_text(missing: Any) -> Missing:
    """A string also stands for what its text means in a file: "-1" for -1, "NA" for NaN."""
    given = as_missing(missing)
    meant = as_missing([parse_cell(value) for value in given.values if isinstance(value, str)])
    return Missing((*given.values, *meant.values), given.null or meant.null)
