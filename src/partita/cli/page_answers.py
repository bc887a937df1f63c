"""Answers that `partita report` adds to its page on request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from partita.cli.steps import step

if TYPE_CHECKING:
    from partita.estimation.result import Estimate


#: Labels of distinct draws up to which the chains are searched one by one, and other losses.
MIXING_CELLS, CHEAP_CELLS = 12_000_000, 400_000
COMPARED = ("vi", "binder", "nvi", "omari")


@dataclass(frozen=True)
class PageAnswers:
    """Which further answers the page has."""

    partial: Annotated[float | None, "Show which items are clustered in the same way with this joint probability."] = (
        None
    )
    tree: Annotated[bool, "Show a tree of nested clusterings with its support."] = False
    errors: Annotated[bool, "Show the Monte Carlo error: what other draws would have given."] = False
    parameters: Annotated[
        str | None,
        "A npy file of parameters, (draws, items, ...) or (chains, draws, items, ...), in the order of the"
        " draws that are kept: show those of the clusters.",
    ] = None

    def check(self) -> None:
        """Bad values are noticed before the draws are read."""
        from partita._support.validate import check_level

        if self.partial is not None:
            check_level(self.partial, "--partial")

    def computed(self, best: Estimate) -> list[Any]:
        """What the page shows beside the estimate and its ball: the chains, other losses, and what was asked for."""
        from partita.uncertainty import cluster_parameters, hierarchy, monte_carlo_error, partial_clustering

        found: list[Any] = [*_diagnostics(best), *_other_losses(best)]
        if self.partial is not None:
            with step("partial clustering"):
                found.append(partial_clustering(best.sample, self.partial, rng=0))
        if self.tree:
            with step("tree of clusterings"):
                found.append(hierarchy(best))
        if self.errors:
            with step("Monte Carlo error"):
                found.append(monte_carlo_error(best, rng=0))
        if self.parameters is not None:
            with step(f"parameters of {self.parameters}"):
                found.append(cluster_parameters(best, _read_parameters(self.parameters)))
        return found


def _diagnostics(best: Estimate) -> list[Any]:
    """How well the chains mixed, with the estimate of each; nothing for one chain, or if it would take long."""
    import warnings

    from partita.search.settings import Search
    from partita.uncertainty.diagnostics import diagnostics

    sample = best.sample
    if sample.is_weighted or sample.n_chains == 1 or sample.n_unique * sample.n_items > MIXING_CELLS:
        return []
    with step("estimates of the chains"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the notes say so
        return [diagnostics(best, search=Search(runs=1), rng=0)]


def _other_losses(best: Estimate) -> list[Any]:
    """The estimates under other losses, where they cost next to nothing and would be those of the same problem."""
    from partita.estimation.estimate import estimate_step
    from partita.losses.losses import as_loss
    from partita.search.settings import Search

    sample = best.sample
    if sample.n_unique * sample.n_items > CHEAP_CELLS or best.constraints is not None or sample.has_gaps:
        return []
    others = [loss for loss in map(as_loss, COMPARED) if loss != best.loss]
    with step("estimates under other losses"):
        return [estimate_step(sample, loss, Search(runs=4), 0) for loss in others]


def _read_parameters(path: str) -> Any:
    import numpy as np

    try:
        return np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise ValueError(f"{path}: --parameters needs a npy file of numbers ({error})") from None
