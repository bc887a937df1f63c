"""The page about a block model of a network: the answer, the blocks, the ordered matrix, the agreement between runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from partita._support.hints import plural
from partita._support.names import names_or_none
from partita.models.networks.fit import BlockFit
from partita.models.networks.nested_fit import NestedFit
from partita.pages.block_tables import blocks_table
from partita.pages.colors import shades
from partita.pages.labels import held_labels
from partita.pages.network_checks import NetworkChecks, caveats, prediction, uncertain_nodes
from partita.pages.network_matrix import PIXELS, matrix_map
from partita.pages.search_tables import agreement_sentence, icl_sentence, path_table, runs_table
from partita.pages.sentences import sizes_in_words
from partita.pages.tables import Column, Table
from partita.pages.truth import against_truth

if TYPE_CHECKING:
    from partita.models.networks.graph import Graph

NODES_LISTED = 2000
NAMES_SHOWN = 12
EDGE_MODELS = {
    "binary": "binary (Bernoulli)",
    "counts": "counts (Poisson)",
    "real": "real weights (Normal) on edges that are there or not (Bernoulli)",
    "categories": "categories (Dirichlet) of edges that are there or not (Bernoulli)",
    "signed": "signs (Dirichlet) of edges that are there or not (Bernoulli)",
}
LARGEST_DRAWN = 300  # nodes of a network that is drawn


def network_content(
    fit: BlockFit,
    truth: ArrayLike | None,
    *,
    title: str,
    command: str | None,
    labels_file: str | None,
    first: int = 0,
    checks: NetworkChecks | None = None,
) -> dict[str, Any]:
    """Everything the template needs."""
    checks = checks or NetworkChecks()
    on_draws = checks.draws.warnings if checks.draws is not None and checks.draws_given else ()
    return {
        "title": title,
        "first": first,
        "warnings": (*on_draws, *fit.warnings),
        "answer": " ".join([network_answer(fit), *caveats(fit, checks)]),
        "settings": list(_settings(fit)),
        "clusters": _clusters(fit),
        "blocks": _blocks(fit),
        "map": matrix_map(fit),
        "matrix_words": _matrix_words(fit),
        "drawing": _drawing(fit),
        "levels": _levels(fit),
        "doubt": uncertain_nodes(fit, checks),
        "prediction": prediction(fit, checks),
        "runs": runs_table(fit),
        "agreement": _agreement(fit),
        "path": path_table(fit.path),
        "nodes": _nodes(fit, labels_file),
        **against_truth(truth, fit.labels, names_or_none(fit.graph.names), "the graph"),
        "labels": held_labels(fit.labels, fit.graph.names),
        "command": command,
    }


def network_answer(fit: BlockFit) -> str:
    """The result as a scientist could paste it into a paper."""
    kind = "directed" if fit.edges.directed else "undirected"
    return (
        f"The {len(fit.labels):,} nodes of the {kind} network with {n_edges(fit.graph, fit.edges.directed):,} edges"
        f" fall into {plural(fit.n_clusters, 'cluster')} ({sizes_in_words(fit.labels, 'nodes')}). {icl_sentence(fit)}"
    )


def n_edges(graph: Graph, directed: bool) -> int:
    """The number of linked pairs (with a direction, if edges have one) and loops."""
    loops = int(np.count_nonzero(graph.adjacency.diagonal()))
    entries = int(graph.adjacency.nnz)
    return entries if directed else (entries - loops) // 2 + loops


def _settings(fit: BlockFit) -> Iterator[tuple[str, str]]:
    edges = fit.edges
    yield "Nodes", f"{len(fit.labels):,}"
    yield "Edges", f"{n_edges(fit.graph, edges.directed):,}, {'directed' if edges.directed else 'undirected'}"
    yield "Loops", "allowed" if edges.loops else "not allowed"
    yield "Edge model", EDGE_MODELS[edges.kind]
    if isinstance(fit, NestedFit):
        yield "Levels", ", ".join(f"{level.n_clusters:,} clusters" for level in fit.levels)
    yield (
        "Blocks",
        "affiliation: one parameter inside clusters, one between" if edges.affiliation else _block_priors(fit),
    )
    if edges.degree_corrected:
        exact = "" if edges.loops else "; without loops the ICL is an approximation"
        yield "Degree correction", f"yes{exact}"
    if fit.graph.missing.nnz:
        yield "Missing dyads", f"{fit.graph.missing.nnz:,}"


def _block_priors(fit: BlockFit) -> str:
    nested = isinstance(fit, NestedFit)
    return "free, with priors whose means are shared by groups of clusters" if nested else "free"


def _clusters(fit: BlockFit) -> Table:
    table = fit.blocks()
    rows = []
    for k, names in enumerate(fit.names_by_cluster()):
        shown = ", ".join(map(str, names[:NAMES_SHOWN])) + (", …" if len(names) > NAMES_SHOWN else "")
        rows.append((k, len(names), float(table.mean[k, k]), shown))
    parameter = "Rate within" if fit.edges.counts else "Probability within"
    columns = (
        Column("Cluster", "cluster"),
        Column("Nodes", "number"),
        Column(parameter, "rate"),
        Column("First nodes", "text"),
    )
    return Table("clusters", "Clusters", columns, rows)


def _blocks(fit: BlockFit) -> Table:
    n, directed = fit.n_clusters, fit.edges.directed
    pairs = [(k, m) for k in range(n) for m in range(0 if directed else k, n)]
    return blocks_table(fit.blocks(), pairs, ("From", "To", "Edges", "Dyads"), counts=fit.edges.counts)


def _matrix_words(fit: BlockFit) -> str:
    n = len(fit.labels)
    cell = "one dyad" if n <= PIXELS else f"the mean over about {round(n / PIXELS)} × {round(n / PIXELS)} dyads"
    return f"Rows and columns sorted by cluster; each cell is {cell}, with a stronger shade for more edges."


def _agreement(fit: BlockFit) -> str:
    nested = " This is about the flat search that the levels were refined from." if isinstance(fit, NestedFit) else ""
    return f"{agreement_sentence(fit)}{nested}"


def _levels(fit: BlockFit) -> dict[str, Any] | None:
    """The levels of a nested model, and the groups of every cluster; None for a flat one."""
    if not isinstance(fit, NestedFit):
        return None
    rows = []
    for at, level in enumerate(fit.levels):
        sizes = np.bincount(level.labels)
        rows.append((at, level.n_clusters, int(sizes.min()), int(sizes.max()), level.icl))
    columns = (
        Column("Level", "number"),
        Column("Clusters", "number"),
        Column("Smallest", "number"),
        Column("Largest", "number"),
        Column("ICL", "log", "If the levels below were left out"),
    )
    first = np.unique(fit.labels, return_index=True)[1]
    members = [tuple(int(level.labels[i]) for level in fit.levels) for i in first]
    names = tuple(Column("Cluster" if at == 0 else f"Group, level {at}", "cluster") for at in range(len(fit.levels)))
    return {
        "table": Table("levels", "Levels from fine to coarse", columns, rows),
        "groups": Table("groups", "The groups of each cluster", names, members),
    }


def _nodes(fit: BlockFit, labels_file: str | None) -> Table:
    listed = fit.order[:NODES_LISTED]
    rows = [(str(fit.graph.names[i]), int(fit.labels[i])) for i in listed]
    left_out = "" if len(listed) == len(fit.labels) else f"The first {NODES_LISTED:,} of {len(fit.labels):,} nodes. "
    where = f"All labels are in {labels_file}." if labels_file else ""
    return Table(
        "nodes",
        "Nodes",
        (Column("Node", "text"), Column("Cluster", "cluster")),
        rows,
        note=f"{left_out}{where}".strip(),
        search=True,
    )


def _drawing(fit: BlockFit) -> dict[str, Any] | None:
    """Places and links of the nodes of a small network, in a square of side 1; None if it is large."""
    n = len(fit.labels)
    if n > LARGEST_DRAWN:
        return None
    try:
        import networkx as nx
    except ImportError:
        return None
    graph = nx.from_scipy_sparse_array(fit.graph.adjacency)
    layout = nx.spring_layout(graph, seed=1, k=2 / np.sqrt(n))
    place = np.array([layout[i] for i in range(n)])
    low, high = place.min(axis=0), place.max(axis=0)
    place = (place - low) / np.where(high > low, high - low, 1.0)
    return {
        "x": place[:, 0].round(4).tolist(),
        "y": place[:, 1].round(4).tolist(),
        "links": [(i, j) for i, j in graph.edges() if i != j],
        "labels": fit.labels.tolist(),
        "names": [str(name) for name in fit.graph.names],
        "colors": shades(),
    }
