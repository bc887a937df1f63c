"""Axes to draw on, and colours and markers of clusters: seven colours after Okabe & Ito, with further markers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partita._support.optional import optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#5B5B5B")
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "*")
HIGHLIGHT = COLORS[1]
QUIET = "#B8BEC6"
SEQUENTIAL = "Blues"


def cluster_color(k: int) -> str:
    """The colour of cluster k; -1, an item without a cluster, is grey.

    >>> cluster_color(0) == cluster_color(7), cluster_marker(0) == cluster_marker(7)
    (True, False)
    """
    return QUIET if k < 0 else COLORS[k % len(COLORS)]


def cluster_marker(k: int) -> str:
    """The marker of cluster k; with the colour it is unique for the first 56 clusters.

    >>> len({(cluster_color(k), cluster_marker(k)) for k in range(56)})
    56
    """
    return "x" if k < 0 else MARKERS[k // len(COLORS) % len(MARKERS)]


def new_axes(ax: Axes | None, figsize: tuple[float, float]) -> Axes:
    """`ax` itself, or the axes of a new figure."""
    if ax is not None:
        return ax
    pyplot = optional("matplotlib.pyplot", "figures need matplotlib", "plot")
    axes: Axes = pyplot.figure(figsize=figsize, layout="constrained").add_subplot()
    return axes


def whole_numbers(axis: Axis) -> None:
    """Puts ticks at whole numbers only."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True))


def hide_frame(ax: Axes, *sides: str) -> None:
    """Removes the given sides of the frame."""
    for side in sides:
        ax.spines[side].set_visible(False)
