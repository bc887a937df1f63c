"""A sample in a folder: plain npy files, and metadata in JSON.

sample.json    format, version, library, names, size and SHA-256 of each file; it has its own checksum
labels.npy     (n_unique, n_items), as in PartitionSample
weights.npy, index.npy, chains.npy if the chains are known, and noise.npy if a label means noise
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from partita import _core
from partita._support.atomic import atomic_folder, files_only
from partita._support.checked_json import from_checked_json, to_checked_json
from partita._support.npy import read_npy, write_npy
from partita.draws.store_checks import check_arrays, file_facts, load_labels

FORMAT, VERSION = "partita sample", 2
FACTS, LABELS = "sample.json", "labels.npy"
ARRAYS = ("weights", "index", "chains", "noise")
_BYTES_AT_A_TIME = 1 << 26


def smallest_type(largest: int, has_gaps: bool) -> np.dtype[Any]:
    """The smallest type for labels up to `largest`: unsigned and without its largest value; signed if -1 occurs."""
    for width in (1, 2, 4):
        dtype = np.dtype(f"{'i' if has_gaps else 'u'}{width}")
        if largest < np.iinfo(dtype).max + (1 if has_gaps else 0):
            return dtype
    raise ValueError(f"a draw has {largest + 1} clusters, which is too many")


class LabelFile:
    """Distinct draws in a growing npy file; only a digest of each is kept in memory."""

    def __init__(self, path: Path, n_items: int) -> None:
        self._path, self._n_items = path, n_items
        self._counts: list[int] = []
        self._row_of: dict[bytes, int] = {}
        self._largest, self._has_gaps = 0, False
        self._dtype = smallest_type(0, False)
        self._stream = self._begin(path)

    def add(self, labels: NDArray[Any], counts: NDArray[Any], index: NDArray[np.int64]) -> NDArray[np.int64]:
        """Adds draws, canonical, and signed if labels are missing; returns the row of each draw in the file."""
        self._make_room(int(labels.max()), labels.dtype.kind == "i")
        rows = [self._find_or_write(row, int(count)) for row, count in zip(labels, counts, strict=True)]
        return np.array(rows, np.int64)[index]

    def finish(self) -> NDArray[np.int64]:
        """Completes the file; returns how often each distinct draw occurs."""
        self._stream.seek(0)
        _write_header(self._stream, self._dtype, len(self._counts), self._n_items)
        self.close()
        return np.array(self._counts, np.int64)

    def close(self) -> None:
        self._stream.close()

    def _begin(self, path: Path) -> BinaryIO:
        stream = path.open("wb+")
        _write_header(stream, self._dtype, 0, self._n_items)
        return stream

    def _find_or_write(self, row: NDArray[Any], count: int) -> int:
        digest = hashlib.blake2b(row.astype(np.int32).tobytes(), digest_size=16).digest()
        at = self._row_of.setdefault(digest, len(self._counts))
        if at == len(self._counts):
            self._counts.append(0)
            self._stream.write(row.astype(self._dtype).tobytes())
        self._counts[at] += count
        return at

    def _make_room(self, largest: int, has_gaps: bool) -> None:
        """Rewrites the file if a larger label or the first missing label needs another type."""
        self._largest, self._has_gaps = max(self._largest, largest), self._has_gaps or has_gaps
        old, self._dtype = self._dtype, smallest_type(self._largest, self._has_gaps)
        if old == self._dtype:
            return
        wide = self._path.with_suffix(".wide")
        stream = self._begin(wide)
        for rows in self._written(old):
            stream.write(rows.astype(self._dtype).tobytes())
        self.close()
        wide.replace(self._path)
        self._stream = stream

    def _written(self, dtype: np.dtype[Any]) -> Iterator[NDArray[Any]]:
        self._stream.flush()
        step = max(1, _BYTES_AT_A_TIME // (self._n_items * dtype.itemsize))
        with self._path.open("rb") as stream:
            _read_header(stream)
            for start in range(0, len(self._counts), step):
                yield np.fromfile(stream, dtype, min(step, len(self._counts) - start) * self._n_items)


class DiskBuilder:
    """Collects draws like the core's SampleBuilder, with the distinct ones in a file of the folder."""

    def __init__(self, folder: Path, n_items: int) -> None:
        self._n_items = n_items
        self._path = folder / LABELS
        self._file = LabelFile(self._path, n_items)
        self._index: list[NDArray[np.int64]] = []

    def add(self, block: NDArray[Any], threads: int) -> None:
        """Adds the draws of a block; a negative label is missing."""
        builder = _core.SampleBuilder(self._n_items)
        builder.add(block, threads)
        labels, counts, index, has_gaps = builder.finish()
        if len(index):
            signed = labels.view(f"i{labels.dtype.itemsize}") if has_gaps else labels
            self._index.append(self._file.add(signed, counts, index))

    def finish(self) -> tuple[Any, Any, Any, bool]:
        """Memory-mapped labels, counts, index, and whether labels are missing."""
        counts = self._file.finish()
        labels = np.load(self._path, mmap_mode="r")
        index = np.concatenate(self._index) if self._index else np.empty(0, np.int64)
        return labels, counts, index, labels.dtype.kind == "i"

    def close(self) -> None:
        self._file.close()


