"""Text files that may be compressed: a name that ends in .gz."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import BinaryIO, cast

#: What reading a damaged or truncated file raises.
DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error)


def open_bytes(path: str | Path) -> BinaryIO:
    """The content of a file, decompressed if its name ends in .gz."""
    compressed = str(path).lower().endswith(".gz")
    return cast(BinaryIO, gzip.open(path, "rb")) if compressed else open(path, "rb")
