"""The prior of nested blocks: blocks whose clusters are in the same groups share the mean of their prior.

The means stand on a grid, so that the integral over all of them is a sum, which one pass up the tree of groups takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaln, gammainc, gammaln, logsumexp

from partita._support.arrays import Floats, Labels

DOUBLINGS = 20  # of the odds (or of the mean rate) on each side of the middle of the grid

LEAST = 1e-30  # probability of a step on the grid, so that no logarithm is infinite


@dataclass(frozen=True, eq=False)
class MeanGrid:
    """The means μ_q that a prior of blocks may have, equally probable at the top, and the priors with these means.

    Binary edges: Beta(s, s (1 − μ)/μ) for μ ≤ 1/2 and Beta(s μ/(1 − μ), s) above, s the shape; odds μ/(1 − μ) are
    powers of 2. Counts: Gamma(s, s/μ); μ is the mean rate times powers of 2. `step[p, q]` is the probability that a
    block below one of mean p has mean q: what the prior of mean p gives the neighbourhood of q on the grid.
    """

    counts: bool
    first: Floats
    second: Floats
    step: Floats

    def cells(self, edges: NDArray[Any], dyads: NDArray[Any]) -> Floats:
        """log p of the dyads of each block for every mean, its own parameter integrated out; (..., means)."""
        e, m = np.asarray(edges, float)[..., None], np.asarray(dyads, float)[..., None]
        a, b = self.first, self.second
        if self.counts:
            return np.asarray(gammaln(a + e) - gammaln(a) - a * np.log1p(m / b) - e * np.log(b + m))
        return np.asarray(betaln(a + e, b + m - e) - betaln(a, b))

    def up(self, cells: Floats) -> Floats:
        """log p of what is below each block for every mean of the block above; (..., means) both."""
        top = cells.max(axis=-1, keepdims=True)
        return np.asarray(np.log(np.exp(cells - top) @ self.step.T) + top)


def make_grid(*, counts: bool, shape: float, mean: float) -> MeanGrid:
    """The grid for binary edges, or for counts with this mean rate."""
    power = np.arange(-DOUBLINGS, DOUBLINGS + 1, dtype=float)
    border = np.append(power[:-1] + 0.5, np.inf)
    if counts:
        first, second = np.full(power.shape, shape), shape / (mean * 2**power)
        below = gammainc(shape, second[:, None] * mean * 2**border)
    else:
        first, second = shape * np.maximum(2**power, 1), shape * np.maximum(2**-power, 1)
        below = betainc(first[:, None], second[:, None], 1 / (1 + 2**-border))
    step = np.maximum(np.diff(below, axis=1, prepend=0.0), LEAST)
    return MeanGrid(counts, first, second, step / step.sum(axis=1, keepdims=True))


def grouped(cells: Floats, parent: Labels, directed: bool) -> Floats:
    """Sums over the blocks of each pair of groups, (groups, groups, means).

    An undirected block stands once, above the diagonal or on it; below there are zeros.
    """
    member = np.zeros((len(parent), int(parent.max()) + 1))
    member[np.arange(len(parent)), parent] = 1.0
    half = np.tensordot(member.T, cells, axes=1)
    sums = np.tensordot(member.T, half.swapaxes(0, 1), axes=1).swapaxes(0, 1)
    return sums if directed else once(sums + _strictly_below(sums).swapaxes(0, 1))


def once(cells: Floats) -> Floats:
    """Blocks of an undirected network, each once: zeros below the diagonal."""
    keep = np.triu(np.ones(cells.shape[:2], dtype=bool))
    return np.where(keep[..., None], cells, 0.0)


def _strictly_below(cells: Floats) -> Floats:
    keep = np.tril(np.ones(cells.shape[:2], dtype=bool), -1)
    return np.where(keep[..., None], cells, 0.0)


def log_evidence(grid: MeanGrid, cells: Floats, parents: Sequence[Labels], directed: bool) -> float:
    """log p(X | clusters, groups of clusters, groups of these, …), without constants and degree terms.

    `cells` are those of `MeanGrid.cells`; `parents` has the group of each cluster, the group of each group, ..., and
    above the last is one group of all.
    """
    for parent in parents:
        cells = grid.up(grouped(cells, parent, directed))
    return log_top(cells)


def log_top(cells: Floats) -> float:
    """log p of blocks whose means are all the same, each mean equally probable."""
    total = cells.sum(axis=(0, 1))
    return float(logsumexp(total) - np.log(total.size))


def mean_weights(grid: MeanGrid, cells: Floats, parents: Sequence[Labels], directed: bool) -> Floats:
    """The posterior probability of every mean for the prior of each block, (clusters, clusters, means).

    One pass up as in `log_evidence`, and one down: a group's mean given the one above it and all that is below.
    """
    groups, tops = [], []
    for parent in parents:
        sums = grouped(cells, parent, directed)
        groups.append(sums)
        cells = grid.up(sums)
        tops.append(cells)
    total = cells.sum(axis=(0, 1))
    weights = np.exp(total - logsumexp(total))[None, None]
    above = np.zeros(len(cells), dtype=np.int64)
    for level in range(len(parents) - 1, -1, -1):
        outer = _spread(weights, above, directed)
        scaled = np.exp(groups[level] - groups[level].max(axis=-1, keepdims=True))
        shares = np.divide(outer, scaled @ grid.step.T, out=np.zeros_like(outer), where=outer > 0)
        weights = scaled * (shares @ grid.step)
        above = parents[level]
    return _spread(weights, above, directed)


def _spread(weights: Floats, parent: Labels, directed: bool) -> Floats:
    """The weights of each pair of groups, for all pairs of their members."""
    if not directed:
        low, high = np.minimum.outer(parent, parent), np.maximum.outer(parent, parent)
        return np.asarray(weights[low, high])
    return np.asarray(weights[parent[:, None], parent[None, :]])
