"""Trees and lattices: a hierarchy with the support of its nodes, the merges of an estimate, and the Hasse diagram."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._support.arrays import Floats, Labels
from partita._support.tolerance import TIE
from partita.estimation.result import Estimate
from partita.losses.base import Loss
from partita.losses.expected import partition_loss
from partita.losses.losses import as_loss
from partita.partitions.checks import check_partition
from partita.partitions.labels import labels_to_clusters
from partita.partitions.lattice import covers, enumerate_partitions
from partita.plots.canvas import (
    HIGHLIGHT,
    QUIET,
    SEQUENTIAL,
    cluster_color,
    cluster_marker,
    hide_frame,
    new_axes,
    whole_numbers,
)
from partita.uncertainty.merges import MergeTree, merge_tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from partita.uncertainty.hierarchy import Hierarchy


#: With more nodes or clusters the numbers on the branches and leaves are left out.
LABELLED_UP_TO = 60


def hierarchy(tree: Hierarchy, *, ax: Axes | None = None) -> Axes:
    """The tree from the finest clusters at the bottom to the coarsest at the top; the dashed line is the estimate.

    A number on a branch is the support of the node below it, and a darker and thicker branch has more of it. Below each
    leaf is the number of its items.

    Parameters
    ----------
    tree : Hierarchy
        The result of `hierarchy`.
    ax : matplotlib Axes, optional
        Where to draw; by default new axes.

    Examples
    --------
    >>> import partita as pt
    >>> tree = pt.hierarchy([[0, 0, 1, 1]] * 3 + [[0, 0, 1, 2]] * 2, rng=1)
    >>> [text.get_text() for text in hierarchy(tree).texts]
    ['1.00', '1.00', '1.00']
    """
    leaves = int(tree.levels[0].max()) + 1
    ax = new_axes(ax, (max(4.5, 0.42 * leaves), 4.2))
    across, order = node_places(tree)
    for node, parent in enumerate(tree.parents.tolist()):
        _draw_branch(ax, tree, across, node, parent)
    for node in np.unique(tree.parents[tree.parents >= 0]):
        below = across[tree.parents == node]
        ax.plot([below.min(), below.max()], [tree.first_level[node]] * 2, color=QUIET, linewidth=1.2, zorder=1)
    ax.axhline(tree.estimate_level, color=HIGHLIGHT, linestyle="--", linewidth=1, zorder=0)
    sizes = tree.members.sum(axis=1)
    ax.set_xticks(np.arange(leaves), [str(sizes[node]) for node in order])
    ax.set_yticks(np.arange(len(tree.levels)), [str(k) for k in tree.n_clusters])
    ax.set(xlabel="items of the finest clusters", ylabel="number of clusters", xlim=(-0.6, leaves - 0.4))
    if len(tree.levels) > 25:
        whole_numbers(ax.yaxis)
        ax.set_ylabel("level")
    hide_frame(ax, "top", "right", "bottom")
    ax.tick_params(axis="x", length=0)
    return ax


def node_places(tree: Hierarchy) -> tuple[NDArray[np.float64], list[int]]:
    """Where each node is from left to right, parents above the middle of their parts, and the leaves in this order."""
    leaves = int(tree.levels[0].max()) + 1
    children: dict[int, list[int]] = {}
    for node, parent in enumerate(tree.parents.tolist()):
        children.setdefault(parent, []).append(node)
    order: list[int] = []
    open_nodes = children[-1][::-1]
    while open_nodes:
        node = open_nodes.pop()
        if node < leaves:
            order.append(node)
        open_nodes += children.get(node, [])[::-1]
    across = np.empty(len(tree.parents))
    across[order] = np.arange(leaves)
    for node in range(leaves, len(tree.parents)):
        across[node] = np.mean(across[children[node]])
    return across, order


def _draw_branch(ax: Axes, tree: Hierarchy, across: NDArray[np.float64], node: int, parent: int) -> None:
    from matplotlib import colormaps

    low = tree.first_level[node]
    high = tree.first_level[parent] if parent >= 0 else len(tree.levels) - 0.5
    share = float(tree.support.transfer[node])
    known = not np.isnan(share)
    color = colormaps[SEQUENTIAL](0.3 + 0.7 * share) if known else QUIET
    ax.plot([across[node]] * 2, [low, high], color=color, linewidth=1 + 2.5 * share if known else 1, zorder=2)
    if known and len(tree.parents) <= LABELLED_UP_TO:
        ax.annotate(f"{share:.2f}", (across[node], (low + high) / 2), fontsize=7, ha="center", va="center",
                    bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6}, zorder=3)  # fmt: skip


def dendrogram(tree: Estimate | MergeTree, *, ax: Axes | None = None) -> Axes:
    """The merges of least loss, from the clusters of an estimate at the bottom up to one cluster.

    The height of a merge is the rise of the expected loss: clusters that merge low are hardly different.

    Parameters
    ----------
    tree : Estimate or MergeTree
        An estimate with at least two clusters, or the result of `merge_tree`. The leaves of an estimate have the
        colours of its clusters.
    ax : matplotlib Axes, optional
        Where to draw; by default new axes.

    Examples
    --------
    >>> import partita as pt
    >>> ax = dendrogram(pt.estimate([[0, 0, 1, 2], [0, 0, 1, 2], [0, 0, 1, 1]], rng=1))
    >>> [leaf.get_text() for leaf in ax.get_xticklabels()]
    ['0', '1', '2']
    """
    merges = merge_tree(tree) if isinstance(tree, Estimate) else tree
    if not isinstance(merges, MergeTree):
        raise TypeError(f"tree must be an Estimate or the result of merge_tree, not {type(tree).__name__}")
    if not len(merges.pairs):
        raise ValueError("a single cluster has no merges to draw")
    ax = new_axes(ax, (6, 3.6))
    leaves, bars = _places(merges.linkage())
    for x, heights in bars:
        ax.plot(x, heights, color=QUIET, linewidth=1.6, solid_joinstyle="miter")
    _name_leaves(ax, leaves)
    ax.set(xlabel="cluster", ylabel="rise of the expected loss", ylim=(0, None))
    hide_frame(ax, "top", "right", "bottom")
    return ax


def _places(linkage: NDArray[np.float64]) -> tuple[list[int], list[tuple[list[float], list[float]]]]:
    """The clusters from left to right, and the corners of the bracket of each merge."""
    from scipy.cluster.hierarchy import dendrogram as scipy_dendrogram

    drawn = scipy_dendrogram(linkage, no_plot=True)
    bars = [([(x - 5) / 10 for x in across], up) for across, up in zip(drawn["icoord"], drawn["dcoord"], strict=True)]
    return drawn["leaves"], bars


def _name_leaves(ax: Axes, leaves: list[int]) -> None:
    places = np.arange(len(leaves))
    for place, k in enumerate(leaves):
        ax.scatter(place, 0, color=cluster_color(k), marker=cluster_marker(k), zorder=3, clip_on=False)
    ax.set_xlim(-0.6, len(leaves) - 0.4)
    if len(leaves) <= LABELLED_UP_TO:
        ax.set_xticks(places, [str(k) for k in leaves])
    else:
        ax.set_xticks([])
    ax.tick_params(axis="x", length=0, pad=8)


LARGEST_LATTICE = 5
SWEEPS = 8


def hasse(
    n: int,
    *,
    stretch: str | Loss | None = None,
    center: ArrayLike | None = None,
    radius: float | None = None,
    loss: str | Loss | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Hasse diagram of the partitions of n items: a line joins each partition with those that it covers.

    Parameters
    ----------
    n : int
        Number of items, at most 5.
    stretch : str or Loss, optional
        The height is the distance under this loss from the partition with one cluster; by default it is the number
        of clusters.
    center : (n,) array_like, optional
        Colour the partitions by their distance from this one.
    radius : float, optional
        Colour only the ball of this radius.
    loss : str or Loss, optional
        The distance shown by the colours; by default that of `stretch`, or VI without it.
    ax : matplotlib Axes, optional
        Where to draw; by default new axes.

    Examples
    --------
    >>> ax = hasse(4, stretch="vi", center=[0, 0, 1, 1], radius=1.0)
    >>> len(ax.texts)
    15

    References
    ----------
    Wade & Ghahramani (2018), Figures 1 to 5.
    """
    if not 1 <= n <= LARGEST_LATTICE:
        raise ValueError(f"n must be between 1 and {LARGEST_LATTICE} for a readable diagram, but it is {n}")
    partitions = list(enumerate_partitions(n))
    edges = [(i, j) for i, x in enumerate(partitions) for j, y in enumerate(partitions) if covers(x, y)]
    height = _heights(partitions, stretch)
    place = _level_places(partitions, edges)
    ax = new_axes(ax, (7, 5) if n < LARGEST_LATTICE else (15, 7))
    for i, j in edges:
        ax.plot(place[[i, j]], height[[i, j]], color=QUIET, linewidth=0.6, zorder=1)
    fill = _fills(partitions, center, radius, as_loss(loss or stretch or "vi"))
    for partition, x, y, color in zip(partitions, place, height, fill, strict=True):
        _draw_node(ax, partition, x, y, color)
    ax.set_xlim(place.min() - 0.7, place.max() + 0.7)
    ax.margins(y=0.08)
    ax.set_xticks([])
    if stretch is None:
        ax.set_axis_off()
    else:
        ax.set_ylabel(f"{as_loss(stretch)} from the partition with one cluster")
        ax.yaxis.set_major_formatter(lambda value, _: f"{abs(value):g}")
        hide_frame(ax, "top", "right", "bottom")
    return ax


