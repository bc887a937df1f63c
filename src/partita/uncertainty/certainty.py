"""Where the uncertainty of an estimate lies: items, clusters, the number of clusters, and merges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._support.arrays import Floats, Labels, slices
from partita._support.hints import plural
from partita._support.optional import data_frame
from partita._support.shown import Noted, ShownAsText, rows_table
from partita._support.validate import check_count
from partita.draws.sample import PartitionSample, noise_alone
from partita.estimation.result import Estimate, sample_of
from partita.losses.base import AdditiveLoss, Loss
from partita.partitions.labels import count_cells, each_alone
from partita.uncertainty.ball import subject

#: Cells of a block of draws that is processed at once.
BLOCK_CELLS = 4_000_000


@dataclass(frozen=True, eq=False)
class ItemCertainty(ShownAsText):
    """How certain the cluster of each item is.

    Attributes
    ----------
    probability : (n,) array
        Mean posterior probability that the item is with another member of its own cluster; for an item that
        is alone in the estimate, also as noise, the probability that it is alone. NaN where the draws say nothing: no
        draw labels the item, or none labels it together with another member.
    loss_share : (n,) array, or None
        The item's share of the expected loss; the shares sum to the loss. Binder and VI only.
    labels : (n,) integer array
        The estimate.
    names : tuple of str, or None
        The names of the items.
    """

    labels: Labels
    probability: Floats
    loss_share: Floats | None
    names: tuple[str, ...] | None = None

    def to_pandas(self) -> Any:
        """One row per item, by its name: its cluster, probability and share of the loss.

        >>> import partita as pt
        >>> draws = pt.as_sample([[0, 0, 1], [0, 1, 1], [0, 0, 1]], names=["ann", "bob", "cy"])
        >>> pt.item_certainty([0, 0, 1], draws).to_pandas().nsmallest(1, "probability").index.tolist()
        ['ann']
        """
        columns = {"cluster": self.labels, "probability": self.probability}
        columns |= {} if self.loss_share is None else {"loss_share": self.loss_share}
        return data_frame(columns, self.names or range(self.labels.size))

    def __repr__(self) -> str:
        known = self.probability[~np.isnan(self.probability)]
        items = plural(self.labels.size, "item")
        if known.size == 0:  # no draw labels any two items of a cluster
            return f"ItemCertainty({items}, no probability is known)"
        low, middle = known.min(), np.median(known)
        return f"ItemCertainty({items}, probability {low:.3f} at least, {middle:.3f} in the middle)"


@dataclass(frozen=True, eq=False)
class ClusterStability(Noted):
    """How certain each cluster of an estimate is; every attribute has one value per cluster.

    Attributes
    ----------
    size : (k,) integer array
    cohesion : (k,) array
        Mean posterior probability that two members are together; for a single item, that it is alone.
    jaccard : (k,) array
        Posterior mean of the largest |S ∩ T| / |S ∪ T| over the clusters T of a draw.
    exact : (k,) array
        Posterior probability of exactly this cluster.
    exemplar : (k,) integer array
        The member with the highest certainty.
    """

    size: NDArray[np.int64]
    cohesion: Floats
    jaccard: Floats
    exact: Floats
    exemplar: NDArray[np.int64]

    def __repr__(self) -> str:
        return f"ClusterStability({plural(self.size.size, 'cluster')}, cohesion {self.cohesion.min():.3f} at least)"

    def _repr_html_(self) -> str:
        header = ("cluster", "size", "cohesion", "jaccard", "exact", "exemplar")
        columns = (self.size, self.cohesion.round(3), self.jaccard.round(3), self.exact.round(3), self.exemplar)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return rows_table("ClusterStability", header, [[str(k), *map(str, row)] for k, row in enumerate(rows)])


def item_certainty(
    estimate: Estimate | ArrayLike, draws: Any = None, *, loss: str | Loss | None = None
) -> ItemCertainty:
    """Certainty of each item's cluster, and its share of the expected loss.

    With C the item's cluster in the estimate and T its cluster in a draw, its share is

    VI: E[b log|C| + a log|T| - (a + b) log|C ∩ T|] / n;  Binder: E[b |C| + a |T| - (a + b) |C ∩ T|] / n²

    Parameters
    ----------
    estimate : Estimate or (n,) array_like
        An estimate, or the labels of a partition.
    draws : anything that `as_sample` takes; needed with plain labels
        Posterior draws; an estimate brings its own.
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
    reported, sample, kind = subject(estimate, draws, loss)
    labels = noise_alone(reported, sample)
    mates, possible, alone = np.zeros((3, sample.n_items))
    share = np.zeros(sample.n_items)
    for block in _overlaps(labels, sample):
        mates += block.weights @ np.maximum(block.own - 1, 0)
        possible += block.weights @ np.where(block.known, block.cluster - 1, 0)
        alone += block.weights @ (block.draw == 1)
        if kind.additive:
            share += block.weights @ _loss_terms(block, kind.additive)
    single = np.bincount(each_alone(labels))[labels] == 1
    seen = np.where(single, (sample.weights @ (sample.labels >= 0)) * (labels >= 0), possible)
    probability = np.divide(np.where(single, alone, mates), seen, out=np.full(labels.size, np.nan), where=seen > 0)
    return ItemCertainty(reported, probability, share if kind.additive else None, sample.names)


