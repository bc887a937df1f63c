"""Blocks of consecutive draws: what is nearly independent in a chain, for permutations and for batch means."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita.draws.sample import PartitionSample, chain_places

Draws = NDArray[np.int64]


@dataclass(frozen=True)
class Batches:
    """The numbers of the draws in the blocks of two posteriors: two (blocks, draws) arrays, equally many blocks."""

    draws: tuple[Draws, Draws]

    @property
    def count(self) -> int:
        """Blocks of each posterior."""
        return len(self.draws[0])


def block_draws(sample: PartitionSample, count: int, what: str = "draws", gap: int = 0) -> Draws:
    """The draws in about `count` blocks of equal length, each of consecutive draws of one chain: (blocks, draws).

    Every chain has equally many blocks, at least one; draws at the start of a chain that fill no block are left out.
    So are the first `gap` draws of each block, but at most half of it: they depend on the block before.

    >>> from partita.draws.sample import as_sample
    >>> block_draws(as_sample([[0, 0, 1]] * 7), 3).tolist()
    [[1, 2], [3, 4], [5, 6]]
    """
    pieces = chain_places(sample)
    per_chain = -(-count // sample.n_chains)
    length = min(map(len, pieces)) // per_chain
    if length < 1:
        shortest = min(map(len, pieces))
        raise ValueError(f"{what} has {shortest} draws per chain, too few for {per_chain} blocks of each chain")
    blocks = np.concatenate([piece[-per_chain * length :].reshape(per_chain, length) for piece in pieces])
    return blocks[:, min(gap, length // 2) :]


def relabelled_groups(count: int, permutations: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """+1 for the first `count` blocks and -1 for the others, then random permutations of this row: one row each."""
    own = np.repeat([1.0, -1.0], count)
    return np.vstack([own, rng.permuted(np.tile(own, (permutations, 1)), axis=1)])


def part_of(sample: PartitionSample, draws: NDArray[np.int64]) -> PartitionSample:
    """The sample of some of the draws, each with the same weight."""
    rows, index = np.unique(sample.index[draws.ravel()], return_inverse=True)
    weights = np.bincount(index) / index.size
    labels = np.ascontiguousarray(sample.labels[rows])
    return PartitionSample(labels, weights, index, names=sample.names, noise=sample.noise)
