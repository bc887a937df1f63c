"""Old Faithful: the Dirichlet process mixture and 100 greedy runs (Section 7.1, Figure 5)."""

from __future__ import annotations

import numpy as np
from matplotlib import pyplot

import frame
import partita as pt
from partita import plots
from rastelli import greedy as runs
from rastelli import simulated

FILE = "old_faithful.csv"
K_UP = 20
MODE = (
    "Three and four groups are almost equally probable: which of them a chain of the paper's length prefers is Monte "
    "Carlo noise, as the numbers of each chain below show."
)

READING = runs.Reading("faithful", simulated.model(), MODE)


def run(page: frame.Page, length: runs.Length) -> None:
    data = np.loadtxt(page.options.data / FILE, delimiter=",", skiprows=1)
    found = runs.analyse(page.options, READING, data, length, K_UP)
    page.section("Old Faithful", f"272 eruptions; priors of rDPGibbs; {length}, K_up = {K_UP}.")
    runs.greedy_rows(page, found, runs.Theirs(groups=4, share=1.0, mode=4, minutes=30.0, seconds=20.0))
    sizes = sorted(found.greedy.ours.sizes, reverse=True)
    page.text("Sizes of the groups, our search: " + ", ".join(map(str, sizes)) + ".")
    page.text(chains_in_words(found.draws))
    figure, axes = pyplot.subplots(1, 3, figsize=(12, 3.4), layout="constrained")
    runs.draw_runs(found, axes[0], axes[2])
    plots.points(data, found.greedy.best.labels, ax=axes[1])
    axes[1].set(title="VI estimate", xlabel="eruption, minutes", ylabel="waiting, minutes")
    page.figure(figure, "figure-05", "Figure 5: expected VI of the greedy runs; VI estimate; number of groups")


def chains_in_words(draws: runs.Draws) -> str:
    """The estimate and the probabilities of three and four groups by each chain alone."""
    lines = []
    for number, labels in enumerate(draws.labels, start=1):
        sample = pt.as_sample(labels)
        shares = [float(sample.weights[sample.n_clusters == k].sum()) for k in (3, 4)]
        groups = pt.estimate(sample, "vi", rng=1).n_clusters
        lines.append([str(number), str(groups), *(f"{share:.3f}" for share in shares)])
    head = ["chain", "groups of the VI estimate", "probability of 3 groups", "probability of 4 groups"]
    return f"Each chain alone:\n\n{frame.table(head, lines)}"
