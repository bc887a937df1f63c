"""Figures 7 to 19: estimates, credible balls as points and as matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib import pyplot
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

import partita as pt
from partita import plots
from partita.plots.canvas import COLORS
from partita.plots.matrices import leaf_order
from wade.analysis import Analysis, Labels

Density = tuple[np.ndarray, np.ndarray] | None


def estimates(analysis: Analysis, names: tuple[str, ...], density: Density = None) -> Figure:
    """The truth, where there is one, and the estimates, in matching colours (Figures 6, 7, 8 and 17)."""
    panels = [(name, analysis.estimates[name]) for name in names]
    reference = analysis.estimates["VI"]
    if analysis.truth is not None:
        reference = analysis.truth
        panels.insert(0, ("truth", reference))
    figure, axes = _row(len(panels), 2.9 if density is None else 4.2)
    for ax, (name, labels) in zip(axes, panels, strict=True):
        plots.points(analysis.data, pt.align_labels(reference, labels), density=density, ax=ax)
        _quiet(ax, f"{name}: {labels.max() + 1} clusters")
    return figure


def ball(analysis: Analysis, loss: str, density: Density = None) -> Figure:
    """The estimate and the bounds of its ball (Figures 9, 10, 13, 14 and 18)."""
    panels = _panels(analysis, loss)
    figure, axes = _row(len(panels), 2.9)
    for ax, (name, labels) in zip(axes, panels, strict=True):
        aligned = pt.align_labels(analysis.estimates[loss], labels)
        plots.points(analysis.data, aligned, density=density, ax=ax)
        _quiet(ax, f"{name}: {labels.max() + 1} clusters")
    return figure


def matrices(analysis: Analysis, loss: str) -> Figure:
    """Similarity matrix, then estimate and bounds against the truth or alone (Figures 11, 12, 15, 16 and 19)."""
    similarity = pt.similarity(analysis.sample)
    order = leaf_order(similarity)
    panels = _panels(analysis, loss)
    figure, axes = _row(len(panels) + 1, 2.4, height=2.9)
    axes[0].imshow(similarity[np.ix_(order, order)], cmap="magma_r", vmin=0, vmax=1)
    axes[0].set_title("posterior similarity", fontsize=10)
    handles: list[Any] = []
    for ax, (name, labels) in zip(axes[1:], panels, strict=True):
        if analysis.truth is None:
            together = labels[order][:, None] == labels[order]
            ax.imshow(together, cmap=ListedColormap(["white", COLORS[6]]))
        else:
            plots.comparison_map(analysis.truth, labels, order=order, ax=ax)
            handles = ax.get_legend().legend_handles
            ax.get_legend().remove()
        ax.set_title(f"{name}: {labels.max() + 1} clusters", fontsize=10)
    for ax in axes:
        ax.set(xticks=[], yticks=[])
    if handles:
        figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    return figure


def _panels(analysis: Analysis, loss: str) -> list[tuple[str, Labels]]:
    bounds = analysis.balls[loss]
    firsts = [("upper", bounds.upper[0]), ("lower", bounds.lower[0]), ("horizontal", bounds.horizontal[0])]
    return [("estimate", analysis.estimates[loss]), *firsts]


def _row(count: int, width: float, height: float = 2.7) -> tuple[Figure, Any]:
    figure, axes = pyplot.subplots(1, count, figsize=(width * count, height), layout="constrained", squeeze=False)
    return figure, axes[0]


def _quiet(ax: Any, title: str) -> None:
    ax.set_title(title, fontsize=10)
    ax.set(xlabel="", ylabel="")
    ax.tick_params(labelsize=8)
    if ax.get_legend() is not None:
        ax.get_legend().remove()
