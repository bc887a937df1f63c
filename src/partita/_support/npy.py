"""Arrays as npy files: written so that a full disk raises the system's own error, read without trust in the header."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

_PICKLE, _PICKLED = b"\x80", "it holds pickled objects, which are never loaded"  # how a pickle begins
_READERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


class _Digested:
    """A stream to write to, with the digest of what was written.

    NumPy writes to plain files with its own code, whose errors have no number; to this class it writes by `write`.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self.digest = stream, hashlib.sha256()

    def write(self, content: bytes) -> None:
        self._stream.write(content)
        self.digest.update(content)


def write_npy(path: Path, array: NDArray[Any]) -> str:
    """Writes an npy file; returns its SHA-256."""
    with path.open("wb") as file:
        stream = _Digested(file)
        np.save(stream, array, allow_pickle=False)
    return stream.digest.hexdigest()


@dataclass(frozen=True)
class Header:
    """The header of an npy file; the array begins at byte `offset`."""

    shape: tuple[int, ...]
    fortran_order: bool
    dtype: np.dtype[Any]
    offset: int


def read_npy(stream: BinaryIO, size: int) -> NDArray[Any]:
    """The array of an npy file of `size` bytes, after a check of its header: see `read_header`."""
    read_header(stream, size)
    stream.seek(0)
    return np.asarray(np.lib.format.read_array(stream, allow_pickle=False))


def read_header(stream: BinaryIO, size: int) -> Header:
    """The header of an npy file of `size` bytes; no pickled objects, and no more than the file holds."""
    if stream.read(1) == _PICKLE:
        raise ValueError(_PICKLED)
    stream.seek(0)
    try:
        version = np.lib.format.read_magic(stream)
        shape, fortran_order, dtype = _READERS[version](stream)
    except Exception as error:  # NumPy parses the header as Python, and passes on whatever its parser raises
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(f"it is not an npy file, or its header is damaged: {reason[:200]}") from error
    header = Header(shape, fortran_order, dtype, stream.tell())
    _check_elements(header, size)
    return header


def _check_elements(header: Header, size: int) -> None:
    if header.dtype.hasobject:
        raise ValueError(_PICKLED)
    if header.dtype.itemsize == 0:
        raise ValueError(f"it is damaged: elements of type {header.dtype.str} have no bytes")
    # an empty array may announce any length beside its zero, which nothing in the file bounds
    if not all(0 <= length < 1 << 63 for length in header.shape) or (0 in header.shape and max(header.shape) > size):
        raise ValueError(f"it is damaged: its shape is {header.shape}")
    needed = header.offset + prod(header.shape) * header.dtype.itemsize
    if size < needed:
        raise ValueError(f"it is truncated: it has {size:,} bytes, but its header announces {needed:,}")
