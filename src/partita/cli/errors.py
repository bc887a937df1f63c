"""Errors as one sentence and an exit code: 2 for bad input, 130 after Ctrl-C, 143 after SIGTERM.

A TypeError is not caused by bad input: options have their types, and files of a wrong type are refused when they are
read. It is a bug in partita and keeps its traceback.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import typer

from partita._support import signals as _signals
from partita._support.atomic import WRITE_ERRORS, remove_working
from partita.cli.terminal import printable

BAD_INPUT = 2
INTERRUPTED = 130
TERMINATED = 143
BAD_INPUTS = (ValueError, EOFError, OSError, ImportError, MemoryError)
QUOTED = r"(?:'[^']*'|\"[^\"]*\")"
TABLES_ARE_FOR = "; for a table of measurements, use partita cluster"


@contextmanager
def reported() -> Iterator[None]:
    """Turns the errors and warnings of a command into sentences on standard error."""
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.simplefilter("ignore", DeprecationWarning)  # some are UserWarnings as well
        warnings.filterwarnings("ignore", "numpy.ndarray size changed", RuntimeWarning)  # as NumPy itself does
        warnings.showwarning = _show_warning  # type: ignore[assignment]
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
            _stopped(as_typed(str(error)))
        except typer.Exit:
            raise
        except Exception as error:
            if _signals.terminated():
                raise SystemExit(TERMINATED) from None
            if not isinstance(error, BAD_INPUTS):
                if _signals.interrupted():  # a library has replaced the KeyboardInterrupt
                    _stopped()
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
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, OSError) and _is_of_output(error):
        return f"standard output: {error.strerror}"
    return as_typed(" ".join(str(error).split())) or type(error).__name__


def as_typed(message: str) -> str:
    """Replaces Python keywords by the corresponding options of the command.

    >>> as_typed("say which with header=True or header=False, or missing=-1, or long=('draw', 'item', 'label')")
    'say which with --header or --no-header, or --missing -1, or --long draw,item,label'
    >>> as_typed("column 'y' holds dates; columns={\\"y\\": \\"ignore\\"} leaves it out")
    "column 'y' holds dates; --family y=ignore leaves it out"
    >>> as_typed("graph: x.csv: choose them, as in columns=('length (cm)', 'to')")
    "x.csv: choose them, as in --columns 'length (cm),to'"
    """
    message = re.sub(r"\bpartita\.resume\(.*\) continues it$", "the same command with --resume continues it", message)
    message = re.sub(r"^graph: ", "", message)
    message = re.sub(r"^graph(?= (has|is|must)\b)", "the network", message)
    message = re.sub(r"\b(?<=labels must be whole numbers)$", TABLES_ARE_FOR, message)
    message = re.sub(r"\b(header|index)=(True|False)", lambda m: f"--{'' if m[2] == 'True' else 'no-'}{m[1]}", message)
    message = re.sub(r"\bedges='counts'", "--counts", message)
    message = re.sub(r"\bedges='(\w+)'", r"--weights \1", message)
    message = re.sub(r"\bdegree_corrected=True", "--degree-corrected", message)
    message = re.sub(r"\bpass loops=True", "give --loops", message)
    message = re.sub(
        r"\bpass directed=(True|False)", lambda m: f"{'leave out' if m[1] == 'True' else 'give'} --undirected", message
    )
    message = re.sub(r"^(k_max|restarts|seconds)(?= must\b)", lambda m: f"--{m[1].replace('_', '-')}", message)
    entry = r'"([^"]*)": "(\w+)"'
    message = re.sub(rf"\bcolumns=\{{({entry}(?:, {entry})*)\}}", lambda m: _families(entry, m[1]), message)
    message = re.sub(r"^columns\[(.*)\](?= must be one of)", r"the --family of \1", message)
    message = re.sub(rf"\b(long|columns)=\(({QUOTED}(?:, {QUOTED})*)\)", lambda m: f"--{m[1]} {_joined(m[2])}", message)
    message = re.sub(r"\bpartita\.resume\('[^']*'\)", "the same command with --resume", message)
    message = re.sub(r"\b(missing|variable)='([^']*)'", lambda m: f"--{m[1]} {shlex.quote(m[2])}", message)
    message = re.sub(r"\b(missing|variable|long|columns)=(?=[^\s:;,)])", r"--\1 ", message)
    return re.sub(r"\b(missing|variable|long|columns)=(?=[\s:;,)])", r"--\1", message)


def _families(entry: str, entries: str) -> str:
    """The entries of a dictionary of families as options."""
    return " ".join(f"--family {shlex.quote(f'{name}={family}')}" for name, family in re.findall(entry, entries))


def _joined(names: str) -> str:
    """The names of a tuple as one argument."""
    return shlex.quote(",".join(quoted[1:-1] for quoted in re.findall(QUOTED, names)))


def _show_warning(message: Warning | str, category: type[Warning], *place: Any) -> None:
    from partita.estimation.mixing import MixingWarning  # here, so that --help starts at once

    if issubclass(category, MixingWarning):  # shown in the first lines of the result
        return
    if issubclass(category, UserWarning | RuntimeWarning):
        _say(f"note: {as_typed(' '.join(str(message).split()))}")


def _say(text: str) -> None:
    print(f"partita: {printable(text)}", file=sys.stderr)
