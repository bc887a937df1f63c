"""`partita ball`: the spread of the posterior around the estimate."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import typer

from partita.cli.errors import INTERRUPTED
from partita.cli.inputs import DRAWS, read_partition, unplaced_as_numbers
from partita.cli.options import DrawsOptions, LabelsFile, Level, OutputOptions, SearchOptions


def run(
    reading: DrawsOptions,
    searching: SearchOptions,
    writing: OutputOptions,
    level: Level = 0.95,
    labels: LabelsFile = None,
) -> None:
    """Credible ball around the estimate, with its upper, lower and horizontal bounds.

    Finds the estimate first, unless --labels gives one: its items are matched with those of the draws by name if both
    have names.

    Example: partita ball draws.csv --level 0.9 --labels labels.csv --json
    """
    from partita._support.validate import check_level
    from partita.cli.outputs import print_json, whole_folder, write_json
    from partita.cli.results import ball_facts, command_line, print_ball, write_ball
    from partita.uncertainty.ball import credible_ball

    check_level(level, "--level")
    writing.refuse_unused()
    if labels is not None:
        searching.refuse_search("is for a search, but --labels gives the estimate")
    given = None if labels is None else read_partition(labels)
    place = nullcontext() if writing.out is None else whole_folder(writing.out, force=writing.force)
    with place as folder:
        sample = reading.sample()
        if given is None:
            center: Any = searching.estimate(sample)
        else:
            center = unplaced_as_numbers(given.in_order_of(sample.names, sample.n_items, DRAWS))
        found = credible_ball(center, sample, loss=searching.chosen_loss(), level=level, n_jobs=searching.jobs)
        if folder is not None:
            write_ball(folder / "ball.csv", found)
            write_json(folder / "summary.json", ball_facts(found) | {"command": command_line()})
    if writing.json:
        print_json(ball_facts(found))
    else:
        print_ball(found)
    if given is None and center.interrupted:
        raise typer.Exit(INTERRUPTED)
