"""The partition of a table of largest exact ICL."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from partita.results.extras import column_questions, extra_sections
from partita.results.icl import IclPresentation
from partita.results.presentation import Note


class MixturePresentation(IclPresentation):
    """A fit of a mixture to a table, with the profiles of its clusters."""

    kind = "mixture"
    heading = "Clusters of a table"
    whose = "the fit of a mixture"
    takes: ClassVar[dict[str, str]] = {
        **IclPresentation.takes,
        "partita.profiling.profiles.Profiles": "profiles",
        "partita.models.mixtures.schema.Schema": "schema",
    }

    def find_notes(self) -> Iterator[Note]:
        yield from super().find_notes()
        yield from column_questions(self)

    def settings(self) -> Iterator[tuple[str, str]]:
        yield from super().settings()
        yield "Criterion", "exact integrated complete-data log likelihood, log p(X, z | K)"
        yield "Cluster proportions", f"Dirichlet({self.result.n0:g}, …, {self.result.n0:g})"
        yield "Runs", f"{len(self.result.runs):,}"

    def more_sections(self) -> Iterator[dict[str, Any] | None]:
        yield from extra_sections(self, first=True)
        yield self.members_section()
