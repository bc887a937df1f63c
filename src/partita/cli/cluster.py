"""`partita cluster`: from a table to clusters, in one command."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from partita.cli.errors import INTERRUPTED
from partita.cli.form import one_based
from partita.cli.given import refuse
from partita.cli.maximum import maximize_table, write_profiles
from partita.cli.mixture_table import (
    AsTable,
    Families,
    Missing,
    TableFile,
    parse_families,
    print_schema,
    read_mixed,
    typed_notes,
)
from partita.cli.options import Json, LossOptions, MaxClusters, Runs, whole_limit
from partita.cli.outputs import RESULTS
from partita.cli.sample import Alpha, Chains
from partita.cli.terminal import print_lines

if TYPE_CHECKING:
    from partita.estimation.result import Estimate
    from partita.models import Chain, Imputation
    from partita.profiling.profiles import Profiles

WRITTEN = (*RESULTS, "profiles.csv", "imputed.csv", "columns.csv", "draws.npy", "path.csv")
SAMPLING_ONLY = ("alpha", "loss", "a", "b", "runs", "max_clusters", "draws", "warmup", "thin", "chains")


def run(
    data: TableFile,
    out: Annotated[Path, typer.Option(help="Folder for all results; it appears only when it is complete.")],
    chains: Chains,
    weighing: LossOptions,
    family: Families = None,
    missing: Missing = None,
    as_table: AsTable = False,
    alpha: Alpha = None,
    runs: Runs = None,
    max_clusters: MaxClusters = None,
    maximize: Annotated[
        bool, typer.Option("--maximize", help="Search the partition of largest exact ICL instead of sampling.")
    ] = False,
    k_max: Annotated[
        int | None, typer.Option(help="Maximum number of clusters, with --maximize.", show_default="no limit")
    ] = None,
    restarts: Annotated[int, typer.Option(help="Number of runs of the search, with --maximize.")] = 10,
    level: Annotated[
        float, typer.Option(help="Level of the credible ball and of the intervals of the profiles.")
    ] = 0.95,
    force: Annotated[bool, typer.Option("--force", help="Replace existing results.")] = False,
    json: Json = False,
) -> None:
    """Cluster the rows of a table with columns of several kinds and missing cells.

    Samples a mixture, checks the chains, finds the partition with the lowest expected loss, and writes the clusters,
    their profiles, the missing cells, the draws and a report. With --maximize, searches the partition of largest exact
    integrated complete-data log likelihood, which is quick but gives no uncertainty.

    Example: partita cluster table.csv --family visits=count --out results --seed 1
    """
    import partita as pt
    from partita._support.validate import check_level
    from partita.cli.outputs import print_json, whole_folder
    from partita.cli.results import estimate_facts, print_estimate, write_results
    from partita.profiling.profiles import profiles

    check_level(level, "--level")
    families = parse_families(family)
    if maximize:
        refuse(SAMPLING_ONLY, "is for samples; --maximize takes none")
        maximize_table(
            data, out, families, missing, k_max, restarts, chains.seed, level, as_table=as_table, force=force, json=json
        )
        return
    refuse(["k_max", "restarts"], "is for --maximize")
    loss, search = weighing.chosen_loss(), pt.Search(runs=runs, max_clusters=whole_limit(max_clusters))
    with whole_folder(out, force=force, known=WRITTEN) as folder:
        table = read_mixed(data, families, missing, as_table=as_table)
        model = pt.models.MixtureDPM(families, alpha)
        schema = model.describe(table)
        notes = typed_notes(table, schema, families)
        if not json:
            print_schema(schema, notes)
        chain = chains.sample(model, table, names=table.names)
        best = _checked(pt.estimate(chain, loss=loss, search=search, rng=chains.seed), chain)
        described = profiles(best, table, columns=families, level=level, rng=chains.seed)
        imputed = chain.impute(rng=chains.seed)
        facts = {"families": {column.name: column.family for column in schema.columns}, "notes": list(notes)}
        facts |= _chain_facts(chain)
        write_results(folder, best, pt.credible_ball(best, level=level), facts=facts, profiles=described)
        _write_tables(folder, chain, described, imputed)
    if json:
        print_json(estimate_facts(best) | facts)
    else:
        print_estimate(best)
        print_lines(described.text(int(one_based())))
        print(f"Results are in {out}; open {out / 'report.html'} in a browser.")
    if not chain.attrs["complete"]:
        raise typer.Exit(INTERRUPTED)


def _checked(best: Estimate, chain: Chain) -> Estimate:
    """The estimate with one check of its draws and of their log density, so that nothing is said twice."""
    from partita.estimation.mixing import draw_summaries, mixing_warnings
    from partita.estimation.search_warnings import search_warnings
    from partita.losses.expected import unique_distances

    distance = unique_distances(best.labels, best.sample, best.loss)
    summaries = {**draw_summaries(best.sample, distance), "log density": chain.log_density}
    return replace(best, warnings=(*mixing_warnings(summaries), *search_warnings(best)))


def _chain_facts(chain: Chain) -> dict[str, Any]:
    return {
        "chains": {"chains": chain.n_chains, "draws": chain.n_draws, "warnings": list(chain.warnings)},
        "complete": bool(chain.attrs["complete"]),
    }


def _write_tables(folder: Path, chain: Chain, described: Profiles, imputed: Imputation) -> None:
    """profiles.csv, columns.csv, imputed.csv and draws.npy."""
    from partita.cli.outputs import write_csv
    from partita.draws.npy import write_npy

    write_profiles(folder, described)
    cells = imputed.summary()
    header = ("item", "column", "value", "probability", "sd", "low", "high")
    write_csv(
        folder / "imputed.csv",
        header,
        ([cell.get("item", cell["row"] + one_based()), *(cell.get(name, "") for name in header[1:])] for cell in cells),
    )
    write_npy(folder / "draws.npy", chain.labels)
