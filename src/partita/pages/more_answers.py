"""Answers that a page has on request: partial clustering, parameters of clusters, tree, Monte Carlo error."""

from __future__ import annotations

from typing import Any

import numpy as np

from partita._support.hints import plural
from partita.estimation.result import Estimate
from partita.pages.drawings import curve_drawing, interval_drawing, tree_drawing
from partita.pages.sentences import amount, percent
from partita.pages.tables import Column, Table
from partita.partitions.checks import check_same_items
from partita.uncertainty.hierarchy import Hierarchy
from partita.uncertainty.monte_carlo import MonteCarloError
from partita.uncertainty.parameters import ClusterParameters
from partita.uncertainty.partial import PartialClustering

ROWS_LISTED = 1000
#: Joint probabilities of the table of partial clusterings.
PROBABILITIES = (0.99, 0.95, 0.9, 0.75, 0.5, 0.25)
#: The answers by name (argument of `report`, key of the content), and the functions that make them.
ANSWERS: dict[str, tuple[type, str]] = {
    "partial": (PartialClustering, "partial_clustering"),
    "parameters": (ClusterParameters, "cluster_parameters"),
    "tree": (Hierarchy, "hierarchy"),
    "error": (MonteCarloError, "monte_carlo_error"),
}


def more_answers(
    estimate: Estimate,
    *,
    partial: PartialClustering | None = None,
    parameters: ClusterParameters | None = None,
    tree: Hierarchy | None = None,
    error: MonteCarloError | None = None,
    first: int = 0,
) -> dict[str, Any]:
    """The sections of the answers that are given; an answer about other items or another partition is refused."""
    _check_types(partial=partial, parameters=parameters, tree=tree, error=error)
    found: dict[str, Any] = dict.fromkeys(ANSWERS)
    if partial is not None:
        check_same_items(estimate.labels, partial.labels, "estimate", "partial")
        found["partial"] = _partial_section(partial)
    if parameters is not None:
        check_same_items(estimate.labels, parameters.labels, "estimate", "parameters")
        if not np.array_equal(estimate.labels, parameters.labels):
            raise ValueError("parameters are those of another partition than the estimate")
        found["parameters"] = _parameters_section(parameters, first)
    if tree is not None:
        check_same_items(estimate.labels, tree.levels[0], "estimate", "tree")
        found["tree"] = _tree_section(tree)
    if error is not None:
        check_same_items(estimate.labels, error.labels[0], "estimate", "error")
        found["error"] = _error_section(error)
    return found


def _check_types(**given: Any) -> None:
    for name, value in given.items():
        kind, function = ANSWERS[name]
        if value is not None and not isinstance(value, kind):
            raise TypeError(f"{name} must be a result of {function}, not {type(value).__name__}")


def _partial_section(partial: PartialClustering) -> dict[str, Any]:
    """How many items can be clustered with how much confidence."""
    cuts = [partial.cut(probability) for probability in PROBABILITIES]
    rows = [
        (wanted, cut.n_items, int(cut.labels.max()) + 1, cut.probability)
        for wanted, cut in zip(PROBABILITIES, cuts, strict=True)
    ]
    columns = (
        Column("At least", "share", "Joint probability that is asked for"),
        Column("Items", "number", "How many items the draws then cluster in the same way"),
        Column("Clusters", "number"),
        Column("Probability", "share", "Probability that all these items are clustered in exactly this way"),
    )
    words = (
        f"{partial.n_items:,} of {plural(partial.labels.size, 'item')} are clustered in the same way with probability"
        f" {partial.probability:.3f}. The curve is the joint probability of the items in the order in which the search"
        f" added them; the area under it, as a share, is {partial.area:.3f}: 1 if all draws agree on all items."
    )
    table = Table("partial", "Partial clusterings", columns, rows)
    return {"words": words, "table": table, "drawing": curve_drawing(partial.curve, partial.labels.size)}


def _parameters_section(parameters: ClusterParameters, first: int) -> dict[str, Any]:
    rows = [tuple(row.values()) for row in parameters.rows()]
    note = None if len(rows) <= ROWS_LISTED else f"The first {ROWS_LISTED:,} of {len(rows):,} rows."
    columns = (
        Column("Cluster", "cluster"),
        Column("Items", "number"),
        Column("Component", "text"),
        Column("Mean", "loss", "Posterior mean of the parameter, over the items of the cluster"),
        Column("Low", "loss", f"Lower end of the {percent(parameters.level)} interval"),
        Column("High", "loss", f"Upper end of the {percent(parameters.level)} interval"),
    )
    table = Table("parameters", "Parameters of the clusters", columns, rows[:ROWS_LISTED], note).counted_from(first)
    return {"table": table, "drawing": interval_drawing(parameters, first)}


def _tree_section(tree: Hierarchy) -> dict[str, Any]:
    support, sizes = tree.support, tree.members.sum(axis=1).tolist()
    rows = [
        (node, size, int(tree.n_clusters[tree.first_level[node]]), *(float(v[node]) for v in shares))
        for shares in [(support.transfer, support.together, support.exact)]
        for node, size in enumerate(sizes[:ROWS_LISTED])
    ]
    columns = (
        Column("Node", "number"),
        Column("Items", "number"),
        Column("Level", "number", "Number of clusters of the finest level on which the node is a cluster"),
        Column("Support", "share", "1 minus the mean share of its items that must move for a draw to contain the node"),
        Column("Together", "share", "Probability that its items are all in one cluster"),
        Column("Exact", "share", "Probability of exactly this cluster"),
    )
    return {"table": Table("tree", "Nodes of the tree", columns, rows), "drawing": tree_drawing(tree)}


def _error_section(error: MonteCarloError) -> dict[str, Any]:
    worst = float(np.nanmax(error.certainty)) if np.isfinite(error.certainty).any() else float("nan")
    facts = [
        ("Standard error of the expected loss", amount(error.expected_loss, error.loss)),
        (f"Standard error of the {percent(error.level)} radius", amount(error.radius, error.loss)),
        ("Standard error of an item's certainty", f"at most {worst:.2g}"),
        ("Clusters in the estimates of parts of the draws", ", ".join(map(str, error.n_clusters))),
    ]
    return {"words": error.in_words(), "facts": facts}
