"""Partial clusterings: only the items that can be clustered with confidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._html import ShownAsText
from partita._validate import check_count, check_level, check_rng
from partita.losses import Loss, as_loss, expected_loss
from partita.partitions import canonical
from partita.sample import PartitionSample, as_sample

Labels = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PartialClustering(ShownAsText):
    """A clustering of some of the items: the result of `partial_clustering`.

    Attributes
    ----------
    labels : (n,) integer array
        Canonical labels of the clustered items, -1 for the others.
    probability : float
        Posterior probability that the clustered items are clustered exactly in this way.
    completed : (n,) integer array or None
        Labels of all items, with the others allocated where the expected loss is least.
    """

    labels: Labels
    probability: float
    completed: Labels | None = None

    @property
    def n_items(self) -> int:
        """Number of items that are clustered."""
        return int((self.labels >= 0).sum())

    def __repr__(self) -> str:
        clusters = int(self.labels.max()) + 1
        share = f"{self.n_items} of {self.labels.size} items in {clusters} clusters"
        return f"PartialClustering({share}, probability {self.probability:.3f})"


def partial_clustering(
    draws: Any,
    probability: float = 0.9,
    *,
    starts: int = 16,
    complete: bool = False,
    loss: str | Loss = "vi",
    rng: Any = None,
) -> PartialClustering:
    """A large set of items that are clustered in the same way with joint probability at least `probability`.

    max |A| over sets A and partitions ρ of A with Σ_t w_t 1{x_t restricted to A = ρ} >= probability

    From several first items, items are added one at a time, each in the cluster that keeps the joint probability
    highest. The largest set is returned, and among ties the most probable. The search is greedy: larger sets may exist.

    Parameters
    ----------
    draws : anything that `as_sample` takes, without missing labels
    probability : float in (0, 1]
    starts : int
        Number of first items to try, chosen at random; all items if there are not more.
    complete : bool
        Also allocate the other items, by repeated sweeps, where the expected loss is least.
    loss : str or Loss
        For `complete`.
    rng : None, int or numpy Generator

    Examples
    --------
    >>> draws = [[0, 0, 1, 1]] * 5 + [[0, 0, 1, 0]] * 4 + [[0, 1, 1, 1]]
    >>> partial_clustering(draws, 0.9).labels
    array([ 0,  0,  1, -1])
    """
    sample, wanted = as_sample(draws), check_level(probability, "probability")
    if sample.has_gaps:
        raise ValueError("partial_clustering needs draws that label every item")
    tries = min(check_count(starts, "starts", minimum=1), sample.n_items)
    first = check_rng(rng).permutation(sample.n_items)[:tries]
    found = [_grow(sample, int(item), wanted) for item in np.sort(first)]
    best = max(found, key=lambda partial: (partial.n_items, round(partial.probability, 9)))
    if not complete:
        return best
    return PartialClustering(best.labels, best.probability, _completed(best.labels, sample, as_loss(loss)))


def _grow(sample: PartitionSample, first: int, wanted: float) -> PartialClustering:
    """Greedy growth. place[t, i] is the cluster of the set to which item i belongs in draw t, or 0 if to none."""
    rows, weights = sample.labels, sample.weights
    place = np.zeros(rows.shape, np.int64)
    labels = np.full(sample.n_items, -1)
    item, cluster, clusters = first, 0, 0
    probability = 1.0
    while True:
        clusters += cluster == 0
        labels[item] = cluster - 1 if cluster else clusters - 1
        keep = place[:, item] == cluster
        rows, weights, place = rows[keep], weights[keep], place[keep]
        probability = float(weights.sum())
        if cluster == 0:
            place[rows == rows[:, item : item + 1]] = clusters
        key = place + np.arange(sample.n_items) * (clusters + 1)
        mass = np.bincount(key.ravel(), np.repeat(weights, sample.n_items), sample.n_items * (clusters + 1))
        mass = mass.reshape(sample.n_items, clusters + 1)
        mass[labels >= 0] = -1
        item, cluster = (int(v) for v in np.unravel_index(np.argmax(mass), mass.shape))
        if mass[item, cluster] < wanted - 1e-9:
            return PartialClustering(_renamed(labels), min(1.0, probability))


def _renamed(labels: Labels) -> Labels:
    known = labels >= 0
    out = np.full(labels.size, -1)
    out[known] = canonical(labels[known])
    return out


def _completed(partial: Labels, sample: PartitionSample, loss: Loss) -> Labels:
    """The remaining items, first each alone, then moved one at a time while the expected loss decreases."""
    open_items = np.flatnonzero(partial < 0)
    labels = partial.copy()
    labels[open_items] = partial.max() + 1 + np.arange(open_items.size)
    value = float(expected_loss(labels, sample, loss))
    moved = True
    while moved:
        moved = False
        for item in open_items:
            targets = [*np.unique(labels), labels.max() + 1]
            trials = np.repeat(labels[None, :], len(targets), axis=0)
            trials[:, item] = targets
            losses = expected_loss(trials, sample, loss)
            if losses.min() < value - 1e-12:  # strict, so that the sweeps end
                labels, value, moved = canonical(trials[int(np.argmin(losses))]), float(losses.min()), True
    return canonical(labels)
