"""Matrices over pairs of items (similarity, agreement of two partitions, adjacency), their order, and networks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._support.names import PartitionLike, as_named, names_or_none, row_names
from partita._support.optional import optional
from partita._support.tolerance import TIE
from partita.estimation.result import Estimate
from partita.pairs.similarity import linkage_tree, similarity
from partita.partitions.checks import check_partition_of, check_partitions, check_placed_of
from partita.plots.canvas import COLORS, HIGHLIGHT, QUIET, SEQUENTIAL, cluster_color, cluster_marker, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


Order = NDArray[np.int64]
Floats = NDArray[np.floating[Any]]


def display_order(labels: ArrayLike, psm: ArrayLike) -> Order:
    """Items ordered by cluster, and within a cluster by optimal leaf ordering, so that neighbours are similar.

    The clusters are ordered in the same way: clusters whose items are often together are adjacent.

    Parameters
    ----------
    labels : (n,) array_like
        The clusters.
    psm : (n, n) array_like
        Similarities between 0 and 1; NaN, for items that no draw labels together, counts as 0.

    Returns
    -------
    (n,) integer array
        The items in display order.

    Examples
    --------
    >>> psm = np.array([[1, 0, .9, 0], [0, 1, 0, .9], [.9, 0, 1, 0], [0, .9, 0, 1]])
    >>> display_order([0, 1, 0, 1], psm).tolist()
    [0, 2, 1, 3]
    """
    matrix = np.nan_to_num(check_psm(psm))
    clusters = labels_of_rows(labels, psm)
    members = [np.flatnonzero(clusters == k) for k in range(clusters.max() + 1)]
    between = np.array([matrix[rows].mean(axis=0) for rows in members])
    between = np.array([[between[k, rows].mean() for rows in members] for k in range(len(members))])
    ordered = [members[k][leaf_order(matrix[np.ix_(members[k], members[k])])] for k in leaf_order(between)]
    return np.concatenate(ordered)


def leaf_order(similarity: Floats) -> Order:
    """Optimal leaf ordering of an average-linkage tree; the end with the smaller index comes first."""
    from scipy.cluster.hierarchy import leaves_list

    n = len(similarity)
    if n < 3:
        return np.arange(n)
    order: Order = leaves_list(linkage_tree(np.clip(np.nan_to_num(similarity), 0, 1), ordered=True))
    return order if order[0] < order[-1] else order[::-1]


def labels_of_rows(labels: PartitionLike, psm: ArrayLike) -> NDArray[np.int64]:
    """Canonical labels of the rows of a similarity matrix, matched by name if both have names."""
    names, given, rows = row_names(psm), as_named(labels, "labels"), np.shape(psm)[0]
    if len(given.values) != rows and (names is None or given.names is None):
        raise ValueError(f"psm has {rows} rows but labels has {len(given.values)} items")
    return check_partition_of(labels, names, rows, "labels", "psm")


def check_psm(psm: ArrayLike) -> Floats:
    """A square matrix of numbers between 0 and 1, or NaN if unknown."""
    matrix: Floats = np.asarray(psm, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"psm must be a square matrix, but its shape is {matrix.shape}")
    bad = np.argwhere((matrix < -TIE) | (matrix > 1 + TIE))
    if bad.size:
        i, j = bad[0]
        raise ValueError(f"psm[{i}, {j}] is {matrix[i, j]}: similarities must lie between 0 and 1")
    return matrix


APART, TOGETHER, ONLY_TRUTH, ONLY_ESTIMATE = range(4)
AGREEMENT = {
    APART: ("#FFFFFF", "apart in both"),
    TOGETHER: (COLORS[6], "together in both"),
    ONLY_TRUTH: (COLORS[4], "together in the truth only"),
    ONLY_ESTIMATE: (COLORS[0], "together in the estimate only"),
}
PIXELS = 1000
NUMBERED_SHARE = 0.03


def similarity_map(
    psm: ArrayLike | Estimate,
    labels: PartitionLike | None = None,
    *,
    colorbar: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Heat map of the posterior similarity matrix, ordered by cluster and within it, with cluster borders.

    Parameters
    ----------
    psm : Estimate, or (n, n) array_like
        An estimate, whose draws give the matrix, or a posterior similarity matrix as returned by `similarity`. Items
        of the estimate that are in no cluster (-1) are left out.
    labels : Estimate or (n,) array_like, optional
        The clusters; by default those of the estimate, or one cluster of all items.
    colorbar : bool
        Whether to add a colour bar.
    ax : matplotlib Axes, optional
        Where to draw; by default new axes.

    Returns
    -------
    Axes

    Examples
    --------
    >>> ax = similarity_map([[1, .9, 0], [.9, 1, .1], [0, .1, 1]], [0, 0, 1])
    >>> ax.images[0].get_array().shape
    (3, 3)
    """
    matrix, clusters = _matrix_and_clusters(psm, labels)
    order = display_order(clusters, matrix)
    ax = new_axes(ax, (5.6, 4.8))
    image = ax.imshow(matrix[np.ix_(order, order)], cmap=SEQUENTIAL, vmin=0, vmax=1, rasterized=True)
    if colorbar:
        ax.figure.colorbar(image, ax=ax, label="probability of being together", shrink=0.85)
    _mark_clusters(ax, clusters[order])
    ax.set_xlabel("items, by cluster")
    return ax


