"""`partita blockmodel`: the clusters of a network's nodes."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from partita.cli.options import Json

RESULTS = ("labels.csv", "blocks.csv", "path.csv", "summary.json")


def run(
    edges: Annotated[
        Path, typer.Argument(help="Edge list: csv with a header; columns source, target (or from, to), perhaps weight.")
    ],
    out: Annotated[Path | None, typer.Option(help="Folder for labels.csv, blocks.csv, path.csv, summary.json.")] = None,
    undirected: Annotated[bool, typer.Option("--undirected", help="Edges have no direction.")] = False,
    loops: Annotated[bool, typer.Option("--loops", help="A node may link to itself.")] = False,
    counts: Annotated[bool, typer.Option("--counts", help="Weights are counts of edges.")] = False,
    blocks: Annotated[
        str, typer.Option(help="free, or affiliation: one edge parameter inside clusters, one between them.")
    ] = "free",
    degree_corrected: Annotated[bool, typer.Option("--degree-corrected", help="Nodes differ in degree.")] = False,
    nodes: Annotated[Path | None, typer.Option(help="csv whose first column names all nodes.")] = None,
    truth: Annotated[Path | None, typer.Option(help="csv of node, label to compare with.")] = None,
    k_max: Annotated[int | None, typer.Option(help="Most clusters.", show_default="no limit")] = None,
    restarts: Annotated[int, typer.Option(help="Starts of the search.")] = 10,
    seed: Annotated[int | None, typer.Option(help="Seed of the random numbers.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier folder.")] = False,
    json: Json = False,
) -> None:
    """Cluster the nodes of a network by the stochastic block model of largest exact ICL.

    Example: partita blockmodel edges.csv --undirected --out run/
    """
    from partita.cli.outputs import print_json, whole_folder
    from partita.models import StochasticBlockModel, as_graph
    from partita.models.node_labels import read_node_labels, read_node_names

    names = None if nodes is None else read_node_names(nodes)
    graph = as_graph(edges, directed=not undirected, counts=counts, nodes=names)
    known = None if truth is None else read_node_labels(truth, graph.names)
    model = StochasticBlockModel(
        not undirected,
        loops,
        edges="counts" if counts else "binary",
        blocks=blocks,
        degree_corrected=degree_corrected,
    )
    with nullcontext() if out is None else whole_folder(out, force=force, known=RESULTS) as folder:
        fit = model.maximize(graph, k_max=k_max, restarts=restarts, rng=seed)
        summary = _summary(fit, known)
        if folder is not None:
            _write(folder, fit, summary)
    if json:
        print_json({**summary, "labels": fit.labels.tolist(), "names": [str(name) for name in graph.names]})
    else:
        _print(fit, summary)


def _summary(fit: Any, known: Any) -> dict[str, Any]:
    summary = {"n_nodes": len(fit.labels), "n_clusters": fit.n_clusters, "icl": fit.icl}
    if known is not None:
        from partita.agreement import adjusted_rand, nmi

        summary |= {"nmi": float(nmi(fit.labels, known)), "adjusted_rand": float(adjusted_rand(fit.labels, known))}
    return summary


def _write(folder: Path, fit: Any, summary: dict[str, Any]) -> None:
    from partita.cli.outputs import write_csv, write_json

    table = fit.blocks()
    cells = [(k, m) for k in range(fit.n_clusters) for m in range(fit.n_clusters)]
    write_csv(folder / "labels.csv", ("node", "cluster"), zip(fit.graph.names, fit.labels.tolist(), strict=True))
    write_csv(
        folder / "blocks.csv",
        ("from", "to", "edges", "dyads", "mean", "lower", "upper"),
        [
            (k, m, table.edges[k, m], table.dyads[k, m], table.mean[k, m], table.lower[k, m], table.upper[k, m])
            for k, m in cells
        ],
    )
    write_csv(folder / "path.csv", ("n_clusters", "icl"), zip(fit.path.n_clusters.tolist(), fit.path.icl, strict=True))
    write_json(folder / "summary.json", summary)


def _print(fit: Any, summary: dict[str, Any]) -> None:
    from partita.cli.outputs import print_table

    rows = [
        (str(k), str(len(names)), ", ".join(str(name) for name in names[:6]))
        for k, names in enumerate(fit.names_by_cluster())
    ]
    agreement = f", NMI {summary['nmi']:.3f}" if "nmi" in summary else ""
    title = f"{fit.n_clusters} clusters of {len(fit.labels)} nodes, ICL {fit.icl:.3f}{agreement}"
    print_table(title, ("cluster", "nodes", "first names"), rows)
