"""Progress of a search: a bar on request, or the user's own function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

#: Called with the expected loss and the number of clusters of each run as it ends.
Report = Callable[[float, int], None]


@contextmanager
def reporting(progress: Any, runs: int) -> Iterator[Report | None]:
    """What to call when a run ends: nothing, the user's function, or a bar with the best loss so far."""
    if callable(progress):
        yield progress
    elif not progress:
        yield None
    else:
        with _bar(runs) as report:
            yield report


@contextmanager
def _bar(runs: int) -> Iterator[Report]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    text = TextColumn("{task.description}")
    columns = (text, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    best, reached = float("inf"), 0

    with Progress(*columns, transient=True, console=Console(stderr=True)) as bar:
        task = bar.add_task("searching", total=runs)

        def report(loss: float, clusters: int) -> None:
            nonlocal best, reached
            if loss < best - 1e-9 * abs(best):
                best, reached = loss, 0
            reached += loss <= best + 1e-9 * abs(best)
            total = bar.tasks[0].total or 0
            description = f"best {best:.6g} with {clusters} clusters, reached {reached} times"
            bar.update(task, advance=1, total=max(total, bar.tasks[0].completed + 1), description=description)

        yield report
