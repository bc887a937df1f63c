"""Answers that `partita report` adds to its page on request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from partita.cli.steps import step

if TYPE_CHECKING:
    from partita.estimation.result import Estimate


@dataclass(frozen=True)
class PageAnswers:
    """Which further answers the page has."""

    partial: Annotated[
        float | None,
        typer.Option(help="Show which items are clustered in the same way with this joint probability."),
    ] = None
    tree: Annotated[bool, typer.Option("--tree", help="Show a tree of nested clusterings with its support.")] = False
    errors: Annotated[
        bool, typer.Option("--errors", help="Show the Monte Carlo error: what other draws would have given.")
    ] = False
    parameters: Annotated[
        str | None,
        typer.Option(
            help="A npy file of parameters, (draws, items, ...) or (chains, draws, items, ...), in the order of the"
            " draws that are kept: show those of the clusters.",
            show_default=False,
        ),
    ] = None

    def check(self) -> None:
        """Bad values are noticed before the draws are read."""
        from partita._support.validate import check_level

        if self.partial is not None:
            check_level(self.partial, "--partial")

    def computed(self, best: Estimate) -> dict[str, Any]:
        """The arguments of `report`."""
        from partita.uncertainty import cluster_parameters, hierarchy, monte_carlo_error, partial_clustering

        found: dict[str, Any] = {}
        if self.partial is not None:
            with step("partial clustering"):
                found["partial"] = partial_clustering(best.sample, self.partial, rng=0)
        if self.tree:
            with step("tree of clusterings"):
                found["tree"] = hierarchy(best)
        if self.errors:
            with step("Monte Carlo error"):
                found["error"] = monte_carlo_error(best, rng=0)
        if self.parameters is not None:
            with step(f"parameters of {self.parameters}"):
                found["parameters"] = cluster_parameters(best, _read_parameters(self.parameters))
        return found


def _read_parameters(path: str) -> Any:
    import numpy as np

    try:
        return np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise ValueError(f"{path}: --parameters needs a npy file of numbers ({error})") from None
