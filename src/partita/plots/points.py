"""Data points with their clusters: scatter, one-dimensional density, a credible ball as small multiples."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._support.arrays import Floats
from partita._support.memory import check_fits
from partita._support.names import Names, PartitionLike, as_named
from partita.pairs.similarity import similarity
from partita.partitions.checks import check_partition, check_placed_of
from partita.partitions.codes import GAP
from partita.partitions.labels import n_clusters
from partita.partitions.matching import align_labels
from partita.plots.canvas import QUIET, cluster_color, cluster_marker, hide_frame, new_axes
from partita.uncertainty.ball import subject
from partita.uncertainty.certainty import exemplars

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from partita.estimation.result import Estimate


NUMBER_CLUSTERS_ABOVE = 7
LEGEND_UP_TO = 12
GRID = 512
#: Columns whose standard deviations differ by a larger factor are scaled before their principal components are taken.
SAME_UNITS = 10


def points(
    data: ArrayLike,
    labels: PartitionLike,
    *,
    density: tuple[ArrayLike, ArrayLike] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Points coloured by cluster; more than two columns are shown by their first two principal components.

    Columns whose standard deviations differ by more than a factor of ten are scaled first, since they hardly have the
    same unit; the names of the axes say so.

    Parameters
    ----------
    data : (n,) or (n, d) array_like
        A single column is drawn on its density. The columns of a data frame name the axes.
    labels : Estimate or (n,) array_like
        An estimate, or the labels of a partition.
    density : pair of (m,) array_like, optional
        Grid and values of the density of a single column; by default a kernel density estimate.
    ax : matplotlib Axes, optional
        Where to draw; by default new axes.

    Examples
    --------
    >>> ax = points([[0, 0], [1, 1], [5, 5]], [0, 0, 1])
    >>> len(ax.collections)
    2
    """
    clusters = _labels(labels)
    table = check_data(data, clusters.size, as_named(labels, "labels").names)
    return _draw_points(table, clusters, axis_names(data), density, ax)


def _draw_points(
    table: Floats,
    clusters: NDArray[np.int64],
    columns: tuple[str, ...] | None,
    density: tuple[ArrayLike, ArrayLike] | None,
    ax: Axes | None,
) -> Axes:
    if table.shape[1] == 1:
        return _density_plot(table[:, 0], clusters, columns, density, ax)
    plane, names = project(table, columns)
    ax = new_axes(ax, (5.4, 4.4))
    _scatter(ax, plane[:, 0], plane[:, 1], clusters)
    ax.set(xlabel=names[0], ylabel=names[1])
    hide_frame(ax, "top", "right")
    if clusters.max() >= NUMBER_CLUSTERS_ABOVE:
        _number_clusters(ax, plane, clusters)
    return ax


