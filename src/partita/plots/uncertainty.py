"""Pictures of what the clusters are like, of how two posteriors differ, and of how many items are sure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita.plots.canvas import (
    COLORS,
    HIGHLIGHT,
    QUIET,
    cluster_color,
    cluster_marker,
    hide_frame,
    new_axes,
    whole_numbers,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from partita.uncertainty.compare import PosteriorComparison
    from partita.uncertainty.monitor import Monitor
    from partita.uncertainty.parameters import ClusterParameters
    from partita.uncertainty.partial import PartialClustering


def cluster_intervals(found: ClusterParameters, *, component: tuple[int, ...] = (), ax: Axes | None = None) -> Axes:
    """Means and intervals of a parameter: small dots for the items, a large one with its interval for each cluster.

    Parameters
    ----------
    found : ClusterParameters
        The result of `cluster_parameters`.
    component : tuple of int
        Which component of a parameter with several; by default the first.
    ax : matplotlib Axes, optional
        Where to draw; by default new axes.

    Examples
    --------
    >>> from partita import cluster_parameters
    >>> found = cluster_parameters([0, 0, 1], [[1.0, 1.2, 5.0], [0.8, 1.1, 5.5]], [[0, 0, 1], [0, 0, 1]])
    >>> len(cluster_intervals(found).containers)
    2
    """
    at = component or (0,) * (found.draws.ndim - 2)
    ax = new_axes(ax, (6, 3.4))
    for cluster in range(len(found.sizes)):
        own = (cluster, *at)
        items = found.items.mean[(found.labels == cluster, *at)]
        spread = np.linspace(-0.25, 0.25, items.size) if items.size > 1 else np.zeros(1)
        ax.scatter(cluster + spread, items, s=8, color=QUIET, zorder=1)
        mean = found.clusters.mean[own]
        bars = [[max(mean - found.clusters.low[own], 0.0)], [max(found.clusters.high[own] - mean, 0.0)]]
        style: dict[str, Any] = {"color": cluster_color(cluster), "marker": cluster_marker(cluster)}
        ax.errorbar([cluster], [mean], yerr=bars, capsize=4, linewidth=2, markersize=7, zorder=2, **style)
    ax.set(xlabel="cluster of the estimate", ylabel=f"parameter, {found.level:.0%} interval")
    whole_numbers(ax.xaxis)
    hide_frame(ax, "top", "right")
    return ax


def posterior_difference(compared: PosteriorComparison, *, count: int = 20, ax: Axes | None = None) -> Axes:
    """The items whose neighbours differ most between two posteriors; those that differ by more than chance in colour.

    Parameters
    ----------
    compared : PosteriorComparison
        The result of `compare_posteriors`.
    count : int
        Largest number of items to show.
    ax : matplotlib Axes, optional
        Where to draw; by default new axes.

    Examples
    --------
    >>> from partita import compare_posteriors
    >>> compared = compare_posteriors([[0, 0, 1]] * 50, [[0, 1, 1]] * 50, rng=1)
    >>> len(posterior_difference(compared).patches)
    3
    """
    worst = compared.items.worst(count)[::-1]
    ax = new_axes(ax, (6, 0.6 + 0.22 * worst.size))
    colors = [HIGHLIGHT if compared.items.p_value[i] <= 0.05 else QUIET for i in worst]
    ax.barh(np.arange(worst.size), compared.items.difference[worst], color=colors)
    ax.set_yticks(np.arange(worst.size), [compared.names[i] for i in worst])
    ax.set(xlabel="difference of co-clustering probabilities (root mean square)", title=compared.verdict())
    hide_frame(ax, "top", "right")
    return ax


def partial_curve(partial: PartialClustering, *, ax: Axes | None = None) -> Axes:
    """Joint probability against the number of clustered items; the reported partial clustering is marked.

    Parameters
    ----------
    partial : PartialClustering
        The result of `partial_clustering`.
    ax : matplotlib Axes, optional
        Where to draw; by default new axes.

    Examples
    --------
    >>> from partita import partial_clustering
    >>> ax = partial_curve(partial_clustering([[0, 0, 1, 1]] * 5 + [[0, 0, 1, 0]] * 4 + [[0, 1, 1, 1]]))
    >>> ax.lines[0].get_ydata().round(2).tolist()
    [1.0, 0.9, 0.9, 0.5]
    """
    ax = new_axes(ax, (5, 3.2))
    counts = np.arange(1, partial.curve.size + 1)
    ax.plot(counts, partial.curve, drawstyle="steps-post", color=COLORS[0], label=f"area {partial.area:.2f}")
    ax.plot([partial.n_items], [partial.probability], "o", color=HIGHLIGHT, label=f"{partial.n_items} items")
    ax.set(xlabel="clustered items", ylabel="joint probability", ylim=(0, 1.03), xlim=(0, partial.labels.size + 1))
    whole_numbers(ax.xaxis)
    ax.legend(frameon=False)
    hide_frame(ax, "top", "right")
    return ax


def settling(watched: Monitor, *, ax: Axes | None = None) -> Axes:
    """Radius and expected loss at each check, with two standard errors, and the number of clusters of the estimate.

    A filled dot is a check at which all halves and quarters of the draws gave the same partition. A vertical line marks
    where the summary had stabilised.

    Parameters
    ----------
    watched : Monitor
        With at least one check.
    ax : matplotlib Axes, optional
        Where to draw; by default new axes.

    Examples
    --------
    >>> import partita as pt
    >>> watched = pt.monitor()
    >>> watched.feed([[0, 0, 1], [0, 0, 1], [0, 1, 1]] * 200)
    True
    >>> settling(watched).get_xlabel()
    'draws'
    """
    if not watched.checks:
        raise ValueError(f"the monitor has made no check yet: it was fed {watched.n_draws} draws")
    ax = new_axes(ax, (6.4, 3.6))
    draws = np.array([check.n_draws for check in watched.checks])
    for color, name, words in ((COLORS[0], "radius", "radius"), (COLORS[1], "expected_loss", "expected loss")):
        middle = np.array([getattr(check, name) for check in watched.checks])
        spread = 2 * np.nan_to_num([getattr(check, f"{name}_error") for check in watched.checks])
        ax.fill_between(draws, middle - spread, middle + spread, color=color, alpha=0.18, linewidth=0)
        ax.plot(draws, middle, color=color, label=words)
        faces = [color if check.distance == 0 else "white" for check in watched.checks]
        ax.scatter(draws, middle, s=26, c=faces, edgecolors=color, zorder=3)
    for check in watched.checks:
        ax.annotate(
            str(check.n_clusters),
            (check.n_draws, check.radius),
            (0, 9),
            textcoords="offset points",
            ha="center",
            color=QUIET,
        )
    if watched.settled:
        ax.axvline(draws[-1], color=HIGHLIGHT, linestyle="--", linewidth=1.2, label="stabilised")
    ax.set(xscale="log", xlabel="draws", ylabel=str(watched.loss), ylim=(0, None))
    ax.legend(frameon=False)
    hide_frame(ax, "top", "right")
    return ax
