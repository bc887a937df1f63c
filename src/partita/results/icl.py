"""What fits by the exact ICL have in common: runs, merges, the agreement between runs, and draws beside them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, ClassVar

from partita._support.hints import plural
from partita.draws.sample import PartitionSample, as_sample
from partita.results.parts import section
from partita.results.presentation import LISTED, Note, cautions, facts
from partita.results.sentences import log_number
from partita.results.tables import Table, columns, table
from partita.results.uncertain import SampledPresentation


class IclPresentation(SampledPresentation):
    """A fit by the largest exact ICL that a search found, with draws of the posterior if they are given."""

    takes: ClassVar[dict[str, str]] = {
        "partita.models.chains.chain.Chain": "draws",
        "partita.draws.sample.PartitionSample": "draws",
    }
    same_items: ClassVar[dict[str, str]] = {"draws": "n_items"}
    written: ClassVar[tuple[str, ...]] = ("items", "clusters", "runs", "path")
    own = facts("""
        icl | exact integrated complete-data log likelihood, natural logarithm
        runs = result.runs.# | number of runs of the search
        group_icl | ICL of each group of runs whose partitions were combined; empty if the runs agreed
        times_reached | how many separate searches reached the ICL""")

    @cached_property
    def sample(self) -> PartitionSample | None:
        """The draws of the posterior, if they were given."""
        return as_sample(self.extras["draws"]) if "draws" in self.extras else None

    @property
    def can_be_sampled(self) -> bool:
        """Whether the model of the fit is known and has a sampler."""
        return True

    @cached_property
    def details(self) -> str:
        """The criterion, and the agreement between runs."""
        return (
            f"This partition has the largest exact ICL that was found, {log_number(self.result.icl)};"
            f" {self.result.found.in_words()}."
        )

    def find_notes(self) -> Iterator[Note]:
        yield from cautions(getattr(self.extras.get("draws"), "notes", ()))
        yield from cautions(self.result.found.cautions())
        if self.sample is None and self.can_be_sampled:
            yield Note(f"Which {self.noun}s are uncertain is not known: posterior draws of the same model would tell.")

    def settings(self) -> Iterator[tuple[str, str]]:
        yield from super().settings()
        if self.sample is not None:
            yield "Posterior draws", f"{self.sample.n_draws:,} in {plural(self.sample.n_chains, 'chain')}"

    def more_tables(self) -> Iterator[Table | None]:
        yield self.uncertain_table()
        fit = self.result
        below = [max(0.0, fit.found.best - run.icl) for run in fit.runs]
        rows = [
            (at, run.start, run.icl, far) for at, (run, far) in enumerate(zip(fit.runs, below, strict=True), self.first)
        ]
        header = columns("""
            Run; Start; ICL; ICL deficit | Below the best""")
        yield Table("runs", "Runs of the search, each by itself", header, rows)
        yield self.path_table()

    def path_table(self) -> Table:
        path = self.result.path
        rows = list(zip(path.n_clusters.tolist(), path.icl.tolist(), strict=True))
        return table("path", "Greedy merges down to one cluster", "Clusters=n_clusters; ICL", rows)

    def members_section(self, title: str | None = None, *more: Any) -> dict[str, Any]:
        """The items: the least certain first, if there are draws, or by cluster."""
        if self.sample is None or more:
            return self.items_section(title, *more)
        return self.uncertain_section()

    def search_sections(self) -> Iterator[dict[str, Any] | None]:
        """The merges."""
        told = "The clusters merged greedily, the pair that costs the least ICL first."
        yield section("path", "Hierarchy", told, self.tables["path"].head(LISTED))

    def diagnostics_blocks(self) -> Iterator[Any]:
        """The runs, where they disagree."""
        if self.result.times_reached < len(self.result.found.ends):
            yield self.tables["runs"]
