"""Atomic writing: files and folders that appear only when they are complete. Nothing else in the package creates files.

Output is written in a private folder beside its target, flushed to the disk, and then renamed. The private folder is
created exclusively, under a name that cannot be guessed, and only its owner may enter it, so that nobody else can
create files in it. Content that is in memory goes to a file that is created in the same way. A process that is killed
leaves at most such a folder or file, `.partita-...`, behind. Nothing is placed after SIGTERM (`_signals`).

A folder is only replaced if the caller can tell that everything in it is an earlier result of the same kind. The
earlier folder is moved aside, the new one takes its place, and only then is the earlier one deleted.
"""

from __future__ import annotations

import atexit
import errno
import os
import secrets
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from partita._support import signals as _signals

PREFIX = ".partita-"
WRITE_ERRORS = {errno.ENOSPC, errno.EFBIG, errno.EIO, errno.EROFS, getattr(errno, "EDQUOT", errno.ENOSPC)}
NOTHING_WRITTEN = "; nothing was written"
_ATTEMPTS = 100  # other processes may put folders in the same place at the same time
_CROWDED = "other processes keep writing to the same place"
_ASIDE = f"{PREFIX}earlier-"  # folders of the user that wait to be deleted or put back
_TRIES, _PAUSE, _QUIET = 100, 0.02, 5
_SPECIAL = {stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}
_failed: set[Path] = set()  # private folders that were given up
_working: set[Path] = set()  # what this process has made and will rename or remove

FindForeign = Callable[[Path], str | None]
"""Returns the name of a file in a folder that must not be deleted; None if there is none."""


class NotReplaced(FileExistsError, ValueError):
    """Something that is not an earlier result is where a result should go."""


@contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary name to write a file to, which replaces `path` on success and is removed otherwise."""
    path = Path(path)
    check_file(path)
    with _private_folder(path) as private:
        temporary = private / path.name
        yield temporary
        _sync_file(temporary)
        _replace(temporary, path)
        _sync_folder(path.parent)


@contextmanager
def atomic_folder(path: str | os.PathLike[str], *, find_foreign: FindForeign | None = None) -> Iterator[Path]:
    """An empty folder to write to, which becomes `path` on success and is removed otherwise.

    Without `find_foreign`, only an empty folder may exist there. With it, an earlier folder is replaced if it contains
    nothing foreign. This is checked at the start, and again at the end, after the earlier folder was moved aside.
    """
    path = Path(path)
    _check_replaceable(path, path, find_foreign)
    with _private_folder(path) as private:
        new = private / path.name
        new.mkdir()
        yield new
        _sync_tree(new)
        _take_place(new, path, find_foreign)
        _sync_folder(path.parent)


def write_bytes(path: Path, content: bytes) -> None:
    """Writes a file with this content, replacing an earlier one; faster than `atomic_file`, for checkpoints."""
    check_file(path)
    temporary = _new_name(path.parent)
    try:
        with _errors_name(path, temporary):
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(handle)
            _replace(temporary, path)
    finally:
        _clear(temporary)
    _sync_folder(path.parent)


def write_text(path: Path, text: str) -> None:
    """Writes a page in UTF-8, replacing an earlier one; halves of surrogate pairs are shown as escapes."""
    write_bytes(path, text.encode(errors="backslashreplace"))


def files_only(*names: str) -> FindForeign:
    """Treats everything except files with these names as foreign."""

    def find(folder: Path) -> str | None:
        entries = sorted(folder.iterdir())
        return next((entry.name for entry in entries if entry.name not in names or not entry.is_file()), None)

    return find


def remove_leftovers(folder: Path) -> None:
    """Deletes what killed processes left in a folder; only for folders to which no other process writes."""
    for entry in folder.glob(f"{PREFIX}*"):
        if not entry.is_symlink():
            _remove(entry)


def remove_working() -> None:
    """Removes what this process has not finished; for a process that ends."""
    for path in list(_working):
        _clear(path)


def check_file(path: Path) -> None:
    """Raises an error for a place where something other than a file is: a folder, a device, a pipe or a socket."""
    try:
        kind = stat.S_IFMT(path.stat().st_mode)
    except OSError:
        return
    if kind == stat.S_IFDIR and not path.is_symlink():
        raise NotReplaced(errno.EISDIR, "it is a folder, which is not replaced by a file", str(path))
    if kind in _SPECIAL:
        raise NotReplaced(errno.EEXIST, f"it is {_SPECIAL[kind]}, which is not replaced by a file", str(path))


@contextmanager
def _private_folder(path: Path) -> Iterator[Path]:
    if path.name in ("", ".."):
        raise ValueError(f"{path} has no name of its own to write to")
    parent = path.absolute().parent
    if not parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder to write to", str(path.parent))
    private = _new_name(parent)
    try:
        try:
            private.mkdir(0o700)
        except OSError as error:
            raise OSError(error.errno, f"nothing can be written there: {error.strerror}", str(path)) from None
        with _errors_name(path, private):
            yield private
    except BaseException:
        _failed.add(private)
        raise
    finally:
        _clear(private)


def _new_name(folder: Path) -> Path:
    path = folder / f"{PREFIX}{secrets.token_hex(8)}"
    _working.add(path)  # before it is there: a signal may come at any time
    return path


def _clear(path: Path) -> None:
    """Removes a private folder or file. An earlier folder of the user that could not be put back stays in it."""
    with _signals.shielded():
        if path.is_dir():
            for entry in path.iterdir():
                if not entry.name.startswith(_ASIDE):
                    _remove(entry)
            with suppress(OSError):
                path.rmdir()
        else:
            _remove(path)
        _working.discard(path)


@atexit.register  # before a library does the same, so that it is called after the library has ended its threads
def _remove_late() -> None:
    """Removes what threads of a library have made anew after a failure."""
    for path in _failed:
        _clear(path)


def _replace(temporary: Path, path: Path) -> None:
    check_file(path)
    _signals.check()
    os.replace(temporary, path)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        quiet = 0
        for _ in range(_TRIES):  # threads of a library that has failed may write on, as Zarr's do
            shutil.rmtree(path, ignore_errors=True)
            time.sleep(_PAUSE)
            quiet = 0 if path.exists() else quiet + 1
            if quiet == _QUIET:
                return
    else:
        with suppress(OSError):
            path.unlink(missing_ok=True)


@contextmanager
def _errors_name(path: Path, private: Path) -> Iterator[None]:
    """Makes write errors name the user's path; other errors of the block pass through."""
    try:
        yield
    except NotReplaced:
        raise
    except OSError as error:
        own = error.filename is not None and Path(os.fsdecode(error.filename)).is_relative_to(private)
        if not own and (error.filename is not None or error.errno not in WRITE_ERRORS):
            raise
        words = (error.strerror or "").removesuffix(NOTHING_WRITTEN)  # of a file in a folder, it was said already
        raise OSError(error.errno, f"{words}{NOTHING_WRITTEN}", str(path)) from error
    except UnicodeEncodeError as error:
        near = str(error.object)[max(0, error.start - 20) : error.end + 20]
        raise ValueError(
            f"{path}: {near!r} contains {str(error.object)[error.start]!r}, half of a surrogate pair, which UTF-8 "
            f"cannot represent{NOTHING_WRITTEN}"
        ) from error


