"""Votes of the congress of 1984: a latent block model (Section 7.3, Table 5, Figures 9 and 10)."""

from __future__ import annotations

import csv

import numpy as np
from matplotlib import pyplot
from matplotlib.figure import Figure

import frame
import partita as pt
from partita.models import LatentBlockModel
from partita.plots.palette import HIGHLIGHT
from rastelli import greedy as runs
from rastelli import paper

FILE = "house_votes_84.csv"
K_UP = 30
SIX_AND_TWO = (
    "With all hyperparameters 0.5 there are further groups beside six like the paper's; with uniform priors (all 1) "
    "the estimate is the paper's Table 5 but for one member (models/block_models)."
)
OTHER_DRAWS = "A matter of the draws at hand: near-ties make local optima, and the paper's draws are not public."


def run(page: frame.Page, length: runs.Length) -> None:
    party, matrix = read(page.options)
    draws = sample(page.options, matrix, length)
    greedy = runs.run_greedy(draws, K_UP, length.runs)
    write_rows(page, length, draws, greedy, party)
    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    runs.draw_trace(greedy, axes[0])
    runs.draw_counts(draws, greedy, axes[1])
    page.figure(
        figure, "figure-09", "Figure 9: expected VI of the greedy runs; posterior of the number of groups of members"
    )
    rows, columns = highest_posterior(draws)
    figure = draw_matrices(matrix, {"MAP": rows, "VI": greedy.ours.labels}, columns)
    page.figure(
        figure, "figure-10", "Figure 10: votes (yea is dark) sorted by the MAP and by the VI partition of the members"
    )


def read(options: frame.Options) -> tuple[np.ndarray, np.ndarray]:
    """Party of each member, and the votes: 1 is yea, 0 is nay, absent or abstained."""
    with (options.data / FILE).open(encoding="utf-8") as file:
        rows = list(csv.reader(file))[1:]
    return np.array([row[0] for row in rows]), np.array([[vote == "y" for vote in row[1:]] for row in rows], float)


def sample(options: frame.Options, matrix: np.ndarray, length: runs.Length) -> runs.Draws:
    model = LatentBlockModel(n0=0.5, eta0=0.5, zeta0=0.5)
    return runs.draw_chain(options, "votes", lambda: model.sample(matrix, **length.plan()))


def highest_posterior(draws: runs.Draws) -> tuple[np.ndarray, np.ndarray]:
    """Partitions of rows and columns of the draw of highest posterior density."""
    best = np.unravel_index(draws.log_density.argmax(), draws.log_density.shape)
    return draws.labels[best].astype(np.int64), draws.columns[best].astype(np.int64)


def write_rows(
    page: frame.Page, length: runs.Length, draws: runs.Draws, greedy: runs.Greedy, party: np.ndarray
) -> None:
    page.section(
        "Congress votes: Table 5",
        f"435 members, 16 votes; all hyperparameters 0.5; {length}, K_up = {K_UP}. The paper's NMI and adjusted Rand "
        "index are those of its printed table.",
        differs=SIX_AND_TWO,
    )
    theirs = runs.Theirs(groups=6, share=0.65, mode=6, minutes=1800.0, seconds=70.0, why_share=OTHER_DRAWS)
    runs.greedy_rows(page, draws, greedy, theirs)
    _, table = runs.confusion(party, greedy.ours.labels)
    runs.agreement_rows(page, "VI", table, paper.VOTES_VI)
    page.row(
        "members in a group where the other party leads", against_the_tide(table), against_the_tide(paper.VOTES_VI)
    )
    six = pt.estimate(draws.labels, "vi", search=pt.Search(max_clusters=6), rng=1)
    page.row(
        "expected VI, our search, at most six groups", six.expected_loss, None, runs.expected_error(draws, six.labels)
    )
    rows, _ = highest_posterior(draws)
    page.row("groups of the MAP partition", int(rows.max()) + 1)
    page.row("expected VI, MAP", float(pt.expected_loss(rows, draws.labels, "vi")))
    for title, labels in {
        "the VI partition": greedy.ours.labels,
        "the best with at most six groups": six.labels,
    }.items():
        counts = runs.confusion_markdown(*runs.confusion(party, labels))
        page.text(f"Table 5, ours: parties by groups of {title}.\n\n{counts}")
    page.text("Sizes of the paper's groups: " + ", ".join(map(str, paper.VOTES_VI.sum(axis=0))) + ".")


def against_the_tide(table: np.ndarray) -> int:
    return int(table.min(axis=0).sum())


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
