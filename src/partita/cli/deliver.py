"""What every command does with its result: files, JSON, text. It knows no kinds of results."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from partita.cli.errors import INTERRUPTED
from partita.cli.form import first_number, table_name
from partita.cli.given import value_of
from partita.cli.outputs import SUMMARY, print_json, print_table, whole_folder, write_csv, write_json
from partita.cli.steps import left_out, step
from partita.cli.terminal import print_lines, print_text

if TYPE_CHECKING:
    from partita.cli.options import OutputOptions
    from partita.results.presentation import Note, Presentation
    from partita.results.tables import Table

LABELS, REPORT = "labels.csv", "report.html"
FILES = {"items": LABELS}
SAMPLE = 10  # rows up to which it is plain that a table shows only its first ones


def command_line() -> str:
    """The command as the user typed it."""
    return shlex.join(["partita", *sys.argv[1:]])


@dataclass
class Delivery:
    """Takes the presentation of a result: writes its files at once, and prints it when they are complete."""

    folder: Path | None
    shown: Presentation | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    text: str = ""
    truth: str | None = None
    printed: Mapping[str, int] | None = None

    def __call__(
        self,
        shown: Presentation,
        *,
        title: str | None = None,
        facts: Mapping[str, Any] | None = None,
        tables: Mapping[str, Table] | None = None,
        text: str = "",
        truth: str | None = None,
        printed: Mapping[str, int] | None = None,
    ) -> None:
        """The result of the command, with further facts for JSON, tables to write, and text for the terminal.

        `title` is the heading of the report, `truth` the name of the truth that the user gave, and `printed` has the
        tables for the terminal and their largest numbers of rows; by default those of the kind.
        """
        self.shown, self.text, self.truth, self.printed = shown, text, truth, printed
        self.facts = dict(facts or {}) | ({"interrupted": True} if left_out() else {})
        if self.folder is not None:
            self._write(self.folder, shown, title, dict(tables or {}))

    def _write(self, folder: Path, shown: Presentation, title: str | None, others: dict[str, Table]) -> None:
        from partita._support.npy import write_npy
        from partita.pages.report import write_page

        own = {name: shown.tables[name] for name in shown.written if name in shown.tables}
        for name, table in (own | others).items():
            write_result_table(folder / FILES.get(name, f"{name}.csv"), table)
        for name, array in shown.arrays().items():
            write_npy(folder / f"{name}.npy", array)
        if shown.of_all:
            with step(f"wrote {REPORT}"):
                write_page(shown, folder / REPORT, title=title, command=command_line(), labels_file=table_name(LABELS))
        names = sorted([*(path.name for path in folder.iterdir()), SUMMARY])
        write_json(folder / SUMMARY, shown.facts | self.facts | {"command": command_line(), "files": names})

    def finish(self, out: Path | None, *, json: bool) -> None:
        """The result on standard output; ends with an exit code of its own if Ctrl-C came before it was complete."""
        if self.shown is None:
            return
        if json:
            print_json(self.shown.facts | self.facts)
        else:
            print_result(self.shown, self.truth, self.printed, asked=self.facts.get("column_notes", ()))
            if self.text:
                print_lines(self.text)
            if out is not None:
                print(f"Results are in {out}" + (f"; open {out / REPORT} in a browser." if self.shown.of_all else "."))
        if self.shown.interrupted or left_out():
            raise typer.Exit(INTERRUPTED)


def presented(result: Any, extras: Iterable[Any] = (), **given: Any) -> Presentation:
    """The presentation of a result, with items counted as the user wants."""
    from partita.results.present import present

    return present(result, extras, first=first_number(), **given)


@contextmanager
def delivering(writing: OutputOptions, *others: str) -> Iterator[Delivery]:
    """Opens the folder of `--out` before the work; prints what was delivered after it, and ends if interrupted.

    Without --out, --force and the `others` are refused: they would be ignored.
    """
    writing.refuse_unused(*others)
    place = nullcontext() if writing.out is None else whole_folder(writing.out, force=writing.force)
    with place as folder:
        delivery = Delivery(folder)
        yield delivery
    delivery.finish(writing.out, json=writing.json)


def write_result_table(path: Path, table: Table) -> None:
    """A table of a result as a file, its clusters counted as the user wants."""
    counted = table.counted_from(first_number())
    write_csv(path, [column.header for column in counted.columns], counted.values())


def print_notes(notes: tuple[Note, ...]) -> None:
    """The notes, one line each."""
    for note in notes:
        print_text(f"{'Warning' if note.warning else 'Note'}: {note.text}")


def print_warnings(sentences: tuple[str, ...]) -> None:
    """Sentences that come before a result, one line each."""
    for sentence in sentences:
        print_text(f"Warning: {sentence}")


def print_result(
    shown: Presentation,
    truth: str | None = None,
    printed: Mapping[str, int] | None = None,
    asked: Sequence[str] = (),
) -> None:
    """Warnings, the answer, how it was found, notes, and the tables that a terminal has room for.

    Questions that were `asked` before the work, with the options that answer them, are not asked again.
    """
    from partita.results.truth import agreement_sentence

    print_notes(tuple(note for note in shown.notes if note.warning))
    print_text(" ".join(filter(None, [shown.answer, shown.details])))
    if not value_of("quiet", False):
        left = (note for note in shown.notes if not any(question.startswith(note.text) for question in asked))
        print_notes(tuple(note for note in left if not note.warning))
    for name, most in (shown.printed if printed is None else printed).items():
        if name in shown.tables and shown.tables[name].rows:
            print_rows(shown.tables[name], most)
    if truth is not None:
        print_text(agreement_sentence(shown.facts["agreement"], truth))


def print_rows(table: Table, most: int) -> None:
    """The first rows of a table."""
    shown = table.counted_from(first_number())
    rows = [tuple(text for _, text, _ in shown.cells(row)) for row in shown.rows[:most]]
    texts = [place for place, column in enumerate(table.columns) if column.kind == "text"]
    print_table(table.caption, [column.name.lower() for column in table.columns], rows, texts)
    if len(table.rows) > most > SAMPLE:
        print(f"and {len(table.rows) - most:,} more")
