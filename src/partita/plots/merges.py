"""The merges of an estimate's clusters as a dendrogram."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from partita.estimation.result import Estimate
from partita.plots.canvas import hide_frame, new_axes
from partita.plots.palette import QUIET, cluster_color, cluster_marker
from partita.uncertainty.merges import MergeTree, merge_tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: With more clusters the labels of the leaves are left out.
LABELLED_UP_TO = 60


def dendrogram(tree: Estimate | MergeTree, *, ax: Axes | None = None) -> Axes:
    """The merges of least loss, from the clusters of an estimate at the bottom up to one cluster.

    The height of a merge is the rise of the expected loss: clusters that merge low are hardly worth telling apart.

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
