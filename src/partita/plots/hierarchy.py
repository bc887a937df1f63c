"""Trees of clusterings: a hierarchy with the support of its nodes on the branches, and the merges of an estimate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from partita.estimation.result import Estimate
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
