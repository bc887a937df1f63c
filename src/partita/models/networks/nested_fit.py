"""What a nested block model finds: levels from fine to coarse, and blocks whose priors were learnt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, gammainc
from scipy.stats import beta, gamma

from partita._support.arrays import Floats
from partita._support.hints import plural
from partita._support.shown import ShownAsText
from partita._support.validate import check_level
from partita.models.networks.fit import BlockFit, Blocks, block_counts, check_pairs
from partita.models.networks.nested_prior import MeanGrid, mean_weights, once
from partita.models.networks.shares import share_products
from partita.partitions.labels import canonical

LEFT_OUT = 1e-4  # of the weight of the means, in intervals
HALVINGS = 50


@dataclass(frozen=True, eq=False)
class NestedLevel(ShownAsText):
    """One level: `labels` (nodes,) canonical, and `icl`, log p(X, levels) of the model that begins at this level, with
    the same levels above it: what is lost if the levels below are left out."""

    labels: NDArray[np.int64]
    icl: float

    @property
    def n_clusters(self) -> int:
        return int(self.labels.max()) + 1

    def __repr__(self) -> str:
        return f"NestedLevel({plural(self.n_clusters, 'cluster')}, ICL {self.icl:.3f})"


@dataclass(frozen=True, eq=False, repr=False)
class NestedFit(BlockFit):
    """The levels of largest ICL that were found.

    Attributes
    ----------
    labels : (nodes,) integer array
        The finest level, canonical labels.
    icl : float
        log p(X, z_1, …, z_L | K_1, …, K_L), natural logarithm, constants included.
    levels : tuple of NestedLevel
        The levels from fine to coarse; above the last one is a single group of all nodes.
    path : MergePath
        Greedy merges of the finest level by the ICL of the flat model.
    runs, times_reached, notes : tuple, int, tuple
        As for `BlockFit`, of the best of the flat searches from which the levels were refined.
    """

    levels: tuple[NestedLevel, ...]
    grid: MeanGrid
    parents: tuple[NDArray[np.int64], ...]

    def blocks(self, level: float = 0.95) -> Blocks:
        """Block probabilities with equal-tailed credible intervals, averaged over the means of their priors."""
        level = check_level(level)
        edges, dyads = block_counts(self.graph, self.edges, self.labels, self.labels)
        first, second, weight = self._posterior(edges, dyads)
        mean = first / second if self.edges.counts else first / (first + second)
        tail = (1 - level) / 2
        ends = [_quantile(first, second, weight, p, self.edges.counts) for p in (tail, 1 - tail)]
        return Blocks((weight * mean).sum(axis=-1), ends[0], ends[1], edges, dyads, level)

    def edge_probability(self, pairs: ArrayLike) -> Floats:
        """Probability of an edge (of at least one, if edges are counts) for (m, 2) pairs of nodes."""
        n = len(self.labels)
        source, target = check_pairs(pairs, (n, n))
        edges, dyads = block_counts(self.graph, self.edges, self.labels, self.labels)
        first, second, weight = (
            each[self.labels[source], self.labels[target]] for each in self._posterior(edges, dyads)
        )
        if not self.edges.counts:
            return np.asarray((weight * first / (first + second)).sum(axis=-1))
        share = share_products(self.graph, self.edges, self.labels, self.labels, source, target)[:, None]
        return np.asarray((weight * (1 - (1 + share / second) ** -first)).sum(axis=-1))

    def _posterior(self, edges: NDArray[Any], dyads: NDArray[Any]) -> tuple[Floats, Floats, Floats]:
        """Parameters of the Beta (or Gamma) of each block for every mean of its prior, and the means' weights."""
        cells = self.grid.cells(edges, dyads)
        directed = self.edges.directed
        weight = mean_weights(self.grid, cells if directed else once(cells), self.parents, directed)
        e, m = edges[..., None].astype(float), dyads[..., None]
        return self.grid.first + e, self.grid.second + (m if self.edges.counts else m - e), weight

    def __repr__(self) -> str:
        words = ", ".join(str(level.n_clusters) for level in self.levels)
        found = f"{len(self.labels)} nodes, levels of {words} clusters, ICL {self.icl:.3f}"
        return f"NestedFit({found}; {self.found.in_words()}{self._state()})"


def _quantile(first: Floats, second: Floats, weight: Floats, p: float, counts: bool) -> Floats:
    """The p-quantile of each mixture, by bisection between those of its parts; parts of little weight are left out."""
    order = np.argsort(-weight, axis=-1)
    sorted_weight = np.take_along_axis(weight, order, -1)
    kept = 1 + int((sorted_weight.cumsum(axis=-1) < 1 - LEFT_OUT).sum(axis=-1).max())
    a, b = (np.take_along_axis(each, order[..., :kept], -1) for each in (first, second))
    w = sorted_weight[..., :kept] / sorted_weight[..., :kept].sum(axis=-1, keepdims=True)
    ends = gamma.ppf(p, a, scale=1 / b) if counts else beta.ppf(p, a, b)
    low, high = ends.min(axis=-1), ends.max(axis=-1)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        below = gammainc(a, b * middle[..., None]) if counts else betainc(a, b, middle[..., None])
        under = (w * below).sum(axis=-1) < p
        low, high = np.where(under, middle, low), np.where(under, high, middle)
    return np.asarray((low + high) / 2)


def lift(labels: NDArray[np.int64], parents: tuple[NDArray[np.int64], ...]) -> list[NDArray[np.int64]]:
    """The levels as partitions of the nodes, from fine to coarse."""
    levels = [canonical(labels)]
    current = labels
    for parent in parents:
        current = parent[current]
        levels.append(canonical(current))
    return levels
