"""Whether the chains behind a page mixed: diagnostics, traces, ranks, and the estimate of each chain."""

from __future__ import annotations

from typing import Any

import numpy as np

from partita._support.arrays import Floats, Labels
from partita.estimation.result import Estimate
from partita.estimation.standard_errors import by_chain
from partita.partitions.matching import align_labels
from partita.plots.canvas import COLORS
from partita.results.figures import ball_strips, rounded
from partita.results.heatmap import HeatMap
from partita.uncertainty.diagnostics import Diagnostics

#: Chains of more draws are thinned in the figure.
DRAWS_TRACED = 400
RANK_BINS = 20
CHAINS_SHOWN = 12


def chain_figure(estimate: Estimate) -> dict[str, Any] | None:
    """Traces and ranks of two summaries by chain; None for a single chain, and for many."""
    sample = estimate.sample
    if not 1 < sample.n_chains <= CHAINS_SHOWN:
        return None
    summaries = {"clusters": sample.n_clusters.astype(np.float64), "distance to the estimate": estimate.distances}
    arrays = {name: by_chain(values[sample.index], sample) for name, values in summaries.items()}
    step = -(-next(iter(arrays.values())).shape[1] // DRAWS_TRACED)
    quantities = [
        {"name": name, "traces": [rounded(chain[::step]) for chain in values], "ranks": _rank_shares(values)}
        for name, values in arrays.items()
    ]
    return {"quantities": quantities, "step": step, "colors": list(COLORS)}


def chain_strips(part: Estimate, checked: Diagnostics, items: Labels, heat: HeatMap) -> dict[str, Any] | None:
    """The estimate of each chain alone, for the items in clusters; None for a single chain, and for many."""
    found = [labels[items] for labels in checked.chain_labels]
    if not 1 < len(found) <= CHAINS_SHOWN:
        return None
    own = [(f"chain {c + 1}", align_labels(part.labels, labels)) for c, labels in enumerate(found)]
    return ball_strips([("estimate", part.labels), *own], heat)


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
