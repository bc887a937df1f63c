"""Dahl, Johnson & Müller (2021): the designs of Tables 2 to 4, ours beside the paper's, and our default search.

    python reproduce/dahl_johnson_mueller.py [--quick] [--items 60,200] [--keep FOLDER]

The paper's sets of posterior samples are not public. Ours have the same numbers of items and draws (dahl/samples.py
tells which models they come from). Each search runs on one thread and is measured in CPU seconds. "A < B" is the share
of comparisons, a model and a replication each, in which A reached a lower expected loss than B.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import frame
from dahl import paper
from dahl.contest import GREEDY_EPL, LOSSES, Reached, contest
from dahl.samples import fits

OTHER_SAMPLES = "The paper's posterior samples are not public; ours come from other models and are easier or harder."
OWN_RIVAL = "B is our own program, whose sweeps are those of SALSO; the paper timed the package of Rastelli and Friel."
OTHER_MACHINE = "Another machine, another program, other samples: at most the ratios can be compared."


@dataclass(frozen=True)
class Set:
    """A set of posterior samples, and how often each search is run on each of them."""

    items: int
    draws: int
    datasets: int
    replications: int

    @property
    def name(self) -> str:
        return f"{self.items:,} items"


SIZES = {
    "full": (Set(60, 1000, 3, 2), Set(200, 500, 1, 1), Set(1072, 250, 1, 1)),
    "quick": (Set(60, 500, 1, 1), Set(200, 300, 1, 1)),
    "smoke": (Set(60, 50, 1, 1),),
}
#: Searches of each loss: one dictionary a replication, in lists by model.
Contests = dict[str, list[list[dict[str, Reached]]]]


def main() -> None:
    options = frame.options(
        __doc__, lambda parser: parser.add_argument("--items", help="only the sets of so many items, as in 60,200")
    )
    page = frame.Page("dahl_johnson_mueller", "Dahl, Johnson & Müller (2021): search algorithms", options)
    asked = options.own.items
    chosen = [one for one in SIZES[options.size] if asked is None or str(one.items) in asked.split(",")]
    runs = {one: run(one, options) for one in chosen}
    write_sets(page, runs)
    write_table_2(page, runs)
    write_table_3(page, runs)
    write_table_4(page, runs)
    write_parts(page, runs)
    write_default(page, runs)
    page.write()


def run(one: Set, options: frame.Options) -> Contests:
    """Every search on every sample of a set; --keep keeps them model by model."""
    found: Contests = {loss: [] for loss in LOSSES}
    for number, fit in enumerate(fits(one.items, one.draws, one.datasets)):
        seeds = [1000 * number + 100 * replication for replication in range(one.replications)]
        make = lambda sample=fit.sample, seeds=seeds: to_arrays(  # noqa: E731
            {loss: [contest(sample, loss, seed) for seed in seeds] for loss in LOSSES}
        )
        for loss, contests in from_arrays(frame.kept(options, f"dahl-{one.items}-{number}", make)).items():
            found[loss].append(contests)
        print(f"{one.name}: {fit.name}", flush=True)
    return found


def to_arrays(contests: dict[str, list[dict[str, Reached]]]) -> dict[str, np.ndarray]:
    """A table a pair of loss and search: (replications, 3)."""
    return {
        f"{loss}|{search}": np.array([(one[search].loss, one[search].clusters, one[search].seconds) for one in found])
        for loss, found in contests.items()
        for search in found[0]
    }


def from_arrays(arrays: dict[str, np.ndarray]) -> dict[str, list[dict[str, Reached]]]:
    found: dict[str, list[dict[str, Reached]]] = {}
    for key, values in arrays.items():
        loss, search = key.split("|")
        replications = found.setdefault(loss, [{} for _ in values])
        for one, (value, clusters, seconds) in zip(replications, values, strict=True):
            one[search] = Reached(float(value), int(clusters), float(seconds))
    return found


def write_sets(page: frame.Page, runs: dict[Set, Contests]) -> None:
    lines = [
        f"- {one.name}: {len(contests['VI'])} models, {one.draws:,} draws each, {one.replications} "
        f"replication{'s' if one.replications > 1 else ''} (the paper's {paper.NAMES[one.items]})"
        for one, contests in runs.items()
    ]
    page.section(
        "The samples",
        "Overlapping normal clusters in the plane, and Dirichlet process mixtures of normals with full or diagonal "
        "covariances, of both coordinates or of one, with small, large and learned concentration.\n\n"
        + "\n".join(lines)
        + "\n\nMonte Carlo errors are standard errors over models. Times are CPU seconds of one thread; 'equal time' "
        "is as many runs as take the CPU seconds of four runs of SALSO, by a trial of two runs. Expected losses that "
        f"differ by less than 1e-9 of their size are ties. The searches took {spent(runs):.0f} CPU seconds in all.",
    )


def spent(runs: dict[Set, Contests]) -> float:
    searches = [found.values() for contests in runs.values() for models in contests.values() for model in models
                for found in model]  # fmt: skip
    return sum(reached.seconds for search in searches for reached in search)


def over_models(contests: list[list[dict[str, Reached]]], value: Callable[[dict[str, Reached]], float]) -> tuple:
    """Mean over models of the mean over replications, and its standard error."""
    return frame.mean_and_error([np.mean([value(found) for found in model]) for model in contests])


class Rows:
    """Rows of one loss on one set."""

    def __init__(self, page: frame.Page, one: Set, loss: str, contests: list[list[dict[str, Reached]]]) -> None:
        self.page, self.name, self.contests = page, f"{one.name}, {loss}", contests

    def better(self, column: str, first: str, second: str, paper: float | None = None) -> None:
        ours, error = over_models(self.contests, lambda found: float(found[first].beats(found[second])))
        self.page.row(self.name, ours, paper, error, column=column, differs=OTHER_SAMPLES)

    def difference(self, column: str, first: str, second: str, paper: float | None = None) -> None:
        """How much oftener the first is better than the second."""
        sign = lambda found: float(found[first].beats(found[second])) - float(found[second].beats(found[first]))  # noqa: E731
        ours, error = over_models(self.contests, sign)
        self.page.row(self.name, ours, paper, error, column=column, differs=OTHER_SAMPLES)

    def clusters(self, column: str, search: str, paper: float) -> None:
        ours, error = over_models(self.contests, lambda found: found[search].clusters)
        self.page.row(self.name, ours, paper, error, column=column, differs=OTHER_SAMPLES)

    def seconds(self, column: str, search: str, paper: float | None = None, differs: str = OTHER_MACHINE) -> None:
        ours, error = over_models(self.contests, lambda found: found[search].seconds)
        self.page.row(self.name, ours, paper, error, column=column, differs=differs)

    def ratio(
        self, column: str, first: str, second: str, paper: float | None = None, differs: str = OTHER_MACHINE
    ) -> None:
        """Of the mean times; its error by the jackknife over models."""
        spent = np.array([[np.mean([f[s].seconds for f in m]) for s in (first, second)] for m in self.contests])
        ours = spent[:, 0].sum() / spent[:, 1].sum()
        without = (spent.sum(axis=0) - spent)[:, 0] / np.maximum((spent.sum(axis=0) - spent)[:, 1], 1e-12)
        n = len(spent)
        error = float(np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum())) if n > 1 else None
        self.page.row(self.name, float(ours), paper, error, column=column, differs=differs)


def each(page: frame.Page, runs: dict[Set, Contests], losses: tuple[str, ...] = tuple(LOSSES)) -> list:
    return [(one, loss, Rows(page, one, loss, contests[loss])) for one, contests in runs.items() for loss in losses]


def write_table_2(page: frame.Page, runs: dict[Set, Contests]) -> None:
    page.section(
        "Table 2: one run of SALSO (A) against one of Rastelli & Friel (B), any number of clusters",
        "B starts, as their program does, from a random partition with up to as many groups as there are items.",
        decimals=3,
    )
    for one, loss, rows in each(page, runs, GREEDY_EPL):
        a_better, b_better, a_time, b_time, ratio = paper.TABLE_2[one.items][loss]
        rows.better("A < B", "SALSO, unconstrained", "R&F", a_better)
        rows.better("B < A", "R&F", "SALSO, unconstrained", b_better)
        rows.difference("difference", "SALSO, unconstrained", "R&F", a_better - b_better)
        rows.seconds("seconds A", "SALSO, unconstrained", a_time)
        rows.seconds("seconds B", "R&F", b_time, OWN_RIVAL)
        rows.ratio("A / B", "SALSO, unconstrained", "R&F", ratio, OWN_RIVAL)


def write_table_3(page: frame.Page, runs: dict[Set, Contests]) -> None:
    page.section(
        "Table 3: one run of SALSO with any number of clusters (A), and with at most as many as a draw has (B)",
        "Binder(2) has a = 2, b = 1; VI(0.5) has a = 0.5, b = 1.",
        decimals=3,
    )
    for one, loss, rows in each(page, runs):
        a_clusters, b_clusters, a_time, b_time, ratio = paper.TABLE_3[one.items][loss]
        rows.clusters("clusters A", "SALSO, unconstrained", a_clusters)
        rows.clusters("clusters B", "SALSO, 1 run", b_clusters)
        rows.seconds("seconds A", "SALSO, unconstrained", a_time)
        rows.seconds("seconds B", "SALSO, 1 run", b_time)
        rows.ratio("A / B", "SALSO, unconstrained", "SALSO, 1 run", ratio)


def write_table_4(page: frame.Page, runs: dict[Set, Contests]) -> None:
    page.section(
        "Table 4: four runs of SALSO (A), one run (B), and Rastelli & Friel in equal time (C)",
        "All with at most as many clusters as a draw has.",
        decimals=3,
    )
    for one, loss, rows in each(page, runs):
        a_b, b_a, a_c, c_a = paper.TABLE_4[one.items][loss]
        rows.better("A < B", "SALSO, 4 runs", "SALSO, 1 run", a_b)
        rows.better("B < A", "SALSO, 1 run", "SALSO, 4 runs", b_a)
        rows.difference("A − B", "SALSO, 4 runs", "SALSO, 1 run", a_b - b_a)
        rows.better("A < C", "SALSO, 4 runs", "R&F, equal time", a_c)
        rows.better("C < A", "R&F, equal time", "SALSO, 4 runs", c_a)
        rows.difference("A − C", "SALSO, 4 runs", "R&F, equal time", a_c - c_a)


def write_parts(page: frame.Page, runs: dict[Set, Contests]) -> None:
    page.section(
        "Which part of SALSO helps: zealous updates (D: none) and sequential allocation (E: none), in equal time",
        "A is four runs of SALSO. The paper has no table of this; it says that zealous updates matter more, and that "
        "sequential allocation also helps in general.",
        decimals=3,
    )
    for _, _, rows in each(page, runs):
        rows.better("A < D", "SALSO, 4 runs", "no zealous updates")
        rows.better("D < A", "no zealous updates", "SALSO, 4 runs")
        rows.better("A < E", "SALSO, 4 runs", "no sequential allocation")
        rows.better("E < A", "no sequential allocation", "SALSO, 4 runs")


def write_default(page: frame.Page, runs: dict[Set, Contests]) -> None:
    page.section(
        "Our default search: with its 16 starts (S), and in the time of four runs of SALSO (T)",
        "`pt.estimate(draws, loss)`, at most as many clusters as a draw has, against four runs of SALSO (A) and "
        "Rastelli & Friel in equal time (C).",
        decimals=3,
    )
    for _, _, rows in each(page, runs):
        rows.better("S < A", "default search", "SALSO, 4 runs")
        rows.better("A < S", "SALSO, 4 runs", "default search")
        rows.better("S < C", "default search", "R&F, equal time")
        rows.better("C < S", "R&F, equal time", "default search")
        rows.better("T < A", "default search, equal time", "SALSO, 4 runs")
        rows.better("A < T", "SALSO, 4 runs", "default search, equal time")
        rows.seconds("seconds S", "default search")
        rows.ratio("S / A", "default search", "SALSO, 4 runs")


if __name__ == "__main__":
    main()
