"""Voting by alignment, the plain baseline: clusterings are renumbered to match a reference, and items vote."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment

from partita._support.arrays import Floats
from partita._support.validate import check_count
from partita.ensembles.base_clusterings import (
    Base,
    Labels,
    check_clusters,
    check_item_weights,
    hard_base,
    spread,
    warn_unlabelled,
    weights_or_ones,
)
from partita.ensembles.layout import arranged

ROUNDS = 20  # at most, until no label changes


def voting(
    base: Any,
    k: int | None = None,
    *,
    weights: ArrayLike | None = None,
    item_weights: ArrayLike | None = None,
    max_iter: int = ROUNDS,
) -> Labels:
    """Each item gets the label that most clusterings give it, after their labels are matched with the consensus.

    The clusters of every clustering are matched one to one with those of the reference, so that as many items as
    possible agree (Hungarian method); its further clusters vote for the cluster that they overlap most. The votes are
    the next reference, until no label changes. The first reference is the clustering with k clusters that agrees most
    with the others. It is the simplest consensus, and suits clusterings with nearly the same clusters.

    Parameters
    ----------
    base : (items, clusterings) labels
        The base clusterings, in any form that `as_base` takes; −1, NaN and None mark missing labels.
    k : int, optional
        Number of clusters, which at least one clustering must have; by default the number that is most frequent, by
        weight, among the clusterings. A cluster that wins no item is dropped.
    weights : (clusterings,) array_like, optional
        Weight of each vote; equal by default.
    item_weights : (items,) array_like, optional
        How many items each one stands for when clusters are matched; equal by default.
    max_iter : int
        Maximum number of rounds.

    Returns
    -------
    (items,) integer array
        Canonical labels; −1 for an item without labels.

    Examples
    --------
    >>> voting([[0, 1, 1], [0, 1, 1], [1, 0, 1], [1, 0, 0]]).tolist()
    [0, 0, 1, 1]

    References
    ----------
    Dudoit & Fridlyand (2003), Bagging to improve the accuracy of a clustering procedure, Bioinformatics 19.
    """
    read = hard_base(base, "voting")
    powers = weights_or_ones(weights, base, read)
    labelled = warn_unlabelled(read)
    used = read.rows(labelled)
    masses = check_item_weights(item_weights, read)[labelled]
    ordered = arranged(used)  # ties go to the larger cluster, whatever its label is called
    columns, powers, masses = list(ordered.base.codes.T.astype(np.intp)), powers[ordered.columns], masses[ordered.rows]
    found = _reference(columns, _number(columns, powers, k, used), powers, masses)
    for _ in range(check_count(max_iter, "max_iter", minimum=1)):
        votes = _votes(columns, found, powers, masses)
        fresh = np.where(votes.max(axis=1) > 0, votes.argmax(axis=1), found)
        if np.array_equal(fresh, found):
            break
        found = fresh
    return spread(found[np.argsort(ordered.rows)], labelled)


def _number(columns: list[Labels], weights: Floats, k: int | None, base: Base) -> int:
    sizes = np.array([column.max() + 1 for column in columns])
    if k is None:
        return int(np.argmax(np.bincount(sizes, weights * (sizes > 0))))
    if check_clusters(k, base.n_items) not in sizes:
        raise ValueError(f"no base clustering has {k} clusters; there are {', '.join(map(str, np.unique(sizes)))}")
    return k


def _reference(columns: list[Labels], k: int, weights: Floats, masses: Floats) -> Labels:
    """The clustering with k clusters that agrees most with all, missing labels filled by the others' votes."""
    chosen = [column for column in columns if column.max() + 1 == k]
    agreed = [sum(w * _matched(c, own, masses)[1] for w, c in zip(weights, columns, strict=True)) for own in chosen]
    best = chosen[int(np.argmax(agreed))]
    votes = _votes(columns, best, weights, masses)
    return np.where(best >= 0, best, votes.argmax(axis=1))


def _votes(columns: list[Labels], reference: Labels, weights: Floats, masses: Floats) -> Floats:
    """The weight of the clusterings that put each item in each cluster of the reference, (items, clusters)."""
    votes = np.zeros((len(reference), int(reference.max()) + 1))
    for weight, column in zip(weights, columns, strict=True):
        target, _ = _matched(column, reference, masses)
        seen = np.flatnonzero(column >= 0)
        np.add.at(votes, (seen, target[column[seen]]), weight)
    return votes


def _matched(column: Labels, reference: Labels, masses: Floats) -> tuple[Labels, float]:
    """The cluster of the reference for each cluster of a clustering, and the mass of the items that then agree."""
    both = (column >= 0) & (reference >= 0)
    table = np.zeros((max(int(column.max()) + 1, 1), int(reference.max()) + 1))
    np.add.at(table, (column[both], reference[both]), masses[both])
    target = table.argmax(axis=1)  # for clusters without a partner
    rows, partners = linear_sum_assignment(table, maximize=True)
    target[rows] = partners
    return target, float(table[rows, partners].sum())
