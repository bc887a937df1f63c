"""The best split of a cluster in two: exact for few items, by moves of single items otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from partita import _core
from partita._support.arrays import Floats, Labels
from partita._support.tolerance import TIE
from partita._support.validate import check_n_jobs
from partita.draws.sample import PartitionSample, as_sample
from partita.losses.base import AdditiveLoss, Loss
from partita.losses.losses import VI
from partita.losses.problem import core_problem
from partita.partitions.labels import canonical

#: Up to this many items all 2^(m - 1) - 1 splits are compared.
FEW_ITEMS = 10
#: Among more distinct draws, starts are improved on this many of them first.
SCREENED = 500
#: Starts of the moves: draws restricted to the cluster, and its two average-linkage parts.
DRAW_STARTS = 3
#: Up to this many items the similarity matrix gives one more start.
LINKED_ITEMS = 2_000
MAX_SWEEPS = 20


def best_split(labels: Labels, cluster: int, sample: PartitionSample, loss: Loss) -> Labels:
    """The items to split off a cluster of at least two items so that the expected loss is least.

    For VI and Binder's loss only the terms of the cluster change: with φ(m) = m log m, or m², the split into C_1, C_2
    minimises Σ_s [b φ(|C_s|) - (a + b) E Σ_T φ(|C_s ∩ T|)] over the clusters T of a draw. For other losses the same
    objective of VI proposes the splits of many items.

    >>> from partita.draws.sample import as_sample
    >>> draws = as_sample([[0, 0, 1, 1]] * 3 + [[0, 0, 0, 0]] * 4)
    >>> best_split(np.zeros(4, np.int64), 0, draws, VI()).tolist()
    [2, 3]
    """
    members = np.flatnonzero(labels == cluster)
    if members.size <= FEW_ITEMS:
        return _best_of_all(labels, members, sample, loss)
    part = as_sample(sample.labels[:, members], weights=sample.weights)
    kind = loss.additive or VI()
    few = _some(part)
    tries = [_improved(_Sides(few, side, kind)) for side in _starts(few)]
    sides = _Sides(part, min(tries, key=lambda found: found.value()).side, kind)
    found = _improved(sides).side
    split_off: Labels = members[found == found[-1]]
    return split_off


def split_losses(labels: Labels, parts: list[Labels], sample: PartitionSample, loss: Loss, n_jobs: int = -1) -> Floats:
    """Expected loss after splitting off each of the parts."""
    starts, items = np.cumsum([0, *map(len, parts)], dtype=np.int64), np.concatenate(parts)
    problem, threads = core_problem(sample, loss), check_n_jobs(n_jobs)
    after = _core.split_losses(labels.astype(np.uint32), problem, starts, items, threads, np.inf)
    return cast(Floats, after)


def _best_of_all(labels: Labels, members: Labels, sample: PartitionSample, loss: Loss) -> Labels:
    """All splits, each by the part that does not hold the first item."""
    rest = members[1:]
    masks = np.arange(1, 1 << rest.size)
    parts: list[Labels] = [rest[(mask >> np.arange(rest.size)) & 1 > 0] for mask in masks]
    return parts[int(np.argmin(split_losses(labels, parts, sample, loss).round(12)))]


def _some(sample: PartitionSample) -> PartitionSample:
    """Draws evenly spread over the sample, if there are many."""
    if sample.n_unique <= SCREENED:
        return sample
    rows = np.linspace(0, sample.n_unique - 1, SCREENED).astype(np.int64)
    return as_sample(np.asarray(sample.labels)[rows], weights=sample.weights[rows])


def _starts(sample: PartitionSample) -> list[Labels]:
    """Sides 0 and 1 of each item: frequent draws with two clusters or more, and average linkage."""
    split = np.flatnonzero(sample.n_clusters > 1)
    likely = split[np.argsort(-sample.weights[split], kind="stable")[:DRAW_STARTS]]
    starts = [_two_sides(sample.labels[row].astype(np.int64)) for row in likely]
    if sample.n_items <= LINKED_ITEMS:
        starts.append(_linked(sample))
    return starts or [(np.arange(sample.n_items) == 0).astype(np.int64)]


def _two_sides(labels: Labels) -> Labels:
    """The largest cluster against the others."""
    others: Labels = (labels != np.argmax(np.bincount(labels))).astype(np.int64)
    return others


def _linked(sample: PartitionSample) -> Labels:
    from scipy.cluster.hierarchy import fcluster

    from partita.pairs.similarity import linkage_tree, similarity

    tree = linkage_tree(np.asarray(similarity(sample), np.float64))
    return canonical(fcluster(tree, 2, "maxclust")) if sample.n_items > 2 else np.arange(2)


@dataclass
class _Sides:
    """Two sides of a cluster, and how many items of each side are in each cluster of each draw."""

    sample: PartitionSample
    side: Labels
    loss: AdditiveLoss

    def __post_init__(self) -> None:
        if self.side.min() == self.side.max():  # a split has two sides
            self.side = (np.arange(self.side.size) == 0).astype(np.int64)
        n, draws = self.sample.n_items, self.sample.n_unique
        self.phi = self.loss.phi(np.arange(n + 2, dtype=np.float64))
        most = int(self.sample.labels.max()) + 1
        self.cells = np.arange(draws)[:, None] * most + self.sample.labels
        self.counts = np.array(
            [np.bincount(self.cells[:, self.side == s].ravel(), minlength=draws * most) for s in (0, 1)]
        )
        self.cell_weights = np.repeat(self.sample.weights, most)

    def value(self) -> float:
        sizes = np.bincount(self.side, minlength=2)
        inside = float(self.cell_weights @ self.phi[self.counts].sum(axis=0))
        return self.loss.b * float(self.phi[sizes].sum()) - (self.loss.a + self.loss.b) * inside

    def sweep(self) -> bool:
        """Moves each item to the other side if that lowers the value; whether any was moved."""
        sizes, moved = np.bincount(self.side, minlength=2), False
        steps = np.diff(self.phi)  # phi[m + 1] - phi[m]
        for item in range(self.side.size):
            own = int(self.side[item])
            if sizes[own] == 1:
                continue
            cells = self.cells[:, item]
            gained, lost = steps[self.counts[1 - own, cells]], steps[self.counts[own, cells] - 1]
            inside = float(self.sample.weights @ (gained - lost))
            change = (
                self.loss.b * (steps[sizes[1 - own]] - steps[sizes[own] - 1]) - (self.loss.a + self.loss.b) * inside
            )
            if change < -TIE:
                self.counts[own, cells] -= 1
                self.counts[1 - own, cells] += 1
                sizes[own], sizes[1 - own] = sizes[own] - 1, sizes[1 - own] + 1
                self.side[item], moved = 1 - own, True
        return moved


def _improved(sides: _Sides) -> _Sides:
    """Sweeps as long as they move an item; each lowers the value, so they end."""
    for _ in range(MAX_SWEEPS):
        if not sides.sweep():
            break
    return sides
