"""Clusters made of several mixture components: the components, the path over ω, and the uncertainty of the draws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from functools import cached_property
from typing import Any, ClassVar

from partita._support.arrays import Floats
from partita.results.after_clustering import path_table
from partita.results.balls import ball_facts, ball_sentence
from partita.results.presentation import LISTED, Presentation, button, listed, section, show, words
from partita.results.tables import Table
from partita.uncertainty.ball import CredibleBall
from partita.uncertainty.certainty import item_certainty


class FusedPresentation(Presentation):
    """Fused components, with their bound and the ball of the draws."""

    kind = "fused"
    heading = "Components and clusters"
    whose = "fused components"
    takes: ClassVar[dict[str, str]] = {"partita.proofs.bounds.Bound": "bound"}
    written = ("items", "clusters", "path")
    printed: ClassVar[dict[str, int]] = {"clusters": 50, "path": 10}
    meanings: ClassVar[dict[str, str]] = {
        "mean_components": "posterior mean of the number of components",
        "omega": "cost of separating two items with the same kernel",
        "expected_loss": "loss of the partition by the expected distances",
        "proven": "whether no partition of the items that were clustered is better",
        "bound": "lower bound on the loss; null if none was asked for",
        "seed": "seed that gives the same answer again",
        "representatives": "number of items that were clustered; null for all",
        "ball": "credible ball of the draws, each with its components fused",
    }

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the items."""
        return self.result.draws.names  # type: ignore[no-any-return]

    @cached_property
    def ball(self) -> CredibleBall:
        """The fused draws that are nearest to the result."""
        found: CredibleBall = self.result.ball()
        return found

    @cached_property
    def certainty(self) -> Floats:
        """By the draws, each with its components fused."""
        return item_certainty(self.labels, self.result.draws).probability

    def more_answer(self) -> Iterator[str]:
        """How many components make the clusters, and what 95 % of the posterior allows."""
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

    def own_facts(self) -> dict[str, Any]:
        """Components, criterion, proof and ball."""
        best, bound = self.result, self.extras.get("bound")
        return {
            "mean_components": best.mean_components,
            "omega": best.omega,
            "expected_loss": best.expected_loss,
            "proven": best.proven,
            "bound": None if bound is None else asdict(bound),
            "seed": best.seed,
            "representatives": None if best.representatives is None else len(best.representatives),
            "ball": ball_facts(self.ball),
        }

    def more_tables(self) -> Iterator[Table | None]:
        """The path over ω."""
        yield path_table(self.result)

    def sections(self) -> Iterator[dict[str, Any] | None]:
        """Clusters, path, items, truth, diagnostics."""
        yield section("clusters", "Clusters", button(), show(self.tables["clusters"].head(LISTED, "clusters")))
        told = "A smaller distance keeps more components apart. The answer is that of omega in the list below."
        yield section("path", "Components and clusters", words(told), show(self.tables["path"]))
        yield section("items", "Items", show(self.tables["items"].head(LISTED, "items")))
        yield self.truth_section()
        yield section("diagnostics", "Diagnostics", words(self.details), listed(self.settings()))

    def settings(self) -> Iterator[tuple[str, str]]:
        """The number of draws, and ω."""
        yield from super().settings()
        yield "Draws", f"{self.result.draws.n_draws:,}"
        yield "Omega", f"{self.result.omega:.4g}"

    def reproduce(self) -> Iterator[tuple[str, str]]:
        """The seed and the call."""
        yield "Seed", str(self.result.seed)
        yield "Call", f"fuse(chain, {self.result.omega:.10g}, rng={self.result.seed})"
