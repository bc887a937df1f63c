"""What fits by the exact ICL have in common: runs, merges, and the agreement between runs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, ClassVar

from partita.results.presentation import LISTED, Note, Presentation, facts, listed, section, show, words
from partita.results.sentences import log_number
from partita.results.tables import Table, columns


class IclPresentation(Presentation):
    """A fit by the largest exact ICL that a search found."""

    written: ClassVar[tuple[str, ...]] = ("items", "clusters", "runs", "path")
    own = facts("""
        icl | exact integrated complete-data log likelihood, natural logarithm
        runs = n_runs | number of runs of the search
        group_icl | ICL of each group of runs that were crossed; empty if the runs agreed
        times_reached | how many separate searches reached the ICL""")

    @cached_property
    def details(self) -> str:
        """The criterion, and the agreement between runs."""
        return (
            f"This partition has the largest exact ICL that was found, {log_number(self.result.icl)};"
            f" {self.result.found.in_words()}."
        )

    def find_notes(self) -> Iterator[Note]:
        """Searches that disagree or ended early."""
        yield from (Note(sentence, warning=True) for sentence in self.result.found.cautions())

    @property
    def n_runs(self) -> int:
        """Number of runs of the search."""
        return len(self.result.runs)

    def more_tables(self) -> Iterator[Table | None]:
        """The runs and the merges."""
        fit = self.result
        below = [max(0.0, fit.found.best - run.icl) for run in fit.runs]
        rows = [(at, run.start, run.icl, far) for at, (run, far) in enumerate(zip(fit.runs, below, strict=True))]
        header = columns("""
            Run; Start; ICL; ICL deficit | Below the best""")
        yield Table("runs", "Runs before any crossing", header, rows)
        yield self.path_table()

    def path_table(self) -> Table:
        """One row per number of clusters."""
        path = self.result.path
        rows = list(zip(path.n_clusters.tolist(), path.icl.tolist(), strict=True))
        header = columns("Clusters=n_clusters; ICL")
        return Table("path", "Greedy merges down to one cluster", header, rows)

    def search_sections(self) -> Iterator[dict[str, Any] | None]:
        """The merges; the settings and the runs, which are listed where they disagree."""
        told = "The clusters merged greedily, the pair that costs the least ICL first."
        yield section("path", "Hierarchy", words(told), show(self.tables["path"].head(LISTED)))
        disagree = self.result.times_reached < len(self.result.found.ends)
        yield section(
            "diagnostics",
            "Diagnostics",
            words(self.details),
            listed(self.settings()),
            show(self.tables["runs"]) if disagree else None,
        )
