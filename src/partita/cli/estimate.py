"""`partita estimate`: the partition to report."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import typer

from partita.cli.answer import Answer, ExtraOptions
from partita.cli.constraints import ConstraintOptions
from partita.cli.errors import INTERRUPTED
from partita.cli.given import refuse
from partita.cli.inputs import DRAWS
from partita.cli.options import (
    DaskOptions,
    Level,
    OptionalDrawsOptions,
    OutputOptions,
    SearchOptions,
)
from partita.cli.outputs import print_json, whole_folder
from partita.cli.pairs import PairOptions, run_pairs


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
    writing.refuse_unused("data", "level")
    if pair_options.is_given:
        refuse(["draws"], "and pair probabilities are two ways to give the data: give one of them")
        if run_pairs(pair_options, constraining, searching, writing, extras).interrupted:
            raise typer.Exit(INTERRUPTED)
        return
    refuse(["default"], "is for pair probabilities: --pairs or --similarity")
    place = nullcontext() if writing.out is None else whole_folder(writing.out, force=writing.force)
    with place as folder:
        files = extras.read()
        sample = reading.sample()
        constraints = constraining.constraints(sample.names, sample.n_items, DRAWS)
        answer = extras.answer(files, sample, lambda draws: dask_options.estimate(searching, draws, constraints))
        if folder is not None:
            _write(folder, answer, level)
    _print(answer, writing)
    answer.exit_if_interrupted()


def _write(folder: Path, answer: Answer, level: float) -> None:
    from partita.cli.results import write_results
    from partita.uncertainty.ball import credible_ball

    ball = credible_ball(answer.best, level=level)
    write_results(folder, answer.best, ball, bound=answer.bound, facts=answer.facts, **answer.page)


def _print(answer: Answer, writing: OutputOptions) -> None:
    from partita.cli.results import print_estimate

    if writing.json:
        print_json(answer.all_facts())
        return
    print_estimate(answer.best, answer.bound)
    answer.print_agreement()
    if writing.out is not None:
        print(f"Results are in {writing.out}; open {writing.out / 'report.html'} in a browser.")
