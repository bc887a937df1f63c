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
from rastelli import modes, paper

FILES = ("french_blogs_edges.csv", "french_blogs_nodes.csv")
K_UP = 50
MAX_VARIATIONAL = 20
HALF = {"n0": 0.5, "eta0": 0.5, "zeta0": 0.5}
POISSON, UNIFORM, PRINTED, POOLED = "K Poisson(1)", "K uniform", "eq. 29 as printed", "eq. 29, chains pooled"
ALL_READINGS = (
    "The paper does not name the prior of K: Poisson(1), that of the sampler's authors, and uniform on 1 to 50 are "
    "here, with each pair once. Eq. 29 as printed is a product over all ordered pairs; with π_gh and π_hg free it is "
    "the directed model of the symmetric matrix (K Poisson(1)). Each pair then counts twice, so that more and smaller "
    "groups pay."
)
POOLING = (
    "Chains of eq. 29 as printed keep to one mode each. Pooled, they say where chains end: a mode weighs as much as "
    "chains happen to end in it, not as much as the posterior gives it."
)
FEWER = "The large groups agree; the paper's further ones have one to four blogs, which are here in larger groups."
ONE_MODE = "The posterior has several modes, and a chain stays in one; the paper's need not have ended in one of ours."
VARIATIONAL = "Our variational EM is not mixer's: other starts lead to other local optima, and so to another K."
READINGS = {
    POISSON: runs.Reading("blogs", StochasticBlockModel(directed=False, **HALF), FEWER),
    UNIFORM: runs.Reading("blogs-uniform", StochasticBlockModel(directed=False, k_prior=np.ones(K_UP), **HALF), FEWER),
    PRINTED: runs.Reading("blogs-printed", StochasticBlockModel(directed=True, **HALF), ONE_MODE),
    POOLED: runs.Reading("blogs-printed-chains", StochasticBlockModel(directed=True, **HALF), ONE_MODE),
}


def run(page: frame.Page, length: runs.Length, spread: runs.Length) -> None:
    """`length` is that of the single chains, `spread` that of the chains that are pooled."""
    nodes = read_parties(page.options)
    graph = as_graph(page.options.data / FILES[0], directed=False, nodes=range(len(nodes)))
    found = {
        column: runs.analyse(page.options, reading, graph, spread if column == POOLED else length, K_UP)
        for column, reading in READINGS.items()
    }
    with threadpool_limits(1):  # the matrices are small: more threads would only wait for each other
        starts = max(length.runs // 5, 1)
        variational = variational_em(graph, range(1, MAX_VARIATIONAL + 1), directed=False, restarts=starts, rng=1)
    page.section(
        "French blogs: Tables 3 and 4",
        f"196 blogs, 1,432 links; all hyperparameters 0.5; {length}, K_up = {K_UP}. {ALL_READINGS} The paper's NMI, "
        "adjusted Rand index and counts are those of its printed tables.",
    )
    write_rows(page, found, variational.labels, nodes)
    pooled = found[POOLED].draws
    page.text(f"Pooled: {spread.chains_in_words}. {POOLING} {modes.in_words(pooled.labels, pooled.log_density)}")
    draw_figures(page, graph, found[POISSON], variational.labels, nodes)


def read_parties(options: frame.Options) -> np.ndarray:
    with (options.data / FILES[1]).open(encoding="utf-8") as file:
        return np.array([row["party"] for row in csv.DictReader(file)])


def write_rows(page: frame.Page, found: dict[str, runs.Analysis], variational: np.ndarray, parties: np.ndarray) -> None:
    theirs = runs.Theirs(groups=18, share=0.10, mode=17, minutes=300.0, seconds=50.0)
    names, of_variational = runs.confusion(parties, variational)
    tables = {column: runs.confusion(parties, analysis.greedy.ours.labels)[1] for column, analysis in found.items()}
    for column, analysis in found.items():
        runs.greedy_rows(page, analysis, theirs, column)
        party_rows(page, column, tables[column], paper.BLOGS_VI, analysis.differs)
    page.row("groups", int(variational.max()) + 1, 12, column="variational", differs=VARIATIONAL)
    party_rows(page, "variational", of_variational, paper.BLOGS_VARIATIONAL, VARIATIONAL)
    for column, table in tables.items():
        counts = runs.confusion_markdown(names, table)
        page.text(f"Table 4, ours: parties by groups of the VI partition, {column}.\n\n{counts}")
    counts = runs.confusion_markdown(names, of_variational)
    page.text(f"Table 3, ours: parties by groups of the variational partition.\n\n{counts}")


def party_rows(page: frame.Page, column: str, ours: np.ndarray, printed: np.ndarray, differs: str) -> None:
    """How the groups go with the parties, ours and the paper's; both tables have the parties in the same order."""
    runs.agreement_rows(page, column, ours, printed, differs)
    for party in ("PS", "UMP"):
        count, theirs = (int((table[paper.PARTIES.index(party)] > 0).sum()) for table in (ours, printed))
        page.row(f"groups with members of {party}", count, theirs, column=column, differs=differs)
    for party in ("UDF", "liberaux"):
        count, theirs = (int(table[paper.PARTIES.index(party)].max()) for table in (ours, printed))
        page.row(f"most of {party} in one group", count, theirs, column=column, differs=differs)


def draw_panels(plot: Callable[..., Any], graph: Graph, partitions: dict[str, np.ndarray]) -> Figure:
    """The network, or its matrix, once for each partition."""
    count = len(partitions)
    figure, axes = pyplot.subplots(1, count, figsize=(11, 4.8 if count == 2 else 4), layout="constrained")
    for ax, (name, labels) in zip(axes, partitions.items(), strict=True):
        plot(graph.adjacency, labels, ax=ax)
        ax.set_title(f"{name}: {labels.max() + 1} groups")
    return figure


def draw_figures(
    page: frame.Page, graph: Graph, analysis: runs.Analysis, variational: np.ndarray, parties: np.ndarray
) -> None:
    partitions = {"parties": np.unique(parties, return_inverse=True)[1], "VI": analysis.greedy.ours.labels}
    page.figure(
        draw_panels(plots.network, graph, partitions),
        "figure-06",
        "Figure 6: the network, by parties and by the VI estimate",
    )
    partitions["variational"] = variational
    page.figure(
        draw_panels(plots.adjacency_map, graph, partitions),
        "figure-07",
        "Figure 7: adjacency matrices sorted by three partitions",
    )
    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    runs.draw_runs(analysis, *axes)
    page.figure(figure, "figure-08", "Figure 8: expected VI of the greedy runs; posterior of the number of groups")
