"""`partita estimate`: the partition to report."""

from __future__ import annotations

from typing import Any

import partita as pt
from partita.cli.answer import ExtraOptions
from partita.cli.constraints import ConstraintOptions
from partita.cli.deliver import delivering
from partita.cli.given import refuse
from partita.cli.inputs import DRAWS, in_order
from partita.cli.options import DaskOptions, Level, OptionalDrawsOptions, OutputOptions, SearchOptions
from partita.cli.pairs import PairOptions, pair_estimate
from partita.cli.steps import extra

LINK_HINT = "For records, `partita link` also counts those without a pair and can be updated with new ones."


def run(
    reading: OptionalDrawsOptions,
    pair_options: PairOptions,
    constraining: ConstraintOptions,
    searching: SearchOptions,
    dask_options: DaskOptions,
    writing: OutputOptions,
    extras: ExtraOptions,
    level: Level = 0.95,
) -> None:
    """Find the partition with the lowest expected loss.

    Prints the answer and its clusters, and their agreement with --truth. --out also writes labels, runs, ball, summary
    and report to a folder. --pairs or --similarity reads pair probabilities instead of draws (binder, vi-lower-bound,
    pear).

    Example: partita estimate draws.csv --loss vi --burn 1000 --seed 1 --out results

    Example: partita estimate --pairs pairs.csv --one-per records.csv:source --apart twins.csv --out results
    """
    from partita._support.validate import check_level

    check_level(level, "--level")
    if not pair_options.is_given:
        refuse(["default"], "is for pair probabilities: --pairs or --similarity")
    with delivering(writing, "data", "level") as deliver:
        if pair_options.is_given:
            files, linked = pair_estimate(pair_options, constraining, searching, extras)
            deliver(extras.presented(linked, files), truth=extras.truth, text=LINK_HINT if pair_options.pairs else "")
            return
        files = extras.read()
        sample = reading.sample()
        files = in_order(files, sample.names, sample.n_items, DRAWS)
        constraints = constraining.constraints(sample.names, sample.n_items, DRAWS)
        best = dask_options.estimate(searching, sample, constraints)
        ball: list[Any] = []
        if writing.out is not None:
            extra(ball, "ball", lambda: pt.credible_ball(best, level=level))
        deliver(extras.presented(best, files, ball), truth=extras.truth)
