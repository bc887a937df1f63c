"""Figures of ensembles: how clearly pairs are together by number of clusters, and a tree of clusterings."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._support.arrays import Floats, Labels
from partita.partitions.checks import check_partition, check_same_items
from partita.partitions.labels import overlaps
from partita.plots.canvas import QUIET, cluster_color, hide_frame, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from partita.ensembles.ambiguity import Ambiguity

#: Lines of the tree for smaller shares of both clusters are left out.
LEAST_SHARE = 0.05


def consensus_cdf(found: Ambiguity, *, ax: Axes | None = None) -> Axes:
    """The distribution of co-association over pairs, one line per number of clusters.

    A flat middle section means that pairs are clearly together or apart.

    Parameters
    ----------
    found : Ambiguity
        The result of `ensembles.ambiguity`.
    ax : matplotlib Axes, optional
        Where to draw; by default new axes.

    Examples
    --------
    >>> import partita as pt
    >>> runs = {2: [[0, 0], [0, 0], [1, 1]], 3: [[0, 0], [1, 1], [2, 2]]}
    >>> ax = consensus_cdf(pt.ensembles.ambiguity(runs))
    >>> ax.get_xlabel()
    'share of runs in which two items are together'
    """
    if not hasattr(found, "cdf"):
        raise TypeError(f"found must be the result of ensembles.ambiguity, not {type(found).__name__}")
    ax = new_axes(ax, (6, 3.8))
    for at, (k, pac, line) in enumerate(zip(found.k.tolist(), found.pac.tolist(), found.cdf, strict=True)):
        own = k == found.best
        ax.plot(
            found.grid,
            line,
            color=cluster_color(at),
            linewidth=2.4 if own else 1.3,
            linestyle="-" if at < 7 else "--",
            label=f"{k} clusters, PAC {pac:.3f}{' (least)' if own else ''}",
        )
    ax.axvspan(*found.limits, color=QUIET, alpha=0.12, linewidth=0)
    ax.set(xlabel="share of runs in which two items are together", ylabel="share of pairs", xlim=(0, 1), ylim=(0, 1.01))
    ax.legend(frameon=False, fontsize="small", loc="lower right")
    hide_frame(ax, "top", "right")
    return ax


def clustering_tree(clusterings: Mapping[Any, Any], *, ax: Axes | None = None) -> Axes:
    """Clusterings of the same items below each other, with lines where the items of a cluster go.

    Each circle is a cluster, its area the number of items; the width of a line is the share of the lower cluster that
    comes from the upper one. A cluster with several thick lines from above mixes items that a coarser clustering
    separates.

    Parameters
    ----------
    clusterings : dict of (n,) array_like
        Labels by name, from the coarsest clustering, drawn at the top, to the finest; items with the label −1 are left
        out.
    ax : matplotlib Axes, optional
        Where to draw; by default new axes.

    Examples
    --------
    >>> ax = clustering_tree({"k = 1": [0, 0, 0, 0], "k = 2": [0, 0, 1, 1], "k = 3": [0, 0, 1, 2]})
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['k = 1', 'k = 2', 'k = 3']
    """
    levels, places, lines = tree_of(clusterings)
    ax = new_axes(ax, (7, 0.9 * len(levels) + 1.2))
    for row, above, below, share in lines:
        ax.plot(
            [above, below],
            [-row, -row - 1],
            color=QUIET,
            linewidth=0.6 + 3.5 * share,
            alpha=0.25 + 0.6 * share,
            zorder=1,
        )
    for row, (labels, x) in enumerate(zip(levels, places, strict=True)):
        sizes = np.bincount(labels[labels >= 0])
        colors = [cluster_color(k) for k in range(len(sizes))]
        ax.scatter(x, np.full(len(x), -row), s=20 + 700 * sizes / max(1, sizes.sum()), c=colors, zorder=3)
        for k, place in enumerate(x):
            ax.annotate(str(k), (place, -row), ha="center", va="center", fontsize=7, zorder=4)
    ax.set_yticks(-np.arange(len(levels)), [str(name) for name in clusterings])
    ax.set_xticks([])
    ax.tick_params(axis="y", length=0)
    hide_frame(ax, "top", "right", "bottom", "left")
    return ax


def tree_of(clusterings: Mapping[Any, Any]) -> tuple[list[Labels], list[Floats], list[tuple[int, float, float, float]]]:
    """The labels of each clustering, where its clusters are (0 to 1), and lines: row, upper and lower place, share.

    The share is that of the lower cluster that comes from the upper one; lines of small shares are left out.
    """
    if len(clusterings) < 2:
        raise ValueError("a tree needs at least two clusterings")
    levels = [_labels(labels, str(name)) for name, labels in clusterings.items()]
    for name, labels in zip(clusterings, levels, strict=True):
        check_same_items(levels[0], labels, "the first clustering", str(name))
    places, lines = [_spaced(np.arange(levels[0].max() + 1, dtype=np.float64))], []
    for row, (upper, lower) in enumerate(pairwise(levels)):
        both = (upper >= 0) & (lower >= 0)
        sizes = np.maximum(np.bincount(lower[both], minlength=lower.max() + 1), 1)
        cells = overlaps(upper[both], lower[both]) if both.any() else [np.empty(0, np.intp)] * 3
        above = places[row]
        below = _spaced(np.bincount(cells[1], cells[2] * above[cells[0]], minlength=lower.max() + 1) / sizes)
        places.append(below)
        for parent, child, count in zip(*cells, strict=True):
            if (share := count / sizes[child]) >= LEAST_SHARE:
                lines.append((row, float(above[parent]), float(below[child]), float(share)))
    return levels, places, lines


def _labels(labels: Any, name: str) -> Labels:
    values = np.asarray(labels)
    if values.dtype.kind not in "iu" or values.ndim != 1 or not (values < 0).any():
        return check_partition(labels, name)
    found = np.full(len(values), -1, dtype=np.int64)
    if (values >= 0).any():
        found[values >= 0] = check_partition(values[values >= 0], name)
    return found


def _spaced(wanted: Floats) -> Floats:
    """Places from 0 to 1 in the order of the wanted ones, evenly spaced."""
    order = np.argsort(wanted, kind="stable")
    places = np.empty(len(wanted))
    places[order] = (np.arange(len(wanted)) + 0.5) / len(wanted)
    return places
