"""Runs the script of a case and says how it ended."""

from __future__ import annotations

import os
import shutil
import traceback
from dataclasses import dataclass
from functools import cache
from typing import Any

from fuzz.damage import forget_folder

ANSWERED, REFUSED, FOREIGN, UNBUILT = "answered", "refused", "foreign refusal", "not built"
FINDINGS = ("wrong", "exception", "message", "warning")
#: How input may be refused; a MemoryError only where a file promises more than there is.
_REFUSALS = (ValueError, TypeError, OSError)


@dataclass(frozen=True)
class Outcome:
    """How a case ended: `kind`, and for a finding a signature that like findings share and what was said."""

    kind: str
    signature: str = ""
    detail: str = ""

    @property
    def is_finding(self) -> bool:
        return self.kind not in (ANSWERED, REFUSED, FOREIGN, UNBUILT)


@cache
def _namespace() -> dict[str, Any]:
    import numpy as np

    import fuzz.hostile
    import partita as pt

    return {"np": np, "pt": pt, **{name: value for name, value in vars(fuzz.hostile).items() if name[0] != "_"}}


@cache
def _package() -> str:
    """What the paths of all modules of partita begin with, wherever it is installed."""
    import partita

    return os.path.join(os.path.dirname(partita.__file__), "")


def run_script(script: str) -> Outcome:
    """The outcome of a script in this process; a crash or a hang is for the caller to see."""
    try:
        exec(compile(script, "<case>", "exec"), dict(_namespace()))
    except BaseException as error:
        return _judge(error)
    finally:
        if (folder := forget_folder()) is not None:
            shutil.rmtree(folder, ignore_errors=True)
    return Outcome(ANSWERED)


def _judge(error: BaseException) -> Outcome:
    import fuzz.hostile
    from fuzz.checks import Wrong

    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if frame.filename.startswith(_package())]
    place = f"{ours[-1].filename.removeprefix(_package())}:{ours[-1].name}" if ours else "the check"
    message = str(error)
    detail = f"{type(error).__name__}: {message[:500]}"
    if isinstance(error, Wrong):
        return Outcome("wrong", f"wrong: {message[:40]}", detail)
    if isinstance(error, fuzz.hostile.Hostile | KeyboardInterrupt) or frames[-1].filename == fuzz.hostile.__file__:
        return Outcome(REFUSED)
    if not ours:
        return Outcome(UNBUILT, detail=detail)
    if isinstance(error, Warning):
        return Outcome("warning", f"{type(error).__name__} in {place}", detail)
    if not isinstance(error, (*_REFUSALS, MemoryError)) or isinstance(error, UnicodeError):
        return Outcome("exception", f"{type(error).__name__} in {place}", detail)
    if not message or "\n" in message or "incompatible function arguments" in message:
        return Outcome("message", f"message of {type(error).__name__} in {place}", detail)
    raised_by_us = frames[-1] is ours[-1] and (frames[-1].line or "").lstrip().startswith(("raise", ")"))
    return Outcome(REFUSED if raised_by_us else FOREIGN, f"{type(error).__name__} from {place}", detail)
