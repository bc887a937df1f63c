"""The figure that one usually wants of an estimate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from partita.plots.matrices import similarity_map
from partita.plots.points import points

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from partita.estimation.result import Estimate


def plot_estimate(estimate: Estimate, data: ArrayLike | None = None, *, ax: Axes | None = None) -> Axes:
    """The data in the colours of their clusters, or the similarity map if there are no data."""
    return similarity_map(estimate, ax=ax) if data is None else points(data, estimate, ax=ax)
