"""Where the uncertainty of an estimate sits: items, clusters, the number of clusters, and merges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita import _core
from partita._facts import ShownAsText, rows_table
from partita._validate import check_count, check_n_jobs
from partita.estimate import Estimate
from partita.losses import VI, Binder, Loss, core_sample, expected_loss
from partita.partitions import canonical
from partita.sample import PartitionSample, as_sample
from partita.uncertainty import Labels, subject

Floats = NDArray[np.float64]

#: Cells of a block of draws that is looked at in one piece.
BLOCK_CELLS = 4_000_000


@dataclass(frozen=True, eq=False)
class ItemCertainty(ShownAsText):
    """How sure the place of each item is.

    Attributes
    ----------
    probability : (n,) array
        Mean posterior probability that the item is with another member of its own cluster; for an item that
        is alone in the estimate, the probability that it is alone.
    loss_share : (n,) array, or None
        What the item adds to the expected loss; sums to it. Binder and VI only.
    """

    labels: Labels
    probability: Floats
    loss_share: Floats | None

    def __repr__(self) -> str:
        low, middle = np.nanmin(self.probability), np.nanmedian(self.probability)
        return f"ItemCertainty({self.labels.size} items, probability {low:.3f} at least, {middle:.3f} in the middle)"


@dataclass(frozen=True, eq=False)
class ClusterStability:
    """How sure each cluster of an estimate is; every attribute holds one value a cluster.

    Attributes
    ----------
    size : (k,) integer array
    cohesion : (k,) array
        Mean posterior probability that two members are together; for a single item, that it is alone.
    jaccard : (k,) array
        Posterior mean of the largest |S ∩ T| / |S ∪ T| over the clusters T of a draw.
    exact : (k,) array
        Posterior probability of this very cluster.
    exemplar : (k,) integer array
        The member that is most surely with the others.
    """

    size: NDArray[np.int64]
    cohesion: Floats
    jaccard: Floats
    exact: Floats
    exemplar: NDArray[np.int64]

    def __repr__(self) -> str:
        return f"ClusterStability({self.size.size} clusters, cohesion {self.cohesion.min():.3f} at least)"

    def _repr_html_(self) -> str:
        header = ("cluster", "size", "cohesion", "jaccard", "exact", "exemplar")
        columns = (self.size, self.cohesion.round(3), self.jaccard.round(3), self.exact.round(3), self.exemplar)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return rows_table("ClusterStability", header, [[str(k), *map(str, row)] for k, row in enumerate(rows)])


@dataclass(frozen=True, eq=False)
class MergeTree(ShownAsText):
    """Merges of an estimate's clusters, each the one of least expected loss.

    Attributes
    ----------
    pairs : (k - 1, 2) integer array
        Clusters merged; cluster k + s is the one that merge s made, as SciPy numbers them.
    expected_loss : (k,) array
        Of the estimate, and after each merge.
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
        """The tree as SciPy's dendrogram takes it; heights are losses above the estimate's, monotone."""
        rise = np.maximum.accumulate(np.maximum(self.expected_loss[1:] - self.expected_loss[0], 0))
        return np.column_stack([self.pairs, rise, self.sizes]).astype(np.float64)


