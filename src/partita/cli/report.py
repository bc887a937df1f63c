"""`partita report`: from draws to a page in one command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from partita.cli.errors import INTERRUPTED
from partita.cli.inputs import read_data, read_partition
from partita.cli.options import BoundSeconds, DataFile, Json, Level, Reading, Searching, TruthFile


def run(
    reading: Reading,
    searching: Searching,
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("report.html"),
    level: Level = 0.95,
    data: DataFile = None,
    truth: TruthFile = None,
    bound: BoundSeconds = None,
    title: Annotated[str, typer.Option(help="Heading of the page.")] = "Cluster analysis",
    force: Annotated[bool, typer.Option("--force", help="Replace an existing page.")] = False,
    json: Json = False,
) -> None:
    """Estimate, credible ball and figures as one self-contained HTML page.

    Example: partita report draws.csv --data measurements.csv --out report.html
    """
    from partita._validate import check_level
    from partita.cli.outputs import check_new_file, print_json
    from partita.cli.results import ball_facts, command_line, estimate_facts
    from partita.report import report
    from partita.report.words import answer
    from partita.uncertainty import credible_ball

    check_level(level)
    check_new_file(out, force)
    points = None if data is None else read_data(data)
    reference = None if truth is None else read_partition(truth)
    best = searching.estimate(reading.sample())
    ball = credible_ball(best, level=level)
    proof = None if bound is None else best.bound(bound)
    report(best, ball, points, reference, out, title=title, command=command_line(), bound=proof)
    if json:
        print_json(estimate_facts(best, proof) | {"ball": ball_facts(ball), "report": str(out)})
    elif not searching.quiet:
        print(answer(best, ball))
        print(f"The report is {out.absolute()}")
    if best.interrupted:
        raise typer.Exit(INTERRUPTED)
