"""`partita cluster`: from a table to clusters, in one command."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import partita as pt
from partita.cli.deliver import delivering, presented
from partita.cli.form import first_number
from partita.cli.given import refuse
from partita.cli.mixture_table import SAMPLED, TableOptions
from partita.cli.options import (
    Json,
    LossOptions,
    MaxClusters,
    OutputOptions,
    Restarts,
    Runs,
    checked_limit,
    whole_limit,
)
from partita.cli.sample import Chains
from partita.cli.steps import step

if TYPE_CHECKING:
    from partita.results.tables import Table

SAMPLING_ONLY = (*SAMPLED, "loss", "a", "b", "runs", "draws", "warmup", "thin", "chains", "jobs")


def run(
    modelled: TableOptions,
    out: Annotated[Path, "Folder for all results; it appears only when it is complete."],
    chains: Chains,
    weighing: LossOptions,
    runs: Runs = None,
    max_clusters: MaxClusters = None,
    maximize: Annotated[bool, "Search the partition of largest exact ICL instead of sampling."] = False,
    restarts: Restarts = 10,
    level: Annotated[float, "Level of the credible ball and of the intervals of the profiles."] = 0.95,
    force: Annotated[bool, "Replace existing results."] = False,
    json: Json = False,
) -> None:
    """Cluster the rows of a table with columns of several kinds and missing cells.

    Samples a mixture, checks the chains, finds the partition with the lowest expected loss, and writes the clusters,
    their profiles, the missing cells, the draws and a report. With --maximize, searches the partition of largest exact
    integrated complete-data log likelihood, which is quick but gives no uncertainty.

    A long table with several rows per subject is clustered by subject: --id patient --time month.

    Example: partita cluster table.csv --family visits=count --out results --seed 1
    """
    from partita._support.validate import check_level

    check_level(level, "--level")
    if modelled.writes_schema():
        return
    if maximize:
        refuse(SAMPLING_ONLY, "is for samples; --maximize takes none")
    else:
        refuse(["restarts"], "is for --maximize")
    loss, limit = weighing.chosen_loss(), whole_limit(max_clusters)
    with delivering(OutputOptions(json=json, out=out, force=force)) as deliver:
        table = modelled.read()
        model, chosen, notes = modelled.model(table, sampled=not maximize, json=json)
        facts: dict[str, Any] = {
            "families": {column.name: column.family for column in chosen.columns},
            "column_notes": list(notes),
        }
        if maximize:
            most = checked_limit(modelled.clusters if limit is None or limit == float("inf") else int(limit))
            with step("searched"):
                result: Any = model.maximize(table, most, restarts, rng=chains.seed)
            extras, others = [], {}
        else:
            chain = chains.sample(model, table, names=None if modelled.curves else table.names)
            with step("searched", has_progress=True):
                search = pt.Search(runs=runs, max_clusters=limit, progress=chains.running["progress"])
                result = _checked(pt.estimate(chain, loss=loss, search=search, rng=chains.seed), chain)
            extras = [pt.credible_ball(result, level=level), chain]
            others = {} if modelled.projection else _chain_tables(chain, chains.seed)
        inclusion = None if not modelled.select else result.inclusion if maximize else chain.inclusion
        facts["inclusion"] = None if inclusion is None else dict(inclusion)
        described = pt.profiles(
            result,
            table,
            columns=modelled.families,
            curves=modelled.curves or modelled.regression,
            inclusion=inclusion,
            level=level,
            rng=chains.seed,
        )
        shown, text = presented(result, [*extras, described, chosen]), described.text(first_number())
        deliver(shown, title="Clusters of a table", facts=facts, tables=others | profile_tables(described), text=text)


def _checked(best: pt.Estimate, chain: pt.models.Chain) -> pt.Estimate:
    """The estimate with one check of its draws and of their log density, so that nothing is said twice."""
    from partita.estimation.convergence import draw_summaries, mixing_warnings
    from partita.estimation.search_warnings import search_warnings, unlabelled_warnings

    summaries = {**draw_summaries(best.sample, best.distances), "log density": chain.log_density}
    cautions = (*mixing_warnings(summaries), *search_warnings(best), *unlabelled_warnings(best))
    return replace(best, cautions=cautions, interrupted=best.interrupted or not chain.attrs["complete"])


def profile_tables(described: pt.Profiles) -> dict[str, Table]:
    """profiles.csv and columns.csv."""
    from partita.results.tables import Table, columns

    header = columns("cluster:cluster; items; column; level; mean; low; high; observed")
    rows = [tuple(row[column.name] for column in header) for row in described.rows()]
    found = list(described.column_rows())
    return {
        "profiles": Table("profiles", "Profiles", header, rows),
        "columns": Table("columns", "Columns", columns("; ".join(found[0])), [tuple(row.values()) for row in found]),
    }


def _chain_tables(chain: pt.models.Chain, seed: int | None) -> dict[str, Table]:
    """imputed.csv: the missing cells."""
    from partita.results.tables import Table, columns

    header = columns("item; column; value; probability; sd; low; high")
    with step("imputed"):
        cells = chain.impute(rng=seed).summary()
    rows = [
        [cell.get("item", cell["row"] + first_number()), *(cell.get(c.name, "") for c in header[1:])] for cell in cells
    ]
    return {"imputed": Table("imputed", "Missing cells", header, rows)}
