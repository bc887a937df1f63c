"""An npy file whose rows are read when they are asked for: nothing is mapped, so that a limit on memory holds."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class NpyRows:
    """A C-ordered array from byte `offset` of a file on; a number picks a chain, a slice reads rows."""

    path: Path
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    offset: int

    def __getitem__(self, which: int | slice) -> Any:
        row_bytes = self.dtype.itemsize * prod(self.shape[1:])
        if isinstance(which, int):
            return NpyRows(self.path, self.shape[1:], self.dtype, self.offset + which * row_bytes)
        begin, end, _ = which.indices(self.shape[0])
        cells: NDArray[Any] = np.fromfile(
            self.path, self.dtype, (end - begin) * prod(self.shape[1:]), offset=self.offset + begin * row_bytes
        )
        return cells.reshape(end - begin, *self.shape[1:])


_READERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def open_npy(path: Path) -> Any:
    """The array of a file; NumPy maps one in Fortran's order, whose rows are scattered, or says what is wrong."""
    with path.open("rb") as stream:
        try:
            shape, fortran_order, dtype = _READERS[np.lib.format.read_magic(stream)](stream)
        except (ValueError, KeyError):
            return np.load(path, mmap_mode="r", allow_pickle=False)
        offset = stream.tell()
    if fortran_order or dtype.hasobject:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    needed, there = offset + prod(shape) * dtype.itemsize, path.stat().st_size
    if there < needed:
        raise ValueError(f"it is cut off: it has {there:,} bytes, but its header speaks of {needed:,}")
    return NpyRows(path, shape, dtype, offset)
