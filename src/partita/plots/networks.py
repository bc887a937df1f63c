"""A network drawn with its clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._support.names import PartitionLike, names_or_none
from partita._support.optional import optional
from partita.partitions.checks import check_partition_of
from partita.plots.canvas import QUIET, cluster_color, cluster_marker, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEGEND_UP_TO = 20
SMALL = 5  # components with fewer nodes stand below the others
NODES_PER_ROW = 20


def network(graph: Any, labels: PartitionLike, *, positions: Any = None, ax: Axes | None = None) -> Axes:
    """A network in a spring layout, with nodes in the colour and marker of their cluster.

    Parameters
    ----------
    graph : networkx graph, (n, n) array or SciPy sparse matrix
        Nonzero entries of a matrix are edges.
    labels : Estimate or (n,) array_like
        Clusters in the order of the nodes.
    positions : (n, 2) array_like, optional
        Positions of the nodes; by default a spring layout, which is the same for every call.
    ax : matplotlib Axes, optional
        Where to draw; by default new axes.

    Examples
    --------
    >>> ax = network([[0, 1, 0], [1, 0, 0], [0, 0, 0]], [0, 0, 1])
    >>> len(ax.collections)
    3

    References
    ----------
    Rastelli & Friel (2018), Figure 6.
    """
    from matplotlib.collections import LineCollection

    nodes = _as_networkx(graph)
    clusters = check_partition_of(labels, names_or_none(list(nodes)), len(nodes), "labels", "graph")
    place = _layout(nodes) if positions is None else np.asarray(positions, dtype=np.float64)
    index = {node: i for i, node in enumerate(nodes)}
    segments = [place[[index[u], index[v]]] for u, v in nodes.edges()]
    ax = new_axes(ax, (6, 5.4))
    faint = float(np.clip(300 / max(len(segments), 1), 0.12, 0.7))
    ax.add_collection(LineCollection(segments, colors=QUIET, linewidths=0.6, alpha=faint, zorder=1))
    size = float(np.clip(6000 / clusters.size, 12, 90))
    for k in range(clusters.max() + 1):
        x, y = place[clusters == k].T
        ax.scatter(
            x,
            y,
            s=size,
            label=str(k),
            zorder=2,
            color=cluster_color(k),
            marker=cluster_marker(k),
            edgecolors="white",
            linewidths=0.5,
        )
    if clusters.max() < LEGEND_UP_TO:
        ax.legend(title="cluster", loc="center left", bbox_to_anchor=(1, 0.5), frameon=False, fontsize=8)
    ax.autoscale_view()
    ax.set_axis_off()
    return ax


def _as_networkx(graph: Any) -> Any:
    networkx = optional("networkx", "drawing a network needs networkx", "graph")
    from scipy.sparse import coo_array

    if isinstance(graph, networkx.Graph):
        return graph
    edges = coo_array(graph)
    if edges.shape[0] != edges.shape[1]:
        raise ValueError(f"graph must be a square matrix, but its shape is {edges.shape}")
    present = edges.data != 0
    result = networkx.Graph()
    result.add_nodes_from(range(edges.shape[0]))
    result.add_edges_from(zip(edges.row[present].tolist(), edges.col[present].tolist(), strict=True))
    return result


def _layout(nodes: Any) -> Any:
    """Spring layout, with very small components in rows below, since the forces would drive them far away."""
    import networkx

    parts = list(networkx.connected_components(nodes.to_undirected()))
    apart = [node for part in parts if len(part) < SMALL for node in part]
    apart = [] if len(apart) == len(nodes) else apart
    core = nodes.subgraph(set(nodes) - set(apart))
    placed = networkx.spring_layout(core, k=2.5 / np.sqrt(max(len(core), 1)), iterations=100, seed=1)
    floor = min((place[1] for place in placed.values()), default=0.0)
    for index, node in enumerate(apart):
        row, column = divmod(index, NODES_PER_ROW)
        placed[node] = np.array([-1 + 2 * (column + 0.5) / NODES_PER_ROW, floor - 0.15 * (row + 1)])
    return np.array([placed[node] for node in nodes])
