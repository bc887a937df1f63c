"""One process at a time writes to a folder: a lock that the system drops when its process ends, however it ends.

The lock is the system's own (flock, or LockFile on Windows) on the file `lock` of the folder; what the file says only
tells others who holds it. So a process that was killed leaves a file, but no lock.
"""

from __future__ import annotations

import errno
import json
import os
import socket
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from partita._support.warn import warn_user

NAME = "lock"
_UNSUPPORTED = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL}
_ATTEMPTS, _PAUSE = 20, 0.05
_HELD = {errno.EAGAIN, errno.EACCES, errno.EDEADLK}


class RunInUseError(BlockingIOError):
    """Another process, or another call of this one, is writing to the folder of a run or of a linkage."""


@contextmanager
def lock_folder(folder: Path, what: str = "run") -> Iterator[None]:
    """Holds the lock of a folder, or raises RunInUseError that names the process that holds it.

    In messages `what` names what the folder contains.
    """
    path = folder / NAME
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags, 0o666)
    try:
        _check_plain(handle, path)
        _take(handle, folder, what)
        _write_owner(handle)
        yield
    finally:
        os.close(handle)


def _check_plain(handle: int, path: Path) -> None:
    """The owner is written to the file, so it must not be a second name of some other file."""
    facts = os.fstat(handle)
    if not stat.S_ISREG(facts.st_mode) or facts.st_nlink != 1:
        raise ValueError(f"{path} is not a plain file: it cannot be a lock")


def _take(handle: int, folder: Path, what: str) -> None:
    try:
        _lock(handle)
    except OSError as error:
        if error.errno in _HELD:
            raise RunInUseError(
                f"{folder}: {_owner(handle)} is writing to this {what}; only one process at a time can"
            ) from None
        if error.errno not in _UNSUPPORTED:
            raise
        warn_user(
            f"{folder} is on a file system without locks ({error.strerror}): see that no other process uses the {what}",
        )


if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> None:
        os.lseek(handle, 1 << 30, os.SEEK_SET)  # far behind what the file says, which others may read
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _write_owner(handle: int) -> None:
    owner = {"pid": os.getpid(), "host": socket.gethostname(), "since": time.strftime("%Y-%m-%d %H:%M:%S")}
    os.ftruncate(handle, 0)
    os.lseek(handle, 0, os.SEEK_SET)
    os.write(handle, json.dumps(owner).encode())


def _owner(handle: int) -> str:
    """The process that has the lock. For a moment after it took the lock the file still names the one before it."""
    for _ in range(_ATTEMPTS):
        os.lseek(handle, 0, os.SEEK_SET)
        try:
            owner = json.loads(os.read(handle, 1000))
            if _is_alive(int(owner["pid"]), owner["host"]):
                return f"process {int(owner['pid'])} on {owner['host']!s:.100} (since {owner['since']!s:.30})"
        except (ValueError, KeyError, TypeError, OverflowError):
            pass
        time.sleep(_PAUSE)
    return "another process"


def _is_alive(pid: int, host: Any) -> bool:
    """Whether there is such a process; for other machines, and on Windows, the file is trusted."""
    if host != socket.gethostname() or sys.platform == "win32":
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # there is one, of another user
        pass
    return True
