"""Sections of what may be given beside a result: profiles, parameters, partial clustering, tree, Monte Carlo error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from partita.results.after_clustering import fused_section, relation_section, sensitivity_section
from partita.results.drawings import interval_drawing, tree_drawing
from partita.results.partials import partial_section
from partita.results.parts import drawing, listed, section
from partita.results.presentation import Note, Presentation
from partita.results.profiles import profile_section
from partita.results.sentences import amount, percent
from partita.results.tables import Table, columns
from partita.uncertainty.hierarchy import Hierarchy
from partita.uncertainty.monte_carlo import MonteCarloError
from partita.uncertainty.parameters import ClusterParameters

ROWS_LISTED = 1000
#: Extras that say what the clusters are like.
FIRST = ("profiles",)


def extra_sections(shown: Presentation, *, first: bool = False) -> Iterator[dict[str, Any]]:
    """The sections of the extras that were given: those beside the clusters, or the others."""
    for name, (_, made) in SECTIONS.items():
        if name in shown.extras and first == (name in FIRST):
            yield made(shown.extras[name], shown.first)


def column_questions(shown: Presentation) -> Iterator[Note]:
    """What the columns of a table may be beside what they are taken for; the options that answer are not for a page."""
    schema = shown.extras.get("schema")
    for text in () if schema is None else schema.notes:
        yield Note(f"{text.partition('? ')[0].rstrip('?')}?")


def _parameters_section(parameters: ClusterParameters, first: int) -> dict[str, Any]:
    found = list(parameters.rows())
    several = any(row["component"] for row in found)
    rows = [tuple(value for name, value in row.items() if several or name != "component") for row in found]
    note = None if len(rows) <= ROWS_LISTED else f"The first {ROWS_LISTED:,} of {len(rows):,} rows."
    header = columns(f"""
        Cluster; Items{"; Component" if several else ""}
        Mean:loss | Posterior mean of the parameter, over the items of the cluster
        Low | Lower end of the {percent(parameters.level)} interval
        High | Upper end of the {percent(parameters.level)} interval""")
    table = Table("parameters", "Parameters of the clusters", header, rows[:ROWS_LISTED], note)
    told = (
        "The parameter of a cluster is the mean over its items of their parameters in a draw, whatever numbers the"
        " sampler gave its clusters."
    )
    picture = drawing("parameters", interval_drawing(parameters, first), "Posterior mean and interval of each cluster")
    return section("parameters", "Parameters of the clusters", told, picture, table)


def _tree_section(tree: Hierarchy, first: int) -> dict[str, Any]:
    support, sizes = tree.support, tree.members.sum(axis=1).tolist()
    rows = [
        (node + first, size, int(tree.n_clusters[tree.first_level[node]]), *(float(v[node]) for v in shares))
        for shares in [(support.transfer, support.together, support.exact)]
        for node, size in enumerate(sizes[:ROWS_LISTED])
    ]
    header = columns("""
        Node:number; Items
        Level | Number of clusters of the finest level on which the node is a cluster
        Support | 1 minus the mean share of its items that must move for a draw to contain the node
        Together | Probability that its items are all in one cluster
        Exact | Probability of exactly this cluster""")
    told = (
        "Nested partitions from fine (bottom) to coarse (top); the dashed line is the estimate. The number on a branch"
        " is the posterior support of the node below it: 1 if no cluster of any draw crosses it."
    )
    below = (
        "On the left the number of clusters of each level, at the bottom the number of items of the finest clusters."
    )
    picture = drawing("tree", tree_drawing(tree), "Tree of clusterings with the support of each node", below)
    table = Table("tree", "Nodes of the tree", header, rows)
    return section("tree", "Tree of clusterings", told, picture, table, menu="Tree")


def _error_section(error: MonteCarloError, first: int) -> dict[str, Any]:
    worst = float(np.nanmax(error.certainty)) if np.isfinite(error.certainty).any() else float("nan")
    facts = [
        ("Standard error of the expected loss", amount(error.expected_loss, error.loss)),
        (f"Standard error of the {percent(error.level)} radius", amount(error.radius, error.loss)),
        ("Standard error of an item's certainty", f"at most {worst:.2g}"),
        ("Clusters in the estimates of parts of the draws", ", ".join(map(str, error.n_clusters))),
    ]
    return section("error", "Monte Carlo error", error.in_words(), listed(facts))


#: What may be given beside an estimate and has a section of its own: its type, and the section, by its name.
SECTIONS: dict[str, tuple[str, Callable[[Any, int], dict[str, Any]]]] = {
    "profiles": ("partita.profiling.profiles.Profiles", profile_section),
    "parameters": ("partita.uncertainty.parameters.ClusterParameters", _parameters_section),
    "partial": ("partita.uncertainty.partial.PartialClustering", partial_section),
    "tree": ("partita.uncertainty.hierarchy.Hierarchy", _tree_section),
    "error": ("partita.uncertainty.monte_carlo.MonteCarloError", _error_section),
    "fused": ("partita.models.mixtures.fusing.FusedEstimate", fused_section),
    "sensitivity": ("partita.models.mixtures.sensitivity.Sensitivity", sensitivity_section),
    "relations": ("partita.profiling.relate.Relation", relation_section),
}
EXTRAS = {"partita.models.mixtures.schema.Schema": "schema"} | {kind: name for name, (kind, _) in SECTIONS.items()}
