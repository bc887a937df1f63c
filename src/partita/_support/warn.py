"""Warnings that point to the user's line, however deep in the package their cause was seen."""

from __future__ import annotations

import sys
import warnings
from types import FrameType
from typing import Any


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Issues a warning for the innermost line of code outside of partita.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as seen:
    ...     warnings.simplefilter("always")
    ...     warn_user("the chains have not mixed")
    >>> seen[0].filename == __file__
    False
    """
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def local_of_caller(package: str, name: str) -> Any:
    """A local variable of the outermost running function of a package that has one of this name; None without any."""
    frame: FrameType | None = sys._getframe(1)
    found = None
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith(package):
            found = frame.f_locals.get(name, found)
        frame = frame.f_back
    return found


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == "partita"