def _heights(partitions: list[Labels], stretch: str | Loss | None) -> Floats:
    if stretch is None:
        return np.array([-float(p.max()) for p in partitions])
    return np.array([-partition_loss(partitions[0], p, stretch) for p in partitions])


def _level_places(partitions: list[Labels], edges: list[tuple[int, int]]) -> Floats:
    """Evenly spaced positions on each level, repeatedly ordered by the mean position of their neighbours."""
    level = np.array([p.max() for p in partitions])
    neighbours: list[list[int]] = [[] for _ in partitions]
    for i, j in edges:
        neighbours[i].append(j)
        neighbours[j].append(i)
    width = np.bincount(level).max()
    place = np.arange(len(partitions), dtype=np.float64)
    for _ in range(SWEEPS):
        for k in range(level.max() + 1):
            own = np.flatnonzero(level == k)
            mean = [place[neighbours[i]].mean() if neighbours[i] else place[i] for i in own]
            ranked = own[np.argsort(mean, kind="stable")]
            place[ranked] = (np.arange(own.size) + 0.5) * width / own.size
    return place


def _fills(partitions: list[Labels], center: ArrayLike | None, radius: float | None, loss: Loss) -> list[str]:
    if center is None:
        return ["white"] * len(partitions)
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    middle = check_partition(center, "center")
    distance = np.array([partition_loss(p, middle, loss) for p in partitions])
    steps = np.unique(distance.round(9))
    shade = np.searchsorted(steps, distance.round(9)) / max(steps.size - 1, 1)
    inside = distance <= (np.inf if radius is None else radius + TIE)
    colors = colormaps["plasma"](0.25 + 0.75 * shade)
    return [to_hex(color) if ball else "white" for color, ball in zip(colors, inside, strict=True)]


def _draw_node(ax: Axes, partition: Labels, x: float, y: float, fill: str) -> None:
    text = "|".join("".join(str(i + 1) for i in cluster) for cluster in labels_to_clusters(partition))
    size = 9 if partition.size < LARGEST_LATTICE else 6
    box = {"boxstyle": "round,pad=0.25", "facecolor": fill, "edgecolor": "#777777", "linewidth": 0.7}
    ax.text(x, y, text, ha="center", va="center", fontsize=size, color=_ink(fill), bbox=box, zorder=2)


def _ink(fill: str) -> str:
    from matplotlib.colors import to_rgb

    red, green, blue = to_rgb(fill)
    return "black" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else "white"
