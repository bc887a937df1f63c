"""An npy file whose rows are read on demand: nothing is mapped, so that memory limits hold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from partita._support.memory import check_fits
from partita._support.npy import read_header, read_npy


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


def open_npy(path: Path) -> Any:
    """The array of a file; one in Fortran order, whose rows are scattered, is read as a whole.

    A file that is mapped and loses bytes meanwhile would end the process.
    """
    with path.open("rb") as stream:
        header = read_header(stream, path.stat().st_size)
        if header.fortran_order:
            check_fits(path.stat().st_size, f"the numbers of {path}, in Fortran order,")
            stream.seek(0)
            return read_npy(stream, path.stat().st_size)
    return NpyRows(path, header.shape, header.dtype, header.offset)
