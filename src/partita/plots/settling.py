"""How the summary of a sampler's draws stabilised while it ran."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from partita.plots.canvas import COLORS, HIGHLIGHT, QUIET, hide_frame, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from partita.uncertainty.monitor import Monitor


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