def item_certainty(
    estimate: Estimate | ArrayLike, draws: Any = None, *, loss: str | Loss | None = None
) -> ItemCertainty:
    """Certainty of each item's place, and its share of the expected loss.

    With C the item's cluster in the estimate and T that in a draw, its share is

    VI: E[b log|C| + a log|T| - (a + b) log|C ∩ T|] / n;  Binder: E[b |C| + a |T| - (a + b) |C ∩ T|] / n²

    Parameters
    ----------
    estimate : Estimate or (n,) array_like
    draws : anything that `as_sample` takes; needed with plain labels
    loss : str or Loss, optional
        By default the estimate's own loss, or VI for plain labels.

    Examples
    --------
    >>> certainty = item_certainty([0, 0, 1], [[0, 0, 1], [0, 0, 1], [0, 1, 1], [0, 0, 0]])
    >>> certainty.probability
    array([0.75, 0.75, 0.5 ])
    >>> round(float(certainty.loss_share.sum()), 4)
    0.5629
    """
    labels, sample, kind = subject(estimate, draws, loss)
    mates, possible, alone = np.zeros((3, sample.n_items))
    share = np.zeros(sample.n_items)
    for block in _overlaps(labels, sample):
        mates += block.weights @ np.maximum(block.own - 1, 0)
        possible += block.weights @ np.where(block.known, block.cluster - 1, 0)
        alone += block.weights @ (block.draw == 1)
        if isinstance(kind, Binder | VI):
            share += block.weights @ _loss_terms(block, kind)
    single = np.bincount(labels)[labels] == 1
    seen = np.where(single, _weight_seen(sample), possible)
    probability = np.divide(np.where(single, alone, mates), seen, out=np.full(labels.size, np.nan), where=seen > 0)
    return ItemCertainty(labels, probability, share if isinstance(kind, Binder | VI) else None)


def cluster_stability(
    estimate: Estimate | ArrayLike, draws: Any = None, *, certainty: ItemCertainty | None = None
) -> ClusterStability:
    """Stability of each cluster of an estimate.

    Parameters
    ----------
    estimate : Estimate or (n,) array_like
    draws : anything that `as_sample` takes; needed with plain labels
    certainty : ItemCertainty, optional
        What `item_certainty` gives for this estimate, where it is at hand.

    Examples
    --------
    >>> cluster_stability([0, 0, 1], [[0, 0, 1], [0, 0, 1], [0, 1, 1], [0, 0, 0]]).exact
    array([0.5, 0.5])

    References
    ----------
    Hennig (2007), Cluster-wise assessment of cluster stability, for the Jaccard coefficient.
    """
    labels, sample, _ = subject(estimate, draws)
    sizes = np.bincount(labels)
    jaccard, exact = np.zeros((2, sizes.size))
    for block in _overlaps(labels, sample):
        both = block.table.astype(np.float64)
        present = both.sum(axis=1, keepdims=True)
        union = both.sum(axis=2, keepdims=True) + present - both
        best = np.divide(both, union, out=np.zeros_like(both), where=union > 0).max(axis=1)
        jaccard += block.weights @ best
        exact += block.weights @ (best == 1)
    probability = (item_certainty(labels, sample) if certainty is None else certainty).probability
    cohesion = np.bincount(labels, weights=probability) / sizes
    return ClusterStability(sizes, cohesion, jaccard, exact, _surest(labels, probability))


def exemplars(estimate: Estimate | ArrayLike, draws: Any = None) -> NDArray[np.int64]:
    """One item for each cluster: the member that is most surely with the others; the first where several are.

    Examples
    --------
    >>> exemplars([0, 0, 0, 1], [[0, 0, 0, 1], [0, 0, 1, 1], [0, 1, 1, 2]])
    array([1, 3])
    """
    certainty = item_certainty(estimate, draws)
    return _surest(certainty.labels, certainty.probability)


def items_to_check(estimate: Estimate | ArrayLike, draws: Any = None, *, count: int = 10) -> NDArray[np.int64]:
    """The items whose place is least sure, least sure first.

    Examples
    --------
    >>> items_to_check([0, 0, 0, 1], [[0, 0, 0, 1], [0, 0, 1, 1], [0, 1, 1, 2]], count=2)
    array([0, 2])
    """
    wanted = check_count(count, "count", minimum=1)
    return np.argsort(item_certainty(estimate, draws).probability, kind="stable")[:wanted]


def n_clusters_posterior(draws: Any) -> dict[int, float]:
    """Posterior probability of each number of clusters, weights taken into account.

    Examples
    --------
    >>> n_clusters_posterior([[0, 0, 1], [0, 1, 1], [0, 1, 2], [0, 0, 1]])
    {2: 0.75, 3: 0.25}
    """
    sample = draws.sample if isinstance(draws, Estimate) else as_sample(draws)
    mass = np.bincount(sample.n_clusters, weights=sample.weights)
    return {int(k): float(mass[k]) for k in np.flatnonzero(mass)}


