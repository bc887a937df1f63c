"""Dahl, Johnson & Müller (2022): the designs of Tables 2 to 4, ours beside the paper's, and our default search.

    python reproduce/dahl_johnson_mueller.py [--quick] [--tables] [--items 60,200] [--replications 2] [--package]

The paper's sets of posterior samples are not public. Ours have the same numbers of items, models and draws
(dahl/samples.py says which models they come from). Each search runs on one thread and is measured in CPU seconds.
"A < B" is the share of comparisons, one per model and replication, in which A reached a lower expected loss than B.
Rows go to runs/dahl-ITEMS-REPLICATION.csv.gz as they come, all models before the next replication; a run adds what is
missing, and the page is made of what is there. The whole design takes about five hours of CPU time.
"""

from __future__ import annotations

import argparse

import frame
from dahl import package, paper, tables
from dahl.claims import write_claims
from dahl.contest import OURS
from dahl.runs import Contests, read_contests, run_missing
from dahl.samples import Design

SIZES = {
    "full": (Design(60, 96, 1000, 10), Design(200, 200, 2000, 10), Design(1072, 56, 1000, 10)),
    "quick": (Design(60, 8, 500, 1), Design(200, 8, 300, 1)),
    "smoke": (Design(60, 2, 50, 1),),
}


def main() -> None:
    options = frame.options(__doc__, own_arguments)
    page = frame.Page("dahl_johnson_mueller", "Dahl, Johnson & Müller (2022): search algorithms", options)
    folder = options.results / "runs"
    for design in SIZES[options.size]:
        if not options.own.tables and str(design.items) in (options.own.items or str(design.items)).split(","):
            run_missing(design, folder, min(options.own.replications or design.replications, design.replications))
    if options.own.package:
        package.run_missing(SIZES[options.size], folder)
    runs = {design: read_contests(design, folder) for design in SIZES[options.size]}
    runs = {design: contests for design, contests in runs.items() if contests["VI"]}
    write_samples(page, runs)
    write_claims(page, runs)
    tables.write_table_2(page, runs)
    tables.write_table_3(page, runs)
    tables.write_table_4(page, runs)
    tables.write_parts(page, runs)
    tables.write_default(page, runs)
    package.write_package(page, folder)
    page.write()


def own_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tables", action="store_true", help="of the rows that are there")
    parser.add_argument("--items", help="add only to the sets with these numbers of items, as in 60,200")
    parser.add_argument("--package", action="store_true", help="time R's GreedyEPL too, which has to be installed")
    parser.add_argument("--replications", type=int, help="of each set, at most (default: those of the paper)")


def write_samples(page: frame.Page, runs: dict[Design, Contests]) -> None:
    page.section(
        "The samples",
        "Overlapping normal clusters in the plane, and Dirichlet process mixtures of normals with full or diagonal "
        "covariances, of both coordinates or of one, with small, large and learned concentration. The paper's designs "
        "stand in brackets.\n\n"
        + "\n".join(design_in_words(design, contests) for design, contests in runs.items())
        + "\n\nMonte Carlo errors are standard errors over models. Times are CPU seconds of one thread; 'equal time' "
        "is as many runs as take the CPU seconds of four runs of SALSO: runs are added while they fit. (In the first "
        "replication with 60 and 200 items, 15 models of the second, and eight models with 1,072 items, a trial of two "
        "runs said how many, on an earlier build.) Expected losses that differ by less than 1e-9 of their size are "
        "ties. "
        f"The searches took {spent(runs) / 3600:.1f} CPU hours in all.",
    )


def design_in_words(design: Design, contests: Contests) -> str:
    counts = [len(replications) for replications in contests["VI"].values()]
    had = f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
    with_ours = sum(any(OURS in found for found in replications) for replications in contests["VI"].values())
    name, models, draws = paper.SETS[design.items]
    return (
        f"- {design.name}: {len(counts)} models, {design.draws:,} draws of each, replications: {had}, our default "
        f"search on {with_ours} models "
        f"({name}: {models} models, {draws:,} draws, 10 replications)"
    )


def spent(runs: dict[Design, Contests]) -> float:
    return sum(
        reached.seconds
        for contests in runs.values()
        for models in contests.values()
        for replications in models.values()
        for found in replications
        for reached in found.values()
    )


if __name__ == "__main__":
    main()
