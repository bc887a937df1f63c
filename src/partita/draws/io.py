"""Draws in files: the file name determines the format, and a written file appears only when it is complete."""

from __future__ import annotations

import gzip
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from partita._support.atomic import atomic_file, atomic_folder
from partita._support.errors import ArgumentError, Sentence, Setting, sentence_of
from partita._support.hints import hinted
from partita._support.text.cells import parse_cell
from partita._support.text.content import WORKBOOK_NAMES, open_bytes
from partita.draws import write
from partita.draws.sample import PartitionSample, as_sample, build_sample, open_sample, sample_source
from partita.draws.sources import Block, Source, files, r_files
from partita.draws.sources.r_files import coda_index, coda_source
from partita.draws.sources.source import array_source, in_order_of, joined
from partita.draws.sources.text import text_source
from partita.draws.store import FACTS
from partita.partitions.codes import Missing, as_missing, type_problem

MANIFEST, SUMMARY = "manifest.json", "summary.json"


def folder_source(folder: Path) -> Source | None:
    """The draws of a folder written by partita; None for any other folder, whose files may be parts."""
    if (folder / MANIFEST).is_file():
        from partita.models.chains.sampling import read_chain  # here, so that reading a file needs no model

        chain = read_chain(folder)
        return array_source(chain.labels, chain.names)
    if (folder / FACTS).is_file():
        return sample_source(open_sample(folder))
    if (folder / SUMMARY).is_file():
        raise ValueError(
            f"{folder} contains results, not draws: its summary.json names the command that made them, with its draws"
        )
    return None


STDIN = "-"
Reader = Callable[..., Source]


@dataclass(frozen=True)
class Format:
    """How files with one extension are read and written.

    `read` is None for text, which is read as a stream; `tabular` formats may contain long tables. Formats whose `write`
    is None are only read.
    """

    suffix: str
    read: Reader | None
    write: Callable[[Path, PartitionSample], None] | None = None
    extra: str = "io"
    tabular: bool = False


FORMATS = (
    Format(".csv", None, write.write_csv),
    Format(".csv.gz", None, write.write_csv_gz),
    Format(".tsv", None),
    Format(".tsv.gz", None),
    Format(".txt", None),
    Format(".txt.gz", None),
    Format(".npy", files.npy_source, write.write_npy),
    Format(".npz", files.npz_source, write.write_npz),
    Format(".parquet", files.parquet_source, write.write_parquet, tabular=True),
    Format(".feather", files.feather_source, write.write_feather, tabular=True),
    Format(".rds", r_files.rds_source, extra="r", tabular=True),
    Format(".rdata", r_files.rdata_source, extra="r", tabular=True),
    Format(".rda", r_files.rdata_source, extra="r", tabular=True),
    Format(".zarr", files.zarr_source, write.write_zarr),
    Format(".nc", files.netcdf_source, write.write_netcdf, extra="arviz"),
)


@hinted
def read_draws(
    path: Any,
    *,
    burn: int = 0,
    thin: int = 1,
    missing: Any = None,
    noise: Any = None,
    variable: str | None = None,
    long: Sequence[str] | None = None,
    weights: ArrayLike | None = None,
    header: bool | None = None,
    index: bool | None = None,
    store: str | PathLike[str] | None = None,
) -> PartitionSample:
    """Draws from a file, or from several that are the chains of one run.

    Parameters
    ----------
    path : path, "-", open file, or a list of them
        A file named .csv, .tsv or .txt (or these with .gz), .npy, .npz, .parquet, .feather, .rds or .RData (of R),
        .zarr or .nc (ArviZ netCDF), or CODAchain1.txt beside its CODAindex.txt (of JAGS and BUGS); "-" is text from
        standard input, and an open file is text too. Text has one line per draw: cells separated by commas,
        semicolons, tabs or spaces, labels of any kind, with or without a header and a first column that numbers the
        draws; or it is a long table (`long`). A folder, or a pattern such as "draws-*.csv", stands for its files,
        sorted by their numbers and names: parts of one long file, of which one is open at a time. The folder of a
        run (`sample(path=...)`, `partita sample --out`) or of a saved sample is read as the draws it contains.
    burn, thin, missing, noise, variable, long, weights, store
        As for `as_sample`. In text an empty cell, NA and NaN are all read as NaN; missing labels written by
        `write_draws` are read with `missing=-1`.
    header, index : bool, optional
        Whether a text file has a header, and a first column that numbers the draws, if detection fails.

    Returns
    -------
    PartitionSample

    Examples
    --------
    >>> import io
    >>> read_draws(io.StringIO("x1,x2,x3\\n1,1,2\\n1,2,2\\n")).names
    ('x1', 'x2', 'x3')
    """
    with ExitStack() as opened:
        source = draws_source(path, opened, variable, long, header, index)
        markers = (missing_in_text(missing), missing_in_text(noise))
        return build_sample(source, weights, *markers, burn=burn, thin=thin, store=store)


