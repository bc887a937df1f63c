"""What --verbose says on standard error: the steps of a command with their times, and where it failed."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from partita.cli.given import value_of
from partita.cli.option import opt
from partita.cli.terminal import printable

_left_out: ContextVar[list[str]] = ContextVar("left_out")


@dataclass(frozen=True)
class Verbosity:
    """The option of every command."""

    verbose: Annotated[
        bool, opt("Print each step with its time, and the traceback of an error.", "--verbose", "-v")
    ] = False


@contextmanager
def printing_steps() -> Iterator[None]:
    """With --verbose, first the versions, and at the end the time and the memory, or the traceback of an error."""
    _left_out.set([])
    if not _verbose():
        yield
        return
    started = time.perf_counter()
    _say(_versions())
    try:
        yield
    except typer.Exit:
        raise
    except (Exception, KeyboardInterrupt):
        import traceback

        traceback.print_exc()
        raise
    _say(f"done in {time.perf_counter() - started:.2f} s{_memory()}")


def _verbose() -> bool:
    return bool(value_of("verbose", False))


@contextmanager
def step(name: str, *, has_progress: bool = False, seconds: float | None = None) -> Iterator[list[str]]:
    """A step of a command: with --verbose its name, what is appended to the list, and its time are printed.

    On a terminal the step and its time so far (and the time limit, if there is one) are shown while it runs, unless it
    `has_progress` of its own.
    """
    found: list[str] = []
    started = time.perf_counter()
    quiet = has_progress or not sys.stderr.isatty() or _verbose()
    with nullcontext() if quiet else _running(name, seconds):
        yield found
    if _verbose():
        details = f": {', '.join(found)}" if found else ""
        _say(f"{name}{details} ({time.perf_counter() - started:.2f} s)")


def extra(found: list[Any], name: str, compute: Callable[[], Any], **shown: Any) -> None:
    """Appends what is computed beside a result; after Ctrl-C the result goes out without it, and without what follows.

    `shown` are the keywords of `step`.
    """
    if left_out():
        return
    try:
        with step(name, **shown):
            found.append(compute())
    except KeyboardInterrupt:
        left_out().append(name)
        _say(f"stopped: the result comes without this step ({name})")


def left_out() -> list[str]:
    """The steps of the running command that Ctrl-C ended although there was a result."""
    return _left_out.get([])


@contextmanager
def _running(name: str, seconds: float | None) -> Iterator[None]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    limit = [] if seconds is None else [BarColumn(), TextColumn(f"of at most {seconds:g} s")]
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn(), *limit)
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        shown.add_task(printable(name), total=None)
        yield


def _versions() -> str:
    import platform
    from importlib.metadata import version

    return f"partita {version('partita')}, Python {platform.python_version()}, NumPy {version('numpy')}"


def _memory() -> str:
    """The peak memory of the process; empty if the system does not report it."""
    try:
        import resource
    except ImportError:  # Windows
        return ""
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, KiB elsewhere
    return f", peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20:,.0f} MiB"


def _say(text: str) -> None:
    print(f"partita: {printable(text)}", file=sys.stderr)