def density_plot(
    values: ArrayLike,
    labels: PartitionLike,
    *,
    density: tuple[ArrayLike, ArrayLike] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """One-dimensional data on their density, coloured by cluster, with a rug.

    Parameters
    ----------
    values : (n,) array_like
        The data, one number per item.
    labels : Estimate or (n,) array_like
        An estimate, or the labels of a partition.
    density : pair of (m,) array_like, optional
        A grid and the density on it, such as a posterior predictive density; by default a kernel density estimate.
    ax : matplotlib Axes, optional
        Where to draw; by default new axes.

    Examples
    --------
    >>> ax = density_plot([0.0, 0.1, 5.0, 5.2], [0, 0, 1, 1])
    >>> len(ax.lines)
    1

    References
    ----------
    Wade & Ghahramani (2018), Figure 17.
    """
    clusters = _labels(labels)
    column = check_data(values, clusters.size, as_named(labels, "labels").names)[:, 0]
    return _density_plot(column, clusters, axis_names(values), density, ax)


def _density_plot(
    column: Floats,
    clusters: NDArray[np.int64],
    names: tuple[str, ...] | None,
    density: tuple[ArrayLike, ArrayLike] | None,
    ax: Axes | None,
) -> Axes:
    grid, height = kernel_density(column) if density is None else map(np.asarray, density)
    at_points = np.interp(column, grid, height)
    ax = new_axes(ax, (6, 3.6))
    ax.plot(grid, height, color=QUIET, linewidth=1.5, zorder=1)
    _scatter(ax, column, at_points, clusters)
    for k in np.unique(clusters):
        rug = column[clusters == k]
        ax.vlines(rug, 0, 0.04, color=cluster_color(k), linewidth=0.9, transform=ax.get_xaxis_transform())
    ax.set_ylim(-0.07 * height.max(), None)
    ax.set(xlabel="" if names is None else names[0], ylabel="density")
    hide_frame(ax, "top", "right")
    return ax


def ball_panels(
    data: ArrayLike,
    labels: PartitionLike,
    ball: Any,
    *,
    most: int = 2,
    density: tuple[ArrayLike, ArrayLike] | None = None,
    axes: Any = None,
) -> NDArray[Any]:
    """The estimate and the bounds of its credible ball side by side, in matching colours.

    Parameters
    ----------
    data : (n,) or (n, d) array_like
        The data, one row per item.
    labels : Estimate or (n,) array_like
        The estimate at the centre of the ball.
    ball : CredibleBall
        Or any object with lists `upper`, `lower` and `horizontal` of partitions.
    most : int
        Maximum number of partitions to draw for each bound, if there are ties.
    density : pair of (m,) array_like, optional
        As for `density_plot`, if the data are one-dimensional.
    axes : array of matplotlib Axes, optional
        One per panel.

    Returns
    -------
    array of Axes

    References
    ----------
    Wade & Ghahramani (2018), Figures 9, 10, 13, 14 and 18.
    """
    given = as_named(labels, "labels")
    names = ball.sample.names if hasattr(ball, "sample") else given.names
    anywhere = np.ones(len(given.values), np.bool_)
    clusters = check_placed_of(labels, names, anywhere.size, "labels", anywhere, "ball")
    table, placed = check_data(data, clusters.size, names, "ball"), clusters >= 0
    panels = [("estimate", clusters)]
    for name in ("upper", "lower", "horizontal"):
        panels += [(f"{name} bound", bound) for bound in list(getattr(ball, name))[:most]]
    if axes is None:
        axes = _row_of_axes(len(panels), tall=np.asarray(data).ndim == 2)
    axes = np.atleast_1d(axes)
    if axes.size < len(panels):
        raise ValueError(f"axes has {axes.size} entries, but there are {len(panels)} panels")
    for ax, (name, partition) in zip(axes.flat, panels, strict=False):
        shown = np.array(partition)
        shown[placed] = align_labels(clusters[placed], shown[placed])
        _draw_points(table, shown, axis_names(data), density, ax)
        ax.set_title(f"{name}: {count_of_clusters(partition)}", fontsize=10)
        ax.tick_params(labelbottom=True)
        if ax is not axes.flat[0]:
            ax.set_ylabel("")
    for ax in axes.flat[len(panels) :]:
        ax.set_axis_off()
    return axes  # type: ignore[no-any-return]


def count_of_clusters(labels: ArrayLike) -> str:
    """ "1 cluster", "2 clusters", ..."""
    cells = np.asarray(labels)
    k = n_clusters(cells[cells != GAP] if cells.dtype.kind == "i" else cells)
    return f"{k} cluster{'s' if k > 1 else ''}"


def project(table: Floats, columns: tuple[str, ...] | None = None) -> tuple[Floats, tuple[str, str]]:
    """Two columns to draw and their names: the data, or their first two principal components."""
    if table.shape[1] == 2:
        return table, ("", "") if columns is None else (columns[0], columns[1])
    centred, scaled = _comparable(table - table.mean(axis=0))
    padded = np.vstack([centred, np.zeros_like(centred[:1])])  # so that a single item has two components, too
    left, scale, _ = np.linalg.svd(padded, full_matrices=False)
    total = (scale**2).sum()
    share = (scale**2 / total if total > 0 else scale)[:2]
    of = " of scaled columns" if scaled else ""
    return left[:-1, :2] * scale[:2], (f"PC 1{of} ({share[0]:.0%})", f"PC 2{of} ({share[1]:.0%})")


def _comparable(centred: Floats) -> tuple[Floats, bool]:
    """The columns, scaled to the same standard deviation if theirs differ much, and whether they were scaled.

    Columns in grams and in millimetres have no common unit: the components would show the one with the larger numbers.
    """
    spread = centred.std(axis=0)
    varies = spread > 0
    if not varies.any() or spread.max() <= SAME_UNITS * spread[varies].min():
        return centred, False
    return centred / np.where(varies, spread, 1.0), True


def axis_names(data: Any) -> tuple[str, ...] | None:
    """The column names of a data frame, or the name of a Series; None if there are none, or only numbers."""
    columns = getattr(data, "columns", None)
    found: list[Any] = [getattr(data, "name", None)] if columns is None else list(columns)
    return tuple(found) if found and all(isinstance(name, str) for name in found) else None


def check_data(data: ArrayLike, n_items: int, names: Names | None = None, whose: str = "labels") -> Floats:
    """An (n, d) table of finite numbers, one row per item of `whose`, matched by name if both have names."""
    given = as_named(data, "data")
    try:
        table = np.asarray(given.values, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError("data must be numbers, one row per item") from None
    table = table[:, None] if table.ndim == 1 else table
    by_name = given.names is not None and names is not None
    if table.ndim != 2 or table.shape[1] == 0 or (len(table) != n_items and not by_name):
        raise ValueError(f"data must have {n_items} rows, one per item, but its shape is {table.shape}")
    bad = np.argwhere(~np.isfinite(table))
    if bad.size:
        i, j = bad[0]
        raise ValueError(f"data[{i}, {j}] is {table[i, j]}: it must be finite")
    return replace(given, values=table).in_order_of(names, n_items, whose)  # type: ignore[no-any-return]


def _labels(labels: PartitionLike) -> NDArray[np.int64]:
    """Labels without renumbering, so that matched colours are kept; -1 is an item without a cluster."""
    values = np.asarray(as_named(labels, "labels").values)
    if values.ndim == 1 and values.dtype.kind in "iu" and values.size:
        return values.astype(np.int64)
    return check_partition(labels, "labels")


def _scatter(ax: Axes, x: Floats, y: Floats, clusters: NDArray[np.int64]) -> None:
    size = float(np.clip(9000 / max(x.size, 1), 14, 36))
    present = np.unique(clusters)
    for k in present:
        own = clusters == k
        outline: dict[str, Any] = {} if k < 0 else {"edgecolors": "white", "linewidths": 0.3}
        ax.scatter(
            x[own],
            y[own],
            s=size,
            color=cluster_color(k),
            marker=cluster_marker(k),
            label=str(k),
            zorder=2,
            **outline,
        )
    if 1 < present.size <= LEGEND_UP_TO:
        ax.legend(title="cluster", fontsize=8, title_fontsize=8, frameon=False, ncols=1 + present.size // 7)


def _number_clusters(ax: Axes, plane: Floats, clusters: NDArray[np.int64]) -> None:
    from matplotlib.patheffects import withStroke

    for k in np.unique(clusters[clusters >= 0]):
        x, y = np.median(plane[clusters == k], axis=0)
        text = ax.text(x, y, str(k), fontsize=8, weight="bold", ha="center", va="center", zorder=3)
        text.set_path_effects([withStroke(linewidth=2.5, foreground="white")])


def kernel_density(column: Floats) -> tuple[Floats, Floats]:
    from scipy.stats import gaussian_kde

    low, high = float(column.min()), float(column.max())
    margin = 0.1 * (high - low) or 1.0
    grid = np.linspace(low - margin, high + margin, GRID)
    if low == high:  # a kernel density needs some spread
        return grid, np.exp(-((grid - low) ** 2) * 8)
    kernel = gaussian_kde(column, bw_method=lambda kde: 0.6 * kde.scotts_factor())
    return grid, np.asarray(kernel(grid), dtype=np.float64)


def _row_of_axes(count: int, *, tall: bool) -> NDArray[Any]:
    from matplotlib import pyplot

    columns = min(count, 4)
    rows = -(-count // columns)
    size = (3.2 * columns, (3.0 if tall else 2.4) * rows)
    _, axes = pyplot.subplots(
        rows, columns, figsize=size, sharex=True, sharey=True, squeeze=False, layout="constrained"
    )
    return np.asarray(axes)


def item_map(estimate: Estimate | ArrayLike, draws: Any = None, *, ax: Axes | None = None) -> Axes:
    """The items as points whose distances are about 1 − similarity, in the colours of their clusters.

    Classical multidimensional scaling of the posterior similarity matrix: the two leading principal coordinates. The
    exemplar of each cluster, its most typical item, is ringed. Takes O(items³) time and a matrix of all pairs.

    Parameters
    ----------
    estimate : Estimate or (n,) array_like
        An estimate, or the labels of a partition.
    draws : anything that `as_sample` takes; needed with plain labels
        Posterior draws; an estimate brings its own.
    ax : matplotlib Axes, optional
        Where to draw; by default new axes.

    Examples
    --------
    >>> ax = item_map([0, 0, 1, 1], [[0, 0, 1, 1], [0, 0, 1, 2], [0, 1, 2, 2]])
    >>> ax.get_xlabel()
    'first coordinate'
    """
    labels, sample, _ = subject(estimate, draws)
    check_fits(16 * labels.size**2, f"a map of {labels.size:,} items")
    together = np.asarray(similarity(sample), np.float64)
    plane = coordinates(1 - np.nan_to_num(together, nan=0.0))
    ax = points(plane, labels, ax=ax)
    chosen = plane[exemplars(estimate, draws)]
    ax.scatter(chosen[:, 0], chosen[:, 1], s=110, facecolors="none", edgecolors="black", linewidths=1.2, zorder=3)
    ax.set(xlabel="first coordinate", ylabel="second coordinate")
    return ax


def coordinates(distances: Floats) -> Floats:
    """Two principal coordinates of a matrix of distances, (n, 2).

    >>> coordinates(np.array([[0.0, 3, 3], [3, 0, 0], [3, 0, 0]]))[:, 0].round(6).tolist()
    [-2.0, 1.0, 1.0]
    """
    squares = distances**2
    means = squares.mean(axis=0)
    values, vectors = np.linalg.eigh(-(squares - means - means[:, None] + means.mean()) / 2)
    plane = np.zeros((len(distances), 2))
    for place in range(min(2, len(values))):
        value, vector = values[-1 - place], vectors[:, -1 - place]
        sign = 1.0 if vector[np.abs(vector).argmax()] <= 0 else -1.0
        plane[:, place] = sign * np.sqrt(max(0.0, value)) * vector
    return np.where(np.abs(plane) < 1e-9, 0.0, plane)