def cluster_stability(
    estimate: Estimate | ArrayLike, draws: Any = None, *, certainty: ItemCertainty | None = None
) -> ClusterStability:
    """Stability of each cluster of an estimate.

    Parameters
    ----------
    estimate : Estimate or (n,) array_like
        An estimate, or the labels of a partition.
    draws : anything that `as_sample` takes; needed with plain labels
        Posterior draws; an estimate brings its own.
    certainty : ItemCertainty, optional
        The result of `item_certainty` for this estimate, if already computed.

    Examples
    --------
    >>> cluster_stability([0, 0, 1], [[0, 0, 1], [0, 0, 1], [0, 1, 1], [0, 0, 0]]).exact
    array([0.5, 0.5])

    References
    ----------
    Hennig (2007), Cluster-wise assessment of cluster stability, for the Jaccard coefficient.
    """
    labels, sample, _ = subject(estimate, draws)
    placed = labels >= 0
    sizes = np.bincount(labels[placed])
    jaccard, exact = cluster_recovery(labels, sample)
    probability = (item_certainty(labels, sample) if certainty is None else certainty).probability
    cohesion = np.bincount(labels[placed], weights=probability[placed]) / sizes
    return ClusterStability(sizes, cohesion, jaccard, exact, _surest(labels, probability))


def cluster_recovery(labels: NDArray[np.int64], sample: PartitionSample) -> tuple[Floats, Floats]:
    """For each cluster, its mean overlap (Jaccard) with the most similar cluster of a draw, and how often that is 1."""
    n_clusters = int(labels.max(initial=-1)) + 1
    jaccard, exact = np.zeros((2, n_clusters))
    for block in _overlaps(noise_alone(labels, sample), sample):
        best = np.zeros((block.weights.size, n_clusters))
        own = block.cell_cluster < n_clusters  # the others are noise
        np.maximum.at(best, (block.cell_draw[own], block.cell_cluster[own]), (block.both / block.either)[own])
        jaccard += block.weights @ best
        exact += block.weights @ (best == 1)
    return jaccard, exact


def exemplars(estimate: Estimate | ArrayLike, draws: Any = None) -> NDArray[np.int64]:
    """One item per cluster: the member with the highest certainty; the first if there are several.

    Parameters
    ----------
    estimate : Estimate or (n,) array_like
        An estimate, or labels.
    draws : anything that `as_sample` takes, optional
        The draws, if labels are given.

    Examples
    --------
    >>> exemplars([0, 0, 0, 1], [[0, 0, 0, 1], [0, 0, 1, 1], [0, 1, 1, 2]])
    array([1, 3])
    """
    certainty = item_certainty(estimate, draws)
    return _surest(certainty.labels, certainty.probability)


def items_to_check(estimate: Estimate | ArrayLike, draws: Any = None, *, count: int = 10) -> NDArray[np.int64]:
    """The positions of the items whose cluster is least certain, the least certain first.

    ``item_certainty(estimate).to_pandas().iloc[items]`` has their names, clusters and certainties.

    Parameters
    ----------
    estimate : Estimate or (n,) array_like
        An estimate, or labels.
    draws : anything that `as_sample` takes, optional
        The draws, if labels are given.
    count : int
        How many items.

    Examples
    --------
    >>> items_to_check([0, 0, 0, 1], [[0, 0, 0, 1], [0, 0, 1, 1], [0, 1, 1, 2]], count=2)
    array([0, 2])
    """
    wanted = check_count(count, "count", minimum=1)
    return np.argsort(item_certainty(estimate, draws).probability, kind="stable")[:wanted]


