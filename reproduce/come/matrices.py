"""The matrix of a graph with its nodes sorted by clusters, as the paper draws it."""

from __future__ import annotations

import numpy as np
from matplotlib import pyplot
from matplotlib.figure import Figure

from come.settings import SETTINGS, make_graph
from partita.models import StochasticBlockModel

BETA = 0.25


def draw(setting: int) -> Figure:
    """Graph 0 of a setting: sorted by the planted clusters, and by those of the exact ICL."""
    X, truth = make_graph(setting, BETA, 0)
    fit = StochasticBlockModel().maximize(X, rng=0, n_jobs=1)
    labels = {f"planted: {SETTINGS[setting][1]} clusters": truth, f"exact ICL: {fit.n_clusters} clusters": fit.labels}
    figure, axes = pyplot.subplots(1, 2, figsize=(6, 3.2), layout="constrained")
    for ax, (title, found) in zip(axes, labels.items(), strict=True):
        show(ax, X, found)
        ax.set_title(title, fontsize="medium")
    return figure


def show(ax: pyplot.Axes, X: np.ndarray, labels: np.ndarray) -> None:
    """Links as dark cells, lines between clusters."""
    order = np.argsort(labels, kind="stable")
    ax.imshow(X[np.ix_(order, order)], cmap="Greys", interpolation="nearest")
    for edge in np.cumsum(np.bincount(labels))[:-1]:
        ax.axhline(edge - 0.5, color="tab:blue", linewidth=0.6)
        ax.axvline(edge - 0.5, color="tab:blue", linewidth=0.6)
    ax.set(xticks=[], yticks=[])