def _write_header(stream: BinaryIO, dtype: np.dtype[Any], n_rows: int, n_items: int) -> None:
    """Writes the header; NumPy leaves room in it for the number of rows to grow."""
    facts = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": (n_rows, n_items)}
    np.lib.format.write_array_header_1_0(stream, facts)


def _read_header(stream: BinaryIO) -> None:
    np.lib.format.read_magic(stream)
    np.lib.format.read_array_header_1_0(stream)


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """A temporary folder for a sample, which on success replaces an older sample, but nothing else."""
    with atomic_folder(folder, find_foreign=_foreign) as temporary:
        yield temporary


def _foreign(folder: Path) -> str | None:
    """The name of a file that does not belong to a sample; without the metadata of a sample, of any file."""
    known = (FACTS, LABELS, *(f"{name}.npy" for name in ARRAYS)) if (folder / FACTS).is_file() else ()
    return files_only(*known)(folder)


def write_facts(folder: Path, arrays: dict[str, NDArray[Any] | None], names: tuple[str, ...] | None) -> None:
    """Everything but the labels."""
    for name, values in arrays.items():
        if values is not None:
            write_npy(folder / f"{name}.npy", values)
    from partita import __version__

    files = sorted(path.name for path in folder.glob("*.npy"))
    facts = {
        "format": FORMAT,
        "version": VERSION,
        "oldest_reader": VERSION,
        "library": __version__,
        "names": None if names is None else list(names),
        "files": {name: file_facts(folder / name) for name in files},
    }
    (folder / FACTS).write_bytes(to_checked_json(facts))


def read_facts(folder: Path, *, check: bool = True) -> tuple[dict[str, Any], tuple[str, ...] | None]:
    """The arrays of a folder, with large labels mapped, and the names of the items.

    `check=False` does not read large labels; it is for a folder that this process has just written.
    """
    try:
        facts = _facts_of(folder)
        labels = load_labels(folder / LABELS, facts["files"][LABELS], check=check)
        arrays: dict[str, Any] = {"labels": labels}
        for name in ARRAYS:
            arrays[name] = read_array(folder / f"{name}.npy", facts["files"].get(f"{name}.npy"))
        check_arrays(arrays, facts["names"])
    except (OSError, ValueError, EOFError) as error:
        raise ValueError(f"{folder} is not a sample written by save or store=: {error}") from None
    return arrays, None if facts["names"] is None else tuple(facts["names"])


def _facts_of(folder: Path) -> dict[str, Any]:
    facts = from_checked_json((folder / FACTS).read_bytes())
    version, reader = facts.get("version"), facts.get("oldest_reader")
    if facts.get("format") != FORMAT or not (isinstance(version, int) and isinstance(reader, int)):
        raise ValueError(f"{FACTS} is not that of a sample")
    if version < VERSION or reader > VERSION:
        writer = facts.get("library")
        raise ValueError(f"{FACTS} has version {version}, written by partita {writer!s:.30}; this one reads {VERSION}")
    files = facts.get("files")
    if not isinstance(files, dict) or not all(isinstance(entry, dict) for entry in files.values()):
        raise ValueError(f"{FACTS} lists no files")
    if LABELS not in files:
        raise ValueError(f"{FACTS} does not list {LABELS}")
    return {**facts, "names": facts.get("names")}


def read_array(path: Path, facts: dict[str, Any] | None) -> NDArray[Any] | None:
    """The array of a file, which must have the size and the checksum of `facts`; None without facts."""
    if facts is None:
        return None
    if not path.exists():
        raise ValueError(f"{path.name} is missing")
    if file_facts(path) != facts:
        raise ValueError(f"{path.name} is damaged: its checksum does not match its content")
    with path.open("rb") as stream:
        return read_npy(stream, path.stat().st_size)
