"""Wade & Ghahramani (2018): Tables 1 to 3 and Figures 1 to 19, ours beside the paper's.

    python reproduce/wade_ghahramani.py [--quick] [--data ../shared/data] [--draws ../shared/reference/draws]
                                        [--parts lattice example1 example2 galaxy]

Examples 1 and 2 are run on the paper's data and draws, where --draws has them, on chains of our own for the paper's
data, and on data sets drawn anew. The paper's files are part of the R package mcclust.ext (GPL) and are not shipped
here. In its folder data/, this writes what --draws reads:

    Rscript -e 'for (x in paste0(c("ex1", "ex2"), rep(c(".data", ".draw"), each = 2)))
                  write.csv(get(load(paste0(x, ".RData"))), paste0(x, ".csv"), row.names = FALSE)'
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass

import numpy as np

import frame
import partita as pt
from wade import examples, figures, galaxy, lattice, paper
from wade.analysis import ESTIMATES, LOSSES, THEIR_SEARCH, Analysis, analyse
from wade.tables import OTHER_CHAIN, OUR_CHAINS, listed, share_of, write_balls, write_means, write_table


@dataclass(frozen=True)
class Size:
    """Data sets of each example that are drawn anew, and partitions kept from each sampler."""

    datasets: int
    draws: int


PARTS = {  # and how the titles of their sections begin
    "lattice": lattice.TITLE,
    "example1": "Example 1",
    "example2": "Example 2",
    "galaxy": "Galaxy data",
}
SIZES = {"full": Size(20, 10_000), "quick": Size(3, 2_000), "smoke": Size(1, 100)}


def main() -> None:
    options = frame.options(__doc__, own_arguments)
    page = frame.Page("wade_ghahramani", "Wade & Ghahramani (2018): point estimates and credible balls", options)
    for part, title in PARTS.items():
        if part in options.own.parts:
            run(page, part, SIZES[options.size])
        else:
            page.as_before(title)
    page.write()


def own_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=list(PARTS), help="the others stay")


def run(page: frame.Page, part: str, size: Size) -> None:
    if part == "lattice":
        lattice.write(page)
    elif part == "galaxy" and page.has_data("Galaxy data: Table 3", "galaxies.csv"):
        run_galaxy(page, size)
    elif part.startswith("example"):
        run_example(page, int(part[-1]), size)


def run_example(page: frame.Page, example: int, size: Size) -> None:
    sources = paper_sources(page.options, example, size)
    if sources:
        write_table(page, example, sources)
        write_balls(page, example, sources)
    else:
        page.section(f"Example {example}: the paper's data", f"Left out: `--draws` has no ex{example}.data.csv.")
    anew = [
        examples.sample_and_analyse(*examples.generate(example, seed), size.draws, seed)
        for seed in range(size.datasets)
    ]
    write_means(page, example, anew)
    shown = next(iter(sources.values())) if sources else anew[0]
    draw_example(page, example, shown, "The paper's draws." if sources else "The first data set drawn anew.")
    write_speed(page, f"Example {example}: computing time", shown, paper.SPEED_UP["example"])


def paper_sources(options: frame.Options, example: int, size: Size) -> dict[str, Analysis]:
    """The paper's draws with their search and with ours, and our chains on the paper's data."""
    if not (options.draws / f"ex{example}.data.csv").exists():
        return {}
    data, truth = examples.paper_data(options.draws, example)
    draws = examples.paper_draws(options.draws, example)[:, -size.draws :]
    return {
        "paper's draws, their search": analyse(data, draws, truth, **THEIR_SEARCH),
        "paper's draws, our search": analyse(data, draws, truth),
        OUR_CHAINS: examples.sample_and_analyse(data, truth, size.draws, seed=1),
    }


def draw_example(page: frame.Page, example: int, run: Analysis, text: str) -> None:
    page.section(f"Example {example}: figures", text)
    number, of_balls = paper.FIGURES[example]
    caption = f"Figure {number}: truth, and the estimates by Binder's loss, VI and the modified VI"
    page.figure(figures.estimates(run, ESTIMATES), f"figure-{number:02d}", caption)
    for loss in LOSSES:
        points, matrix = of_balls[loss]
        ball = f"95 % credible ball of {loss}"
        page.figure(figures.ball(run, loss), f"figure-{points:02d}", f"Figure {points}: {ball}, estimate and bounds")
        page.figure(figures.matrices(run, loss), f"figure-{matrix:02d}", f"Figure {matrix}: {ball}, against the truth")


def write_speed(page: frame.Page, title: str, run: Analysis, papers_ratio: int) -> None:
    """Their search on the expected VI and on its lower bound, and ours: CPU seconds of one thread."""
    page.section(title, "CPU seconds of one thread; their search is the walk in the Hasse diagram.", decimals=3)
    settings = {
        "expected VI, their search": THEIR_SEARCH,
        "modified VI, their search": {**THEIR_SEARCH, "criterion": "lower-bound"},
        "expected VI, our search (16 runs)": {},
    }
    seconds = []
    for name, chosen in settings.items():
        began = time.process_time()
        found = pt.estimate(run.sample, "vi", search=pt.Search(n_jobs=1), rng=1, **chosen)
        seconds.append(time.process_time() - began)
        page.row(name, seconds[-1], column="CPU seconds")
        page.row(name, found.expected_loss, column="E[VI]")
    exact, modified, ours = seconds
    page.text(
        f"With their search the exact VI takes {exact / modified:.1f} times as long as the modified one (the paper, in "
        f"R: at least {papers_ratio} times). Their search for the modified one takes {modified / ours:.1f} times as "
        "long as ours for the exact one."
    )


def run_galaxy(page: frame.Page, size: Size) -> None:
    data = galaxy.velocities(page.options.data)
    chain = galaxy.our_chain(data, size.draws)
    sources = {OUR_CHAINS: analyse(data, chain.labels)}
    draws = galaxy.paper_draws(page.options.draws)
    if draws is not None:
        sources = {"paper's draws": analyse(data, draws[:, -size.draws :]), **sources}
    page.section(
        "Galaxy data: Table 3",
        "82 velocities. The error of our chains is the standard error over four chains. VI in bits; the paper's radius "
        "of 1.267 nats is 1.828 bits.",
        differs=OTHER_CHAIN,
    )
    for source, run in sources.items():
        galaxy_rows(page, source, run)
    shown = next(iter(sources.values()))
    grid = np.linspace(7, 37, 400)
    density = (grid, chain.predictive_density(grid[:, None]))
    caption = "Figure 17: estimates by Binder's loss and VI, on the posterior predictive density"
    page.figure(figures.estimates(shown, ("Binder", "VI"), density), "figure-17", caption)
    caption = "Figure 18: 95 % credible ball of VI, estimate and bounds"
    page.figure(figures.ball(shown, "VI", density), "figure-18", caption)
    caption = "Figure 19: posterior similarity, VI estimate and bounds of its ball"
    page.figure(figures.matrices(shown, "VI"), "figure-19", caption)
    write_speed(page, "Galaxy data: computing time", shown, paper.SPEED_UP["galaxy"])


def galaxy_rows(page: frame.Page, source: str, run: Analysis) -> None:
    for name, theirs in paper.GALAXY.items():
        for loss, value in zip(LOSSES, theirs, strict=True):
            error = run.expected_error(name, loss)
            page.row(f"E[{loss}], {name}", run.expected(name, loss), value, error, column=source)
    for name, clusters in paper.GALAXY_CLUSTERS.items():
        page.row(f"clusters, {name}", run.clusters(name), clusters, column=source)
    singletons = int((np.bincount(run.estimates["Binder"]) == 1).sum())
    page.row("singletons, Binder", singletons, paper.GALAXY_SINGLETONS, column=source)
    page.row("items that VI and the modified VI put in different clusters", run.moved(), 0, column=source)
    radius, error = run.balls["VI"].radius, run.radius_error("VI")
    sentence = "The published draws give 1.832 bits (1.270 nats) exactly, as they do in mcclust.ext itself."
    page.row("radius of the 95 % ball, VI", radius, paper.GALAXY_RADIUS, error, column=source, differs=sentence)
    for bound, counts in paper.GALAXY_BOUNDS.items():
        page.row(f"{bound} bound, VI", listed(run.bound("VI", bound)), counts and listed(counts), column=source)
    distinct = share_of(paper.GALAXY_DISTINCT, run)
    page.row("distinct partitions", run.sample.n_unique, distinct, column=source)


if __name__ == "__main__":
    main()
