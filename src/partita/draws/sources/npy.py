"""An npy file whose rows are read on demand: nothing is mapped, so that memory limits hold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from partita._support.memory import check_fits


@dataclass(frozen=True)
class Header:
    """The header of an npy file; the array begins at byte `offset`."""

    shape: tuple[int, ...]
    fortran_order: bool
    dtype: np.dtype[Any]
    offset: int


@dataclass(frozen=True)
class NpyRows:
    """A C-ordered array from byte `offset` of a file; an integer selects a chain, a slice reads rows."""

    path: Path
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    offset: int

    def __getitem__(self, which: int | slice) -> Any:
        row_bytes = self.dtype.itemsize * prod(self.shape[1:])
        if isinstance(which, int):
            return replace(self, shape=self.shape[1:], offset=self.offset + which * row_bytes)
        begin, end, _ = which.indices(self.shape[0])
        cells = self._cells(self.offset + begin * row_bytes, (end - begin) * prod(self.shape[1:]))
        return cells.reshape(end - begin, *self.shape[1:])

    def _cells(self, offset: int, count: int) -> NDArray[Any]:
        return np.fromfile(self.path, self.dtype, count, offset=offset)


@dataclass(frozen=True)
class ZippedRows(NpyRows):
    """The same of a member of a zip file, whose rows are best read in their order."""

    stream: BinaryIO

    def _cells(self, offset: int, count: int) -> NDArray[Any]:
        self.stream.seek(offset)
        content = self.stream.read(count * self.dtype.itemsize)
        if len(content) < count * self.dtype.itemsize:
            raise ValueError("it is truncated")
        return np.frombuffer(content, self.dtype)


_PICKLE, _PICKLED = b"\x80", "it holds pickled objects, which are never loaded"  # how a pickle begins
_READERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def open_npy(path: Path) -> Any:
    """The array of a file; one in Fortran order, whose rows are scattered, is read as a whole.

    A file that is mapped and loses bytes meanwhile would end the process.
    """
    with path.open("rb") as stream:
        header = read_header(stream, path.stat().st_size)
        if header.fortran_order:
            check_fits(path.stat().st_size, f"the numbers of {path}, in Fortran order,")
            stream.seek(0)
            return np.lib.format.read_array(stream, allow_pickle=False)
    return NpyRows(path, header.shape, header.dtype, header.offset)


def read_header(stream: BinaryIO, size: int) -> Header:
    """The header of an npy file of `size` bytes; it may not announce more than the file holds.

    Raises
    ------
    ValueError
        For a file of another kind, a damaged header, pickled objects, and a truncated array.
    """
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
