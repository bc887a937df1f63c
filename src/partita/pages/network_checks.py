"""Checks on the page of a network: nodes whose cluster is uncertain, and the prediction of hidden dyads."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.draws.sample import as_sample
from partita.estimation.mixing import MixingWarning
from partita.models.chains.chain import Chain
from partita.models.networks.fit import BlockFit
from partita.models.networks.prediction import HeldOut, held_out
from partita.models.networks.sbm import StochasticBlockModel
from partita.pages.blocks import next_clusters
from partita.pages.tables import Column, Table
from partita.uncertainty.certainty import item_certainty

SHORT_CHAIN: dict[str, Any] = {"draws": 200, "warmup": 200, "chains": 2}
CHEAP = 12_000  # edges and nodes times clusters: a short chain and a fit then take a second or so
MOST_THINNED = 20
RESTARTS = 3
SURE = 0.9  # probability from which on a node is certain
LISTED = 100


@dataclass(frozen=True)
class NetworkChecks:
    """Draws of the posterior and the score of hidden dyads; None where they were neither given nor cheap."""

    draws: Chain | None = None
    draws_given: bool = False
    scored: HeldOut | None = None
    scored_given: bool = False


def make_checks(fit: BlockFit, draws: Chain | None, scored: HeldOut | None, *, always: bool = False) -> NetworkChecks:
    """What was given; the rest is computed if it is cheap, or `always`."""
    if draws is not None and draws.n_items != len(fit.labels):
        raise ValueError(f"draws has {draws.n_items} items but the fit has {len(fit.labels)} nodes")
    affordable = fit.model is not None and (always or _cost(fit) <= CHEAP)
    chain, score = draws, scored
    if chain is None and affordable and isinstance(fit.model, StochasticBlockModel):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MixingWarning)  # the page says so
            thin = min(MOST_THINNED, max(1, CHEAP // _cost(fit)))
            chain = fit.model.sample(fit.graph, rng=1, thin=thin, **SHORT_CHAIN)
    if score is None and affordable and len(fit.labels) > 2:
        score = held_out(fit.model, fit.graph, rng=1, restarts=RESTARTS)
    return NetworkChecks(chain, draws is not None, score, scored is not None)


def _cost(fit: BlockFit) -> int:
    """Of a sweep, roughly."""
    return int(fit.graph.adjacency.nnz) + len(fit.labels) * fit.n_clusters


def caveats(fit: BlockFit, checks: NetworkChecks) -> Iterator[str]:
    """What is uncertain about the answer, in sentences that follow it."""
    if checks.draws is not None:
        count = int((_certainty(fit, checks.draws) < SURE).sum())
        nodes = f"{count:,} of the {len(fit.labels):,} nodes"
        yield f"The cluster of {nodes} is uncertain (mean probability below {SURE:g})."
        if not checks.draws_given and checks.draws.warnings:
            yield "The chains of the short run that says so have not converged."
    if checks.scored is not None:
        hidden = f"{checks.scored.n_pairs:,} hidden dyads, {checks.scored.n_edges:,} of them edges,"
        yield f"{hidden} are predicted {_verdict(checks.scored)} than by the density of the network alone."


def _certainty(fit: BlockFit, chain: Chain) -> NDArray[np.float64]:
    return item_certainty(fit.labels, as_sample(chain)).probability


def uncertain_nodes(fit: BlockFit, checks: NetworkChecks) -> dict[str, Any]:
    """The sentence and the table of uncertain nodes."""
    if checks.draws is None:
        advice = "Give the page draws of the posterior of a flat model: report(fit, draws=model.sample(graph))."
        return {"words": f"Not computed: {_why(fit)}. {advice}", "table": None}
    sample, probability = as_sample(checks.draws), _certainty(fit, checks.draws)
    order = np.argsort(probability, kind="stable")
    listed = order[probability[order] < SURE][:LISTED]
    count = int((probability < SURE).sum())
    chain = checks.draws
    size = f"{chain.n_chains} chains of {chain.n_draws:,} draws"
    how = size if checks.draws_given else f"a short run of {size}, sampled for this page"
    below = f"are with other members of their cluster with a mean probability below {SURE:g}"
    words = f"By {how}: {count:,} of {len(fit.labels):,} nodes {below}."
    if not checks.draws_given:
        words += "".join(f" {sentence}" for sentence in chain.warnings)
        words += " A longer run may say more: report(fit, draws=...)."
    return {"words": words, "table": _uncertain_table(fit, sample, probability, listed) if len(listed) else None}


def _uncertain_table(fit: BlockFit, sample: Any, probability: Any, listed: Any) -> Table:
    columns = [
        Column("Node", "text"),
        Column("Cluster", "cluster"),
        Column(
            "With its cluster", "share", help="Mean probability that the node is with another member of its cluster"
        ),
    ]
    rows: list[tuple[Any, ...]] = [(str(fit.graph.names[i]), int(fit.labels[i]), float(probability[i])) for i in listed]
    if fit.n_clusters > 1:
        other, chance = next_clusters(fit.labels, sample, listed)
        columns += [
            Column("Next cluster", "cluster"),
            Column("With that", "share", help="Mean probability that it is with a member of the next cluster"),
        ]
        rows = [(*row, int(k), float(p)) for row, k, p in zip(rows, other, chance, strict=True)]
    return Table("doubtful", "Uncertain nodes, the least certain first", tuple(columns), rows)


def prediction(fit: BlockFit, checks: NetworkChecks) -> dict[str, Any]:
    """The sentence and the facts of the prediction of hidden dyads."""
    scored = checks.scored
    if scored is None:
        advice = "Give the page a score: report(fit, held_out=held_out(model, graph))."
        return {"words": f"Not computed: {_why(fit)}. {advice}", "facts": []}
    how = "A given share" if checks.scored_given else "A tenth"
    words = (
        f"{how} of the dyads was hidden, the model fitted to the others, and the hidden ones predicted: "
        f"{_verdict(scored)} than "
        "by the density of the network alone."
    )
    return {"words": words, "facts": list(_scores(scored))}


def _verdict(scored: HeldOut) -> str:
    return "better" if scored.log_score > scored.baseline else "no better"


def _scores(scored: HeldOut) -> Iterator[tuple[str, str]]:
    yield "Hidden dyads", f"{scored.n_pairs:,}, {scored.n_edges:,} of them edges"
    yield "AUC", "–" if np.isnan(scored.auc) else f"{scored.auc:.3f}"
    yield "Mean log score", f"{scored.log_score:.4f}"
    yield "Of the density alone", f"{scored.baseline:.4f}"


def _why(fit: BlockFit) -> str:
    if fit.model is None:
        return "the fit is one layer of several"
    cheap = _cost(fit) <= CHEAP
    return "a nested model has no sampler" if cheap else f"the network is large ({len(fit.labels):,} nodes)"
