"""Errors as one sentence and an exit code: 2 for bad input, 130 after Ctrl-C.

A TypeError is no bad input: options have their types, and files of a wrong type are refused where they are read. It
is a mistake of ours, and keeps its traceback.
"""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

BAD_INPUT = 2
INTERRUPTED = 130
TERMINATED = 143


@contextmanager
def reported() -> Iterator[None]:
    """Turns the errors of a command into a sentence on standard error, and warnings too."""
    before = signal.signal(signal.SIGTERM, _terminate)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = _show_warning  # type: ignore[assignment]
        try:
            yield
            sys.stdout.flush()
        except BrokenPipeError:  # the reader has gone, as with `| head`: nothing is wrong
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        except KeyboardInterrupt:
            _say("stopped before there was a result")
            raise typer.Exit(INTERRUPTED) from None
        except (ValueError, EOFError, OSError, ImportError, MemoryError) as error:
            _say(_sentence(error))
            raise typer.Exit(BAD_INPUT) from None
        finally:
            signal.signal(signal.SIGTERM, before)


def _terminate(signum: int, frame: Any) -> None:
    """Leaves by an exception, so that what was begun is cleared away."""
    raise SystemExit(TERMINATED)


def _sentence(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__


def _show_warning(message: Warning | str, category: type[Warning], *place: Any) -> None:
    if issubclass(category, UserWarning | RuntimeWarning):
        _say(f"note: {' '.join(str(message).split())}")


def _say(text: str) -> None:
    print(f"partita: {text}", file=sys.stderr)
