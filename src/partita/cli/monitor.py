"""`partita monitor`: whether a sampler that is still running has drawn enough."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Annotated

import typer

import partita as pt
from partita.cli.given import refuse
from partita.cli.option import arg
from partita.cli.options import Burn, Jobs, Json, Level, LossName, Seed
from partita.cli.outputs import print_json
from partita.cli.terminal import printable

NOT_SETTLED = 1
SHORT = 0.01  # seconds: long enough for one look


def run(
    path: Annotated[str, arg("A text file of draws that is growing, or the folder of a run.")],
    burn: Burn = 0,
    loss: LossName = "vi",
    level: Level = 0.95,
    tolerance: Annotated[float, "Share of the expected loss by which another partition may be better."] = 0.01,
    precision: Annotated[float, "Largest standard error as a share of expected loss and radius."] = 0.1,
    every: Annotated[float, "Seconds between two looks at the file."] = 1.0,
    patience: Annotated[float, "Seconds without new draws after which to stop waiting."] = 60.0,
    once: Annotated[bool, "Check the draws so far, and do not wait for more."] = False,
    seed: Seed = None,
    jobs: Jobs = -1,
    json: Json = False,
) -> None:
    """Watch a sampler: print estimate, radius and their errors as draws arrive, until they have stabilised.

    The exit code is 0 if they have stabilised, and 1 if the draws ended before.

    Example: partita monitor draws.csv --once --seed 1
    """
    from partita._support.validate import check_level
    from partita.results.presentation import plain
    from partita.uncertainty.stabilisation import check_share

    if once:
        refuse(["every", "patience"], "is for waiting, and --once does not wait")
    check_level(level, "--level")
    check_share(tolerance, "--tolerance")
    check_share(precision, "--precision")
    search = pt.Search(runs=4, n_jobs=jobs)
    watched = pt.monitor(loss, level=level, tolerance=tolerance, precision=precision, search=search, rng=seed)
    draws = pt.growing_draws(path, burn=burn, every=every, patience=SHORT if once else patience)
    source = islice(draws, 1) if once else draws
    last = watched.watch(source if json else _shown(watched, source))
    if json:
        settled = {"settled": last.settled, "problems": list(last.problems), "labels": last.labels.tolist()}
        print_json(settled | {"loss": watched.loss.name, "checks": plain([check.facts() for check in watched.checks])})
    else:
        print(printable(last.in_words()))
    if not last.settled:
        raise typer.Exit(NOT_SETTLED)


def _shown(watched: pt.Monitor, source: Iterator[pt.PartitionSample]) -> Iterator[pt.PartitionSample]:
    """The draws; checks made with those before are printed."""
    shown = 0
    for draws in source:
        yield draws
        for check in watched.checks[shown:]:
            print(printable(check.in_words()), flush=True)
        shown = len(watched.checks)