def _check_replaceable(folder: Path, path: Path, find_foreign: FindForeign | None) -> None:
    """Raises an error rather than replace the content of `folder`, which the user knows as `path`."""
    for _ in range(_ATTEMPTS):
        before = _identity(folder)
        if before is None:
            return
        with suppress(FileNotFoundError, NotADirectoryError):
            problem = _why_not_replaced(folder, find_foreign)
            if problem is None:
                return
            if _identity(folder) == before:  # else another process has put a folder there while this one looked
                raise NotReplaced(errno.EEXIST, problem, str(path))
    raise NotReplaced(errno.EEXIST, _CROWDED, str(path))


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.lstat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_mtime_ns


def _why_not_replaced(folder: Path, find_foreign: FindForeign | None) -> str | None:
    if folder.is_symlink():
        return "it is a symbolic link, which is not replaced by a folder"
    if not folder.is_dir():
        return "it is a file, which is not replaced by a folder"
    if not any(folder.iterdir()):
        return None
    if find_foreign is None:
        return "it exists already and is not replaced"
    foreign = find_foreign(folder)
    return None if foreign is None else f"it contains other files ({foreign!r}) and is not replaced"


def _take_place(new: Path, path: Path, find_foreign: FindForeign | None) -> None:
    """Renames `new` to `path`. Earlier folders are moved aside, and deleted when it is in its place."""
    aside: list[Path] = []
    _signals.check()
    with _signals.shielded():
        try:
            while not _renamed(new, path):
                _check_replaceable(path, path, find_foreign)
                if len(aside) == _ATTEMPTS:
                    raise NotReplaced(errno.EEXIST, _CROWDED, str(path))
                aside.append(new.parent / f"{_ASIDE}{len(aside)}")
                with suppress(FileNotFoundError):  # another process has moved it
                    path.rename(aside[-1])
                    _check_replaceable(aside[-1], path, find_foreign)
        except BaseException:
            if aside and aside[-1].exists() and not path.exists():
                aside[-1].rename(path)
            raise
        for earlier in aside:
            shutil.rmtree(earlier, ignore_errors=True)


def _renamed(new: Path, path: Path) -> bool:
    """Renames to a free name, or to that of an empty folder; False if something else is there."""
    try:
        new.rename(path)
    except OSError as error:
        if error.errno in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR) or path.exists():
            return False
        raise
    return True


def _sync_tree(folder: Path) -> None:
    for where, _, files in os.walk(folder):
        for name in files:
            _sync_file(Path(where, name))
        _sync_folder(Path(where))


def _sync_file(path: Path) -> None:
    _sync(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)


def _sync_folder(folder: Path) -> None:
    """Makes a rename survive a power cut, if the system supports it."""
    if os.name == "posix":
        _sync(folder, os.O_RDONLY)


def _sync(path: Path, flags: int) -> None:
    handle = os.open(path, flags)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
