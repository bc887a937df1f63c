"""An estimate against a known partition: a table of clusters by classes, and measures with their directions."""

from __future__ import annotations

from typing import Any

import numpy as np

from partita._support.arrays import Labels
from partita.losses.agreement import adjusted_rand, compare_partitions, f1, nmi, pairwise_agreement
from partita.losses.losses import LOSSES
from partita.partitions.labels import overlaps
from partita.results.tables import Column, Table, table

#: Tables with more rows or columns are left out.
LARGEST_CROSSED = 40
MEASURE_DIRECTION, LOSS_DIRECTION = "higher is better, 1 is equal", "lower is better, 0 is equal"
#: The measures of agreement in words, and what their values mean.
MEASURES = {
    "ari": ("adjusted Rand index", MEASURE_DIRECTION),
    "nmi": ("NMI (divided by the larger entropy)", MEASURE_DIRECTION),
    "f1": ("F1 of the matched clusters (Wang et al. 2010)", MEASURE_DIRECTION),
    "precision": ("pairwise precision", "higher is better, 1: no pair is wrongly together"),
    "recall": ("pairwise recall", "higher is better, 1: no pair is missed"),
    "pairwise_f1": ("pairwise F1", MEASURE_DIRECTION),
}
MEASURES["adjusted_rand"] = MEASURES["ari"]


def agreement(labels: Any, truth: Any, *, of_pairs: bool = False) -> dict[str, float]:
    """Measures of agreement between labels and the truth for the same items, over those that are in a cluster.

    For record linkage, `of_pairs`, precision, recall and F1 count pairs of items.
    """
    labels, truth = np.asarray(labels), np.asarray(truth, dtype=object)
    labels, truth = labels[labels >= 0], truth[labels >= 0]
    found = {"adjusted_rand": float(adjusted_rand(truth, labels)), "nmi": float(nmi(truth, labels))}
    return pairwise_agreement(labels, truth) | found if of_pairs else found | {"f1": f1(labels, truth)}


def agreement_sentence(measures: dict[str, float], truth: str = "the truth") -> str:
    """The measures of agreement as a sentence."""
    told = ", ".join(f"{MEASURES[measure][0]} {value:.3f}" for measure, value in measures.items())
    return f"Against {truth}: {told}."


def truth_measures(truth: Labels, labels: Labels, *, of_pairs: bool = False) -> Table:
    """Every measure by its full name, with its direction; `of_pairs`: those of record linkage first."""
    rows = []
    of_linkage = pairwise_agreement(labels, truth) if of_pairs else {}
    for name, value in (of_linkage | compare_partitions(truth, labels)).items():
        words, direction = MEASURES.get(name) or (f"{LOSSES[name].words} ({name})", LOSS_DIRECTION)
        rows.append((words, float(value), direction))
    rows.sort(key=lambda row: row[2] == LOSS_DIRECTION)
    return table("truth", "The estimate compared with the given truth", "Measure; Value:loss; Direction", rows)


def crossed(truth: Labels, labels: Labels, classes: list[str], noun: str = "item") -> Table | None:
    """Numbers of items by cluster and class; None if it would be too large to read.

    Parameters
    ----------
    truth, labels : (n,) integer array
        Canonical labels.
    classes : list of str
        The name of each class of the truth.
    noun : str
        What an item is called.
    """
    shape = (int(labels.max()) + 1, int(truth.max()) + 1)
    if max(shape) > LARGEST_CROSSED:
        return None
    counts = np.zeros(shape, np.int64)
    rows, columns, cells = overlaps(labels, truth)
    counts[rows, columns] = cells
    table = [(k, *row, sum(row)) for k, row in enumerate(counts.tolist())]
    things = f"{noun.capitalize()}s"
    header = (Column("Cluster", "cluster"), *(Column(name, "number") for name in classes), Column(things, "number"))
    caption = f"{things} by cluster of the estimate (rows) and class of the truth (columns)"
    return Table("crossed", caption, header, table)