def merge_tree(
    estimate: Estimate | ArrayLike, draws: Any = None, *, loss: str | Loss | None = None, n_jobs: int = -1
) -> MergeTree:
    """Dendrogram of least-loss merges, from the estimate up to one cluster.

    Parameters
    ----------
    estimate, draws, loss
        As `item_certainty` takes them.
    n_jobs : int
        Threads; -1 uses all cores.

    Examples
    --------
    >>> tree = merge_tree([0, 0, 1, 2], [[0, 0, 1, 1], [0, 0, 1, 2]])
    >>> tree.pairs.tolist(), tree.expected_loss.round(3).tolist()
    ([[1, 2], [0, 3]], [0.25, 0.25, 1.25])
    """
    labels, sample, kind = subject(estimate, draws, loss)
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


def merge_losses(labels: Labels, sample: PartitionSample, loss: Loss, n_jobs: int = -1) -> Floats:
    """Expected loss after merging clusters [left, right] of the labels; infinite unless left < right."""
    native = loss._native(sample.n_items)
    view, threads = core_sample(sample), check_n_jobs(n_jobs)
    return cast(Floats, _core.merge_losses(labels.astype(np.uint32), view, native, threads))


@dataclass(frozen=True)
class _Overlap:
    """A block of draws beside the estimate: contingency tables, and sizes as each item sees them."""

    weights: Floats  # (draws,)
    table: NDArray[np.int64]  # (draws, draw clusters, estimate clusters)
    known: NDArray[np.bool_]  # (draws, items), as all below
    own: NDArray[np.int64]  # |C ∩ T|
    draw: NDArray[np.int64]  # |T|
    cluster: NDArray[np.int64]  # |C| among the items that the draw labels


def _overlaps(labels: Labels, sample: PartitionSample) -> Iterator[_Overlap]:
    clusters, draw_clusters = int(labels.max()) + 1, int(sample.n_clusters.max())
    rows = max(1, BLOCK_CELLS // (clusters * draw_clusters + 4 * sample.n_items))
    for start in range(0, sample.n_unique, rows):
        draws = sample.labels[start : start + rows].astype(np.int64)
        known = draws >= 0
        which = np.arange(len(draws))[:, None]
        cell = (which * draw_clusters + draws) * clusters + labels
        table = np.bincount(cell[known], minlength=len(draws) * draw_clusters * clusters)
        table = table.reshape(len(draws), draw_clusters, clusters)
        yield _Overlap(
            sample.weights[start : start + rows],
            table,
            known,
            np.where(known, table[which, draws, labels], 0),
            np.where(known, table.sum(axis=2)[which, draws], 0),
            np.where(known, table.sum(axis=1)[:, labels], 0),
        )


def _loss_terms(block: _Overlap, loss: Binder | VI) -> Floats:
    """What each item adds to the loss of each draw."""
    n = block.known.sum(axis=1, keepdims=True)
    own, draw, cluster = (np.maximum(sizes, 1).astype(np.float64) for sizes in (block.own, block.draw, block.cluster))
    if isinstance(loss, VI):
        own, draw, cluster = np.log2(own), np.log2(draw), np.log2(cluster)
    else:
        n = n**2
    terms: Floats = np.where(block.known, loss.a * (draw - own) + loss.b * (cluster - own), 0) / n
    return terms


def _weight_seen(sample: PartitionSample) -> Floats:
    seen: Floats = sample.weights @ (sample.labels >= 0)
    return seen


def _surest(labels: Labels, probability: Floats) -> NDArray[np.int64]:
    order = np.lexsort((np.arange(labels.size), -probability, labels))
    return order[np.searchsorted(labels[order], np.arange(labels.max() + 1))]
