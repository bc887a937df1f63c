"""Whether the chains behind a page mixed."""

from __future__ import annotations

import warnings

from partita.estimate_result import Estimate
from partita.search.settings import Search
from partita.uncertainty.diagnostics import Diagnostics, diagnostics

MIXING_CELLS = 12_000_000


def chain_diagnostics(estimate: Estimate) -> Diagnostics | None:
    """How well the chains mixed; None if the draws are weighted or the computation would take long."""
    sample = estimate.sample
    if sample.is_weighted or sample.n_unique * sample.n_items > MIXING_CELLS:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the page shows the advice itself
        return diagnostics(estimate, search=Search(runs=1), rng=0)
