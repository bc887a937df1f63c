"""Results as files: a folder that appears whole or not at all."""

from __future__ import annotations

import csv
import json
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

RESULTS = ("labels.csv", "runs.csv", "ball.csv", "summary.json", "report.html")


@contextmanager
def whole_folder(target: Path, *, force: bool, known: Sequence[str] = RESULTS) -> Iterator[Path]:
    """A hidden folder beside `target` to write to; it becomes `target` if all goes well, else it is removed.

    With `force` an earlier folder is replaced, but only if it holds nothing but the `known` files.
    """
    _check_free(target, force, known)
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        temporary.mkdir()
    except OSError as error:
        raise OSError(error.errno, f"nothing can be written there: {error.strerror}", str(target)) from None
    try:
        yield temporary
        _swap(temporary, target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def check_new_file(path: Path, force: bool) -> None:
    """Refuses to overwrite, and to write where no folder is."""
    if path.exists() and not force:
        raise ValueError(f"{path} exists already; --force replaces it")
    if not path.absolute().parent.is_dir():
        raise ValueError(f"{path.parent} is not a folder")


def _check_free(target: Path, force: bool, known: Sequence[str]) -> None:
    if not target.name:
        raise ValueError(f"--out {target} has no name of its own")
    if not target.exists():
        return
    if not target.is_dir():
        raise ValueError(f"{target} exists already and is not a folder")
    if not force:
        raise ValueError(f"{target} exists already; --force replaces it")
    others = sorted(entry.name for entry in target.iterdir() if entry.name not in known)
    if others:
        raise ValueError(f"{target} holds other things ({others[0]}); --force replaces earlier results only")


def _swap(temporary: Path, target: Path) -> None:
    if not target.exists():
        temporary.rename(target)
        return
    old = target.with_name(f".{target.name}.{os.getpid()}.old")
    target.rename(old)
    try:
        temporary.rename(target)
    except OSError:
        old.rename(target)
        raise
    shutil.rmtree(old)


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A csv file with full precision."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def write_json(path: Path, content: dict[str, Any]) -> None:
    """A JSON file that any reader takes (no NaN, no infinity), a line a key."""
    lines = [f"  {json.dumps(key)}: {json.dumps(value, allow_nan=False)}" for key, value in content.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def print_json(content: Any) -> None:
    """One JSON document on standard output."""
    sys.stdout.write(json.dumps(content, allow_nan=False) + "\n")


def print_table(title: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A readable table on standard output; the first column is text, the others are numbers."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, title_style="bold")
    for j, name in enumerate(header):
        table.add_column(name, justify="right" if j else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(_plain, row))
    Console(soft_wrap=False).print(table)


def _plain(text: str) -> Any:
    from rich.text import Text

    return Text(text)  # names may hold what rich would read as markup
