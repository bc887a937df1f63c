"""A sample in a folder: plain npy files, and metadata in JSON.

sample.json    format, version, library, names, size and SHA-256 of each file; it has its own checksum
labels.npy     (n_unique, n_items), as in PartitionSample
weights.npy, index.npy, chains.npy if the chains are known, and noise.npy if a label means noise
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from partita import _core
from partita._support.atomic import atomic_folder, files_only
from partita._support.checked_json import from_checked_json, to_checked_json
from partita._support.memory import free_bytes
from partita._support.npy import Header, read_header, read_npy, write_npy
from partita._support.validate import check_weights

_HASHED_AT_A_TIME = 1 << 20  # fits the caches: hashed, then checked
_ALWAYS_READ = 1 << 28
_SHARE_OF_MEMORY = 4  # labels, the copy that a search makes, and as much again for its tables
_IDENTITY = "_partita_identity"  # of the file that is mapped, kept with the array


def file_facts(path: Path) -> dict[str, Any]:
    """The size and the SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while content := stream.read(_HASHED_AT_A_TIME):
            digest.update(content)
    return {"bytes": path.stat().st_size, "sha256": digest.hexdigest()}


def load_labels(path: Path, facts: Mapping[str, Any], *, check: bool) -> NDArray[Any]:
    """The labels of a file, checked: in memory, or mapped if they are large. `check=False` maps them unchecked."""
    identity = _identity(path)
    if path.stat().st_size <= max(_ALWAYS_READ, (free_bytes() or 0) // _SHARE_OF_MEMORY):
        return _read_checked(path, facts, keep=True)
    if check:
        _read_checked(path, facts, keep=False)
    labels: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    setattr(labels, _IDENTITY, identity)
    check_unchanged(labels)
    return labels


def check_unchanged(labels: NDArray[Any]) -> None:
    """Raises an error for labels whose file has changed since it was checked; to read them might end the process."""
    known = getattr(labels, _IDENTITY, None)
    if known is None or not isinstance(labels, np.memmap) or labels.filename is None:
        return
    path = Path(os.fspath(labels.filename))
    if not path.exists() or _identity(path)[:2] != known[:2]:  # the name now belongs to another file; ours still exists
        return
    if _identity(path) != known:
        raise ValueError(f"{path} has changed while it was open as a sample: open it again")


def _identity(path: Path) -> tuple[int, int, int, int]:
    facts = path.stat()
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns


def _read_checked(path: Path, facts: Mapping[str, Any], *, keep: bool) -> NDArray[Any]:
    """The labels of a file, in memory if they are kept; else only a block of them.

    Checks the checksum, the type and the shape, and that draws are canonical.
    """
    size = path.stat().st_size
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        header = read_header(stream, size)
        _check_header(header, size)
        stream.seek(0)
        digest.update(stream.read(header.offset))
        n_rows, n_items = header.shape
        step = max(1, _HASHED_AT_A_TIME // (n_items * header.dtype.itemsize))
        labels = np.empty((n_rows if keep else min(step, n_rows), n_items), header.dtype)
        for start in range(0, n_rows, step):
            rows = labels[start : start + step] if keep else labels[: n_rows - start]
            if stream.readinto(rows.reshape(-1).data) != rows.nbytes:
                raise ValueError(f"{path.name} was truncated while it was read")
            digest.update(rows.reshape(-1).data)
            bad = _core.first_not_canonical(rows)
            if bad is not None:
                raise ValueError(f"draw {start + bad} of {path.name} has labels that are not canonical")
    if facts.get("sha256") != digest.hexdigest() or facts.get("bytes") != size:
        raise ValueError(f"{path.name} is damaged: its checksum does not match its content")
    labels.flags.writeable = False
    return labels


def _check_header(header: Header, size: int) -> None:
    good = len(header.shape) == 2 and min(header.shape) >= 1 and not header.fortran_order
    good = good and header.dtype.kind in "iu" and header.dtype.itemsize <= 4 and header.dtype.isnative
    if not good or size != header.offset + np.prod(header.shape, dtype=object) * header.dtype.itemsize:
        raise ValueError(f"labels.npy has {header.dtype.str} of shape {header.shape}, which cannot be labels of draws")


def check_arrays(arrays: Mapping[str, Any], names: Any) -> None:
    """Checks weights, index, chains and names: their lengths and their ranges."""
    n_unique, n_items = arrays["labels"].shape
    for name in ("weights", "index"):
        if arrays[name] is None:
            raise ValueError(f"{name}.npy is missing")
    if arrays["weights"].dtype != np.float64 or arrays["weights"].shape != (n_unique,):
        raise ValueError(f"weights.npy does not have {n_unique} weights, one per draw of labels.npy")
    check_weights(arrays["weights"], n_unique)
    if abs(float(arrays["weights"].sum()) - 1.0) > 1e-6:
        raise ValueError("the weights of weights.npy do not sum to 1")
    _check_places(arrays["index"], n_unique, "index.npy")
    if np.bincount(arrays["index"], minlength=n_unique).min() < 1:
        raise ValueError("a draw of labels.npy is not in index.npy")
    if arrays["chains"] is not None:
        _check_places(arrays["chains"], len(arrays["index"]), "chains.npy")
        if len(arrays["chains"]) != len(arrays["index"]):
            raise ValueError(f"chains.npy has {len(arrays['chains'])} draws, but index.npy {len(arrays['index'])}")
    if (noise := arrays["noise"]) is not None:
        if noise.dtype != np.float64 or noise.shape != (n_items,):
            raise ValueError(f"noise.npy does not have {n_items} shares, one per item")
        if ((noise < 0) | (noise > 1)).any():
            raise ValueError("noise.npy has shares outside 0 to 1")
    if names is not None and not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
        raise ValueError("its names are not a list of texts")
    if names is not None and len(names) != n_items:
        raise ValueError(f"it names {len(names)} items, but labels.npy has {n_items}")


def _check_places(places: NDArray[Any], count: int, name: str) -> None:
    good = places.ndim == 1 and places.size > 0 and places.dtype.kind in "iu" and places.dtype.itemsize == 8
    if not good or int(places.min()) < 0 or int(places.max()) >= count:
        raise ValueError(f"{name} has numbers outside 0 to {count - 1}")


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
            np.lib.format.read_magic(stream)
            np.lib.format.read_array_header_1_0(stream)
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
