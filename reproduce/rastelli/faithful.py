"""Old Faithful: the Dirichlet process mixture and 100 greedy runs (Section 7.1, Figure 5)."""

from __future__ import annotations

import numpy as np
from matplotlib import pyplot

import frame
from partita import plots
from rastelli import greedy as runs
from rastelli import simulated

FILE = "old_faithful.csv"
K_UP = 20
MODE = (
    "Three and four groups are almost equally probable here; the paper's chain came from rDPGibbs, whose own draws "
    "have 4.9 clusters on average where ours have 4.7 (see the page of the mixture model)."
)


READING = runs.Reading("faithful", simulated.model(), MODE)


def run(page: frame.Page, length: runs.Length) -> None:
    data = np.loadtxt(page.options.data / FILE, delimiter=",", skiprows=1)
    found = runs.analyse(page.options, READING, data, length, K_UP)
    page.section("Old Faithful", f"272 eruptions; priors of rDPGibbs; {length}, K_up = {K_UP}.")
    runs.greedy_rows(page, found, runs.Theirs(groups=4, share=1.0, mode=4, minutes=30.0, seconds=20.0))
    sizes = sorted(found.greedy.ours.sizes, reverse=True)
    page.text("Sizes of the groups, our search: " + ", ".join(map(str, sizes)) + ".")
    figure, axes = pyplot.subplots(1, 3, figsize=(12, 3.4), layout="constrained")
    runs.draw_runs(found, axes[0], axes[2])
    plots.points(data, found.greedy.best.labels, ax=axes[1])
    axes[1].set(title="VI estimate", xlabel="eruption, minutes", ylabel="waiting, minutes")
    page.figure(figure, "figure-05", "Figure 5: expected VI of the greedy runs; VI estimate; number of groups")
