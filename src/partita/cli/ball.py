"""`partita ball`: how far the posterior reaches around the estimate."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import typer

from partita.cli.errors import INTERRUPTED
from partita.cli.inputs import read_partition
from partita.cli.options import LabelsFile, Level, Reading, Searching, Writing


def run(
    reading: Reading,
    searching: Searching,
    writing: Writing,
    level: Level = 0.95,
    labels: LabelsFile = None,
) -> None:
    """Credible ball around the estimate, with its upper, lower and horizontal bounds.

    Finds the estimate first, unless --labels gives one.

    Example: partita ball draws.csv --level 0.9 --labels labels.csv --json
    """
    from partita._validate import check_level
    from partita.cli.outputs import print_json, whole_folder, write_json
    from partita.cli.results import ball_facts, command_line, print_ball, write_ball
    from partita.uncertainty import credible_ball

    check_level(level)
    given = None if labels is None else read_partition(labels)
    place = nullcontext() if writing.out is None else whole_folder(writing.out, force=writing.force)
    with place as folder:
        sample = reading.sample()
        center: Any = searching.estimate(sample) if given is None else given
        found = credible_ball(center, sample, loss=searching.chosen_loss(), level=level)
        if folder is not None:
            write_ball(folder / "ball.csv", found)
            write_json(folder / "summary.json", ball_facts(found) | {"command": command_line()})
    if writing.json:
        print_json(ball_facts(found))
    else:
        print_ball(found)
    if given is None and center.interrupted:
        raise typer.Exit(INTERRUPTED)