def draws_source(
    path: Any,
    opened: ExitStack,
    variable: str | None = None,
    long: Sequence[str] | None = None,
    header: bool | None = None,
    index: bool | None = None,
) -> Source:
    """The draws of one or several files, not yet read; see `read_draws`. The files stay open until `opened` closes."""
    paths = list(path) if isinstance(path, list | tuple) else [path]
    if not paths:
        raise ValueError("path is an empty list: it must name at least one file")
    options = _ReadOptions(variable, header, index, None if long is None else tuple(long))
    sources = [_open(p, options, opened) for p in paths]
    return sources[0] if len(sources) == 1 else joined(sources)


def write_draws(path: Any, sample: Any) -> None:
    """Writes all draws in their order, with chains, weights and names; a missing label is written as -1.

    Items that a draw calls noise are written as clusters of one item; `PartitionSample.save` also keeps the shares of
    noise.

    Parameters
    ----------
    path : path
        The name determines the format, as for `read_draws`. The file appears when it is complete, and replaces an
        existing one; a Zarr store is replaced only if it contains nothing but draws. An npy file holds labels only,
        as (chain, draw, item) if the chains are known.
    sample : PartitionSample, or what `as_sample` takes
        The draws.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_draws(f"{folder}/draws.csv", [[0, 0, 1], [0, 1, 1]])
    ...     read_draws(f"{folder}/draws.csv")
    PartitionSample(2 draws, 2 distinct, 3 items, 2 clusters per draw)
    """
    path = Path(path)
    form = _format_of(path, written=True)
    if form.write is None:
        raise ValueError(f"{path}: {form.suffix} files are read, but not written; choose {_listed(written=True)}")
    sample = as_sample(sample)
    is_folder = form.suffix == ".zarr"
    with atomic_folder(path, find_foreign=write.foreign_in_zarr) if is_folder else atomic_file(path) as temporary:
        try:
            form.write(temporary, sample)
        except ImportError as error:
            raise _missing_extra(path, form, error) from None


@dataclass(frozen=True)
class _ReadOptions:
    """The user's options about the contents of a file."""

    variable: str | None
    header: bool | None
    index: bool | None
    long: tuple[str, ...] | None

    def refuse(self, names: Sequence[str], what: str, kind: str) -> None:
        """Raises an error for options that would be ignored."""
        for name in names:
            if (value := getattr(self, name)) is not None:
                raise ValueError(f"{what}: {name}={value!r} is for {kind}")

    def text(self, stream: Any, name: str) -> Source:
        return text_source(stream, name, self.variable, self.header, self.index, self.long)


def _open(path: Any, options: _ReadOptions, opened: ExitStack) -> Source:
    if hasattr(path, "read"):
        return options.text(path, str(getattr(path, "name", "the stream")))
    if path == STDIN:
        return options.text(sys.stdin.buffer, "standard input")
    if not isinstance(path, str | PathLike):
        raise TypeError(f"path must be a file name, an open file or a list of them, not {path!r}")
    path = Path(path)
    if path.is_dir() and (own := folder_source(path)) is not None:
        options.refuse(("variable", "long", "header", "index"), f"{path} is a folder that partita wrote", "tables")
        return own
    if parts := _find_parts(path, [form.suffix for form in FORMATS]):
        return _parts_source(parts, lambda part, own: _open(part, options, own))
    if path.name.lower().endswith(WORKBOOK_NAMES):
        raise ValueError(f"{path} is an Excel workbook; save the sheet as CSV UTF-8")
    form = _format_of(path)
    if form.read is None and (index := coda_index(path)) is not None:
        options.refuse(("header", "index", "long"), f"{path} is a CODA file", "tables")
        return coda_source(path, index, options.variable)
    if form.read is None:
        stream = opened.enter_context(gzip.GzipFile(path) if form.suffix.endswith(".gz") else open_bytes(path))
        return options.text(stream, str(path))
    return _read_with(form.read, path, form, options)


