"""Whether the chains behind a page mixed: diagnostics, traces, ranks, and the estimate of each chain."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from partita._support.arrays import Floats
from partita.estimation.mixing import by_chain
from partita.estimation.result import Estimate
from partita.losses.expected import unique_distances
from partita.pages.figures import ball_strips, rounded
from partita.pages.heatmap import HeatMap
from partita.partitions.labels import align_labels
from partita.plots.palette import COLORS
from partita.search.settings import Search
from partita.uncertainty.diagnostics import Diagnostics, diagnostics

MIXING_CELLS = 12_000_000
#: Chains of more draws are thinned in the figure.
DRAWS_TRACED = 400
RANK_BINS = 20
CHAINS_SHOWN = 12


def chain_diagnostics(estimate: Estimate) -> Diagnostics | None:
    """How well the chains mixed; None if the draws are weighted or the computation would take long."""
    sample = estimate.sample
    if sample.is_weighted or sample.n_unique * sample.n_items > MIXING_CELLS:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the page shows the advice itself
        return diagnostics(estimate, search=Search(runs=1), rng=0)


def chain_figures(estimate: Estimate, checked: Diagnostics | None, heat: HeatMap | None) -> dict[str, Any]:
    """Traces and ranks of two summaries by chain, and the estimates of the chains; nothing for a single chain."""
    sample = estimate.sample
    if checked is None or not 1 < sample.n_chains <= CHAINS_SHOWN:
        return {"chains": None, "chain_strips": None}
    summaries = {
        "clusters": sample.n_clusters.astype(np.float64),
        "distance to the estimate": unique_distances(estimate.labels, sample, estimate.loss),
    }
    arrays = {name: by_chain(values[sample.index], sample) for name, values in summaries.items()}
    step = -(-next(iter(arrays.values())).shape[1] // DRAWS_TRACED)
    quantities = [
        {"name": name, "traces": [rounded(chain[::step]) for chain in values], "ranks": _rank_shares(values)}
        for name, values in arrays.items()
    ]
    found = [(f"chain {c}", align_labels(estimate.labels, labels)) for c, labels in enumerate(checked.chain_labels)]
    strips = None if heat is None or not found else ball_strips([("estimate", estimate.labels), *found], heat)
    return {"chains": {"quantities": quantities, "step": step, "colors": list(COLORS)}, "chain_strips": strips}


def _rank_shares(values: Floats) -> list[list[float]]:
    """For each chain, the share of its draws in each of 20 bins of the ranks over all chains.

    Tied draws spread evenly over the ranks that they share: the share of a chain up to a rank is linear between the
    distinct values.
    """
    _, place = np.unique(values, return_inverse=True)
    tables = np.array([np.bincount(chain, minlength=place.max() + 1) for chain in place.reshape(values.shape)])
    cumulative = np.hstack([np.zeros((len(tables), 1)), tables.cumsum(axis=1) / values.shape[1]])
    edges = np.linspace(0, 1, RANK_BINS + 1)
    return [rounded(np.diff(np.interp(edges, cumulative.mean(axis=0), chain))) for chain in cumulative]
