"""Errors as one sentence and an exit code: 2 for bad input, 130 after Ctrl-C, 143 after SIGTERM.

A TypeError is not caused by bad input: options have their types, and files of a wrong type are refused when they are
read. It is a bug in partita and keeps its traceback.
"""

from __future__ import annotations

import os
import shlex
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NoReturn

import typer

import partita as pt
from partita._support import signals as _signals
from partita._support.atomic import WRITE_ERRORS, remove_working
from partita._support.errors import (
    Advice,
    Argument,
    MissingCells,
    Part,
    Repeated,
    Resume,
    Sentence,
    Setting,
    TableModel,
    Within,
    sentence_of,
)
from partita.cli.given import flag_of
from partita.cli.terminal import printable

BAD_INPUT = 2
INTERRUPTED = 130
TERMINATED = 143
#: Options whose names are not those of the arguments.
OPTIONS = {"n_jobs": "jobs", "names": "records", "rng": "seed", "theta": "parameters"}
BAD_INPUTS = (ValueError, EOFError, OSError, ImportError, MemoryError)


@contextmanager
def reported() -> Iterator[None]:
    """Turns the errors and warnings of a command into sentences on standard error."""
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.simplefilter("ignore", DeprecationWarning)  # some are UserWarnings as well
        warnings.filterwarnings("ignore", "numpy.ndarray size changed", RuntimeWarning)  # as NumPy itself does
        warnings.showwarning = partial(_show_warning, set())
        try:
            with _signals.at_work(remove_working):
                yield
                sys.stdout.flush()
            if _signals.interrupted():  # the result is what there was
                raise typer.Exit(INTERRUPTED)
        except BrokenPipeError:  # the reader has closed the pipe, as with `| head`: not an error
            _discard_output()
            raise typer.Exit(0) from None
        except KeyboardInterrupt as error:
            _stopped(sentence_of(error).worded(as_option) if error.args else "")
        except typer.Exit:
            raise
        except Exception as error:
            if _signals.terminated():
                raise SystemExit(TERMINATED) from None
            is_bad_input = isinstance(error, BAD_INPUTS)
            if _signals.interrupted() and (_signals.is_behind(error) or not is_bad_input):
                _stopped()  # a library has replaced the KeyboardInterrupt
            if not is_bad_input:
                raise
            if _is_of_output(error):
                _discard_output()
            _say(_sentence(error))
            raise typer.Exit(BAD_INPUT) from None


def _is_of_output(error: Exception) -> bool:
    """Whether standard output cannot be written; errors of files have the names of files."""
    return isinstance(error, OSError) and error.filename is None and error.errno in WRITE_ERRORS


def _discard_output() -> None:
    """What is still in the buffer goes nowhere; Python would fail to write it at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _stopped(why: str = "") -> NoReturn:
    _say(why or "stopped before there was a result")
    raise typer.Exit(INTERRUPTED) from None


def _sentence(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {Sentence(error.strerror).worded(as_option)}"
    if isinstance(error, OSError) and _is_of_output(error):
        return f"standard output: {error.strerror}"
    return sentence_of(error).worded(as_option)


def as_option(part: Part) -> str:
    """An argument or a setting as the user of the command types it.

    >>> as_option(Setting("header", False)), as_option(Setting("long", ("draw", "item", "label")))
    ('--no-header', '--long draw,item,label')
    >>> as_option(Setting("columns", {"y": "ignore"})), as_option(Setting("columns", ("length (cm)", "to")))
    ('--family y=ignore', "--columns 'length (cm),to'")
    """
    match part:
        case Resume():
            return "the same command with --resume"
        case TableModel():
            return "partita cluster"
        case Repeated(item, time):
            return f"--id {shlex.quote(item)} --time {shlex.quote(time)}"
        case MissingCells(marker):
            return f"--missing {shlex.quote(marker)} takes these cells as missing"
        case Within():  # the place that follows names a file
            return ""
        case Advice("directed", bool(directed)):
            return f"{'leave out' if directed else 'give'} --undirected"
        case Advice(name, value):
            return f"give {as_option(Setting(name, value))}"
        case Setting(name, value) if part.has_value:
            return _option(name, value)
        case Argument("graph"):
            return "the network"
        case Argument(name) if name in OPTIONS and flag_of(OPTIONS[name]):
            return flag_of(OPTIONS[name]) + str(part)[len(name) :]
        case Argument("columns", place) if place is not None:
            return f"the --family of {place!r}"
        case Argument("columns"):
            return flag_of("family") or flag_of("columns") or str(part)
    return flag_of(part.name) or str(part)


def _option(name: str, value: Any) -> str:
    """A setting with its value."""
    if name == "edges":
        return "--counts" if value == "counts" else f"--weights {value}"
    if name == "columns" and not isinstance(value, tuple):
        families = [value] if isinstance(value, str) else [f"{column}={family}" for column, family in value.items()]
        return " ".join(f"--family {shlex.quote(family)}" for family in families)
    flag = f"--{name.replace('_', '-')}"
    if isinstance(value, bool):
        return flag if value else f"--no-{flag[2:]}"
    return f"{flag} {shlex.quote(','.join(value) if isinstance(value, tuple) else str(value))}"


def _show_warning(told: set[str], message: Warning | str, category: type[Warning], *place: Any) -> None:
    if issubclass(category, pt.MixingWarning):  # shown in the first lines of the result
        return
    if issubclass(category, UserWarning | RuntimeWarning) and str(message) not in told:  # each run may repeat it
        told.add(str(message))
        _say(f"note: {sentence_of(message).worded(as_option) if isinstance(message, Warning) else message}")


def _say(text: str) -> None:
    print(f"partita: {printable(' '.join(text.split()))}", file=sys.stderr)
