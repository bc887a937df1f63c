"""The merges of least loss, from an estimate up to one cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita import _core
from partita._support.arrays import Floats, Labels
from partita._support.shown import ShownAsText
from partita._support.validate import check_n_jobs
from partita.draws.sample import PartitionSample
from partita.estimation.result import Estimate
from partita.losses.base import AdditiveLoss, Loss
from partita.losses.expected import expected_loss
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
