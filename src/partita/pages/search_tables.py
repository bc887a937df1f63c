"""What pages say of a search for the largest ICL: its runs, their agreement, and the merges of the result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from partita.pages.tables import Column, Table

if TYPE_CHECKING:
    from partita.models import MergePath

PATH_LISTED = 2000


def icl_sentence(fit: Any) -> str:
    """The criterion, and the agreement between runs, as the second sentence of an answer."""
    icl = f"{fit.icl:,.2f}".replace("-", "−")
    return f"This partition has the largest exact ICL that was found, {icl}; {fit.found.in_words()}."


def agreement_sentence(fit: Any) -> str:
    """The agreement between the runs of a fit."""
    words: str = fit.found.in_words()
    return f"{words[0].upper()}{words[1:]}."


def runs_table(fit: Any) -> Table:
    """One row per run of a fit."""
    below = [max(0.0, fit.found.best - run.icl) for run in fit.runs]
    rows = [(at, run.start, run.icl, far) for at, (run, far) in enumerate(zip(fit.runs, below, strict=True))]
    columns = (Column("Run", "number"), Column("Start", "text"), Column("ICL", "log"), Column("Below the best", "log"))
    return Table("runs", "Runs before any crossing", columns, rows)


def path_table(path: MergePath) -> Table:
    """One row per number of clusters."""
    rows = list(zip(path.n_clusters.tolist(), path.icl.tolist(), strict=True))[:PATH_LISTED]
    columns = (Column("Clusters", "number"), Column("ICL", "log"))
    return Table("path", "Greedy merges down to one cluster", columns, rows)
