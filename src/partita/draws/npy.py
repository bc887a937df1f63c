"""Arrays as npy files, written so that a full disk raises the system's own error."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray


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
