"""Tables of Examples 1 and 2: estimates, credible balls, means over data sets drawn anew."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

import frame
from wade import paper
from wade.analysis import ESTIMATES, LOSSES, Analysis

BOUNDS = ("upper", "lower", "horizontal")
OUR_CHAINS = "our chains"
LOCAL = "The paper's greedy search ended in a local optimum; our search finds a lower expected VI."
WALK = "The walk starts from draws, and from other draws it ends in another local optimum."
OTHER_CHAIN = (
    "Other draws from the same posterior: bounds are extremes over draws, and estimates differ by a few items."
)
OTHER_DATA = "Farther apart than two standard deviations over data sets: the paper's data set is unusual in this."
MISPRINT = "The paper's own draws give 0.138: 0.188 is a misprint."


def write_table(page: frame.Page, example: int, sources: dict[str, Analysis]) -> None:
    page.section(
        f"Example {example}: Table {example}",
        "The paper's 200 points and draws, which are in the R package mcclust.ext (`--draws`; the head of the script "
        "says how to get them). E is the posterior expectation, d the distance from the truth, VI in bits. Their "
        "search is the greedy walk in the Hasse diagram with l = 200, from the last and from the best draw.",
    )
    for source, run in sources.items():
        for name in ESTIMATES:
            quantity, theirs = f"{name}; {source}", iter(paper.TABLES[example][name])
            for loss in LOSSES:
                expected, error = run.expected(name, loss), run.expected_error(name, loss)
                page.row(quantity, expected, next(theirs), error, column=f"E[{loss}]", differs=_why(source, name))
                distance = run.from_truth(name, loss)
                page.row(quantity, distance, next(theirs), column=f"d[{loss}]", differs=_why(source, name))
            clusters = paper.CLUSTERS[example][name]
            page.row(quantity, run.clusters(name), clusters, column="clusters", differs=_why(source, name))


def write_balls(page: frame.Page, example: int, sources: dict[str, Analysis]) -> None:
    page.section(
        f"Example {example}: credible balls",
        "Radii of VI in bits; the paper's are in nats and were converted. Bounds are given by their clusters.",
    )
    for source, run in sources.items():
        for loss in LOSSES:
            radius, theirs = run.balls[loss].radius, paper.RADII[example][loss]
            sentence = MISPRINT if (example, loss) == (2, "Binder") else _why(source, loss)
            name = f"radius of the 95 % ball, {loss}"
            page.row(name, radius, theirs, run.radius_error(loss), column=source, differs=sentence)
            for bound, counts in zip(BOUNDS, paper.BOUNDS[example][loss], strict=True):
                ours, theirs = listed(run.bound(loss, bound)), counts and listed(counts)
                page.row(f"{bound} bound, {loss}", ours, theirs, column=source, differs=_why(source))
        moved = "items that VI and the modified VI put in different clusters"
        page.row(moved, run.moved(), paper.MOVED[example], column=source, differs=_why(source))
        distinct = share_of(paper.DISTINCT[example], run)
        page.row("distinct partitions", run.sample.n_unique, distinct, column=source, differs=_why(source))


def _why(source: str, estimate: str = "") -> str:
    """The sentence for a number that differs, by where it comes from and by the estimate it is about."""
    if source != OUR_CHAINS:
        return LOCAL
    return {"VI": LOCAL, "modified VI": WALK}.get(estimate, OTHER_CHAIN)


def listed(counts: list[int]) -> str:
    return ", ".join(map(str, counts))


def share_of(count: int, run: Analysis) -> int:
    """What the paper's count among 10,000 draws becomes among as many as we took."""
    return round(count * run.sample.n_draws / 10_000)


def write_means(page: frame.Page, example: int, runs: list[Analysis]) -> None:
    page.section(
        f"Example {example}: data sets drawn anew",
        f"Means over {len(runs)} data sets of 200 points, {runs[0].sample.n_draws:,} draws each. The error is the "
        "standard deviation over data sets, since the paper's number is from one data set.",
    )
    for name in ESTIMATES:
        theirs = iter(paper.TABLES[example][name])
        for loss in LOSSES:
            _mean(page, f"E[{loss}], {name}", (run.expected(name, loss) for run in runs), next(theirs))
            _mean(page, f"d[{loss}], {name}", (run.from_truth(name, loss) for run in runs), next(theirs))
        _mean(page, f"clusters, {name}", (run.clusters(name) for run in runs), paper.CLUSTERS[example][name])
    for loss in LOSSES:
        radii = (run.balls[loss].radius for run in runs)
        sentence = MISPRINT if (example, loss) == (2, "Binder") else OTHER_DATA
        _mean(page, f"radius of the 95 % ball, {loss}", radii, paper.RADII[example][loss], sentence)
        for bound, counts in zip(BOUNDS, paper.BOUNDS[example][loss], strict=True):
            ours = (float(np.mean(run.bound(loss, bound))) for run in runs)
            _mean(page, f"clusters of the {bound} bound, {loss}", ours, counts and float(np.mean(counts)))
    page.text(_counts_in_words(runs))


def _mean(
    page: frame.Page, quantity: str, values: Iterable[float], theirs: float | None, differs: str = OTHER_DATA
) -> None:
    """A row with the mean over data sets, and their standard deviation."""
    array = np.array(list(values), float)
    deviation = float(array.std(ddof=1)) if array.size > 1 else None
    page.row(quantity, float(array.mean()), theirs, deviation, differs=differs)


def _counts_in_words(runs: list[Analysis]) -> str:
    lines = []
    for name in ESTIMATES:
        found = np.bincount([run.clusters(name) for run in runs])
        lines.append(f"- {name}: " + ", ".join(f"{k} in {found[k]}" for k in np.flatnonzero(found)))
    more = sum(run.clusters("Binder") > run.clusters("VI") for run in runs)
    above = sum(all(run.bound("Binder", b)[0] >= run.bound("VI", b)[0] for b in ("upper", "lower")) for run in runs)
    return (
        "Clusters of the estimates, by number of data sets:\n\n" + "\n".join(lines) + "\n\n"
        f"Binder's estimate has more clusters than VI's in {more} of {len(runs)} data sets. Binder's vertical bounds "
        f"have at least as many clusters as VI's in {above} of {len(runs)} (the paper: in all its examples)."
    )
