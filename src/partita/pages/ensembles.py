"""The page about a consensus of base clusterings: the answer, the map, certainty, agreement and dependence."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._support.arrays import Floats
from partita._support.hints import plural
from partita._support.names import as_named
from partita.ensembles.summary import ConsensusSummary, Redundant
from partita.pages.blocks import next_clusters
from partita.pages.content import ITEMS_LISTED, listed_note, map_note
from partita.pages.figures import map_figure
from partita.pages.heatmap import has_map, heat_map, percent
from partita.pages.labels import held_labels
from partita.pages.sentences import sizes_in_words
from partita.pages.tables import Column, Table
from partita.pages.truth import against_truth
from partita.plots.order import leaf_order
from partita.uncertainty.certainty import cluster_stability

CLUSTERS_LISTED = 1000
NAMES_SHOWN = 12
UNSURE = 0.5  # items below this certainty are counted in the answer
CONSENSUS = "the consensus"


def ensemble_content(
    found: ConsensusSummary,
    truth: ArrayLike | None,
    *,
    title: str,
    command: str | None,
    labels_file: str | None,
    first: int = 0,
) -> dict[str, Any]:
    """Everything the template needs."""
    labelled = np.flatnonzero(found.labels >= 0)
    labels, certainty = found.labels[labelled].astype(np.int64), np.nan_to_num(found.certainty[labelled])
    every = found.base.names or tuple(map(str, range(first, len(found.labels) + first)))
    names = tuple(every[i] for i in labelled.tolist())
    heat = heat_map(labels, certainty, found.sample) if has_map(labels) else None
    return {
        "title": title,
        "first": first,
        "n_items": f"{len(found.labels):,}",
        "warnings": found.warnings,
        "answer": ensemble_answer(found),
        "settings": list(_settings(found)),
        "clusters": _clusters(found, labels, certainty, names),
        "map_note": map_note(heat),
        "base": _base(found),
        "redundancy": _redundancy(found),
        "items": _items(found, labels, certainty, names, labels_file),
        **_against_truth(found, truth),
        "labels": held_labels(found.labels, found.base.names, found.certainty),
        "command": command,
        "figures": {
            "map": None if heat is None else map_figure(heat, labels, None if heat.aggregated else names),
            "agreement": _pairs_figure(_with_consensus(found), (CONSENSUS, *found.clusterings)),
            "dependence": _pairs_figure(found.dependence.matrix, found.clusterings),
        },
    }


def ensemble_answer(found: ConsensusSummary) -> str:
    """The result as sentences that could be pasted into a paper."""
    labels, certainty = found.labels[found.labels >= 0], found.certainty[found.labels >= 0]
    unsure = int((np.nan_to_num(certainty) < UNSURE).sum())
    doubt = f"{plural(unsure, 'item')} below {UNSURE:g}" if unsure else f"none below {UNSURE:g}"
    method = f" by {found.method}" if found.method else ""
    return (
        f"The {len(labels):,} items fall into {plural(found.n_clusters, 'cluster')} ({sizes_in_words(labels)}), the "
        f"consensus of {plural(found.base.n_clusterings, 'base clustering')}{method}; the effective "
        f"number of independent clusterings is {found.dependence.effective:.1f}. Their mean agreement with the "
        f"consensus is {found.agreement.mean():.2f} (adjusted Rand index, from {found.agreement.min():.2f} to "
        f"{found.agreement.max():.2f}). The mean certainty of an item is {np.nanmean(certainty):.2f}, with {doubt}."
    )


def _settings(found: ConsensusSummary) -> Iterator[tuple[str, str]]:
    base = found.base
    yield "Items", f"{base.n_items:,}"
    yield "Base clusterings", f"{base.n_clusterings:,}"
    yield "Clusters in each", f"{base.sizes.min():,} to {base.sizes.max():,}"
    yield "Missing labels", f"{(base.codes < 0).mean():.1%}"
    if found.method:
        yield "Method", found.method
    equal = np.ptp(found.weights) == 0
    yield "Weights", "equal" if equal else f"from {found.weights.min():.2f} to {found.weights.max():.2f}"


def _clusters(found: ConsensusSummary, labels: NDArray[np.int64], certainty: Floats, names: tuple[str, ...]) -> Table:
    stability = cluster_stability(labels, found.sample)
    rows = []
    for k in range(min(found.n_clusters, CLUSTERS_LISTED)):
        members = np.flatnonzero(labels == k)
        shown = ", ".join(names[i] for i in members[:NAMES_SHOWN].tolist())
        more = ", …" if len(members) > NAMES_SHOWN else ""
        share = len(members) / len(labels)
        numbers = (float(certainty[members].mean()), float(stability.jaccard[k]))
        rows.append((k, len(members), share, *numbers, f"{shown}{more}"))
    columns = (
        Column("Cluster", "cluster"),
        Column("Items", "number"),
        Column("Share", "percent"),
        Column("Certainty", "share", "Mean certainty of its items"),
        Column("Recovery", "share", "Mean overlap (Jaccard) with the most similar cluster of a base clustering"),
        Column("First items", "text"),
    )
    cut = found.n_clusters > CLUSTERS_LISTED
    note = f"The first {CLUSTERS_LISTED:,} of {found.n_clusters:,} clusters." if cut else None
    return Table("clusters", "Clusters of the consensus", columns, rows, note)


def _items(
    found: ConsensusSummary,
    labels: NDArray[np.int64],
    certainty: Floats,
    names: tuple[str, ...],
    labels_file: str | None,
) -> Table:
    listed = np.argsort(certainty, kind="stable")[:ITEMS_LISTED]
    columns = [
        Column("Item", "text"),
        Column("Cluster", "cluster"),
        Column("Certainty", "share", "Mean probability, or share of base clusterings, of being with its cluster"),
    ]
    cells: list[list[Any]] = [[names[i] for i in listed.tolist()], labels[listed].tolist(), certainty[listed].tolist()]
    if found.n_clusters > 1:
        cluster, share = next_clusters(labels, found.sample, listed)
        columns += [
            Column("Next cluster", "cluster", "The other cluster with whose items it is most often"),
            Column("With it", "share", "Mean share of base clusterings, by weight, in which it is with those items"),
        ]
        cells += [cluster.tolist(), share.tolist()]
    note = listed_note("items", ITEMS_LISTED, len(labels), labels_file) if len(labels) > ITEMS_LISTED else None
    return Table(
        "items", "Items, least certain first", tuple(columns), list(zip(*cells, strict=True)), note, search=True
    )


def _base(found: ConsensusSummary) -> Table:
    """One row per base clustering, those that agree most with the consensus first."""
    others = found.dependence.matrix - 2 * np.eye(found.base.n_clusterings)
    nearest, names = others.argmax(axis=1), found.clusterings
    labelled = (found.base.codes >= 0).mean(axis=0)
    rows = []
    for m in np.argsort(-found.agreement, kind="stable").tolist():
        beside = [names[nearest[m]], float(others[m, nearest[m]])] if len(names) > 1 else [None, None]
        facts = (names[m], int(found.base.sizes[m]), float(labelled[m]), float(found.agreement[m]))
        rows.append((*facts, float(found.weights[m]), float(found.dependence.weights[m]), *beside))
    columns = (
        Column("Clustering", "text"),
        Column("Clusters", "number"),
        Column("Labelled", "percent"),
        Column("Agreement", "share", "Adjusted Rand index with the consensus, on the items that it labels"),
        Column("Weight", "share", "In this consensus"),
        Column("Counts as", "share", "What it adds, of one independent clustering, given the others"),
        Column("Nearest", "text", "The clustering on which it depends most, beyond the consensus"),
        Column("Dependence", "share", "On that clustering: 0 if independent given the consensus, 1 for copies"),
    )
    return Table("base", "Base clusterings, those nearest to the consensus first", columns, rows)


def _redundancy(found: ConsensusSummary) -> str:
    """Which base clusterings could be left out."""
    redundant = found.redundant
    if not redundant:
        return (
            "No base clustering is redundant: each contains information that neither the consensus nor another one has."
        )
    shown = "; ".join(_redundant_words(pair, found.clusterings) for pair in redundant[:NAMES_SHOWN])
    more = f"; and {len(redundant) - NAMES_SHOWN} more" if len(redundant) > NAMES_SHOWN else ""
    count = plural(len(redundant), "base clustering")
    return f"{count} of {found.base.n_clusterings} are redundant, each nearly identical to another one: {shown}{more}."


def _redundant_words(pair: Redundant, names: tuple[str, ...]) -> str:
    return f"{names[pair.which]} beside {names[pair.beside]} ({pair.said:.0%})"


def _against_truth(found: ConsensusSummary, truth: ArrayLike | None) -> dict[str, Table | None]:
    """The measures and the table of clusters by classes, on the items that have labels."""
    if truth is None:
        return against_truth(None, found.labels, None)
    known = np.asarray(as_named(truth, "truth").in_order_of(found.base.names, len(found.labels), "the ensemble"))
    labelled = found.labels >= 0
    return against_truth(known[labelled], found.labels[labelled], None)


def _with_consensus(found: ConsensusSummary) -> Floats:
    """Agreement of each pair of clusterings, with the consensus as the first."""
    return np.block([[np.ones((1, 1)), found.agreement[None, :]], [found.agreement[:, None], found.pairs]])


def _pairs_figure(matrix: Floats, names: tuple[str, ...]) -> dict[str, Any]:
    """A table of pairs as a picture, in an order that puts similar ones side by side."""
    order = leaf_order(np.clip(matrix, 0, 1))
    cells = percent(np.clip(matrix, 0, 1)[np.ix_(order, order)])
    return {
        "z": base64.b64encode(cells.tobytes()).decode(),
        "names": [names[m] for m in order.tolist()],
    }
