"""An estimate against a known partition: a table of clusters by classes, and measures with their directions."""

from __future__ import annotations

from typing import Any

import numpy as np

from partita._support.arrays import Labels
from partita._support.names import Names, as_named
from partita.losses.agreement import compare_partitions, pairwise_agreement
from partita.losses.losses import LOSSES
from partita.pages.tables import Column, Table
from partita.partitions.checks import check_partition_of
from partita.partitions.labels import overlaps

#: Tables with more rows or columns are left out.
LARGEST_CROSSED = 40
MEASURES = {
    "ari": ("adjusted Rand index", "higher is better, 1 is equal"),
    "nmi": ("normalised mutual information (divided by the larger entropy)", "higher is better, 1 is equal"),
    "f1": ("F1 of the matched clusters (Wang et al. 2010)", "higher is better, 1 is equal"),
    "precision": ("pairwise precision", "higher is better, 1: no pair is wrongly together"),
    "recall": ("pairwise recall", "higher is better, 1: no pair is missed"),
    "pairwise_f1": ("pairwise F1", "higher is better, 1 is equal"),
}
LOSS_DIRECTION = "lower is better, 0 is equal"


def truth_measures(truth: Labels, labels: Labels, *, of_pairs: bool = False) -> Table:
    """Every measure by its full name, with its direction; `of_pairs`: those of record linkage first."""
    rows = []
    of_linkage = pairwise_agreement(labels, truth) if of_pairs else {}
    for name, value in (of_linkage | compare_partitions(truth, labels)).items():
        words, direction = MEASURES.get(name) or (f"{LOSSES[name].words} ({name})", LOSS_DIRECTION)
        rows.append((words, float(value), direction))
    rows.sort(key=lambda row: row[2] == LOSS_DIRECTION)
    columns = (Column("Measure", "text"), Column("Value", "loss"), Column("Direction", "text"))
    return Table("truth", "The estimate compared with the given truth", columns, rows)


def against_truth(
    truth: Any, labels: Labels, names: Names | None, whose: str = "the estimate", *, of_pairs: bool = False
) -> dict[str, Table | None]:
    """The measures and the table of clusters by classes, as content of a page; both None without a truth.

    Parameters
    ----------
    truth : (n,) array_like or None
        Matched by name with items that have names.
    labels : (n,) integer array
        Canonical labels of the estimate.
    names : tuple of str or None
        The items.
    whose : str
        Whose items they are, for messages.
    of_pairs : bool
        Whether precision, recall and F1 of pairs are of interest: for record linkage.
    """
    if truth is None:
        return {"truth": None, "crossed": None}
    known = check_partition_of(truth, names, labels.size, "truth", whose)
    given = np.asarray(as_named(truth, "truth").in_order_of(names, labels.size, whose))
    classes = [str(given[item]) for item in np.unique(known, return_index=True)[1].tolist()]
    return {"truth": truth_measures(known, labels, of_pairs=of_pairs), "crossed": crossed(known, labels, classes)}


def crossed(truth: Labels, labels: Labels, classes: list[str]) -> Table | None:
    """Numbers of items by cluster and class; None if it would be too large to read.

    Parameters
    ----------
    truth, labels : (n,) integer array
        Canonical labels.
    classes : list of str
        The name of each class of the truth.
    """
    shape = (int(labels.max()) + 1, int(truth.max()) + 1)
    if max(shape) > LARGEST_CROSSED:
        return None
    counts = np.zeros(shape, np.int64)
    rows, columns, cells = overlaps(labels, truth)
    counts[rows, columns] = cells
    table = [(k, *row, sum(row)) for k, row in enumerate(counts.tolist())]
    header = (Column("Cluster", "cluster"), *(Column(name, "number") for name in classes), Column("Items", "number"))
    return Table("crossed", "Items by cluster of the estimate (rows) and class of the truth (columns)", header, table)
