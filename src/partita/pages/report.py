"""One self-contained HTML page about a result: it needs no network, all tables and figures are in the file."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from partita.results.presentation import Presentation

__all__ = ["report"]

#: Clusters, and items without names, are counted from this number on a page.
FIRST = 1


def report(
    result: Any,
    *extras: Any,
    data: ArrayLike | None = None,
    truth: ArrayLike | None = None,
    path: str | PathLike[str] = "report.html",
    title: str | None = None,
) -> Path:
    """Writes a page about a result and its uncertainty.

    The file appears only when it is complete. Clusters are counted from 1: cluster 1 of the page has label 0. For up to
    1,000 items the similarity map shows every pair; beyond that each cell is the exact mean over a block of pairs, and
    no n × n matrix is formed.

    Nothing is sampled or searched, except for draws: a chain, or what `as_sample` returns, is summarised under the
    variation of information with seed 0 and a ball of 95 %.

    Parameters
    ----------
    result : Estimate, PairEstimate, BlockFit, LatentBlockFit, MixtureFit, Chain, PartitionSample, CredibleBall,
        ConsensusSummary, PartialClustering or fitted model
        What the page is about. A ball brings its own centre, a fitted mixture its `estimate_`, an ensemble its summary.
    *extras : results of other functions, in any order
        What was computed beside it. With an estimate from draws: `credible_ball`, ``est.bound()``, `diagnostics`,
        `partial_clustering`, `cluster_parameters`, `hierarchy`, `monte_carlo_error`, `profiles`, estimates under other
        losses, the chain of the model, its ``describe(table)``. With one from pairs: its bound. With a block model:
        draws of `sample`, `models.held_out`, `models.compare_models`. With a fit of a table: `profiles`, the model's
        ``describe(table)``. Others raise an error.
    data : (n,) or (n, d) array_like, optional
        The data behind the draws, to be plotted; more than two columns are shown by their first two principal
        components. A pandas table or Series with row names is matched by name with draws that have names.
    truth : (n,) array_like, optional
        A partition to compare with; matched by name like the data.
    path : path
        Name of the page.
    title : str, optional
        Heading of the page.

    Returns
    -------
    Path
        The path of the page.

    Examples
    --------
    >>> import partita as pt, tempfile, pathlib
    >>> folder = tempfile.TemporaryDirectory()
    >>> best = pt.estimate([[0, 0, 1], [0, 0, 1], [0, 1, 1]], rng=1)
    >>> pt.report(best, pt.credible_ball(best), path=pathlib.Path(folder.name) / "page.html").name
    'page.html'
    >>> folder.cleanup()
    """
    from partita.results.present import present

    check_page(Path(path))
    return write_page(present(result, extras, data=data, truth=truth, first=FIRST), Path(path), title=title)


def write_page(shown: Presentation, path: Path, **settings: Any) -> Path:
    """Writes the page of a presentation; `settings` are those of `page_content`."""
    from partita._support.atomic import write_text
    from partita.pages.page import page_content, render

    write_text(path, render(page_content(shown, **settings)))
    return path


def check_page(path: Path) -> None:
    """Refuses a file name that does not end in .html or .htm."""
    if path.suffix.lower() not in ("", ".html", ".htm"):
        raise ValueError(f"{path}: a report is an HTML page, so its name must end in .html or .htm")
