"""Clusters made of several mixture components: the components, the path over ω, and the uncertainty of the draws."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, ClassVar

from partita.draws.sample import PartitionSample
from partita.results.after_clustering import path_table
from partita.results.balls import ball_facts, ball_sentence
from partita.results.pairs import PairPresentation
from partita.results.parts import section
from partita.results.presentation import Note, Presentation, cautions, facts
from partita.results.tables import Table
from partita.results.uncertain import SampledPresentation, draws_warnings
from partita.uncertainty.ball import CredibleBall


class FusedPresentation(SampledPresentation):
    """Fused components, with their bound and the ball of the draws."""

    kind = "fused"
    names_at = "result.draws.names"
    heading = "Components and clusters"
    whose = "fused components"
    takes: ClassVar[dict[str, str]] = {"partita.proofs.bounds.Bound": "bound"}
    written = ("items", "clusters", "path")
    printed: ClassVar[dict[str, int]] = Presentation.printed | {"path": 10}
    own = facts("""
        mean_components | posterior mean of the number of components
        omega | cost of separating two items with the same kernel
        expected_loss | loss of the partition by the expected distances
        proven | whether no partition of the items that were clustered is better
        bound = extras.bound | lower bound on the loss; null if none was asked for
        seed | seed that gives the same answer again
        representatives = result.representatives.# | number of items that were clustered; null for all
        ball = ball_facts | credible ball of the draws, each with its components fused""")

    @cached_property
    def ball(self) -> CredibleBall:
        """The fused draws that are nearest to the result."""
        found: CredibleBall = self.result.ball()
        return found

    @property
    def sample(self) -> PartitionSample:
        """The draws, each with its components fused."""
        found: PartitionSample = self.result.draws
        return found

    def more_answer(self) -> Iterator[str]:
        yield self.result.in_words()
        yield ball_sentence(self.ball)

    @cached_property
    def details(self) -> str:
        """The criterion, and what is proven."""
        best, bound = self.result, self.extras.get("bound")
        proof = "no partition has a lower one, which is proven" if best.proven else "the lowest that was found"
        some = "" if best.representatives is None else f" of {len(best.representatives):,} items that represent all"
        told = "" if bound is None else f" {bound.in_words()}"
        return f"The expected loss{some} at omega {best.omega:.4g} is {best.expected_loss:.6g}: {proof}.{told}"

    def find_notes(self) -> Iterator[Note]:
        yield from draws_warnings(self.result.draws, self.labels)
        yield from cautions(self.result.cautions)

    @property
    def ball_facts(self) -> dict[str, Any]:
        """The facts about the ball."""
        return ball_facts(self.ball)

    def more_tables(self) -> Iterator[Table | None]:
        yield path_table(self.result)
        yield PairPresentation(self.result._core).pairs_table()
        yield self.uncertain_table()

    def more_sections(self) -> Iterator[dict[str, Any] | None]:
        yield self.uncertain_section()
        told = f"A smaller distance keeps more components apart. The answer is that of omega {self.result.omega:.4g}."
        yield section("path", "Components and clusters", told, self.tables["path"])

    def settings(self) -> Iterator[tuple[str, str]]:
        yield from super().settings()
        yield "Draws", f"{self.result.draws.n_draws:,}"
        yield "Omega", f"{self.result.omega:.4g}"

    def reproduce(self) -> Iterator[tuple[str, str]]:
        yield from super().reproduce()
        yield "Call", f"fuse(chain, {self.result.omega:.10g}, rng={self.result.seed})"
