"""What follows the clustering, as tables and sections: outside variables, other priors, fused components."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from partita.models.mixtures.fusing import FusedEstimate
from partita.models.mixtures.sensitivity import Sensitivity
from partita.profiling.relate import Relation
from partita.results.parts import note, section
from partita.results.tables import Table, columns


def relation_table(relation: Relation) -> Table:
    """One row per term and method."""
    header = columns(f"""
        Term
        Method | Clusters taken as observed; averaged over draws; corrected for classification error
        Estimate:mean; Standard error:mean; Low:mean | Lower end of the {relation.level:.0%} interval
        High:mean | Upper end of the {relation.level:.0%} interval""")
    caption = "Coefficients; those corrected for classification error are the ones to report"
    return Table("relation", caption, header, [tuple(row.values()) for row in relation.rows()])


def relation_section(relations: list[Relation], first: int) -> dict[str, Any]:
    """The answer, the notes and the coefficients of each relation."""
    blocks: list[Any] = []
    for place, given in enumerate(relations):
        relation = given.counted_from(first)
        table = replace(relation_table(relation), id=f"relation-{place}")
        blocks += [relation.in_words(), note(" ".join(relation.notes)), table]
    return section("relation", "Clusters and outside variables", *blocks, menu="Outside variables")


def sensitivity_section(found: Sensitivity, first: int) -> dict[str, Any]:
    """What other priors would have done."""
    rows = [
        (row.prior, row.pareto_k, row.mean_clusters, row.n_clusters, _verdict(row.stays), row.excess)
        for row in found.changes
    ]
    header = columns("""
        Prior
        Pareto k:share | Tail of the weights; above 0.7 the prior is too far from that of the draws
        Mean clusters:mean | Posterior mean of the number of clusters
        Clusters | Of the best partition under this prior
        Reported partition
        Excess:loss | Expected loss of the reported partition minus that of the best one""")
    table = Table("sensitivity", "Other priors on partitions", header, rows)
    notes = note(" ".join(found.notes))
    return section("sensitivity", "Sensitivity to the prior", found.in_words(), notes, table, menu="Prior")


def _verdict(stays: bool | None) -> str:
    return "sample anew" if stays is None else "stays the best" if stays else "is not the best"


def path_table(found: FusedEstimate) -> Table:
    """The number of clusters for each ω."""
    rows = [
        (step.distance, step.omega, step.n_clusters, step.expected_loss, "yes" if step.proven else "no")
        for step in found.path
    ]
    header = columns("""
        Distance:share | Hellinger distance below which two items alone are joined
        Omega:mean | Cost of separating two items with the same kernel
        Clusters; Expected loss; Proven | Whether no partition is better""")
    return Table("path", "Clusters made of components, by the distance at which they join", header, rows)


def fused_section(found: FusedEstimate, first: int) -> dict[str, Any]:
    """The number of components and of the clusters that they make."""
    told = found.in_words()
    return section("fused", "Components and clusters", told, path_table(found), menu="Components")
