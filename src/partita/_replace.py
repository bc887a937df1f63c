"""Files and folders that appear whole or not at all."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A name beside `path` to write to; it takes the place of `path` if all goes well, else it is removed."""
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder to write to", str(path.parent))
    temporary = path.with_name(f".{os.getpid()}.{path.name}")
    try:
        yield temporary
        if path.is_dir():
            if not temporary.is_dir():
                raise IsADirectoryError(errno.EISDIR, "a folder of this name is in the way", str(path))
            shutil.rmtree(path)
        os.replace(temporary, path)
    finally:
        if temporary.is_dir():
            shutil.rmtree(temporary)
        temporary.unlink(missing_ok=True)
