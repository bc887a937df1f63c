"""Errors as one sentence and an exit code: 2 for bad input, 130 after Ctrl-C.

A TypeError is not caused by bad input: options have their types, and files of a wrong type are refused when they are
read. It is a bug in partita and keeps its traceback.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

from partita.cli.terminal import printable

BAD_INPUT = 2
INTERRUPTED = 130
TERMINATED = 143
QUOTED = r"(?:'[^']*'|\"[^\"]*\")"
TABLES_ARE_FOR = "; for a table of measurements, use partita cluster"


@contextmanager
def reported() -> Iterator[None]:
    """Turns the errors and warnings of a command into sentences on standard error."""
    before = signal.signal(signal.SIGTERM, _terminate)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = _show_warning  # type: ignore[assignment]
        try:
            yield
            sys.stdout.flush()
        except BrokenPipeError:  # the reader has closed the pipe, as with `| head`: not an error
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
    """Leaves by an exception, so that unfinished output is removed."""
    raise SystemExit(TERMINATED)


def _sentence(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}"
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
    message = re.sub(
        r'\bcolumns=\{"([^"]*)": "(\w+)"\}', lambda m: f"--family {shlex.quote(f'{m[1]}={m[2]}')}", message
    )
    message = re.sub(r"^columns\[(.*)\](?= must be one of)", r"the --family of \1", message)
    message = re.sub(rf"\b(long|columns)=\(({QUOTED}(?:, {QUOTED})*)\)", lambda m: f"--{m[1]} {_joined(m[2])}", message)
    message = re.sub(r"\bpartita\.resume\('[^']*'\)", "the same command with --resume", message)
    message = re.sub(r"\b(missing|variable)='([^']*)'", lambda m: f"--{m[1]} {shlex.quote(m[2])}", message)
    message = re.sub(r"\b(missing|variable|long|columns)=(?=[^\s:;,)])", r"--\1 ", message)
    return re.sub(r"\b(missing|variable|long|columns)=(?=[\s:;,)])", r"--\1", message)


def _joined(names: str) -> str:
    """The names of a tuple as one argument."""
    return shlex.quote(",".join(quoted[1:-1] for quoted in re.findall(QUOTED, names)))


def _show_warning(message: Warning | str, category: type[Warning], *place: Any) -> None:
    from partita.mixing import MixingWarning  # here, so that --help starts at once

    if issubclass(category, MixingWarning):  # shown in the first lines of the result
        return
    if issubclass(category, UserWarning | RuntimeWarning):
        _say(f"note: {as_typed(' '.join(str(message).split()))}")


def _say(text: str) -> None:
    print(f"partita: {printable(text)}", file=sys.stderr)
