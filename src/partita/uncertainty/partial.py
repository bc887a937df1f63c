"""Partial clusterings: only the items that can be clustered with confidence."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._support.arrays import Floats, Labels
from partita._support.hints import plural
from partita._support.shown import Shown, ShownAsText
from partita._support.tolerance import TIE
from partita._support.validate import check_count, check_level, check_rng
from partita.draws.sample import PartitionSample, as_sample, check_complete, some_rows
from partita.estimation.estimate import estimate
from partita.losses.base import Loss
from partita.losses.losses import as_loss
from partita.partitions.labels import canonical
from partita.partitions.refinement import refined
from partita.search.constraints import Constraints
from partita.search.settings import Search

#: First items are grown to the end as long as all growths together read at most so many labels, but at least so many.
READ, KEPT = 10_000_000, 4
#: If that is not enough for all, they are first compared on at most so many draws.
SCREENED = 1000
#: The search that completes a partial clustering.
COMPLETION = Search(runs=4, max_draws=500)
BLOCK_ROWS = 128


@dataclass(frozen=True, eq=False)
class PartialClustering(ShownAsText, Shown):
    """A clustering of some of the items: the result of `partial_clustering`.

    Attributes
    ----------
    labels : (n,) integer array
        Canonical labels of the clustered items, -1 for the others.
    probability : float
        Posterior probability that the clustered items are clustered exactly in this way.
    completed : (n,) integer array or None
        Labels of all items, with the others allocated where the search finds the least expected loss.
    order, clusters : (m,) integer arrays
        The items in the order in which the search added them, beyond `probability` too, and the cluster of each.
    curve : (m,) array
        The joint probability of the first 1, 2, ... items.
    candidates : tuple of PartialClustering
        What the search found from each first item, the best first.
    names : tuple of str or None
        Names of the items.
    interrupted : bool
        Whether Ctrl-C ended the search: this is the best so far.
    given : int
        Number of items that the user gave to begin with, or 1: so many are always in.
    sample : PartitionSample
        The draws.
    """

    labels: Labels
    probability: float
    completed: Labels | None = None
    order: Labels = field(default_factory=lambda: np.zeros(0, np.int64))
    clusters: Labels = field(default_factory=lambda: np.zeros(0, np.int64))
    curve: Floats = field(default_factory=lambda: np.zeros(0))
    candidates: tuple[PartialClustering, ...] = ()
    names: tuple[str, ...] | None = None
    interrupted: bool = False
    presented_by: ClassVar[str] = "partita.results.partials.PartialPresentation"
    given: int = 1
    sample: PartitionSample | None = field(default=None, repr=False)

    @cached_property
    def probability_with(self) -> Floats:
        """For each item left out, the joint probability if it were added where that is highest; NaN for the others.

        It is at most `probability`, and far below it for items that no cluster, and no cluster of their own, suits.
        """
        assert self.sample is not None
        agreeing = contains(self.sample, self.labels)
        rows, weights = self.sample.labels[agreeing], self.sample.weights[agreeing]
        left = np.full(self.labels.size, weights.sum())
        found = np.zeros(self.labels.size)
        for first in _firsts(self.labels):
            own = weights @ (rows == rows[:, first, None])
            left, found = left - own, np.maximum(found, own)
        return np.where(self.labels >= 0, np.nan, np.maximum(found, left))

    @property
    def n_items(self) -> int:
        """Number of items that are clustered."""
        return int((self.labels >= 0).sum())

    @property
    def area(self) -> float:
        """Area under the curve of probability against the share of items: 1 if all draws agree on all items."""
        return float(self.curve.sum() / self.labels.size)

    def cut(self, probability: float) -> PartialClustering:
        """The best candidate at another joint probability; nothing is searched again.

        Examples
        --------
        >>> found = partial_clustering([[0, 0, 1, 1]] * 5 + [[0, 0, 1, 0]] * 4 + [[0, 1, 1, 1]], 0.9)
        >>> found.cut(0.5).labels
        array([0, 0, 1, 1])
        """
        wanted = check_level(probability, "probability")
        ranked = sorted((each._cut(wanted) for each in self.candidates or (self,)), key=_merit, reverse=True)
        return replace(ranked[0], candidates=tuple(ranked) if self.candidates else ())

    def _cut(self, wanted: float) -> PartialClustering:
        """The items of this growth up to a joint probability."""
        count = max(self.given, int((self.curve >= wanted - TIE).sum()))
        labels = np.full(self.labels.size, -1)
        labels[self.order[:count]] = self.clusters[:count]
        return replace(self, labels=_renamed(labels), probability=float(self.curve[count - 1]), completed=None)

    def __repr__(self) -> str:
        clusters = int(self.labels.max()) + 1
        share = f"{self.n_items} of {plural(self.labels.size, 'item')} in {plural(clusters, 'cluster')}"
        return f"PartialClustering({share}, probability {self.probability:.3f})"


def partial_clustering(
    draws: Any,
    probability: float = 0.9,
    *,
    starts: int = 64,
    begin: ArrayLike | None = None,
    complete: bool = False,
    loss: str | Loss = "vi",
    rng: Any = None,
) -> PartialClustering:
    """A large set of items that are clustered in the same way with joint probability at least `probability`.

    max |A| over sets A and partitions ρ of A with Σ_t w_t 1{x_t restricted to A = ρ} >= probability

    From several first items, items are added one at a time, each in the cluster that keeps the joint probability
    highest. The largest set is returned, and among ties the most probable. The search is greedy: larger sets may exist.
    Each growth continues until all items are in: `curve` has the probabilities, and `cut` the set at another
    probability.
    A growth takes O(draws × items × clusters) time; of large samples only those that are best at `probability` on
    some of the draws are grown to the end, at least four.

    Parameters
    ----------
    draws : anything that `as_sample` takes, without missing labels
        Posterior draws: labels in any form, one row per draw.
    probability : float in (0, 1]
        The joint probability that the clustered items must have at least.
    starts : int
        Number of first items to try, chosen at random; all items if there are not more.
    begin : (n,) array_like, optional
        Labels of items that are clustered in this way in any case, -1 for the others: the set grows from them. If their
        joint probability is already below `probability`, nothing is added.
    complete : bool
        Also allocate the other items: the search for the least expected loss, with the clustered items fixed.
    loss : str or Loss
        For `complete`.
    rng : None, int or numpy Generator
        Seed or source of random numbers; the same seed gives the same result.

    Examples
    --------
    >>> draws = [[0, 0, 1, 1]] * 5 + [[0, 0, 1, 0]] * 4 + [[0, 1, 1, 1]]
    >>> partial_clustering(draws, 0.9).labels
    array([ 0,  0,  1, -1])
    >>> partial_clustering(draws, 0.4, begin=[-1, -1, 0, 1]).labels
    array([0, 0, 1, 0])
    """
    sample, wanted = as_sample(draws), check_level(probability, "probability")
    check_complete(sample, "partial_clustering")
    tries, kind = min(check_count(starts, "starts", minimum=1), sample.n_items), as_loss(loss)
    generator = check_rng(rng)
    ordered, items = _arranged(sample)
    first = np.sort(generator.permutation(sample.n_items)[:tries])
    grown, interrupted = [], False
    starting = [[(item, 0)] for item in _promising(ordered, first, wanted)] if begin is None else [_given(begin, items)]
    try:
        for given in starting:
            grown.append(_grow(ordered, given))
    except KeyboardInterrupt:
        if not grown:
            raise
        interrupted = True
    known: Any = {"names": sample.names, "interrupted": interrupted, "sample": sample}
    candidates = tuple(replace(growth, order=items[growth.order], **known) for growth in grown)
    best = replace(candidates[0], candidates=candidates).cut(wanted)
    if interrupted:
        return best
    return replace(best, completed=_completed(best.labels, sample, kind, generator)) if complete else best


def _arranged(sample: PartitionSample) -> tuple[PartitionSample, Labels]:
    """The sample in an order that follows from the draws alone, so that ties do, and its items in the given order."""
    found = refined(sample.labels, sample.weights)
    items, order = np.argsort(found.items, kind="stable"), np.argsort(found.partitions, kind="stable")
    labels = np.ascontiguousarray(sample.labels[order][:, items])
    return PartitionSample(labels, sample.weights[order], np.arange(len(order))), items


def _given(begin: ArrayLike, items: Labels) -> list[tuple[int, int]]:
    """The given items, at their places in the arranged sample, with their clusters."""
    labels = np.asarray(begin)
    if labels.shape != items.shape or labels.dtype.kind not in "iu":
        raise ValueError(f"begin must have one whole number for each of {items.size} items, not shape {labels.shape}")
    if labels.max() < 0:
        raise ValueError("begin has no cluster: all its labels are -1")
    arranged = _renamed(np.where(labels < 0, -1, labels))[items]
    return [(int(place), int(arranged[place])) for place in np.flatnonzero(arranged >= 0)]


def contains(sample: PartitionSample, labels: Labels) -> NDArray[np.bool_]:
    """Which distinct draws cluster the items with a label of at least 0 exactly so."""
    firsts, placed = _firsts(labels), np.flatnonzero(labels >= 0)
    rows = sample.labels
    agrees = np.asarray((rows[:, placed] == rows[:, firsts[labels[placed]]]).all(axis=1))
    names = np.sort(rows[:, firsts], axis=1)
    return np.asarray(agrees & (names[:, 1:] != names[:, :-1]).all(axis=1))


def _firsts(labels: Labels) -> NDArray[np.int64]:
    """The first item of each cluster."""
    return np.unique(np.where(labels < 0, labels.max() + 1, labels), return_index=True)[1][: labels.max() + 1]


def _merit(partial: PartialClustering) -> tuple[int, float]:
    return partial.n_items, round(partial.probability, 9)


def _promising(sample: PartitionSample, first: Labels, wanted: float) -> list[int]:
    """The first items from which to grow: all of them, or the best on some of many draws."""
    kept = max(KEPT, READ // sample.labels.size)
    if first.size <= kept:
        return [int(item) for item in first]
    rows = np.unique(np.linspace(0, sample.n_unique - 1, SCREENED).astype(np.int64))
    part = some_rows(sample, rows)
    merits = {item: _merit(_grow(part, [(item, 0)], wanted)._cut(wanted)) for item in first.tolist()}
    return sorted(merits, key=lambda item: merits[item], reverse=True)[:kept]


def _grow(sample: PartitionSample, given: list[tuple[int, int]], until: float = 0.0) -> PartialClustering:
    """Greedy growth from items and their clusters, until all are in, no draw is left, or it is less probable."""
    growth = _Growth(sample)
    opened: dict[int, int] = {}
    for item, cluster in given:
        growth.add(item, opened.get(cluster, 0))
        opened.setdefault(cluster, len(opened) + 1)
        if growth.curve[-1] <= TIE:
            raise ValueError("begin: no draw clusters these items in this way")
    while growth.curve[-1] >= until and growth.step():
        pass
    order, clusters = np.array(growth.order), np.array(growth.clusters)
    curve, none = np.array(growth.curve), np.zeros(sample.n_items, np.int64)
    return PartialClustering(none, 1.0, None, order, clusters, curve, given=len(given))


class _Growth:
    """A set of clustered items, and the draws that agree with it.

    place[t, i] is the cluster of the set to which item i belongs in draw t, or 0 if to none; mass[i, c] is the weight
    of the agreeing draws in which it belongs to c. A draw that no longer agrees is subtracted from the mass once, so
    that a growth costs as much as a few reads of all draws.
    """

    def __init__(self, sample: PartitionSample) -> None:
        self.rows, self.weights = sample.labels, sample.weights.copy()
        self.place = np.zeros(self.rows.shape, np.int16 if sample.n_items < 1 << 15 else np.int32)
        self.mass = np.full((sample.n_items, 1), self.weights.sum())
        self.order: list[int] = []
        self.clusters: list[int] = []
        self.curve: list[float] = []

    def step(self) -> bool:
        """Adds the item that keeps the probability highest; False if there is none."""
        item, cluster = (int(v) for v in np.unravel_index(np.argmax(self.mass), self.mass.shape))
        if len(self.order) == len(self.mass) or self.mass[item, cluster] <= TIE:
            return False
        self.add(item, cluster)
        return True

    def add(self, item: int, cluster: int) -> None:
        """Adds an item to a cluster of the set; 0 is a new one."""
        self._drop(np.flatnonzero((self.place[:, item] != cluster) & (self.weights > 0)))
        if cluster == 0:
            cluster = self._open(item)
        self.order.append(item)
        self.clusters.append(cluster - 1)
        self.curve.append(min(1.0, float(self.weights.sum())))
        self.mass[item] = -np.inf

    def _drop(self, draws: NDArray[np.int64]) -> None:
        """Draws that no longer agree lose their weight; their rows go when most have."""
        n_items, n_clusters = self.mass.shape
        cells = np.arange(n_items) * n_clusters
        for start in range(0, draws.size, BLOCK_ROWS):
            rows = draws[start : start + BLOCK_ROWS]
            weights = np.repeat(self.weights[rows], n_items)
            lost = np.bincount((cells + self.place[rows]).ravel(), weights, self.mass.size)
            self.mass -= lost.reshape(self.mass.shape)
        self.weights[draws] = 0
        alive = self.weights > 0
        if 2 * alive.sum() < alive.size:
            self.rows, self.weights, self.place = self.rows[alive], self.weights[alive], self.place[alive]

    def _open(self, item: int) -> int:
        """A new cluster of the set, of those that are with the item."""
        cluster = self.mass.shape[1]
        together = self.rows == self.rows[:, item : item + 1]
        own = _weight_by_item(together, self.weights)
        self.mass[:, 0] -= own
        self.mass = np.hstack([self.mass, own[:, None]])
        self.mass[self.order, cluster] = -np.inf
        np.copyto(self.place, cluster, where=together)
        return cluster


def _weight_by_item(where: NDArray[np.bool_], weights: Floats) -> Floats:
    """weights @ where, in blocks that stay in the cache."""
    total = np.zeros(where.shape[1])
    for start in range(0, len(where), BLOCK_ROWS):
        rows = slice(start, start + BLOCK_ROWS)
        total += weights[rows] @ where[rows].astype(np.float64)
    return total


def _renamed(labels: Labels) -> Labels:
    known = labels >= 0
    out = np.full(labels.size, -1)
    out[known] = canonical(labels[known])
    return out


def _completed(partial: Labels, sample: PartitionSample, loss: Loss, rng: np.random.Generator) -> Labels:
    """All items clustered, with the least expected loss that the search finds without moving those of `partial`."""
    first = [int(np.flatnonzero(partial == cluster)[0]) for cluster in range(partial.max() + 1)]
    together = [(first[partial[item]], item) for item in np.flatnonzero(partial >= 0).tolist()]
    apart = [(one, other) for place, one in enumerate(first) for other in first[:place]]
    fixed = Constraints(together=[pair for pair in together if pair[0] != pair[1]], apart=apart)
    return estimate(sample, loss, search=COMPLETION, constraints=fixed, rng=rng, check_draws=False).partition
