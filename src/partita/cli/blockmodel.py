"""`partita blockmodel`: the clusters of a network's nodes."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Annotated, Any

import partita as pt
from partita.cli.deliver import delivering, presented
from partita.cli.given import refuse
from partita.cli.network_options import EdgeFile, Network
from partita.cli.node_rows import NodeRows
from partita.cli.options import ClusterLimit, Jobs, OutputOptions, Restarts, Seconds, Seed, TruthFile, checked_limit
from partita.cli.steps import extra, step

SHORT_CHAIN: dict[str, Any] = {"draws": 200, "warmup": 200, "chains": 2}
CHEAP = 12_000  # edges and nodes times clusters: a short chain and a fit then take a second or so
MOST_THINNED = 20
CHECK_RESTARTS = 3


def run(
    edges: EdgeFile,
    network: Network,
    rows: NodeRows,
    writing: OutputOptions,
    nested: Annotated[bool, "Clusters of clusters: a nested model, whose levels the search chooses."] = False,
    check: Annotated[bool, "Sample and hide dyads for the report, also if the network is large (slow)."] = False,
    compare: Annotated[bool, "Compare block models: plain, affiliation, degree-corrected, nested."] = False,
    truth: TruthFile = None,
    max_clusters: ClusterLimit = None,
    restarts: Restarts = 10,
    seconds: Seconds = None,
    algorithm: Annotated[str, "search, or come-latouche: Algorithm 1 of Côme & Latouche (2015) as printed."] = "search",
    seed: Seed = None,
    jobs: Jobs = -1,
) -> None:
    """Cluster the nodes of a network by maximising the exact ICL of a stochastic block model.

    With --table, the columns of a table of the nodes and the network determine the clusters together.

    Example: partita blockmodel edges.csv --undirected --out run/
    """
    from partita.models.networks.edge_list import read_node_labels

    if nested:
        refuse(["algorithm"], "is for flat models, not for --nested")
    if rows.table is None:
        refuse(["family"], "is for the columns of --table")
    else:
        refuse(["nested", "compare", "algorithm"], "is for a network alone, without --table")
    with delivering(writing, "check") as deliver:
        data: Any = network.read(edges, rows.names)
        known = None if truth is None else read_node_labels(truth, data.names)
        model = network.nested_model() if nested else network.model()
        search: dict[str, Any] = {"algorithm": algorithm} if rows.table is None and not nested else {}
        search |= {"k_max": checked_limit(max_clusters), "restarts": restarts, "seconds": seconds, "n_jobs": jobs}
        extras: list[Any] = []
        more: dict[str, Any] = {}
        if rows.table is not None:
            data, model = {"network": data, "table": rows.read}, rows.beside(model)
        with step("searched", seconds=seconds):
            fit = model.maximize(data, rng=seed, **search)
        if rows.table is not None:
            described, more = rows.described(fit, seed)
            extras.append(described)
        if writing.out is not None and not fit.interrupted:
            _check(fit, model, data, extras, always=check)
        if compare and not fit.interrupted:
            extra(extras, "compared models", lambda: _compared(network, data, restarts, seed))
        deliver(presented(fit, extras, truth=known), truth=truth, **more)


def _check(fit: Any, model: Any, data: Any, found: list[Any], *, always: bool) -> None:
    """Appends draws of the posterior and the score of hidden dyads, if they are cheap or asked for."""
    graph, columns = (data, 0) if not isinstance(data, dict) else (data["network"], len(data["table"].columns))
    cost = int(graph.adjacency.nnz) + len(fit.labels) * fit.n_clusters * (1 + columns)  # of a sweep, roughly
    if not always and cost > CHEAP:
        return
    if not isinstance(model, pt.models.NestedBlockModel):
        thin = min(MOST_THINNED, max(1, CHEAP // cost))
        extra(found, "sampled the posterior", lambda: _sampled(model, data, thin))
    if len(fit.labels) > 2 and data is graph:
        again: dict[str, Any] = {"rng": 1, "restarts": CHECK_RESTARTS}
        extra(found, "predicted hidden dyads", lambda: pt.models.held_out(model, graph, **again))


def _sampled(model: Any, data: Any, thin: int) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pt.MixingWarning)  # the notes say so
        return model.sample(data, rng=1, thin=thin, **SHORT_CHAIN)


def _compared(network: Network, graph: Any, restarts: int, seed: int | None) -> Any:
    """The block models that such a network can have."""
    plain = replace(network, blocks="free", degree_corrected=False)
    models = [
        replace(plain, **change).model() for change in ({}, {"blocks": "affiliation"}, {"degree_corrected": True})
    ]
    return pt.models.compare_models(graph, [*models, plain.nested_model()], restarts=restarts, rng=seed)
