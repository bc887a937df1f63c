"""One self-contained HTML page about an estimate: no network, every table and figure inside the file."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from partita.bounds import Bound
    from partita.estimate import Estimate
    from partita.uncertainty import CredibleBall

__all__ = ["report"]


def report(
    estimate: Estimate,
    ball: CredibleBall | None = None,
    data: ArrayLike | None = None,
    truth: ArrayLike | None = None,
    path: str | PathLike[str] = "report.html",
    *,
    title: str = "Cluster analysis",
    command: str | None = None,
    density: tuple[ArrayLike, ArrayLike] | None = None,
    bound: Bound | None = None,
) -> Path:
    """Writes a page about an estimate and its uncertainty.

    The file appears when it is complete. Up to 1,000 items the similarity map shows every pair; beyond that
    each cell is the exact mean over a block of pairs, and nothing n × n is made.

    Parameters
    ----------
    estimate : Estimate
    ball : CredibleBall, optional
        As `credible_ball` gives it for this estimate.
    data : (n,) or (n, d) array_like, optional
        The items themselves, to be drawn; more than two columns are shown by two principal components.
    truth : (n,) array_like, optional
        A partition to compare with.
    path : path
    title : str
        Heading of the page.
    command : str, optional
        The command that made the estimate, for the section on reproducing it.
    density : pair of (m,) array_like, optional
        Grid and values of a density for one-dimensional data.
    bound : Bound, optional
        What `estimate.bound()` gives: how much better another partition may be at most.

    Returns
    -------
    Path
        Where the page is.
    """
    from partita.estimate import Estimate
    from partita.report.content import content
    from partita.report.page import write_page

    if not isinstance(estimate, Estimate):
        raise TypeError(f"estimate must be what partita.estimate gives, not {type(estimate).__name__}")
    page = content(estimate, ball, data, truth, title=title, command=command, density=density, bound=bound)
    return write_page(page, Path(path))
