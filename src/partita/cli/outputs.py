"""Results as files: a folder that appears only when it is complete."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from partita._support.atomic import NotReplaced, atomic_folder, check_file, files_only
from partita.cli.form import FORMATS, table_name
from partita.cli.steps import step
from partita.cli.terminal import printable

SUMMARY, LINKAGE = "summary.json", "linkage.json"
WORD = 12  # letters of a word that a table does not break


@contextmanager
def whole_folder(target: Path, *, force: bool) -> Iterator[Path]:
    """A temporary folder for results, which becomes `target` on success and is removed otherwise.

    With `force` an existing folder is replaced, but only if it contains nothing but the files that its summary lists.
    """
    if target.exists() and not target.is_dir():
        raise ValueError(f"{target} is not a folder")
    if (target / LINKAGE).exists():
        raise ValueError(
            f"{target} is a linkage, whose identifiers last: --previous {target} updates it, and nothing replaces it"
        )
    if target.exists() and not force:
        raise ValueError(f"{target} exists already; --force replaces it")
    try:
        with atomic_folder(target, find_foreign=_find_foreign if force else None) as temporary:
            yield temporary
    except NotReplaced as error:
        hint = "; --force replaces only existing results" if force else ""
        raise ValueError(f"{target}: {error.strerror}{hint}") from None


def _find_foreign(folder: Path) -> str | None:
    """A file that is neither a usual result nor among those that the summary of the folder lists."""
    try:
        listed = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))["files"]
    except (OSError, ValueError, KeyError, TypeError):
        listed = []
    own = [SUMMARY, "report.html", *(f"{name}.{ending}" for name in ("labels", "runs", "ball") for ending in FORMATS)]
    return files_only(*own, *map(str, listed))(folder)


def check_new_file(path: Path, force: bool) -> None:
    """Refuses to overwrite a file, or to write to a folder that does not exist."""
    if not path.is_dir():  # a Zarr store is one
        check_file(path)
    if path.exists() and not force:
        raise ValueError(f"{path} exists already; --force replaces it")
    if not path.absolute().parent.is_dir():
        raise ValueError(f"{path.parent} is not a folder")


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A table with full precision: csv, or in the format that the user asked for."""
    from partita._support.text.write_table import write_table

    path = path.with_name(table_name(path.name))
    with step(f"wrote {path.name}"):
        write_table(path, header, rows)


def write_json(path: Path, content: dict[str, Any]) -> None:
    """A JSON file that every reader accepts (no NaN, no infinity), with one line per key."""
    lines = [f"  {json.dumps(key)}: {json.dumps(value, allow_nan=False)}" for key, value in content.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def print_json(content: dict[str, Any]) -> None:
    """One JSON document on standard output, which says what layout of which version it has."""
    from importlib.metadata import version

    from partita.results.presentation import SCHEMA

    head = {"schema": SCHEMA, "version": version("partita")}
    sys.stdout.write(json.dumps(head | content, allow_nan=False) + "\n")


def print_table(title: str, header: Sequence[str], rows: Iterable[Sequence[str]], texts: Sequence[int] = (0,)) -> None:
    """A readable table on standard output; the columns at `texts` are text, the others are numbers."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    rows, console = [list(map(printable, row)) for row in rows], Console(soft_wrap=False)
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, title_style="bold")
    widths = _widths(header, rows, texts, console.width - 3 * len(header) - 1)
    for j, (name, width) in enumerate(zip(header, widths, strict=True)):
        table.add_column(name, justify="left" if j in texts else "right", overflow="fold", width=width)
    for row in rows:
        table.add_row(*map(Text, row))  # names may contain what rich would interpret as markup
    console.print(table)


def _widths(
    header: Sequence[str], rows: Sequence[Sequence[str]], texts: Sequence[int], room: int
) -> Sequence[int | None]:
    """Widths of columns in which no number, and no word of a usual length, is broken; None where there is no room."""
    from rich.cells import cell_len

    least, most = [], []
    for j, name in enumerate(header):
        cells = [row[j] for row in rows]
        parts = [word[:WORD] for cell in cells for word in cell.split()] if j in texts else cells
        least.append(max(map(cell_len, [*name.split(), *parts])))
        most.append(max(map(cell_len, [name, *cells])))
    spare = room - sum(least)
    if spare < 0:
        return [None] * len(header)
    for j in range(len(header)):
        more = min(most[j] - least[j], spare)
        least[j], spare = least[j] + more, spare - more
    return least
