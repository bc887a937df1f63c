"""French political blogs: a stochastic block model (Section 7.2, Tables 3 and 4, Figures 6 to 8)."""

from __future__ import annotations

import csv
from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib import pyplot
from matplotlib.figure import Figure
from threadpoolctl import threadpool_limits

import frame
from partita import plots
from partita.models import Graph, StochasticBlockModel, as_graph, variational_em
from rastelli import greedy as runs
from rastelli import paper

FILES = ("french_blogs_edges.csv", "french_blogs_nodes.csv")
K_UP = 50
MOST_VARIATIONAL = 20
OTHER_POSTERIOR = (
    "The large groups agree; the paper's further ones have one or two blogs. Its eq. 29, read as printed, counts each "
    "pair twice and then gives 17 to 19 groups (models/block_models); ours counts it once."
)
VARIATIONAL = "Our variational EM is not mixer's: other starts lead to other local optima, and so to another K."


def run(page: frame.Page, length: runs.Length) -> None:
    nodes = read_parties(page.options)
    graph = as_graph(page.options.data / FILES[0], directed=False, nodes=range(len(nodes)))
    draws = sample(page.options, graph, length)
    greedy = runs.run_greedy(draws, K_UP, length.runs)
    with threadpool_limits(1):  # the matrices are small: more threads would only wait for each other
        starts = max(length.runs // 5, 1)
        variational = variational_em(graph, range(1, MOST_VARIATIONAL + 1), directed=False, restarts=starts, rng=1)
    write_rows(page, length, draws, greedy, variational.labels, nodes)
    partitions = {"parties": np.unique(nodes, return_inverse=True)[1], "VI": greedy.ours.labels}
    page.figure(
        draw_panels(plots.network, graph, partitions),
        "figure-06",
        "Figure 6: the network, by parties and by the VI estimate",
    )
    partitions["variational"] = variational.labels
    page.figure(
        draw_panels(plots.adjacency_map, graph, partitions),
        "figure-07",
        "Figure 7: adjacency matrices sorted by three partitions",
    )
    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    runs.draw_trace(greedy, axes[0])
    runs.draw_counts(draws, greedy, axes[1])
    page.figure(figure, "figure-08", "Figure 8: expected VI of the greedy runs; posterior of the number of groups")


def read_parties(options: frame.Options) -> np.ndarray:
    with (options.data / FILES[1]).open(encoding="utf-8") as file:
        return np.array([row["party"] for row in csv.DictReader(file)])


def sample(options: frame.Options, graph: Graph, length: runs.Length) -> runs.Draws:
    model = StochasticBlockModel(directed=False, n0=0.5, eta0=0.5, zeta0=0.5)
    return runs.draw_chain(options, "blogs", lambda: model.sample(graph, **length.plan()))


def write_rows(
    page: frame.Page,
    length: runs.Length,
    draws: runs.Draws,
    greedy: runs.Greedy,
    variational: np.ndarray,
    parties: np.ndarray,
) -> None:
    page.section(
        "French blogs: Tables 3 and 4",
        f"196 blogs, 1,432 links; all hyperparameters 0.5; {length}, K_up = {K_UP}. The paper's NMI, adjusted Rand "
        "index and counts are those of its printed tables.",
        differs=OTHER_POSTERIOR,
    )
    theirs = runs.Theirs(groups=18, share=0.10, mode=17, minutes=300.0, seconds=50.0)
    runs.greedy_rows(page, draws, greedy, theirs)
    page.row("groups, variational", int(variational.max()) + 1, 12, differs=VARIATIONAL)
    names, of_vi = runs.confusion(parties, greedy.ours.labels)
    _, of_variational = runs.confusion(parties, variational)
    tables = {"VI": (of_vi, paper.BLOGS_VI), "variational": (of_variational, paper.BLOGS_VARIATIONAL)}
    for name, (ours, printed) in tables.items():
        sentence = VARIATIONAL if name == "variational" else ""
        runs.agreement_rows(page, name, ours, printed, sentence)
        for party in ("PS", "UMP"):
            count, theirs = int((ours[names.index(party)] > 0).sum()), in_groups(printed, party)
            page.row(f"groups with members of {party}, {name}", count, theirs, differs=sentence)
        for party in ("UDF", "liberaux"):
            count, theirs = int(ours[names.index(party)].max()), largest(printed, party)
            page.row(f"most of {party} in one group, {name}", count, theirs, differs=sentence)
    for number, (name, (ours, _)) in zip((4, 3), tables.items(), strict=True):
        page.text(
            f"Table {number}, ours: parties by groups of the {name} partition.\n\n"
            + runs.confusion_markdown(names, ours)
        )


def in_groups(printed: np.ndarray, party: str) -> int:
    return int((printed[paper.PARTIES.index(party)] > 0).sum())


def largest(printed: np.ndarray, party: str) -> int:
    return int(printed[paper.PARTIES.index(party)].max())


def draw_panels(plot: Callable[..., Any], graph: Graph, partitions: dict[str, np.ndarray]) -> Figure:
    """The network, or its matrix, once for each partition."""
    count = len(partitions)
    figure, axes = pyplot.subplots(1, count, figsize=(11, 4.8 if count == 2 else 4), layout="constrained")
    for ax, (name, labels) in zip(axes, partitions.items(), strict=True):
        plot(graph.adjacency, labels, ax=ax)
        ax.set_title(f"{name}: {labels.max() + 1} groups")
    return figure
