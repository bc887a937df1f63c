"""Old Faithful: the Dirichlet process mixture and 100 greedy runs (Section 7.1, Figure 5)."""

from __future__ import annotations

import numpy as np
from matplotlib import pyplot
from numpy.typing import NDArray

import frame
import partita as pt
from partita import plots
from rastelli import degrees, simulated
from rastelli import greedy as runs

FILE = "old_faithful.csv"
K_UP = 20
MAX_PARTITIONS, STEPS = 1_000, 8  # for the degrees of freedom
MODE = (
    "Three and four groups are almost equally probable. Which of them the VI estimate of a chain of the paper's length "
    "has is Monte Carlo noise, as the chains below show; the mode is 3 in each of our chains. The paper's draws are "
    "those of rDPGibbs, which have 4.9 clusters on average where ours have 4.7 (see the page of the mixture model)."
)
SCALE_HELD = "The partitions are those of our sampler, whose nu is smaller; in rDPGibbs they follow its larger nu, too."

READING = runs.Reading("faithful", simulated.model(), MODE)


def run(page: frame.Page, length: runs.Length) -> None:
    data = np.loadtxt(page.options.data / FILE, delimiter=",", skiprows=1)
    found = runs.analyse(page.options, READING, data, length, K_UP)
    page.section("Old Faithful", f"272 eruptions; priors of rDPGibbs; {length}, K_up = {K_UP}.")
    runs.greedy_rows(page, found, runs.Theirs(groups=4, share=1.0, mode=4, minutes=30.0, seconds=20.0))
    sizes = sorted(found.greedy.ours.sizes, reverse=True)
    page.text("Sizes of the groups, our search: " + ", ".join(map(str, sizes)) + ".")
    page.text(chains_in_words(found.draws))
    write_degrees(page, data, found.draws)
    figure, axes = pyplot.subplots(1, 3, figsize=(12, 3.4), layout="constrained")
    runs.draw_runs(found, axes[0], axes[2])
    plots.points(data, found.greedy.best.labels, ax=axes[1])
    axes[1].set(title="VI estimate", xlabel="eruption, minutes", ylabel="waiting, minutes")
    page.figure(figure, "figure-05", "Figure 5: expected VI of the greedy runs; VI estimate; number of groups")


def write_degrees(page: frame.Page, data: NDArray[np.float64], draws: runs.Draws) -> None:
    """The posterior mean of nu in eq. 24, by its conditional and as rDPGibbs draws it."""
    partitions = draws.labels.reshape(-1, draws.labels.shape[-1])
    chosen = partitions[np.linspace(0, len(partitions) - 1, min(MAX_PARTITIONS, len(partitions)), dtype=int)]
    page.text(
        "rDPGibbs draws nu with the matrix V = nu v I of the step before held fixed, although V depends on nu, and so "
        "finds larger values (14 on average) than the conditional of eq. 24 gives "
        "(`reproduce/rastelli/degrees.py` has both)."
    )
    for name, scale_held, theirs in (("by its conditional", False, None), ("with V held fixed", True, 14.0)):
        mean = degrees.mean_degrees(data, chosen, STEPS, np.random.default_rng(1), scale_held)
        page.row(f"posterior mean of nu, {name}", mean, theirs, differs=SCALE_HELD)


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