def _matrix_and_clusters(
    psm: ArrayLike | Estimate, labels: PartitionLike | None
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    if isinstance(psm, Estimate):
        given = psm if labels is None else labels
        placed = psm.labels >= 0
        clusters = check_placed_of(given, psm.sample.names, placed.size, "labels", ~placed, "the estimate")
        return similarity(psm.sample)[np.ix_(placed, placed)], clusters[placed]
    matrix = check_psm(psm)
    return matrix, labels_of_rows(np.zeros(len(matrix), int) if labels is None else labels, psm)


def comparison_map(
    truth: PartitionLike, estimate: PartitionLike, *, order: ArrayLike | None = None, ax: Axes | None = None
) -> Axes:
    """Which pairs of items are together in two partitions: in both, in neither, in only one of them.

    Parameters
    ----------
    truth, estimate : Estimate or (n,) array_like
        The two partitions.
    order : (n,) array_like, optional
        Order of the items; by default by the truth, then by the estimate.
    ax : matplotlib Axes, optional
        Where to draw; by default new axes.

    Examples
    --------
    >>> ax = comparison_map([0, 0, 1], [0, 1, 1])
    >>> ax.images[0].get_array().tolist()
    [[1, 2, 0], [2, 1, 3], [0, 3, 1]]

    References
    ----------
    Wade & Ghahramani (2018), Figures 11, 12, 15 and 16.
    """
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    x, y = check_partitions(truth, estimate, "truth", "estimate")
    shown = np.lexsort((y, x)) if order is None else np.asarray(order)
    own_figure = ax is None
    ax = new_axes(ax, (5, 5.4))
    colors = ListedColormap([color for color, _ in AGREEMENT.values()])
    ax.imshow(_agreement(x[shown], y[shown]), cmap=colors, vmin=0, vmax=3, rasterized=True)
    keys = [Patch(facecolor=color, edgecolor="#888888", label=name) for color, name in AGREEMENT.values()]
    if own_figure:  # its layout makes room for the legend
        ax.figure.legend(handles=keys, loc="outside lower center", ncols=2, frameon=False)
    else:
        ax.legend(handles=keys, loc="upper center", bbox_to_anchor=(0.5, -0.02), ncols=2, frameon=False)
    ax.set(xticks=[], yticks=[])
    return ax


def _agreement(x: NDArray[np.int64], y: NDArray[np.int64]) -> NDArray[np.int8]:
    in_truth = x[:, None] == x[None, :]
    in_estimate = y[:, None] == y[None, :]
    codes = np.where(in_truth, ONLY_TRUTH, ONLY_ESTIMATE).astype(np.int8)
    codes[in_truth & in_estimate] = TOGETHER
    codes[~in_truth & ~in_estimate] = APART
    return codes


def adjacency_map(matrix: Any, labels: PartitionLike, *, ax: Axes | None = None) -> Axes:
    """Adjacency matrix with rows and columns sorted by cluster, and lines between the clusters.

    Parameters
    ----------
    matrix : (n, n) array or SciPy sparse matrix
        Nonzero entries are edges. Beyond 1,000 nodes a pixel shows the share of edges in a block.
    labels : (n,) array_like
        Labels of a partition.
    ax : matplotlib Axes, optional
        Where to draw; by default new axes.

    Examples
    --------
    >>> ax = adjacency_map([[0, 1, 0], [1, 0, 0], [0, 0, 0]], [0, 0, 1])
    >>> int(ax.images[0].get_array().sum())
    2

    References
    ----------
    Côme & Latouche (2015), Figure 4.
    """
    from scipy.sparse import coo_array

    edges = coo_array(matrix)
    if edges.shape[0] != edges.shape[1]:
        raise ValueError(f"matrix must be square, but its shape is {edges.shape}")
    clusters = check_partition_of(labels, row_names(matrix), edges.shape[0], "labels", "matrix")
    order = np.argsort(clusters, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    n, present = clusters.size, edges.data != 0
    rows, columns = place[edges.row[present]], place[edges.col[present]]
    pixels = min(n, PIXELS)
    counts = np.histogram2d(rows, columns, bins=pixels, range=[[0, n], [0, n]])[0]
    share = counts / (n / pixels) ** 2
    ax = new_axes(ax, (5, 5))
    extent = (-0.5, n - 0.5, n - 0.5, -0.5)
    top = np.quantile(share[share > 0], 0.95) if share.any() else 1
    ax.imshow(share, cmap="Greys", vmin=0, vmax=top, extent=extent, rasterized=True)
    _mark_clusters(ax, clusters[order], full=True)
    return ax


def _mark_clusters(ax: Axes, sorted_labels: NDArray[np.int64], *, full: bool = False) -> None:
    """Borders of runs of equal labels: boxes on the diagonal or lines across, with numbers for large clusters."""
    from matplotlib.patches import Rectangle

    edges = np.flatnonzero(np.diff(sorted_labels)) + 1
    starts = np.concatenate([[0], edges])
    stops = np.concatenate([edges, [sorted_labels.size]])
    width = 1.2 if len(starts) <= 15 else 0.7
    if full:
        for edge in edges - 0.5:
            ax.axhline(edge, color=HIGHLIGHT, linewidth=width / 1.5)
            ax.axvline(edge, color=HIGHLIGHT, linewidth=width / 1.5)
    else:
        for start, stop in zip(starts, stops, strict=True):
            side = stop - start
            ax.add_patch(Rectangle((start - 0.5, start - 0.5), side, side, fill=False, color=HIGHLIGHT, lw=width))
    large = (stops - starts) >= NUMBERED_SHARE * sorted_labels.size
    middles = ((starts + stops - 1) / 2)[large]
    ax.set_yticks(middles, [str(k) for k in sorted_labels[starts[large]]])
    ax.set_xticks([])
    ax.tick_params(length=0)
    ax.set_ylabel("cluster")


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
