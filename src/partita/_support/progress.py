"""The progress bar of long work, on the standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any


@contextmanager
def progress_bar(text: str, total: int) -> Iterator[Callable[..., Any]]:
    """A bar beside a text, with the time so far and left.

    The function sets `completed=`, `total=` or `description=`, or takes a step: `advance=1`.
    """
    from rich import progress as rich
    from rich.console import Console

    times = (rich.TimeElapsedColumn(), rich.TextColumn("left:"), rich.TimeRemainingColumn())
    columns = (rich.TextColumn("{task.description}"), rich.BarColumn(), rich.MofNCompleteColumn(), *times)
    with rich.Progress(*columns, transient=True, console=Console(stderr=True)) as bar:
        yield partial(bar.update, bar.add_task(text, total=total))