def _format_of(path: Path, written: bool = False) -> Format:
    matches = [form for form in FORMATS if path.name.lower().endswith(form.suffix)]
    if not matches:
        raise ValueError(f"{path}: the name does not determine a format; it must end in one of {_listed(written)}")
    return matches[-1]


def _listed(written: bool) -> str:
    return ", ".join(form.suffix for form in FORMATS if form.write is not None or not written)


def _read_with(read: Reader, path: Path, form: Format, options: _ReadOptions) -> Source:
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist")
    if not (path.is_file() or path.is_dir()):
        raise ValueError(f"{path} is a pipe or a device, from which only csv can be read")
    options.refuse(("header", "index"), f"{path} is not text", "csv files")
    if options.long is not None and not form.tabular:
        told = f" names columns of a table, but {form.suffix} files hold arrays"
        raise ArgumentError(f"{path}: ", Setting("long", options.long), told)
    try:
        source = read(path, options.variable, options.long) if form.tabular else read(path, options.variable)
    except ImportError as error:
        raise _missing_extra(path, form, error) from None
    except Exception as error:  # libraries may raise anything for damaged files
        raise _unreadable(path, form, error) from error
    return replace(source, blocks=_named(source.blocks, path, form))


def _unreadable(path: Path, form: Format, error: Exception) -> ValueError | MemoryError:
    """What is wrong with a file, in one sentence, whatever exception the library that reads it has raised."""
    said = Sentence(f"{path}, read as {form.suffix[1:]}: ", sentence_of(error))
    return MemoryError(said) if isinstance(error, MemoryError) else ArgumentError(said)


def _missing_extra(path: Path, form: Format, error: ImportError) -> ImportError:
    return ImportError(f"{path}: {error}; {form.suffix} files need pip install 'partita[{form.extra}]'")


def _named(blocks: Iterator[Block], path: Path, form: Format) -> Iterator[Block]:
    """The blocks, with the name of the file in every message."""
    while True:
        try:
            block = next(blocks, None)
        except Exception as error:
            raise _unreadable(path, form, error) from error
        if block is None:
            return
        if problem := type_problem(block.cells.dtype):
            raise _unreadable(path, form, ValueError(f"it {problem}"))
        yield replace(block, place=_place_in_file(path, block))


def _place_in_file(path: Path, block: Block) -> Callable[[int, int], str]:
    return lambda row, column: f"{path}: {block.place(row, column)}"


def missing_in_text(missing: Any) -> Missing:
    """The values, with strings also interpreted as in a file: "-1" as -1, "NA" as NaN."""
    given = as_missing(missing)
    meant = as_missing([parse_cell(value) for value in given.values if isinstance(value, str)])
    return Missing((*given.values, *meant.values), given.null or meant.null)


def _find_parts(path: Path, suffixes: list[str]) -> list[Path]:
    """The parts that a folder or a pattern names, sorted by their numbers and names; none for a plain file."""
    if path.name.lower().endswith(tuple(suffixes)) and not _is_pattern(path):
        return []
    if path.is_dir():
        parts = [part for part in path.iterdir() if part.name.lower().endswith(tuple(suffixes))]
    elif _is_pattern(path):
        parts = list(path.parent.glob(path.name))
    else:
        return []
    if not parts:
        raise ValueError(f"{path} has no files of draws; they end in one of {', '.join(suffixes)}")
    return sorted(parts, key=_by_number)


def _is_pattern(path: Path) -> bool:
    return not path.exists() and any(sign in path.name for sign in "*?[")


def _by_number(path: Path) -> list[tuple[int, str]]:
    return [(int(piece), "") if piece.isdigit() else (-1, piece) for piece in re.split(r"(\d+)", path.name)]


def _parts_source(parts: list[Path], open_part: Callable[[Path, ExitStack], Source]) -> Source:
    """The parts as one source; each must have the items of the first."""
    with ExitStack() as opened:
        first = open_part(parts[0], opened)
        return replace(first, blocks=_blocks_of_parts(parts, first, open_part))


def _blocks_of_parts(
    parts: list[Path], first: Source, open_part: Callable[[Path, ExitStack], Source]
) -> Iterator[Block]:
    for part in parts:
        with ExitStack() as opened:
            yield from in_order_of(first, open_part(part, opened), str(part), str(parts[0])).blocks
