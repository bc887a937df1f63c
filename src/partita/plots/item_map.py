"""The items on a plane by their similarity alone: what to draw if there are draws and no data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from partita._support.arrays import Floats
from partita._support.memory import check_fits
from partita.pairs.similarity import similarity
from partita.plots.points import points
from partita.uncertainty.ball import subject
from partita.uncertainty.certainty import exemplars

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from partita.estimation.result import Estimate


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
