"""Answers that `partita report` adds to its page on request."""

from __future__ import annotations

import functools
import warnings
from dataclasses import dataclass
from typing import Annotated, Any

import partita as pt
from partita.cli.steps import extra

#: Labels of distinct draws up to which other losses are searched, if this costs little and the problem is the same.
CHEAP_CELLS = 400_000
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

    def compute(self, best: pt.Estimate, found: list[Any]) -> None:
        """Appends what the page shows beside the ball: the chains, other losses, and what was asked for."""
        from partita.estimation.estimate import estimate_step
        from partita.losses.losses import as_loss
        from partita.results.uncertain import MIXING_CELLS

        sample = best.sample
        cells = sample.n_unique * sample.n_items
        if not sample.is_weighted and sample.n_chains > 1 and cells <= MIXING_CELLS:
            extra(found, "estimates of the chains", lambda: _diagnostics(best))
        if (
            cells <= CHEAP_CELLS and best.constraints is None and not sample.has_gaps
        ):  # others would be of other problems
            for loss in [loss for loss in map(as_loss, COMPARED) if loss != best.loss]:
                again = functools.partial(estimate_step, sample, loss, pt.Search(runs=4), 0)
                extra(found, f"estimate under {loss}", again)
        if self.partial is not None:
            extra(
                found, "partial clustering", functools.partial(pt.partial_clustering, best.sample, self.partial, rng=0)
            )
        if self.tree:
            extra(found, "tree of clusterings", lambda: pt.hierarchy(best))
        if self.errors:
            extra(found, "Monte Carlo error", lambda: pt.monte_carlo_error(best, rng=0))
        if self.parameters is not None:
            theta = _read_parameters(self.parameters)
            extra(found, f"parameters of {self.parameters}", lambda: pt.cluster_parameters(best, theta))


def _diagnostics(best: pt.Estimate) -> Any:
    """How well the chains mixed, with the estimate of each."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the notes say so
        return pt.diagnostics(best, search=pt.Search(runs=1), rng=0)


def _read_parameters(path: str) -> Any:
    import numpy as np

    try:
        parameters = np.load(path, allow_pickle=False)
    except (ValueError, EOFError):
        parameters = None
    if not isinstance(parameters, np.ndarray) or parameters.dtype.kind not in "iufb":
        raise ValueError(f"{path}: --parameters needs a npy file of numbers")
    return parameters
