"""`partita report`: from draws to a page in one command."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import partita as pt
from partita._support.atomic import atomic_file
from partita.cli.answer import ExtraOptions
from partita.cli.deliver import LABELS, command_line, print_result, write_result_table
from partita.cli.errors import INTERRUPTED
from partita.cli.form import table_name
from partita.cli.given import refuse_all_but
from partita.cli.inputs import DRAWS, in_order
from partita.cli.option import opt
from partita.cli.options import DrawsOptions, Json, Level, SearchOptions
from partita.cli.outputs import check_new_file, print_json
from partita.cli.page_answers import PageAnswers
from partita.cli.steps import extra, left_out, step

if TYPE_CHECKING:
    from partita.results.presentation import Presentation


def run(
    reading: DrawsOptions,
    searching: SearchOptions,
    extras: ExtraOptions,
    answers: PageAnswers,
    out: Annotated[Path, "The page to write."] = Path("report.html"),
    level: Level = 0.95,
    title: Annotated[str | None, opt("Heading of the page.", shown="Cluster analysis")] = None,
    force: Annotated[bool, "Replace an existing page."] = False,
    json: Json = False,
) -> None:
    """Write estimate, credible ball and figures to one self-contained HTML page, with the labels in a csv file.

    A page that partita wrote can be given instead of draws: it is rendered anew, with the look of this version.

    Example: partita report draws.csv --data measurements.csv --out report.html

    Example: partita report draws.csv --partial 0.9 --tree --errors --parameters means.npy
    """
    from partita._support.validate import check_level

    if _is_page(reading):
        _render_anew(Path(reading.draws[0]), out, force, json)
        return
    check_level(level, "--level")
    answers.check()
    labels_file = _check_files(out, force)
    files = extras.read()
    sample = reading.sample()
    files = in_order(files, sample.names, sample.n_items, DRAWS)
    best = searching.estimate(sample)
    computed: list[Any] = []
    extra(computed, "ball", lambda: pt.credible_ball(best, level=level))
    answers.compute(best, computed)
    shown = extras.presented(best, files, computed)
    _write(shown, out, labels_file, title)
    if json:
        stopped = {"interrupted": True} if left_out() else {}
        print_json(shown.facts | stopped | {"report": str(out), "labels_file": str(labels_file)})
    elif not searching.quiet:
        print_result(shown, extras.truth)
        print(f"The report is {out.absolute()}")
    if shown.interrupted or left_out():
        raise typer.Exit(INTERRUPTED)


def _is_page(reading: DrawsOptions) -> bool:
    return len(reading.draws) == 1 and reading.draws[0].lower().endswith((".html", ".htm"))


def _render_anew(page: Path, out: Path, force: bool, json: bool) -> None:
    refuse_all_but(("draws", "out", "force", "json"), "is for draws, and this is a page that holds its result already")
    held = pt.read_report(page)
    check_new_file(out, force)
    held.write(out)
    if json:
        print_json({"report": str(out), "title": held.title, "answer": held.answer, "notes": list(held.notes)})
    else:
        print(f"The report is {out.absolute()}")


def _check_files(out: Path, force: bool) -> Path:
    """The file of labels beside the page; an error if either may not be written."""
    from partita.pages.report import check_page

    labels_file = out.with_name(f"{out.stem}-{table_name(LABELS)}")
    check_page(out)
    check_new_file(out, force)
    check_new_file(labels_file, force)
    return labels_file


def _write(shown: Presentation, out: Path, labels_file: Path, title: str | None) -> None:
    """The page, and the labels beside it."""
    from partita.pages.report import write_page

    with atomic_file(labels_file) as temporary:  # it appears after the page
        write_result_table(temporary, shown.tables["items"])
        with step(f"wrote {out}"):
            write_page(shown, out, title=title, command=command_line(), labels_file=labels_file.name)
