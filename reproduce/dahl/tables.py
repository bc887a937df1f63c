"""Tables 2 to 4 of the paper, and two of ours: shares of comparisons, clusters and times over the contests of a set.

A share is the mean over models of the mean over replications; its error is the standard error over models.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

import frame
from dahl import paper
from dahl.contest import (
    FOUR,
    FREE,
    GREEDY,
    GREEDY_EPL,
    GREEDY_FREE,
    LOSSES,
    NOT_SEQUENTIAL,
    NOT_ZEALOUS,
    ONE,
    OURS,
    OURS_IN_TIME,
    Contest,
)
from dahl.runs import Contests
from dahl.samples import Design

OTHER_SAMPLES = "The paper's posterior samples are not public; ours come from other models and are easier or harder."
OWN_RIVAL = "B is our own program, whose sweeps are those of SALSO; the paper timed the package of Rastelli and Friel."
OTHER_MACHINE = "Another machine, another program, other samples: at most the ratios can be compared."


def over_models(models: dict[int, list[Contest]], value: Callable[[Contest], float], *searches: str) -> tuple:
    """Mean over models of the mean over the replications that ran these searches, and its standard error."""
    values = {
        model: [value(found) for found in contests if set(searches) <= set(found)] for model, contests in models.items()
    }
    return frame.mean_and_error([np.mean(replications) for replications in values.values() if replications])


def share(models: dict[int, list[Contest]], first: str, second: str) -> tuple:
    """How often the first search reaches a lower expected loss than the second."""
    return over_models(models, lambda found: float(found[first].beats(found[second])), first, second)


def lead(models: dict[int, list[Contest]], first: str, second: str) -> tuple:
    """How much oftener the first is better than the second."""
    sign = lambda found: float(found[first].beats(found[second])) - float(found[second].beats(found[first]))  # noqa: E731
    return over_models(models, sign, first, second)


class Rows:
    """Rows of one loss on one set."""

    def __init__(self, page: frame.Page, design: Design, loss: str, models: dict[int, list[Contest]]) -> None:
        self.page, self.name, self.models = page, f"{design.name}, {loss}", models

    def better(self, column: str, first: str, second: str, paper: float | None = None) -> None:
        ours, error = share(self.models, first, second)
        self.page.row(self.name, ours, paper, error, column=column, differs=OTHER_SAMPLES)

    def difference(self, column: str, first: str, second: str, paper: float | None = None) -> None:
        ours, error = lead(self.models, first, second)
        self.page.row(self.name, ours, paper, error, column=column, differs=OTHER_SAMPLES)

    def clusters(self, column: str, search: str, paper: float) -> None:
        ours, error = over_models(self.models, lambda found: found[search].clusters, search)
        self.page.row(self.name, ours, paper, error, column=column, differs=OTHER_SAMPLES)

    def seconds(self, column: str, search: str, paper: float | None = None, differs: str = OTHER_MACHINE) -> None:
        ours, error = over_models(self.models, lambda found: found[search].seconds, search)
        self.page.row(self.name, ours, paper, error, column=column, differs=differs)

    def ratio(
        self, column: str, first: str, second: str, paper: float | None = None, differs: str = OTHER_MACHINE
    ) -> None:
        """Of the mean times; its error by the jackknife over models."""
        run = [[found for found in contests if {first, second} <= set(found)] for contests in self.models.values()]
        spent = np.array([[np.mean([f[s].seconds for f in model]) for s in (first, second)] for model in run if model])
        ours = spent[:, 0].sum() / spent[:, 1].sum()
        without = (spent.sum(axis=0) - spent)[:, 0] / np.maximum((spent.sum(axis=0) - spent)[:, 1], 1e-12)
        n = len(spent)
        error = float(np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum())) if n > 1 else None
        self.page.row(self.name, float(ours), paper, error, column=column, differs=differs)


def each(
    page: frame.Page, runs: dict[Design, Contests], losses: tuple[str, ...] = tuple(LOSSES)
) -> Iterator[tuple[Design, str, Rows]]:
    for design, contests in runs.items():
        for loss in losses:
            yield design, loss, Rows(page, design, loss, contests[loss])


def write_table_2(page: frame.Page, runs: dict[Design, Contests]) -> None:
    page.section(
        "Table 2: one run of SALSO (A) against one of Rastelli & Friel (B), any number of clusters",
        "B starts, as their program does, from a random partition with up to as many groups as there are items.",
        decimals=3,
    )
    for design, loss, rows in each(page, runs, GREEDY_EPL):
        a_better, b_better, a_time, b_time, ratio = paper.TABLE_2[design.items][loss]
        rows.better("A < B", FREE, GREEDY_FREE, a_better)
        rows.better("B < A", GREEDY_FREE, FREE, b_better)
        rows.difference("difference", FREE, GREEDY_FREE, a_better - b_better)
        rows.seconds("seconds A", FREE, a_time)
        rows.seconds("seconds B", GREEDY_FREE, b_time, OWN_RIVAL)
        rows.ratio("A / B", FREE, GREEDY_FREE, ratio, OWN_RIVAL)


def write_table_3(page: frame.Page, runs: dict[Design, Contests]) -> None:
    page.section(
        "Table 3: one run of SALSO with any number of clusters (A), and with at most as many as a draw has (B)",
        "Binder(2) has a = 2, b = 1; VI(0.5) has a = 0.5, b = 1.",
        decimals=3,
    )
    for design, loss, rows in each(page, runs):
        a_clusters, b_clusters, a_time, b_time, ratio = paper.TABLE_3[design.items][loss]
        rows.clusters("clusters A", FREE, a_clusters)
        rows.clusters("clusters B", ONE, b_clusters)
        rows.seconds("seconds A", FREE, a_time)
        rows.seconds("seconds B", ONE, b_time)
        rows.ratio("A / B", FREE, ONE, ratio)


def write_table_4(page: frame.Page, runs: dict[Design, Contests]) -> None:
    page.section(
        "Table 4: four runs of SALSO (A), one run (B), and Rastelli & Friel in equal time (C)",
        "All with at most as many clusters as a draw has.",
        decimals=3,
    )
    for design, loss, rows in each(page, runs):
        a_b, b_a, a_c, c_a = paper.TABLE_4[design.items][loss]
        rows.better("A < B", FOUR, ONE, a_b)
        rows.better("B < A", ONE, FOUR, b_a)
        rows.difference("A − B", FOUR, ONE, a_b - b_a)
        rows.better("A < C", FOUR, GREEDY, a_c)
        rows.better("C < A", GREEDY, FOUR, c_a)
        rows.difference("A − C", FOUR, GREEDY, a_c - c_a)


def write_parts(page: frame.Page, runs: dict[Design, Contests]) -> None:
    page.section(
        "Which part of SALSO helps: zealous updates (D: none) and sequential allocation (E: none), in equal time",
        "A is four runs of SALSO; the first two replications, with 60 items all. The paper has no table of this; it "
        "says that zealous updates matter more, and that sequential allocation also helps in general.",
        decimals=3,
    )
    for _, _, rows in each(page, runs):
        rows.better("A < D", FOUR, NOT_ZEALOUS)
        rows.better("D < A", NOT_ZEALOUS, FOUR)
        rows.better("A < E", FOUR, NOT_SEQUENTIAL)
        rows.better("E < A", NOT_SEQUENTIAL, FOUR)


def write_default(page: frame.Page, runs: dict[Design, Contests]) -> None:
    page.section(
        "Our default search: as it is (S), and in the time of four runs of SALSO (T)",
        "`pt.estimate(draws, loss)`, at most as many clusters as a draw has, against four runs of SALSO (A) and "
        "Rastelli & Friel in equal time (C). S and T are run in the first replication only, and not on every model.",
        decimals=3,
    )
    for _, _, rows in each(page, runs):
        rows.better("S < A", OURS, FOUR)
        rows.better("A < S", FOUR, OURS)
        rows.better("S < C", OURS, GREEDY)
        rows.better("C < S", GREEDY, OURS)
        rows.better("T < A", OURS_IN_TIME, FOUR)
        rows.better("A < T", FOUR, OURS_IN_TIME)
        rows.seconds("seconds S", OURS)
        rows.ratio("S / A", OURS, FOUR)
