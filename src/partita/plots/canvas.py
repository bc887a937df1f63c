"""Axes to draw on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partita._support.optional import optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis


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
