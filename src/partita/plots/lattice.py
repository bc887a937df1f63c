"""The Hasse diagram of all partitions of a few items, optionally stretched by a loss and with a coloured ball."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from partita._support.arrays import Floats, Labels
from partita._support.tolerance import TIE
from partita.losses.base import Loss
from partita.losses.expected import partition_loss
from partita.losses.losses import as_loss
from partita.partitions.checks import check_partition
from partita.partitions.enumeration import enumerate_partitions
from partita.partitions.labels import labels_to_clusters
from partita.partitions.lattice import covers
from partita.plots.canvas import QUIET, hide_frame, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LARGEST = 5
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
    if not 1 <= n <= LARGEST:
        raise ValueError(f"n must be between 1 and {LARGEST} for a readable diagram, but it is {n}")
    partitions = list(enumerate_partitions(n))
    edges = [(i, j) for i, x in enumerate(partitions) for j, y in enumerate(partitions) if covers(x, y)]
    height = _heights(partitions, stretch)
    place = _places(partitions, edges)
    ax = new_axes(ax, (7, 5) if n < LARGEST else (15, 7))
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


def _places(partitions: list[Labels], edges: list[tuple[int, int]]) -> Floats:
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
    size = 9 if partition.size < LARGEST else 6
    box = {"boxstyle": "round,pad=0.25", "facecolor": fill, "edgecolor": "#777777", "linewidth": 0.7}
    ax.text(x, y, text, ha="center", va="center", fontsize=size, color=_ink(fill), bbox=box, zorder=2)


def _ink(fill: str) -> str:
    from matplotlib.colors import to_rgb

    red, green, blue = to_rgb(fill)
    return "black" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else "white"
