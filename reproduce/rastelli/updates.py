"""French blogs again: "1 million updates" read as single moves, and more starts of the variational method."""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_limits

import frame
import partita as pt
from partita.models import Graph, as_graph, variational_em
from rastelli import blogs
from rastelli import greedy as runs

FILES = blogs.FILES
UPDATES = 1_000_000
TEXT = (
    "The paper discards one million *updates* and keeps every hundredth of another million. If an update is the move "
    "of one blog, and not a sweep over all, chains are {sweeps:,} sweeps long after as many of warm-up. {chains} such "
    "chains of each reading, every sweep a draw, and the number of groups of the VI estimate of each."
)
SHORT = "Short chains end in one of many modes each; the paper has one chain."
MORE_STARTS = "The best of more starts; mixer's own starts are other ones."


def run(page: frame.Page, chains: int, starts: int, updates: int = UPDATES) -> None:
    nodes = blogs.read_parties(page.options)
    graph = as_graph(page.options.data / FILES[0], directed=False, nodes=range(len(nodes)))
    sweeps = updates // len(nodes)
    page.section(
        "Blogs: updates as single moves, and more variational starts", TEXT.format(sweeps=sweeps, chains=chains)
    )
    for column in (blogs.POISSON, blogs.UNIFORM, blogs.PRINTED):
        write_chains(page, column, graph, sweeps, chains)
    with threadpool_limits(1):  # the matrices are small: more threads would only wait for each other
        found = variational_em(graph, range(1, blogs.MAX_VARIATIONAL + 1), directed=False, restarts=starts, rng=1)
    page.row(f"groups, {starts} starts", found.n_clusters, 12, column="variational", differs=MORE_STARTS)
    page.row("variational ICL", found.criterion, column="variational")


def write_chains(page: frame.Page, column: str, graph: Graph, sweeps: int, chains: int) -> None:
    reading = blogs.READINGS[column]
    length = runs.Length(chains * sweeps, 1, chains * sweeps, 1, chains)
    draws = runs.draw_chain(
        page.options, f"{reading.name}-updates", lambda: reading.model.sample(graph, **length.plan())
    )
    groups = sorted(pt.estimate(chain, "vi", rng=1, check_draws=False).n_clusters for chain in draws.labels)
    mean, error = frame.mean_and_error(groups)
    page.row("groups of the VI estimate, mean over chains", mean, 18, error, column=column, differs=SHORT)
    page.row("least and most", f"{groups[0]} to {groups[-1]}", column=column)
    page.row("share of chains with 17 to 19", float(np.mean([17 <= k <= 19 for k in groups])), column=column)
