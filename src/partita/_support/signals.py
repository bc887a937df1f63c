"""Ctrl-C and SIGTERM in the command: each signal is answered, once, wherever it comes.

Before a command is at work nothing can be left behind, and a signal ends the process at once. While it is at work, the
handler raises KeyboardInterrupt or SystemExit, so that unfinished output is removed. Python ignores an exception where
nobody can catch it, as in the callback that importlib runs after an import, and libraries replace some by their own:
- A signal that comes during an import, or while output is removed, is delivered a little later.
- An exception that Python ignores is raised again.
- SIGTERM is a state: SystemExit is raised again until it is on its way out, and no result is placed any more.
- A second signal ends the process at once; so does the core (`watch_signals`) if no Python instruction runs.
- Once the command has ended, a signal has its default action: Python runs no handlers while it shuts down.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import get_ident
from types import FrameType

TYPE_CHECKING = False  # typing takes long to import, and nothing answers signals before this module does
if TYPE_CHECKING:
    from typing import Any

AGAIN = 0.5  # seconds: a signal that comes sooner after another is the same one, as timeout(1) sends two
NEVER = 0.0
LATER = 0.01  # seconds until a signal is delivered that could not be
DEFERRED = 1.0  # seconds that a signal waits for an import
UNANSWERED = 8  # seconds without a Python instruction after which SIGTERM ends the process

_TICKS = hasattr(signal, "setitimer")  # not on Windows


class _State:
    """The signals that came and how they were answered; there is one per process, as there is one set of handlers."""

    def __init__(self) -> None:
        self.number: int | None = None  # the signal that was sent last
        self.since = 0.0
        self.due = False  # it is still to be delivered
        self.raised: BaseException | None = None
        self.shields = 0
        self.thread: int | None = None  # that of the handlers
        self.at_work = False
        self.clear: Callable[[], None] = lambda: None  # removes unfinished output
        self.answered: Callable[[], None] = lambda: None


_state = _State()


def listen() -> None:
    """Installs the handlers; a signal that is ignored stays ignored, as in a job that was started with nohup."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _came)
    if _TICKS:
        signal.signal(signal.SIGALRM, _tick)
    _state.thread = get_ident()


def release() -> None:
    """From here on a signal ends the process; one that has come is answered first, by its handler."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is _came:
            signal.signal(number, signal.SIG_DFL)


@contextmanager
def at_work(clear: Callable[[], None]) -> Iterator[None]:
    """Signals become exceptions in this block, if `listen` was called; `clear` removes unfinished output."""
    if _state.thread is None:
        yield
        return
    from partita._core import signal_answered, watch_signals

    watch_signals(UNANSWERED)
    hook, sys.unraisablehook = sys.unraisablehook, _unraisable
    _state.answered, _state.clear = signal_answered, clear
    try:
        _state.at_work = True
        yield
        check()
    finally:
        _state.at_work = False
        _ask_again(NEVER)
        sys.unraisablehook = hook
        clear()


@contextmanager
def shielded() -> Iterator[None]:
    """Signals that come in this block are delivered after it; other threads than that of the handlers get none."""
    if get_ident() != _state.thread:
        yield
        return
    _state.shields += 1
    try:
        yield
    finally:
        _state.shields -= 1


def terminated() -> bool:
    """Whether SIGTERM came, whatever became of its exception."""
    return _state.number == signal.SIGTERM


def interrupted() -> bool:
    """Whether Ctrl-C came."""
    return _state.number == signal.SIGINT


def is_behind(error: BaseException | None) -> bool:
    """Whether the error is the exception of a signal, or came of it: a library may report another one."""
    while error is not None and error is not _state.raised:
        error = error.__context__
    return error is not None


def check() -> None:
    """Raises what is due, before results are placed."""
    if _state.at_work and get_ident() == _state.thread and (_state.due or terminated()):
        _raise()


def _came(number: int, frame: FrameType | None) -> None:
    _state.answered()
    now = time.monotonic()
    if not _state.at_work or (_state.number is not None and now - _state.since >= AGAIN):
        _state.clear()
        os._exit(128 + number)
    if _state.number not in (number, signal.SIGTERM):
        _state.number, _state.since, _state.due = number, now, True
    _look(frame)


def _tick(number: int, frame: FrameType | None) -> None:
    _state.answered()
    if _state.at_work:
        _look(frame)


def _look(frame: FrameType | None) -> None:
    """Delivers what is due, or comes again."""
    if _state.due or (terminated() and not _is_handled()):
        _deliver(frame)
    elif terminated():
        _ask_again(AGAIN)


def _deliver(frame: FrameType | None) -> None:
    waited = time.monotonic() - _state.since
    if _state.shields or (_is_importing(frame) and waited < DEFERRED):
        _ask_again(LATER)
    else:
        _raise()


def _raise() -> None:
    _state.due = False
    if terminated():
        _ask_again(AGAIN)
    _state.raised = SystemExit(128 + signal.SIGTERM) if terminated() else KeyboardInterrupt()
    raise _state.raised


def _ask_again(seconds: float) -> None:
    if _TICKS:
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _is_importing(frame: FrameType | None) -> bool:
    while _TICKS and frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _is_handled() -> bool:
    """Whether the exception is on its way out: handlers and clean-up run because of it."""
    return is_behind(sys.exception())


def _unraisable(unraisable: Any) -> None:
    if unraisable.exc_value is not None and unraisable.exc_value is _state.raised:
        _state.due = True
        _ask_again(LATER)
    else:
        sys.__unraisablehook__(unraisable)
