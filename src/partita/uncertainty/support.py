"""Posterior support of sets of items that are nested in each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.arrays import Floats, slices
from partita.draws.sample import PartitionSample

Counts = NDArray[np.int64]

#: Cells of a block of draws that is processed at once.
BLOCK_CELLS = 4_000_000


@dataclass(frozen=True, eq=False)
class Support:
    """The posterior support of each node S, a set of items.

    Attributes
    ----------
    transfer : (nodes,) array
        1 - E δ / (|S| - 1), where δ is the smallest number of items to add to S or remove from it so that no cluster of
        the draw crosses its border: every cluster is inside S, outside it, or contains it. NaN for single items, which
        no cluster crosses. Of nested draws, δ is the smallest number that makes S a cluster of some level.
    compatible : (nodes,) array
        Probability that no cluster crosses the border of S: δ = 0.
    together : (nodes,) array
        Probability that the items of S are in one cluster.
    exact : (nodes,) array
        Probability that S is a cluster.
    """

    transfer: Floats
    compatible: Floats
    together: Floats
    exact: Floats


def node_support(nodes: NDArray[np.bool_], finest: Counts, levels: Sequence[PartitionSample]) -> Support:
    r"""The support of nodes, each a union of clusters of the finest partition: a (nodes, clusters) bool array.

    `levels` are flat draws, or the levels of nested draws from fine to coarse: draw t of every level belongs to one
    tree. For flat draws δ = min(Σ_T min(|S ∩ T|, |T \ S|), |S| - max_T |S ∩ T|): either S becomes a union of clusters,
    or it is reduced to one of them. Reduced to a single item S is always compatible, so δ <= |S| - 1.
    """
    sizes = nodes @ np.bincount(finest)
    totals = np.zeros((4, len(nodes)))
    nested = len(levels) > 1
    weight = 0.0
    for weights, inside in _overlaps(nodes, finest, levels):
        found = _of_trees(inside, sizes) if nested else _of_flat(inside[0], sizes)
        totals += np.stack([weights @ each for each in found])
        weight += weights.sum()
    moved, compatible, together, exact = totals / weight
    room = np.maximum(sizes - 1, 1)
    transfer = np.where(sizes > 1, 1 - moved / room, np.nan)
    return Support(transfer, *np.clip([compatible, together, exact], 0, 1))


def _of_flat(table: tuple[Counts, Counts], sizes: Counts) -> tuple[NDArray[Any], ...]:
    """δ, and whether the node is compatible, together and exact: (draws, nodes) each."""
    inside, clusters = table
    crossing = np.minimum(inside, clusters[:, None] - inside).sum(axis=2)
    away = sizes - inside.max(axis=2)
    moved = np.minimum(crossing, away)
    return moved, moved == 0, away == 0, (away == 0) & (crossing == 0)


def _of_trees(tables: list[tuple[Counts, Counts]], sizes: Counts) -> tuple[NDArray[Any], ...]:
    moved = np.broadcast_to(sizes - 1, tables[0][0].shape[:2])  # to a single item, which is a leaf of the tree
    crossed, together = np.zeros(moved.shape, np.bool_), np.zeros(moved.shape, np.bool_)
    exact = np.zeros(moved.shape, np.bool_)
    for inside, clusters in tables:
        outside = clusters[:, None] - inside
        missing = sizes[None, :, None] - inside
        away = np.where(inside > 0, missing + outside, sizes.max() * 2).min(axis=2)
        moved = np.minimum(moved, away)
        crossed |= ((inside > 0) & (outside > 0) & (missing > 0)).any(axis=2)
        together |= (missing == 0).any(axis=2)
        exact |= away == 0
    return moved, ~crossed, together, exact


def _overlaps(
    nodes: NDArray[np.bool_], finest: Counts, levels: Sequence[PartitionSample]
) -> Iterator[tuple[Floats, list[tuple[Counts, Counts]]]]:
    """For blocks of draws: their weights, and for each level |S ∩ T| and |T| of every node S and cluster T.

    Flat draws are taken once each, with their weights; nested ones one by one, since each level repeats on its own.
    """
    most = [int(level.labels.max()) + 1 for level in levels]
    rows = max(1, BLOCK_CELLS // max(finest.size, len(nodes) * max(most)))
    nested = len(levels) > 1
    count = levels[0].n_draws if nested else levels[0].n_unique
    weights = levels[0].draw_weights if nested else levels[0].weights
    leaves = nodes.shape[1]
    for block in slices(count, rows):
        tables = []
        for level, clusters in zip(levels, most, strict=True):
            labels = level.labels[level.index[block]] if nested else level.labels[block]
            cells = (np.arange(len(labels))[:, None] * leaves + finest) * clusters + labels
            table = np.bincount(cells.ravel(), minlength=len(labels) * leaves * clusters)
            table = table.reshape(len(labels), leaves, clusters)
            inside = np.einsum("sk,tkc->tsc", nodes.astype(np.float64), table.astype(np.float64), optimize=True)
            tables.append((inside.round().astype(np.int64), table.sum(axis=1)))
        yield weights[block], tables
