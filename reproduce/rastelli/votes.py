"""Votes of the congress of 1984: a latent block model (Section 7.3, Table 5, Figures 9 and 10)."""

from __future__ import annotations

import csv
from functools import partial

import numpy as np
from matplotlib import pyplot
from matplotlib.figure import Figure

import frame
import partita as pt
from partita.models import LatentBlockModel
from partita.plots.canvas import HIGHLIGHT
from rastelli import greedy as runs
from rastelli import paper

FILE = "house_votes_84.csv"
K_UP = 30
FURTHER = (
    "With all hyperparameters 0.5, as the paper says, further small groups come out of six much like the paper's; the "
    "best with at most six costs hardly more."
)
OTHER_CHAIN = "Another chain: the estimate of a part of the draws differs by some members too."
HALF, UNIFORM = "all 0.5", "uniform priors"
READINGS = {
    HALF: runs.Reading("votes", LatentBlockModel(n0=0.5, eta0=0.5, zeta0=0.5), FURTHER),
    UNIFORM: runs.Reading("votes-uniform", LatentBlockModel(n0=1.0, eta0=1.0, zeta0=1.0), OTHER_CHAIN),
}
TWO_READINGS = (
    "The paper says that all hyperparameters are 0.5, which gives more groups than it has. With uniform priors (all 1) "
    "its Table 5 comes out, so that these were most likely the priors of its run."
)


def run(page: frame.Page, length: runs.Length) -> None:
    party, matrix = read(page.options)
    found = {column: runs.analyse(page.options, reading, matrix, length, K_UP) for column, reading in READINGS.items()}
    page.section(
        "Congress votes: Table 5",
        f"435 members, 16 votes; {length}, K_up = {K_UP}. {TWO_READINGS} The paper's NMI and adjusted Rand index are "
        "those of its printed table.",
    )
    for column, analysis in found.items():
        write_rows(page, column, analysis, party)
    page.text("Sizes of the paper's groups: " + ", ".join(map(str, paper.VOTES_VI.sum(axis=0))) + ".")
    draw_figures(page, matrix, found)


def read(options: frame.Options) -> tuple[np.ndarray, np.ndarray]:
    """Party of each member, and the votes: 1 is yea, 0 is nay, absent or abstained."""
    with (options.data / FILE).open(encoding="utf-8") as file:
        rows = list(csv.reader(file))[1:]
    return np.array([row[0] for row in rows]), np.array([[vote == "y" for vote in row[1:]] for row in rows], float)


def highest_posterior(draws: runs.Draws) -> tuple[np.ndarray, np.ndarray]:
    """Partitions of rows and columns of the draw of highest posterior density."""
    best = np.unravel_index(draws.log_density.argmax(), draws.log_density.shape)
    return draws.labels[best].astype(np.int64), draws.columns[best].astype(np.int64)


def write_rows(page: frame.Page, column: str, analysis: runs.Analysis, party: np.ndarray) -> None:
    row = partial(page.row, column=column, differs=analysis.differs)
    theirs = runs.Theirs(groups=6, share=0.65, mode=6, minutes=1800.0, seconds=70.0)
    runs.greedy_rows(page, analysis, theirs, column)
    draws, ours = analysis.draws, analysis.greedy.ours
    _, table = runs.confusion(party, ours.labels)
    runs.agreement_rows(page, column, table, paper.VOTES_VI, analysis.differs)
    row("members in a group where the other party leads", against_the_tide(table), against_the_tide(paper.VOTES_VI))
    six = pt.estimate(draws.labels, "vi", search=pt.Search(max_clusters=6), rng=1)
    row("expected VI, our search, at most six groups", six.expected_loss, None, runs.expected_error(draws, six.labels))
    rows, _ = highest_posterior(draws)
    row("groups of the MAP partition", int(rows.max()) + 1)
    row("expected VI, MAP", float(pt.expected_loss(rows, draws.labels, "vi")))
    shown = {"the VI partition": ours.labels}
    if ours.n_clusters > 6:
        shown["the best with at most six groups"] = six.labels
    for title, labels in shown.items():
        counts = runs.confusion_markdown(*runs.confusion(party, labels))
        page.text(f"Table 5, ours, {column}: parties by groups of {title}.\n\n{counts}")


def against_the_tide(table: np.ndarray) -> int:
    return int(table.min(axis=0).sum())


def draw_figures(page: frame.Page, matrix: np.ndarray, found: dict[str, runs.Analysis]) -> None:
    figure, axes = pyplot.subplots(2, 2, figsize=(9, 6.4), layout="constrained")
    for line, (column, analysis) in zip(axes, found.items(), strict=True):
        runs.draw_runs(analysis, *line)
        line[0].set_title(f"greedy runs, {column}")
    caption = "Figure 9: expected VI of the greedy runs; posterior of the number of groups of members"
    page.figure(figure, "figure-09", caption)
    rows, columns = highest_posterior(found[UNIFORM].draws)
    figure = draw_matrices(matrix, {"MAP": rows, "VI": found[UNIFORM].greedy.ours.labels}, columns)
    caption = "Figure 10: votes (yea is dark) sorted by the MAP and by the VI partition of the members, uniform priors"
    page.figure(figure, "figure-10", caption)


def draw_matrices(matrix: np.ndarray, partitions: dict[str, np.ndarray], columns: np.ndarray) -> Figure:
    figure, axes = pyplot.subplots(1, 2, figsize=(7, 5.4), layout="constrained")
    across = np.argsort(columns, kind="stable")
    for ax, (name, given) in zip(axes, partitions.items(), strict=True):
        labels = pt.align_labels(partitions["MAP"], given)
        order = np.argsort(labels, kind="stable")
        ax.imshow(matrix[np.ix_(order, across)], cmap="Greys", aspect="auto", interpolation="nearest", vmax=1.3)
        for edge in np.flatnonzero(np.diff(labels[order])) + 0.5:
            ax.axhline(edge, color=HIGHLIGHT, linewidth=1)
        ax.set(title=f"{name}: {given.max() + 1} groups", xticks=[], xlabel="votes", ylabel="members, by group")
    return figure
