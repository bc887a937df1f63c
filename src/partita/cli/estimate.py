"""`partita estimate`: the partition to report."""

from __future__ import annotations

from contextlib import nullcontext

import typer

from partita.cli.errors import INTERRUPTED
from partita.cli.inputs import read_data, read_partition
from partita.cli.options import BoundSeconds, DataFile, Level, Reading, Searching, Spreading, TruthFile, Writing


def run(
    reading: Reading,
    searching: Searching,
    spreading: Spreading,
    writing: Writing,
    level: Level = 0.95,
    data: DataFile = None,
    truth: TruthFile = None,
    bound: BoundSeconds = None,
) -> None:
    """Find the partition with the lowest expected loss.

    Prints the answer and its clusters. --out also writes labels, runs, ball, summary and report to a folder.

    Example: partita estimate draws.csv --loss vi --burn 1000 --seed 1 --out results
    """
    from partita._validate import check_level
    from partita.cli.outputs import print_json, whole_folder
    from partita.cli.results import estimate_facts, print_estimate, write_results

    check_level(level)
    place = nullcontext() if writing.out is None else whole_folder(writing.out, force=writing.force)
    with place as folder:
        page = {
            "data": None if data is None else read_data(data),
            "truth": None if truth is None else read_partition(truth),
        }
        best = spreading.estimate(searching, reading.sample())
        proof = None if bound is None else best.bound(bound)
        if folder is not None:
            from partita.uncertainty import credible_ball

            write_results(folder, best, credible_ball(best, level=level), bound=proof, **page)
    if writing.json:
        print_json(estimate_facts(best, proof))
    else:
        print_estimate(best, proof)
        if writing.out is not None:
            print(f"Results are in {writing.out}; open {writing.out / 'report.html'} in a browser.")
    if best.interrupted:
        raise typer.Exit(INTERRUPTED)
