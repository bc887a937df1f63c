"""The page about an estimate from pair probabilities: uncertain pairs, components and proofs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from partita._support.hints import plural
from partita.estimation.pair_estimate import PairEstimate
from partita.pages.labels import held_labels
from partita.pages.sentences import sizes_in_words
from partita.pages.tables import Column, Table
from partita.pages.truth import against_truth
from partita.uncertainty.pair_doubts import doubtful_pairs

if TYPE_CHECKING:
    from partita.proofs.bounds import Bound

PAIRS_LISTED = 500
ITEMS_LISTED = 1000
SIZES_LISTED = 50
LOSS_WORDS = {
    "binder": "expected Binder loss",
    "vi-lower-bound": "lower bound to the variation of information",
    "pear": "approximate one minus adjusted Rand index",
}


def pair_answer(best: PairEstimate) -> str:
    """The result as a scientist could paste it into a paper."""
    parts = best.components
    obeying = "" if best.constraints is None else f" under constraints ({best.constraints.summary()})"
    found, proof = "of all partitions", ", which is proven"
    if not best.proven:
        found, proof = "that was found", f"; {parts.proven:,} of {parts.count:,} components are provably optimal"
    return (
        f"The {len(best.labels):,} items fall into {plural(best.n_clusters, 'cluster')}"
        f" ({sizes_in_words(best.labels)}){obeying}. Given {best.similarity.n_pairs:,} pair probabilities, this"
        f" partition has the lowest {LOSS_WORDS[best.loss.name]} {found}, {best.expected_loss:.6g}{proof}."
    )


def pair_content(
    best: PairEstimate,
    truth: ArrayLike | None,
    *,
    title: str,
    command: str | None,
    bound: Bound | None,
    labels_file: str | None = None,
    first: int = 0,
) -> dict[str, Any]:
    """Everything the template needs."""
    return {
        "title": title,
        "first": first,
        "warnings": best.warnings,
        "answer": pair_answer(best),
        "settings": list(_settings(best, bound)),
        "pairs": _pairs(best, first),
        "components": _components(best),
        "open_components": _open_components(best, first),
        "sizes": _sizes(best),
        "items": _items(best, first, labels_file),
        **against_truth(truth, best.labels, best.similarity.names, of_pairs=True),
        "labels": held_labels(best.labels, best.similarity.names),
        "reproduce": _reproduce(best, command),
    }


def _settings(best: PairEstimate, bound: Bound | None) -> Iterator[tuple[str, str]]:
    yield "Items", f"{len(best.labels):,}"
    yield "Pairs", f"{best.similarity.n_pairs:,}, {best.similarity.default:g} for all others"
    yield "Loss", str(best.loss)
    yield "Method", best.method
    if best.constraints is not None:
        yield "Constraints", best.constraints.summary()
    if bound is not None:
        yield "Bound", bound.in_words()


def _names(best: PairEstimate, first: int) -> Any:
    names = best.similarity.names
    return (lambda item: str(item + first)) if names is None else names.__getitem__


def _pairs(best: PairEstimate, first: int) -> Table:
    name = _names(best, first)
    found = doubtful_pairs(best, PAIRS_LISTED)
    rows: list[tuple[Any, ...]] = [
        (
            name(pair.left),
            name(pair.right),
            "together" if pair.together else "apart",
            pair.probability,
            pair.doubt,
            "yes" if pair.listed else "not listed",
        )
        for pair in found
    ]
    columns = (
        Column("Item", "text"),
        Column("Item", "text"),
        Column("Estimate", "text"),
        Column("Probability", "share", "That the two belong together, by itself"),
        Column("Doubt", "share", "The probability, by itself, that the estimate is wrong about the pair"),
        Column("Listed", "text", f"Pairs that are not listed have probability {best.similarity.default:g}"),
    )
    note = None if all(pair.listed for pair in found) else unlisted_note(best)
    return Table("pairs", "Pairs, the most uncertain first", columns, rows, note, search=True)


def unlisted_note(best: PairEstimate) -> str:
    """What it means that a pair is not listed."""
    return (
        f"A pair that is not listed has probability {best.similarity.default:g} only because it is not in the input:"
        " if such pairs were never compared, other pairs hold their cluster together."
    )


def _components(best: PairEstimate) -> Table:
    sizes, count = np.unique(best.components.sizes, return_counts=True)
    parts = best._parts
    proven = np.zeros(sizes.size, np.int64)
    if parts is not None:
        proven = np.array([int(parts.proven[best.components.sizes == size].sum()) for size in sizes])
    rows = list(zip(sizes.tolist(), count.tolist(), proven.tolist(), strict=True))[::-1][:SIZES_LISTED]
    columns = (
        Column("Items", "number", "In each of these components"),
        Column("Components", "number", "How many have this size"),
        Column("Proven", "number", "For how many of them no partition is better"),
    )
    return Table("components", "Components by size", columns, rows)


def _open_components(best: PairEstimate, first: int) -> Table | None:
    parts = best._parts
    if parts is None or parts.proven.all():
        return None
    name, sizes = _names(best, first), best.components.sizes
    unproven = np.flatnonzero(~parts.proven)
    largest = unproven[np.argsort(-sizes[unproven], kind="stable")][:SIZES_LISTED]
    first_item = np.unique(parts.component, return_index=True)[1]
    clusters = [int(np.unique(best.labels[parts.component == c]).size) for c in largest]
    rows = [(name(int(first_item[c])), int(sizes[c]), k) for c, k in zip(largest, clusters, strict=True)]
    columns = (Column("First item", "text"), Column("Items", "number"), Column("Clusters", "number"))
    note = f"{unproven.size:,} in all." if unproven.size > SIZES_LISTED else None
    return Table("open", "Components that are not proven, largest first", columns, rows, note)


def _sizes(best: PairEstimate) -> Table:
    sizes, count = np.unique(best.sizes, return_counts=True)
    rows = list(zip(sizes.tolist(), count.tolist(), strict=True))[:SIZES_LISTED]
    columns = (
        Column("Items", "number", "In each of these clusters"),
        Column("Clusters", "number", "How many have this size"),
    )
    return Table("clusters", "Clusters by size", columns, rows)


def _items(best: PairEstimate, first: int, labels_file: str | None) -> Table:
    name, listed = _names(best, first), np.argsort(best.labels, kind="stable")[:ITEMS_LISTED].tolist()
    parts = best.components.labels
    rows = [(name(i), int(best.labels[i]), int(parts[i])) for i in listed]
    note = None
    if len(listed) < len(best.labels):
        where = "" if labels_file is None else f"; {labels_file} has all"
        note = f"The first {ITEMS_LISTED:,} of {len(best.labels):,} items{where}."
    columns = (Column("Item", "text"), Column("Cluster", "cluster"), Column("Component", "cluster"))
    return Table("items", "The cluster of each item", columns, rows, note, search=True)


def _reproduce(best: PairEstimate, command: str | None) -> list[tuple[str, str]]:
    from importlib.metadata import version

    made_by = ("Version", f"partita {version('partita')}")
    facts = [("Seed", str(best.seed)), ("Runs", str(best.search.most_runs)), made_by]
    return facts if command is None else [("Command", command), *facts]
