"""`partita blockmodel`: the clusters of a network's nodes."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from partita._support.text.write_table import significant
from partita.cli.errors import INTERRUPTED
from partita.cli.form import cluster_numbers, one_based, table_name
from partita.cli.given import refuse
from partita.cli.icl_results import search_facts, write_search
from partita.cli.network_options import EdgeFile, Network
from partita.cli.options import Json, Seed

RESULTS = ("labels.csv", "blocks.csv", "path.csv", "runs.csv", "levels.csv", "summary.json", "report.html")


def run(
    edges: EdgeFile,
    network: Network,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for labels, blocks, path, runs (and levels) as csv, summary.json and report.html."),
    ] = None,
    nested: Annotated[
        bool, typer.Option("--nested", help="Clusters of clusters: a nested model, whose levels the search chooses.")
    ] = False,
    check: Annotated[
        bool,
        typer.Option("--check", help="Sample and hide dyads for the report, also if the network is large (slow)."),
    ] = False,
    truth: Annotated[
        str | None, typer.Option(help="csv of node, label to compare with; file.csv:column selects the labels.")
    ] = None,
    k_max: Annotated[int | None, typer.Option(help="Maximum number of clusters.", show_default="no limit")] = None,
    restarts: Annotated[int, typer.Option(help="Number of runs of the search.")] = 10,
    seconds: Annotated[float | None, typer.Option(help="Time limit in seconds.", show_default=False)] = None,
    algorithm: Annotated[
        str, typer.Option(help="search, or come-latouche: Algorithm 1 of Côme & Latouche (2015) as printed.")
    ] = "search",
    seed: Seed = None,
    force: Annotated[bool, typer.Option("--force", help="Replace existing results.")] = False,
    json: Json = False,
) -> None:
    """Cluster the nodes of a network by maximising the exact ICL of a stochastic block model.

    Example: partita blockmodel edges.csv --undirected --out run/
    """
    from partita.cli.outputs import print_json, whole_folder
    from partita.models.networks.node_labels import read_node_labels

    if out is None:
        refuse(["force", "check"], "is for the results that --out writes; give --out too")
    if nested:
        refuse(["algorithm"], "is for flat models, not for --nested")
    graph = network.read(edges)
    known = None if truth is None else read_node_labels(truth, graph.names)
    model = network.nested_model() if nested else network.model()
    search: dict[str, Any] = {} if nested else {"algorithm": algorithm}
    with nullcontext() if out is None else whole_folder(out, force=force, known=RESULTS) as folder:
        fit = model.maximize(graph, k_max=k_max, restarts=restarts, rng=seed, seconds=seconds, **search)
        summary = _summary(fit, known)
        if folder is not None:
            _write(folder, fit, summary, known, check=check)
    if json:
        print_json({**summary, "labels": cluster_numbers(fit.labels), "names": [str(name) for name in graph.names]})
    else:
        _print(fit, summary)
        if out is not None:
            print(f"Results are in {out}; open {out / 'report.html'} in a browser.")
    if fit.interrupted:
        raise typer.Exit(INTERRUPTED)


def _summary(fit: Any, known: Any) -> dict[str, Any]:
    summary = {"n_nodes": len(fit.labels), "directed": fit.edges.directed} | search_facts(fit)
    if levels := getattr(fit, "levels", None):
        summary["levels"] = [{"n_clusters": level.n_clusters, "icl": level.icl} for level in levels]
    if known is not None:
        from partita.losses.agreement import adjusted_rand, nmi

        summary |= {"nmi": float(nmi(fit.labels, known)), "adjusted_rand": float(adjusted_rand(fit.labels, known))}
    return summary


def _write(folder: Path, fit: Any, summary: dict[str, Any], known: Any, *, check: bool) -> None:
    from partita.cli.outputs import write_csv, write_json
    from partita.pages.network_checks import make_checks
    from partita.pages.networks import network_content
    from partita.pages.page import write_page

    checks = make_checks(fit, None, None, always=check and not fit.interrupted)
    _write_labels(folder / "labels.csv", fit, checks.draws)
    _write_blocks(folder / "blocks.csv", fit.blocks())
    write_search(folder, fit)
    if "levels" in summary:
        names = ("node", *(f"level_{at}" for at in range(len(fit.levels))))
        columns = [cluster_numbers(level.labels) for level in fit.levels]
        write_csv(folder / "levels.csv", names, zip(fit.graph.names, *columns, strict=True))
    write_json(folder / "summary.json", summary)
    page: dict[str, Any] = {"command": None, "labels_file": table_name("labels.csv"), "first": int(one_based())}
    content = network_content(fit, known, checks=checks, title="Clusters of a network", **page)
    write_page("network", content, folder / "report.html")


def _write_labels(path: Path, fit: Any, draws: Any) -> None:
    """One row per node: its cluster and, if there are draws of the posterior, its certainty by them."""
    from partita.cli.outputs import write_csv
    from partita.uncertainty.certainty import item_certainty

    columns = {"node": fit.graph.names, "cluster": cluster_numbers(fit.labels)}
    if draws is not None:
        columns["certainty"] = [*map(significant, item_certainty(fit.labels, draws).probability.tolist())]
    write_csv(path, tuple(columns), zip(*columns.values(), strict=True))


def _write_blocks(path: Path, table: Any) -> None:
    """One row per pair of clusters: edges, dyads, the edge probability (or rate), and what edges carry."""
    from partita.cli.outputs import write_csv

    names = ("edges", "dyads", "mean", "lower", "upper")
    figures = {name: getattr(table, name) for name in names}
    figures |= {} if table.marks is None else table.marks.columns()
    cells = [(k, m) for k in range(len(table.mean)) for m in range(len(table.mean))]
    rows = [(*cluster_numbers([k, m]), *(values[k, m] for values in figures.values())) for k, m in cells]
    write_csv(path, ("from", "to", *figures), rows)


def _print(fit: Any, summary: dict[str, Any]) -> None:
    from partita._support.hints import plural
    from partita.cli.outputs import print_table
    from partita.cli.results import print_warnings

    print_warnings(summary["warnings"])
    rows = [
        (str(cluster_numbers(k)), str(len(names)), ", ".join(str(name) for name in names[:6]))
        for k, names in enumerate(fit.names_by_cluster())
    ]
    agreement = f", NMI (divided by the larger entropy) {summary['nmi']:.3f}" if "nmi" in summary else ""
    kind = "directed" if fit.edges.directed else "undirected"
    clusters = f"{plural(fit.n_clusters, 'cluster')} of {plural(len(fit.labels), 'node')} ({kind})"
    print(f"{clusters}, ICL {fit.icl:.3f}{agreement}")
    print_table("", ("cluster", "nodes", "first names"), rows)
    if "levels" in summary:
        counts = [str(level["n_clusters"]) for level in summary["levels"]]
        print(f"Levels from fine to coarse: {', '.join(counts)} clusters.")
    if not summary["warnings"]:
        words = fit.found.in_words()
        print(f"{words[0].upper()}{words[1:]}.")
