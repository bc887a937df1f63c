"""Data of the page's figures, ready for JSON; figures.js draws them."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._support.arrays import Labels
from partita.plots.points import count_of_clusters, kernel_density, project
from partita.results.colors import label_colors, shades
from partita.results.heatmap import HeatMap

POINTS_SHOWN = 4000
#: Over a wider range only the numbers of clusters that occur have a bar.
BARS_SHOWN = 1000
#: Relative differences of losses up to this are those of rounding.
NOISE = 1e-7


def bars(posterior: dict[int, float], estimate: int) -> dict[str, Any]:
    """Posterior of the number of clusters."""
    counts = list(range(min(posterior), max(posterior) + 1))
    if len(counts) > BARS_SHOWN:
        counts = sorted(posterior)
    return {"x": counts, "y": [round(posterior.get(k, 0.0), 6) for k in counts], "estimate": estimate}


def map_figure(heat: HeatMap, labels: Labels, names: tuple[str, ...] | None) -> dict[str, Any]:
    """The similarity map with the borders of the clusters, and item names if a row is a single item.

    Clusters narrower than a cell have no border: it could not be seen.
    """
    ordered = labels[heat.order]
    borders = np.flatnonzero(np.diff(ordered)) + 1
    starts = np.concatenate([[0], borders])
    stops = np.concatenate([borders, [ordered.size]])
    wide = stops - starts >= np.diff(heat.edges).min()
    starts, stops = starts[wide], stops[wide]
    return {
        "z": base64.b64encode(heat.percent.tobytes()).decode(),
        "bins": len(heat.percent),
        "edges": heat.edges.tolist(),
        "names": None if names is None else [names[i] for i in heat.order.tolist()],
        "clusters": [[int(ordered[start]), int(start), int(stop)] for start, stop in zip(starts, stops, strict=True)],
    }


def ball_strips(partitions: list[tuple[str, Labels]], heat: HeatMap) -> dict[str, Any]:
    """Each partition as a strip of its labels in the order of the map; a bin shows its modal label."""
    groups = np.repeat(np.arange(len(heat.edges) - 1), np.diff(heat.edges))
    strips = [_modes(labels[heat.order], groups) for _, labels in partitions]
    return {
        "names": [f"{name}: {count_of_clusters(labels)}" for name, labels in partitions],
        "labels": [strip.tolist() for strip in strips],
        "edges": heat.edges.tolist(),
        "colors": label_colors(strips),
    }


def _modes(labels: Labels, groups: Labels) -> Labels:
    """The most frequent label of each group."""
    cells, counts = np.unique(np.column_stack([groups, labels]), axis=0, return_counts=True)
    order = np.lexsort((-counts, cells[:, 0]))
    first = order[np.searchsorted(cells[order, 0], np.arange(groups[-1] + 1))]
    modes: Labels = cells[first, 1]
    return modes


def scatter_figure(
    table: NDArray[np.float64],
    partitions: list[tuple[str, Labels]],
    names: tuple[str, ...],
    density: tuple[ArrayLike, ArrayLike] | None,
    columns: tuple[str, ...] | None = None,
) -> dict[str, Any]:
    """The data, once per partition; at most a few thousand points, evenly chosen. `columns` names the axes."""
    curve = None
    if table.shape[1] == 1:
        column = table[:, 0]
        grid, height = kernel_density(column) if density is None else map(np.asarray, density)
        plane = np.column_stack([column, np.interp(column, grid, height)])
        axes = ("value" if columns is None else columns[0], "density")
        curve = {"x": rounded(grid), "y": rounded(height)}
    else:
        plane, axes = project(table, columns)
    shown = np.unique(np.linspace(0, len(plane) - 1, min(len(plane), POINTS_SHOWN)).round().astype(int))
    return {
        "x": rounded(plane[shown, 0]),
        "y": rounded(plane[shown, 1]),
        "names": [names[i] for i in shown.tolist()],
        "axes": list(axes),
        "curve": curve,
        "panels": [
            {"name": f"{name}: {count_of_clusters(labels)}", "labels": labels[shown].tolist()}
            for name, labels in partitions
        ],
        "colors": shades(),
        "of": len(plane) if len(shown) < len(plane) else None,
    }


def trace_figure(traces: list[tuple[float, ...]]) -> dict[str, Any] | None:
    """Expected loss after each sweep of each run; the best run is given by its index.

    None if there is nothing to see: no sweep changed the loss by more than rounding errors.
    """
    lines = [rounded(np.array(trace), digits=8) for trace in traces if trace]
    values = np.concatenate([np.zeros(0), *lines])
    if not values.size or np.ptp(values) <= NOISE * np.abs(values).max():
        return None
    return {"lines": lines, "best": min(range(len(lines)), key=lambda run: lines[run][-1])}


def rounded(values: NDArray[np.float64], digits: int = 5) -> list[float]:
    """Numbers with as many digits as a figure can show."""
    return [float(f"{value:.{digits}g}") for value in np.asarray(values).tolist()]
