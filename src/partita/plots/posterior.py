"""Summaries of the posterior and of the search: cluster counts, certainty, run trace, path over weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._support.names import PartitionLike, as_named
from partita.draws.sample import as_sample
from partita.estimation.result import Estimate
from partita.partitions.checks import check_partition, check_same_items
from partita.plots.canvas import COLORS, HIGHLIGHT, QUIET, cluster_color, hide_frame, new_axes, whole_numbers
from partita.uncertainty.certainty import item_certainty as certainty_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from partita.models.mixtures.cluster_numbers import PriorClusters


def cluster_counts(
    draws: Any,
    *,
    estimate: PartitionLike | None = None,
    prior: PriorClusters | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Posterior probabilities of the number of clusters; the bar of the estimate's number is orange.

    Parameters
    ----------
    draws : Estimate, or anything that `as_sample` takes
        Posterior draws: labels in any form, or an estimate, whose own draws are used.
    estimate : Estimate or (n,) array_like, optional
        The partition whose number of clusters is marked.
    prior : PriorClusters, optional
        The result of `prior_clusters`, drawn as a line: what the prior alone says.
    ax : matplotlib Axes, optional
        Where to draw; by default new axes.

    Examples
    --------
    >>> ax = cluster_counts([[0, 0, 1], [0, 1, 2], [0, 1, 1]])
    >>> [round(float(bar.get_height()), 3) for bar in ax.patches]
    [0.667, 0.333]
    """
    if isinstance(draws, Estimate):
        sample, estimate = draws.sample, draws if estimate is None else estimate
    else:
        sample = as_sample(draws)
    probability = np.bincount(sample.n_clusters, weights=sample.weights)
    counts = np.arange(int(sample.n_clusters.min()), probability.size)
    own = None if estimate is None else int(_placed(estimate, "estimate").max()) + 1
    ax = new_axes(ax, (5, 3))
    ax.bar(counts, probability[counts], color=[HIGHLIGHT if k == own else COLORS[0] for k in counts])
    ax.set(xlabel="number of clusters", ylabel="posterior probability")
    if prior is not None:
        shown = {k: p for k, p in prior.probabilities.items() if p > 1e-3 or k in counts}
        ax.plot(list(shown), list(shown.values()), color=QUIET, marker="o", markersize=3, label="prior")
        ax.legend(frameon=False)
    whole_numbers(ax.xaxis)
    hide_frame(ax, "top", "right")
    return ax


def _placed(labels: PartitionLike, name: str) -> NDArray[np.int64]:
    """Canonical labels; an item of an estimate may be in no cluster (-1)."""
    return labels.labels if isinstance(labels, Estimate) else check_partition(labels, name)


def item_certainty(labels: PartitionLike, certainty: ArrayLike | None = None, *, ax: Axes | None = None) -> Axes:
    """Certainty of each item as a bar, in the colour of its cluster; within a cluster the most certain come first.

    Parameters
    ----------
    labels : Estimate or (n,) array_like
        An estimate, or the labels of a partition.
    certainty : (n,) array_like, optional
        Numbers between 0 and 1: the probability that an item is with the other members of its cluster. By default
        that of the estimate.
    ax : matplotlib Axes, optional
        Where to draw; by default new axes.

    Examples
    --------
    >>> ax = item_certainty([0, 0, 1], [0.9, 0.7, 1.0])
    >>> [round(float(bar.get_height()), 1) for bar in ax.patches]
    [0.9, 0.7, 1.0]
    """
    if certainty is None:
        if not isinstance(labels, Estimate):
            raise ValueError("certainty is missing: give it, or an Estimate instead of labels")
        certainty = certainty_of(labels).probability
    clusters, given = _placed(labels, "labels"), as_named(certainty, "certainty")
    values = np.asarray(given.in_order_of(as_named(labels, "labels").names, clusters.size, "labels"), dtype=np.float64)
    clusters, values = clusters[clusters >= 0], values[clusters >= 0]
    order = np.lexsort((-values, clusters))
    ax = new_axes(ax, (7, 2.8))
    colors = [cluster_color(k) for k in clusters[order]]
    ax.bar(np.arange(values.size), values[order], width=1.0, color=colors, linewidth=0, rasterized=True)
    edges = np.flatnonzero(np.diff(clusters[order])) + 0.5
    ax.vlines(edges, 0, 1, color="white", linewidth=1.0)
    starts = np.concatenate([[-0.5], edges, [values.size - 0.5]])
    wide = np.diff(starts) >= 0.03 * values.size
    ax.set_xticks(((starts[:-1] + starts[1:]) / 2)[wide], [str(k) for k in np.flatnonzero(wide)])
    ax.tick_params(axis="x", length=0)
    ax.set(ylim=(0, 1), xlim=(-0.5, values.size - 0.5), ylabel="certainty", xlabel="items, by cluster")
    hide_frame(ax, "top", "right")
    return ax