def n_clusters_posterior(draws: Any) -> dict[int, float]:
    """Posterior probability of each number of clusters; takes the weights of the draws into account.

    If a label means noise, clusters of at least two items are counted.

    Parameters
    ----------
    draws : Estimate, or anything that `as_sample` takes
        Posterior draws: labels in any form, or an estimate, whose own draws are used.

    Examples
    --------
    >>> n_clusters_posterior([[0, 0, 1], [0, 1, 1], [0, 1, 2], [0, 0, 1]])
    {2: 0.75, 3: 0.25}
    """
    sample = sample_of(draws)
    mass = np.bincount(sample.cluster_counts, weights=sample.weights)
    return {int(k): float(mass[k]) for k in np.flatnonzero(mass)}


@dataclass(frozen=True)
class _Overlap:
    """A block of draws with the estimate: occupied cells of contingency tables, and the cluster sizes of each item."""

    weights: Floats  # (draws,)
    cell_draw: NDArray[np.int64]  # (cells,), as those below: the draw
    cell_cluster: NDArray[np.int64]  # the cluster C of the estimate
    both: NDArray[np.int64]  # |C ∩ T|
    either: NDArray[np.int64]  # |C ∪ T|
    known: NDArray[np.bool_]  # (draws, items), as all below
    own: NDArray[np.int64]  # |C ∩ T|
    draw: NDArray[np.int64]  # |T|
    cluster: NDArray[np.int64]  # |C| among the items that the draw labels


def _overlaps(labels: Labels, sample: PartitionSample) -> Iterator[_Overlap]:
    clusters, draw_clusters = int(labels.max()) + 1, int(sample.n_clusters.max())
    rows = max(1, BLOCK_CELLS // (min(clusters * draw_clusters, 8 * sample.n_items) + 4 * sample.n_items))
    for block in slices(sample.n_unique, rows):
        draws = sample.labels[block].astype(np.int64)
        yield _overlap(labels, clusters, draws, draw_clusters, sample.weights[block])


def _overlap(labels: Labels, clusters: int, draws: Labels, draw_clusters: int, weights: Floats) -> _Overlap:
    known = (draws >= 0) & (labels >= 0)
    which = np.broadcast_to(np.arange(len(draws))[:, None], draws.shape)[known]
    row = which * draw_clusters + draws[known]
    column = which * clusters + np.broadcast_to(labels, draws.shape)[known]
    cells, both, of_item = count_cells(row * clusters + column % clusters, len(draws) * draw_clusters * clusters)
    row_sizes, column_sizes = np.bincount(row), np.bincount(column)
    cell_draw, cell_cluster = cells // (draw_clusters * clusters), cells % clusters
    either = row_sizes[cells // clusters] + column_sizes[cell_draw * clusters + cell_cluster] - both

    def by_item(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        out = np.zeros(draws.shape, np.int64)
        out[known] = sizes
        return out

    own, draw, cluster = by_item(of_item), by_item(row_sizes[row]), by_item(column_sizes[column])
    return _Overlap(weights, cell_draw, cell_cluster, both, either, known, own, draw, cluster)


def _loss_terms(block: _Overlap, loss: AdditiveLoss) -> Floats:
    """The contribution of each item to the loss of each draw."""
    n = block.known.sum(axis=1, keepdims=True) ** loss.exponent
    several = (block.own, block.draw, block.cluster)
    own, draw, cluster = (loss.per_item(np.maximum(sizes, 1).astype(np.float64)) for sizes in several)
    return np.asarray(np.where(block.known, loss.a * (draw - own) + loss.b * (cluster - own), 0) / n)


def _surest(labels: Labels, probability: Floats) -> NDArray[np.int64]:
    order = np.lexsort((np.arange(labels.size), -probability, labels))
    return order[np.searchsorted(labels[order], np.arange(labels.max() + 1))]
