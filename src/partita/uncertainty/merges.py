"""Merges and splits of least loss: from an estimate up to one cluster, and of one cluster in two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita import _core
from partita._support.arrays import Floats, Labels
from partita._support.shown import ShownAsText
from partita._support.tolerance import TIE
from partita._support.validate import check_n_jobs
from partita.draws.sample import PartitionSample, as_sample
from partita.estimation.result import Estimate
from partita.losses.base import AdditiveLoss, Loss
from partita.losses.expected import expected_loss
from partita.losses.losses import VI
from partita.losses.problem import core_problem, core_sample
from partita.partitions.labels import canonical
from partita.search.multilevel import restricted
from partita.uncertainty.ball import subject

#: Where every merge considers all pairs of clusters, a tree is built for at most this many clusters.
MAX_MERGED = 3_000
#: Up to this many clusters all pairs are considered for every loss.
FEW_MERGED = 100


@dataclass(frozen=True, eq=False)
class MergeTree(ShownAsText):
    """Merges of an estimate's clusters, each the one of least expected loss.

    Attributes
    ----------
    pairs : (k - 1, 2) integer array
        Clusters merged; cluster k + s is the result of merge s, as in SciPy.
    expected_loss : (k,) array
        Expected loss of the estimate, and after each merge.
    sizes : (k - 1,) integer array
        Items of each merged cluster.
    """

    pairs: NDArray[np.int64]
    expected_loss: Floats
    sizes: NDArray[np.int64]

    def __repr__(self) -> str:
        first, last = self.expected_loss[0], self.expected_loss[-1]
        return f"MergeTree({len(self.expected_loss)} to 1 clusters, expected loss {first:.4f} to {last:.4f})"

    def linkage(self) -> Floats:
        """The tree in the format of SciPy's dendrogram, with the clusters as its leaves.

        Heights are losses minus the estimate's, made monotone.
        """
        rise = np.maximum.accumulate(np.maximum(self.expected_loss[1:] - self.expected_loss[0], 0))
        leaves = [1] * (len(self.pairs) + 1)  # of each cluster, and of each merge
        for left, right in self.pairs.tolist():
            leaves.append(leaves[left] + leaves[right])
        return np.column_stack([self.pairs, rise, leaves[len(self.pairs) + 1 :]]).astype(np.float64)


def merge_tree(
    estimate: Estimate | ArrayLike, draws: Any = None, *, loss: str | Loss | None = None, n_jobs: int = -1
) -> MergeTree:
    """Dendrogram of least-loss merges, from the estimate up to one cluster.

    Parameters
    ----------
    estimate, draws, loss
        As for `item_certainty`.
    n_jobs : int
        Threads; -1 uses all cores.

    Raises
    ------
    ValueError
        If the estimate has more than 3,000 clusters, and the loss is neither VI nor Binder or labels are missing: each
        merge then needs the losses of all pairs.

    Examples
    --------
    >>> tree = merge_tree([0, 0, 1, 2], [[0, 0, 1, 1], [0, 0, 1, 2]])
    >>> tree.pairs.tolist(), tree.expected_loss.round(3).tolist()
    ([[1, 2], [0, 3]], [0.25, 0.25, 1.25])
    """
    labels, sample, kind = subject(estimate, draws, loss)
    if labels.min() < 0:
        placed = np.flatnonzero(labels >= 0)
        return merge_tree(labels[placed], restricted(sample, placed), loss=kind, n_jobs=n_jobs)
    clusters = int(labels.max()) + 1
    if clusters > FEW_MERGED and kind.additive and not sample.has_gaps:
        return _merged_by_heap(labels, sample, kind.additive, n_jobs)
    if clusters > MAX_MERGED:
        raise ValueError(
            f"merge_tree takes at most {MAX_MERGED:,} clusters, but the estimate has {clusters:,}; VI and Binder take"
            " more, if no label is missing"
        )
    return _merged_by_table(labels, sample, kind, n_jobs)


def _merged_by_table(labels: Labels, sample: PartitionSample, kind: Loss, n_jobs: int) -> MergeTree:
    """Of any loss: each merge looks at the losses of all pairs of clusters."""
    current, names = labels, list(range(int(labels.max()) + 1))
    pairs, sizes, losses = [], [], [float(expected_loss(labels, sample, kind, n_jobs=n_jobs))]
    for made in range(len(names), 2 * len(names) - 1):
        after = merge_losses(current, sample, kind, n_jobs)
        left, right = (int(i) for i in np.unravel_index(np.argmin(after), after.shape))
        pairs.append(sorted((names[left], names[right])))
        losses.append(float(after[left, right]))
        sizes.append(int(((current == left) | (current == right)).sum()))
        names = [made if k == left else name for k, name in enumerate(names) if k != right]
        current = canonical(np.where(current == right, left, current))
    return MergeTree(np.array(pairs, np.int64).reshape(-1, 2), np.array(losses), np.array(sizes, np.int64))


def _merged_by_heap(labels: Labels, sample: PartitionSample, kind: AdditiveLoss, n_jobs: int) -> MergeTree:
    """Of losses that are sums over clusters: only clusters that share a cluster of a draw are compared one by one."""
    phi = kind.phi(np.arange(sample.n_items + 1, dtype=np.float64), sample.n_items)
    a, b = kind.a / kind.unit, kind.b / kind.unit
    pairs, sizes, changes = _core.merge_path(labels.astype(np.uint32), core_sample(sample), a, b, phi)
    start = float(expected_loss(labels, sample, kind, n_jobs=n_jobs))
    losses = start + kind.unit * np.concatenate([[0.0], np.cumsum(changes)])
    return MergeTree(pairs.astype(np.int64), losses, sizes.astype(np.int64))


def merge_losses(labels: Labels, sample: PartitionSample, loss: Loss, n_jobs: int = -1) -> Floats:
    """Expected loss after merging clusters [left, right] of the labels; infinite unless left < right."""
    problem, threads = core_problem(sample, loss), check_n_jobs(n_jobs)
    return cast(Floats, _core.merge_losses(labels.astype(np.uint32), problem, threads))


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
    return np.asarray(members[found == found[-1]])


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
    return np.asarray((labels != np.argmax(np.bincount(labels))).astype(np.int64))


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
