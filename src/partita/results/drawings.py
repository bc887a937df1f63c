"""Drawings of the page that need no script: lines, dots and words in units of pixels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from partita._support.arrays import Floats
from partita.plots.ensembles import tree_of
from partita.plots.hierarchy import node_places
from partita.results.colors import shades
from partita.uncertainty.hierarchy import Hierarchy
from partita.uncertainty.parameters import ClusterParameters

WIDTH, LEFT, RIGHT, TOP = 640, 60, 20, 30
CURVE_HEIGHT, POINTS_DRAWN, TIMES_SHOWN = 260, 400, 10
ROW_HEIGHT, INTERVALS_DRAWN = 22, 60
LEAF_WIDTH, LEVEL_HEIGHT, LEAVES_DRAWN, STEP_HEIGHT = 40, 28, 60, 74


def number(value: float, digits: int = 4) -> str:
    """A number in a drawing, with a minus sign."""
    return f"{value:.{digits}g}".replace("-", "−")


class Drawing:
    """Cells, lines (with a class of the style sheet and a width), dots, and words (with their anchor).

    On a narrow screen a drawing `fits`, with larger words, or is scrolled.
    """

    def __init__(self, width: float, height: float, *, fits: bool = True) -> None:
        self.width, self.height, self.fits = width, height, fits
        self.cells: list[tuple[float, float, float, float, str, float, str]] = []
        self.lines: list[tuple[str, str, float, str]] = []
        self.dots: list[tuple[float, float, str]] = []
        self.words: list[tuple[float, float, str, str]] = []

    def cell(
        self, x: float, y: float, width: float, height: float, told: str, fill: str = "", shade: float = 1.0
    ) -> None:
        """A rectangle, of a colour or of a shade of the accent colour, which tells what it is."""
        places = (round(float(value), 1) for value in (x, y, width, height))
        self.cells.append((*places, fill, round(shade, 3), told))  # type: ignore[arg-type]

    def line(self, xs: Any, ys: Any, kind: str, width: float = 1.0, colour: str = "") -> None:
        """A line through points, of the colour of its kind or one of its own."""
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(xs, ys, strict=True))
        self.lines.append((points, kind, round(width, 2), colour))

    def content(self) -> dict[str, Any]:
        """Plain values for the template."""
        return {name: getattr(self, name) for name in ("width", "height", "fits", "cells", "lines", "dots", "words")}


def curve_drawing(curve: Floats, n_items: int) -> dict[str, Any]:
    """Joint probability against the number of items."""
    drawing, bottom = Drawing(WIDTH, CURVE_HEIGHT + 40), float(CURVE_HEIGHT)
    most = max(2, n_items)

    def x(count: Any) -> Any:
        return LEFT + (count - 1) / (most - 1) * (WIDTH - LEFT - RIGHT)

    def y(share: Any) -> Any:
        return bottom - share * (bottom - TOP)

    for share in (0, 0.25, 0.5, 0.75, 1):
        drawing.line([LEFT, WIDTH - RIGHT], [y(share)] * 2, "base" if share == 0 else "grid")
        drawing.words.append((LEFT - 8, y(share) + 4, "end", f"{share:g}"))
    for count in sorted({1, *(int(k) for k in np.linspace(1, most, 5).round())}):
        drawing.words.append((x(count), bottom + 18, "middle", f"{count:,}"))
    drawing.words.append(((LEFT + WIDTH) / 2, bottom + 36, "middle", "number of items"))
    drawing.words.append((0, TOP - 16, "start", "joint probability"))
    shown = np.unique(np.linspace(0, len(curve) - 1, min(len(curve), POINTS_DRAWN)).round().astype(int))
    drawing.line(x(shown + 1.0), y(curve[shown]), "run best", 2.5)
    return drawing.content()


def round_values(low: float, high: float, most: int = 6) -> list[float]:
    """Round numbers from low to high: multiples of 1, 2 or 5 times a power of ten.

    >>> round_values(1.16, 5.23)
    [2.0, 3.0, 4.0, 5.0]
    """
    power = 10.0 ** np.floor(np.log10((high - low) / most))
    step = next(power * m for m in (1, 2, 5, 10) if (high - low) / (power * m) <= most)
    return [float(round(k * step, 12)) for k in range(int(np.ceil(low / step)), int(np.floor(high / step)) + 1)]


def mean_curves(
    times: Sequence[str], mean: Floats, low: Floats, high: Floats, clusters: Sequence[int], first: int
) -> dict[str, Any]:
    """Curves of clusters, (clusters, times), with their bands; numbered at the right end."""
    drawing, bottom, palette = Drawing(WIDTH, CURVE_HEIGHT + 42), float(CURVE_HEIGHT), shades()
    at = np.array([float(time) for time in times])
    least, most = float(low[clusters].min()), float(high[clusters].max())
    most = most if most > least else least + 1.0
    span, range_of_times = most - least, float(at[-1] - at[0]) or 1.0

    def y(values: Any) -> Any:
        return bottom - (values - least) / span * (bottom - TOP)

    x = LEFT + (at - at[0]) / range_of_times * (WIDTH - LEFT - 2 * RIGHT)
    drawing.line([LEFT, WIDTH - 2 * RIGHT], [bottom] * 2, "base")
    for value in round_values(least, most):
        drawing.line([LEFT, WIDTH - 2 * RIGHT], [y(value)] * 2, "grid")
        drawing.words.append((LEFT - 8, float(y(value)) + 4, "end", number(value, 6)))
    for place in np.unique(np.linspace(0, len(at) - 1, min(len(at), TIMES_SHOWN)).round().astype(int)):
        drawing.words.append((float(x[place]), bottom + 18, "middle", times[place]))
    drawing.words.append(((LEFT + WIDTH) / 2, bottom + 36, "middle", "time"))
    for k in clusters:
        colour = palette[k % len(palette)]
        for edge in (low[k], high[k]):
            drawing.line(x, y(edge), "curve", 0.8, colour)
        drawing.line(x, y(mean[k]), "curve", 2.5, colour)
        drawing.words.append((float(x[-1]) + 6, float(y(mean[k, -1])) + 4, "start", str(k + first)))
    return drawing.content()


def interval_drawing(parameters: ClusterParameters, first: int) -> dict[str, Any] | None:
    """The interval of each cluster, one block per component with a scale of its own; None if there are too many."""
    rows = list(parameters.rows())
    if len(rows) > INTERVALS_DRAWN:
        return None
    components = list(dict.fromkeys(row["component"] for row in rows))
    drawing = Drawing(WIDTH, TOP + (len(rows) + 1.6 * len(components)) * ROW_HEIGHT)
    top: float = TOP
    for component in components:
        own = [row for row in rows if row["component"] == component]
        _draw_intervals(drawing, own, top, first)
        top += (len(own) + 1.6) * ROW_HEIGHT
    return drawing.content()


def _draw_intervals(drawing: Drawing, rows: list[dict[str, Any]], top: float, first: int) -> None:
    """One line per cluster, and the scale below them."""
    low, high = min(row["low"] for row in rows), max(row["high"] for row in rows)
    left, right, bottom = LEFT + 60, WIDTH - RIGHT, top + len(rows) * ROW_HEIGHT
    scale = (right - left) / ((high - low) or 1.0)
    for at, row in enumerate(rows):
        y = top + (at + 0.5) * ROW_HEIGHT
        drawing.words.append((left - 12, y + 4, "end", f"cluster {row['cluster'] + first}"))
        drawing.line([left + (row[end] - low) * scale for end in ("low", "high")], [y, y], "interval", 2.0)
        told = f"{number(row['mean'])} ({number(row['low'])} to {number(row['high'])})"
        drawing.dots.append((round(left + (row["mean"] - low) * scale, 1), y, told))
    drawing.line([left, right], [bottom + 2] * 2, "base")
    name = f"component {rows[0]['component']}" if rows[0]["component"] else "parameter"
    words = (number(low), name, number(high))
    for x, anchor, word in zip((left, (left + right) / 2, right), ("start", "middle", "end"), words, strict=True):
        drawing.words.append((x, bottom + 18, anchor, word))


def tree_drawing(tree: Hierarchy) -> dict[str, Any] | None:
    """The tree with the coarsest level at the top, its support on the branches; None if there are too many leaves."""
    across, order = node_places(tree)
    if len(order) > LEAVES_DRAWN:
        return None
    levels = len(tree.levels)
    drawing = Drawing(LEFT + (len(order) + 0.5) * LEAF_WIDTH + RIGHT, TOP + (levels + 1) * LEVEL_HEIGHT, fits=False)

    def x(place: Any) -> Any:
        return LEFT + (place + 0.5) * LEAF_WIDTH

    def y(level: Any) -> Any:
        return TOP + (levels - level) * LEVEL_HEIGHT

    drawing.line([LEFT, drawing.width - RIGHT], [y(tree.estimate_level)] * 2, "estimate")
    for level, count in enumerate(tree.n_clusters.tolist()):
        drawing.words.append((LEFT - 14, y(level) + 4, "end", str(count)))
    for node, parent, height, share in _branches(tree):
        width = 1 if np.isnan(share) else 1 + 2.5 * share
        drawing.line([x(across[node])] * 2, [y(tree.first_level[node]), y(height)], "branch", width)
        if parent >= 0:
            drawing.line([x(across[node]), x(across[parent])], [y(height)] * 2, "branch")
        if not np.isnan(share):
            middle = y((tree.first_level[node] + height) / 2)
            drawing.words.append((x(across[node]) + 3, middle + 4, "start", f"{share:.2f}"))
    sizes = tree.members.sum(axis=1)
    for node in order:
        drawing.words.append((x(across[node]), y(0) + 16, "middle", f"{sizes[node]:,}"))
    return drawing.content()


def levels_drawing(levels: Mapping[str, Any], first: int) -> dict[str, Any]:
    """Clusterings below each other, with lines where the items of a cluster go."""
    labels, places, lines = tree_of(levels)
    drawing = Drawing(WIDTH, TOP + len(labels) * STEP_HEIGHT)
    left, palette = LEFT + 60, shades()

    def x(place: Any) -> Any:
        return left + place * (WIDTH - RIGHT - left)

    for row, above, below, share in lines:
        ends = [TOP + (row + at) * STEP_HEIGHT for at in (0.5, 1.5)]
        drawing.line([x(above), x(below)], ends, "curve", 0.6 + 5 * share)
    for row, (name, own, across) in enumerate(zip(levels, labels, places, strict=True)):
        sizes = np.bincount(own[own >= 0])
        y = TOP + (row + 0.5) * STEP_HEIGHT
        drawing.words.append((left - 30, y + 4, "end", name))
        for k, (size, place) in enumerate(zip(sizes.tolist(), across.tolist(), strict=True)):
            side = 8 + 26 * np.sqrt(size / sizes.sum())
            told = f"{name}, cluster {k + first}: {size:,} items"
            drawing.cell(x(place) - side / 2, y - side / 2, side, side, told, palette[k % len(palette)])
            drawing.words.append((x(place), y + side / 2 + 11, "middle", str(k + first)))
    return drawing.content()


def _branches(tree: Hierarchy) -> Iterator[tuple[int, int, float, float]]:
    """Each node with its parent, the level at which its branch ends, and its support: NaN of a single item."""
    for node, parent in enumerate(tree.parents.tolist()):
        height = float(tree.first_level[parent]) if parent >= 0 else len(tree.levels) - 0.4
        yield node, parent, height, float(tree.support.transfer[node])
