"""The answers that other losses give for the same draws, where they cost next to nothing."""

from __future__ import annotations

from partita.estimation.estimate import estimate_step
from partita.estimation.result import Estimate
from partita.losses.agreement import adjusted_rand
from partita.losses.losses import as_loss
from partita.pages.tables import Column, Table
from partita.search.settings import Search

COMPARED = ("vi", "binder", "nvi", "omari")
#: Labels of distinct draws up to which the searches take a fraction of a second.
CHEAP_CELLS = 400_000
SEARCH = Search(runs=4)


def other_losses(estimate: Estimate) -> Table | None:
    """One row per other loss: the number of clusters of its estimate, and its agreement with this one.

    None where the searches would take long, or would not be those of the estimate: under constraints, for a loss with
    weights of its own, and for draws with missing labels.
    """
    sample = estimate.sample
    if sample.n_unique * sample.n_items > CHEAP_CELLS or estimate.constraints is not None or sample.has_gaps:
        return None
    rows = []
    for name in COMPARED:
        loss = as_loss(name)
        if loss == estimate.loss:
            continue
        other = estimate_step(sample, loss, SEARCH, 0)
        same = adjusted_rand(estimate.labels, other.labels)
        rows.append((loss.words, other.n_clusters, float(same), f'estimate(draws, "{name}")'))
    columns = (
        Column("Loss", "text"),
        Column("Clusters", "number"),
        Column("Agreement", "share", "Adjusted Rand index with the estimate of this page; 1 is the same partition"),
        Column("Call", "text"),
    )
    return Table("losses", "Estimates under other losses", columns, rows, f"From {SEARCH.runs} runs each.")
