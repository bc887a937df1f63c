"""A sample in a folder: plain npy files that are memory-mapped when it is opened, and a few facts in JSON.

sample.json    format, version, items, chains, names
labels.npy     (n_unique, n_items), as in PartitionSample
weights.npy, index.npy, and chains.npy where the chains are known
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from partita import _core
from partita._replace import replacing

FORMAT, VERSION = "partita sample", 1
FACTS, LABELS = "sample.json", "labels.npy"
_BYTES_AT_A_TIME = 1 << 26


def smallest_type(largest: int, has_gaps: bool) -> np.dtype[Any]:
    """The smallest type for labels up to `largest`: unsigned, without its largest value; with gaps, -1, signed."""
    for width in (1, 2, 4):
        dtype = np.dtype(f"{'i' if has_gaps else 'u'}{width}")
        if largest < np.iinfo(dtype).max + (1 if has_gaps else 0):
            return dtype
    raise ValueError(f"a draw has {largest + 1} clusters, which is too many")


class LabelFile:
    """Distinct draws in an npy file that grows; what is kept in memory is a digest of each.

    Parameters
    ----------
    path : Path
    n_items : int
    """

    def __init__(self, path: Path, n_items: int) -> None:
        self._path, self._n_items = path, n_items
        self._counts: list[int] = []
        self._row_of: dict[bytes, int] = {}
        self._largest, self._has_gaps = 0, False
        self._dtype = smallest_type(0, False)
        self._stream = self._begin(path)

    def add(self, labels: NDArray[Any], counts: NDArray[Any], index: NDArray[np.int64]) -> NDArray[np.int64]:
        """Adds distinct draws, canonical and signed where they have gaps; returns the row in the file of each draw."""
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
        """A larger label or the first gap may need another type: the file is then written anew."""
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
    """Collects draws as the core's SampleBuilder does, the distinct ones in a file of the folder."""

    def __init__(self, folder: Path, n_items: int) -> None:
        self._n_items = n_items
        self._path = folder / LABELS
        self._file = LabelFile(self._path, n_items)
        self._index: list[NDArray[np.int64]] = []

    def add(self, block: NDArray[Any], threads: int) -> None:
        """Adds the draws of a block; a negative label is a gap."""
        builder = _core.SampleBuilder(self._n_items)
        builder.add(block, threads)
        labels, counts, index, has_gaps = builder.finish()
        if len(index):
            signed = labels.view(f"i{labels.dtype.itemsize}") if has_gaps else labels
            self._index.append(self._file.add(signed, counts, index))

    def finish(self) -> tuple[Any, Any, Any, bool]:
        """Labels, memory-mapped, counts, index, and whether there are gaps."""
        counts = self._file.finish()
        labels = np.load(self._path, mmap_mode="r")
        index = np.concatenate(self._index) if self._index else np.empty(0, np.int64)
        return labels, counts, index, labels.dtype.kind == "i"

    def close(self) -> None:
        self._file.close()


def _write_header(stream: BinaryIO, dtype: np.dtype[Any], n_rows: int, n_items: int) -> None:
    """NumPy leaves room in the header for the number of rows to grow."""
    facts = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": (n_rows, n_items)}
    np.lib.format.write_array_header_1_0(stream, facts)


def _read_header(stream: BinaryIO) -> None:
    np.lib.format.read_magic(stream)
    np.lib.format.read_array_header_1_0(stream)


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """A folder to write a sample to; it takes the place of an older sample, and of nothing else, when all is well."""
    if folder.exists() and not (folder / FACTS).exists():
        raise ValueError(f"{folder} exists and holds no sample: it is not replaced")
    with replacing(folder) as temporary:
        temporary.mkdir()
        try:
            yield temporary
        except OSError as error:
            raise OSError(error.errno, f"{error.strerror}; nothing was written", str(folder)) from None


def write_facts(folder: Path, arrays: dict[str, NDArray[Any] | None], names: tuple[str, ...] | None) -> None:
    """Everything but the labels."""
    for name, values in arrays.items():
        if values is not None:
            np.save(folder / f"{name}.npy", values, allow_pickle=False)
    facts = {"format": FORMAT, "version": VERSION, "names": None if names is None else list(names)}
    (folder / FACTS).write_text(json.dumps(facts), encoding="utf-8")


def read_facts(folder: Path) -> tuple[dict[str, Any], tuple[str, ...] | None]:
    """The arrays of a folder, the labels memory-mapped, and the names of the items."""
    try:
        facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
        if facts.get("format") != FORMAT or facts.get("version") != VERSION:
            raise ValueError(f"{FACTS} is not that of a sample of version {VERSION}")
        arrays = {"labels": np.load(folder / LABELS, mmap_mode="r", allow_pickle=False)}
        for name in ("weights", "index", "chains"):
            path = folder / f"{name}.npy"
            arrays[name] = np.load(path, allow_pickle=False) if path.exists() else None
    except (OSError, ValueError, EOFError) as error:
        raise ValueError(f"{folder} is no sample that save or store= has written: {error}") from None
    _check_whole(folder, arrays)
    return arrays, None if facts["names"] is None else tuple(facts["names"])


def _check_whole(folder: Path, arrays: dict[str, Any]) -> None:
    for name in ("weights", "index"):
        if arrays[name] is None:
            raise ValueError(f"{folder} has no {name}.npy")
    n_unique = len(arrays["labels"])
    if len(arrays["weights"]) != n_unique or arrays["index"].max(initial=-1) >= n_unique:
        raise ValueError(f"{folder}: labels.npy has {n_unique} draws, which weights.npy and index.npy do not fit")
