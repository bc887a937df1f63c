"""`partita report`: from draws to a page in one command."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from partita.cli.answer import Answer, Companions
from partita.cli.options import Json, Level, Reading, Searching

if TYPE_CHECKING:
    from partita.uncertainty.ball import CredibleBall


def run(
    reading: Reading,
    searching: Searching,
    companions: Companions,
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("report.html"),
    level: Level = 0.95,
    title: Annotated[str, typer.Option(help="Heading of the page.")] = "Cluster analysis",
    force: Annotated[bool, typer.Option("--force", help="Replace an existing page.")] = False,
    json: Json = False,
) -> None:
    """Write estimate, credible ball and figures to one self-contained HTML page, with the labels in a csv file.

    Example: partita report draws.csv --data measurements.csv --out report.html
    """
    from partita._validate import check_level
    from partita.cli.outputs import print_json
    from partita.cli.results import ball_facts, print_warnings
    from partita.report.sentences import answer as sentence
    from partita.uncertainty.ball import credible_ball

    check_level(level)
    labels_file = _check_files(out, force)
    files = companions.read()
    answer = companions.answer(files, reading.sample(), searching.estimate)
    ball = credible_ball(answer.best, level=level)
    _write_page(answer, ball, out, labels_file, title)
    if json:
        names = {"report": str(out), "labels_file": str(labels_file)}
        print_json(answer.all_facts() | {"ball": ball_facts(ball)} | names)
    elif not searching.quiet:
        print_warnings(answer.best.warnings)
        print(sentence(answer.best, ball))
        answer.print_agreement()
        print(f"The report is {out.absolute()}")
    answer.exit_if_interrupted()


def _check_files(out: Path, force: bool) -> Path:
    """The file of labels beside the page; an error if either may not be written."""
    from partita.cli.outputs import check_new_file
    from partita.cli.results import LABELS_FILE
    from partita.report import check_page

    labels_file = out.with_name(f"{out.stem}-{LABELS_FILE}")
    check_page(out)
    check_new_file(out, force)
    check_new_file(labels_file, force)
    return labels_file


def _write_page(answer: Answer, ball: CredibleBall, out: Path, labels_file: Path, title: str) -> None:
    from partita._atomic import atomic_file
    from partita.cli.results import command_line, write_labels
    from partita.report import report

    page = answer.page | {"title": title, "command": command_line(), "bound": answer.bound}
    report(answer.best, ball, path=out, labels_file=labels_file.name, **page)
    with atomic_file(labels_file) as temporary:
        write_labels(temporary, answer.best)
