"""`partita report`: from draws to a page in one command."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from partita.cli.answer import Answer, ExtraOptions
from partita.cli.form import one_based, table_name
from partita.cli.options import DrawsOptions, Json, Level, SearchOptions
from partita.cli.page_answers import PageAnswers
from partita.cli.steps import step

if TYPE_CHECKING:
    from partita.uncertainty.ball import CredibleBall


def run(
    reading: DrawsOptions,
    searching: SearchOptions,
    extras: ExtraOptions,
    answers: PageAnswers,
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("report.html"),
    level: Level = 0.95,
    title: Annotated[str, typer.Option(help="Heading of the page.")] = "Cluster analysis",
    force: Annotated[bool, typer.Option("--force", help="Replace an existing page.")] = False,
    json: Json = False,
) -> None:
    """Write estimate, credible ball and figures to one self-contained HTML page, with the labels in a csv file.

    A page that partita wrote can be given instead of draws: it is rendered anew, with the look of this version.

    Example: partita report draws.csv --data measurements.csv --out report.html

    Example: partita report draws.csv --partial 0.9 --tree --errors --parameters means.npy
    """
    from partita._support.validate import check_level
    from partita.cli.outputs import print_json
    from partita.cli.results import ball_facts, print_answer
    from partita.uncertainty.ball import credible_ball
    from partita.uncertainty.certainty import item_certainty

    if _is_page(reading):
        _render_anew(Path(reading.draws[0]), out, force, json)
        return
    check_level(level, "--level")
    answers.check()
    labels_file = _check_files(out, force)
    files = extras.read()
    answer = extras.answer(files, reading.sample(), searching.estimate)
    ball = credible_ball(answer.best, level=level)
    _write_page(answer, ball, out, labels_file, title, answers.computed(answer.best))
    if json:
        names = {"report": str(out), "labels_file": str(labels_file)}
        print_json(answer.all_facts() | {"ball": ball_facts(ball)} | names)
    elif not searching.quiet:
        print_answer(answer.best, ball, item_certainty(answer.best))
        answer.print_agreement()
        print(f"The report is {out.absolute()}")
    answer.exit_if_interrupted()


def _is_page(reading: DrawsOptions) -> bool:
    return len(reading.draws) == 1 and reading.draws[0].lower().endswith((".html", ".htm"))


def _render_anew(page: Path, out: Path, force: bool, json: bool) -> None:
    from partita.cli.given import refuse_all_but
    from partita.cli.outputs import check_new_file, print_json
    from partita.pages.reopen import read_report

    refuse_all_but(("draws", "out", "force", "json"), "is for draws, and this is a page that holds its result already")
    held = read_report(page)
    check_new_file(out, force)
    held.write(out)
    if json:
        print_json({"report": str(out), "title": held.title, "answer": held.answer, "warnings": list(held.warnings)})
    else:
        print(f"The report is {out.absolute()}")


def _check_files(out: Path, force: bool) -> Path:
    """The file of labels beside the page; an error if either may not be written."""
    from partita.cli.outputs import check_new_file
    from partita.cli.results import LABELS_FILE
    from partita.pages.report import check_page

    labels_file = out.with_name(f"{out.stem}-{table_name(LABELS_FILE)}")
    check_page(out)
    check_new_file(out, force)
    check_new_file(labels_file, force)
    return labels_file


def _write_page(
    answer: Answer, ball: CredibleBall, out: Path, labels_file: Path, title: str, answers: dict[str, Any]
) -> None:
    from partita._support.atomic import atomic_file
    from partita.cli.results import command_line, write_labels
    from partita.pages.report import report

    page = answer.page | answers | {"title": title, "command": command_line(), "bound": answer.bound}
    with atomic_file(labels_file) as temporary:  # it appears after the page
        write_labels(temporary, answer.best)
        with step(f"wrote {out}"):
            report(answer.best, ball, path=out, labels_file=labels_file.name, one_based=one_based(), **page)
