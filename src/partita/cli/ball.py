"""`partita ball`: the spread of the posterior around the estimate."""

from __future__ import annotations

from typing import Any

import partita as pt
from partita.cli.deliver import delivering, presented
from partita.cli.inputs import DRAWS, read_partition, unplaced_as_numbers
from partita.cli.options import DrawsOptions, LabelsFile, Level, OutputOptions, SearchOptions
from partita.cli.steps import step


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
    from partita.results.balls import ball_facts

    check_level(level, "--level")
    if labels is not None:
        searching.refuse_search("is for a search, but --labels gives the estimate")
    given = None if labels is None else read_partition(labels)
    with delivering(writing) as deliver:
        sample = reading.sample()
        if given is None:
            center: Any = searching.estimate(sample)
        else:
            center = unplaced_as_numbers(given.in_order_of(sample.names, sample.n_items, DRAWS))
        with step("ball"):
            found = pt.credible_ball(center, sample, loss=searching.chosen_loss(), level=level, n_jobs=searching.jobs)
        shown = presented(center, [found]) if given is None else presented(found)
        deliver(shown, facts=ball_facts(found) | {"standard_error": found.standard_error}, printed={"bounds": 50})