def run_trace(traces: Sequence[ArrayLike] | Estimate, *, ax: Axes | None = None) -> Axes:
    """Expected loss after each sweep, one line per run; the best run is orange.

    Parameters
    ----------
    traces : Estimate, or list of (sweeps,) array_like
        An estimate, or the losses of each run.
    ax : matplotlib Axes, optional
        Where to draw; by default new axes.

    Examples
    --------
    >>> ax = run_trace([[3.0, 2.0, 1.5], [2.5, 1.2]])
    >>> len(ax.lines)
    2

    References
    ----------
    Rastelli & Friel (2018), Figure 5.
    """
    if isinstance(traces, Estimate):
        traces = [run.trace for run in traces.runs if run.trace]
    lines = [np.asarray(trace, dtype=np.float64) for trace in traces]
    if not lines or any(line.ndim != 1 or line.size == 0 for line in lines):
        raise ValueError("traces must contain at least one run, and each run at least one sweep")
    best = int(np.argmin([line[-1] for line in lines]))
    ax = new_axes(ax, (5.4, 3.4))
    for run, line in enumerate(lines):
        if run != best:
            ax.plot(line, color=QUIET, linewidth=1, marker=".", markersize=3)
    ax.plot(lines[best], color=HIGHLIGHT, linewidth=2, marker=".", label=f"best: {lines[best][-1]:.6g}", zorder=3)
    ax.set(xlabel="sweep", ylabel="expected loss")
    whole_numbers(ax.xaxis)
    ax.legend(frameon=False)
    hide_frame(ax, "top", "right")
    return ax


def weight_path(a: ArrayLike, n_clusters: ArrayLike, *, label: str | None = None, ax: Axes | None = None) -> Axes:
    """Number of clusters of the estimate against the weight a of a loss; call it once per loss.

    Parameters
    ----------
    a : (m,) array_like
        Weights, with b fixed or b = 2 - a.
    n_clusters : (m,) array_like
        Clusters of the estimate under each weight.
    label : str, optional
        Name of the loss for the legend.
    ax : matplotlib Axes, optional
        Where to draw; by default new axes.

    Examples
    --------
    >>> ax = weight_path([0.5, 1.0, 1.5], [7, 3, 2], label="VI")
    >>> ax = weight_path([0.5, 1.0, 1.5], [16, 7, 3], label="Binder", ax=ax)
    >>> len(ax.lines)
    2
    """
    weights, counts = np.asarray(a, dtype=np.float64), np.asarray(n_clusters)
    check_same_items(weights, counts, "a", "n_clusters")
    order = np.argsort(weights)
    ax = new_axes(ax, (5, 3.4))
    style = len(ax.lines)
    ax.plot(
        weights[order],
        counts[order],
        drawstyle="steps-mid",
        color=COLORS[style % len(COLORS)],
        marker="os^Dv"[style % 5],
        markersize=4,
        label=label,
    )
    ax.set(xlabel="weight a", ylabel="number of clusters")
    whole_numbers(ax.yaxis)
    if label is not None:
        ax.legend(frameon=False)
    hide_frame(ax, "top", "right")
    return ax
