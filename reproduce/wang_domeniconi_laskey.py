"""Wang, Domeniconi & Laskey (2010): Tables 2 to 7, ours beside the paper's.

    python reproduce/wang_domeniconi_laskey.py [--quick] [--tables] [--data ../shared/data]

A repetition draws ten base k-means clusterings of a data set, holds out a quarter of the items, and fits every method
to the rest. Its rows go to runs/wang_domeniconi_laskey.csv.gz as they come, and a run goes on where the last one
stopped. Nothing is tuned to the truth: the features are as distributed, NBCE has K = 100 and learns α0 and β, the
rivals that need k get the number of classes, as in the paper.
"""

from __future__ import annotations

import warnings
from argparse import ArgumentParser
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd

import frame
from wang import paper, tables
from wang.data import FILES, load
from wang.runs import Effort, Results, noisy, real


@dataclass(frozen=True)
class Size:
    repetitions: int
    sets: tuple[str, ...]
    noise: tuple[float, ...]
    effort: Effort


SIZES = {
    "full": Size(10, tuple(FILES), paper.NOISE, Effort(draws=250, warmup=1000, restarts=3)),
    "quick": Size(2, ("Glass", "Tracedata"), paper.NOISE, Effort(draws=100, warmup=200, restarts=1)),
    "smoke": Size(1, ("Glass",), (0.05,), Effort(draws=20, warmup=20, restarts=1)),
}


def add_options(parser: ArgumentParser) -> None:
    """Those of this paper: a part of the rows, or none."""
    parser.add_argument("--tables", action="store_true", help="of the rows that are there")
    parser.add_argument("--sets", nargs="*", choices=FILES, help="make rows of these data sets only")
    parser.add_argument("--repetitions", nargs="*", type=int, help="make rows of these repetitions only")


def main() -> None:
    options = frame.options(__doc__, add_options)
    size = SIZES[options.size]
    results = Results(options.results / "runs" / "wang_domeniconi_laskey.csv.gz")
    title = "Wang, Domeniconi & Laskey (2010): nonparametric Bayesian clustering ensembles"
    page = frame.Page("wang_domeniconi_laskey", title, options)
    here = page.has_data("Data sets", *(FILES[name][0] for name in size.sets))
    if not options.own.tables:
        if options.size != "full":
            results.forget()
        sets = options.own.sets or size.sets
        repetitions = options.own.repetitions or range(size.repetitions)
        run(results, size, {name: load(name, options.data) for name in sets} if here else {}, repetitions)
    table = tables.Table(page, complete(results.frame()))
    sets = [name for name in FILES if (table.runs.dataset == name).any()]
    tables.write_synthetic(table, size.noise)
    if sets:
        tables.write_f1(table, sets)
        tables.write_reading(table, sets)
        if len(sets) > 1:
            tables.write_t_tests(table, sets)
        tables.write_grid(table, sets)
        tables.write_repetitions(table, sets)
        tables.write_clusters(table, sets)
        tables.write_perplexity(table, sets)
        tables.write_outliers(table, sets)
        tables.write_inference(table, sets)
    page.write()


def run(
    results: Results, size: Size, data: dict[str, tuple[np.ndarray, np.ndarray]], repetitions: Iterable[int]
) -> None:
    warnings.simplefilter("ignore", RuntimeWarning)  # variational runs that reach max_iter
    warnings.filterwarnings("ignore", message="HGPA's partition cuts")
    warnings.filterwarnings("ignore", message=".* base clusterings repeat each other")  # the paper's model all the same
    for share, repetition in product(size.noise, repetitions):
        results.need(repetition, tables.noise_name(share), noisy(share, repetition, size.effort))
    for one_step, repetition, name in product((False, True), repetitions, data):
        jobs = real(*data[name], repetition, size.effort, one_step=one_step)
        results.need(repetition, tables.set_name(name, one_step=one_step), jobs)


def complete(runs: pd.DataFrame) -> pd.DataFrame:
    """The repetitions that went through every data set of the paper's tables; other readings may have fewer."""
    paper_sets = runs[~runs.dataset.str.endswith(", one step")]
    covered = paper_sets.groupby("repetition").dataset.nunique()
    return runs[runs.repetition.isin(covered.index[covered == covered.max()])]


if __name__ == "__main__":
    main()
