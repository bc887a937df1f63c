"""Two posteriors over the same items compared: their distance, whether it is chance, and which items differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.arrays import Floats
from partita._support.names import Named
from partita._support.optional import data_frame
from partita._support.shown import facts_table
from partita._support.tolerance import ROUNDING, TIE
from partita._support.validate import check_count, check_rng
from partita.draws.sample import PartitionSample, as_sample
from partita.estimation.convergence import entropies, mixing_warnings, warn_mixing
from partita.estimation.estimate import estimate_step
from partita.estimation.r_hat import effective_sample_size
from partita.estimation.result import Estimate, sample_of
from partita.estimation.standard_errors import by_chain
from partita.losses.base import Loss
from partita.losses.expected import pairwise_distances, partition_loss
from partita.losses.losses import as_loss
from partita.pairs.similarity import similarity
from partita.partitions.labels import canonical
from partita.search.settings import Search
from partita.uncertainty.batches import Batches, block_draws, part_of, relabelled_groups

#: At most this many draws of each posterior enter the distances between draws, whose cost is quadratic.
MAX_COMPARED = 1000
#: With more items, the items are compared by their similarity to this many of them, chosen at random.
MAX_PARTNERS = 1000
#: Rows of similarity matrices that are processed at once.
ROWS = 100
#: Fewer blocks per posterior make the smallest possible p-value too large.
MIN_BLOCKS = 5
#: More blocks per posterior would not improve the test, only lengthen it.
MAX_BLOCKS = 25
#: A block is at least this many times as long as the draws take to forget.
BLOCK_TIMES = 5.0
#: Draws whose effective sample size is this share of their number count as independent: their blocks need no gaps.
INDEPENDENT = 0.8


@dataclass(frozen=True, eq=False)
class ItemDifferences:
    """The difference of each item's row of the similarity matrix between two posteriors.

    Attributes
    ----------
    difference : (n,) array
        Root mean square difference of the probabilities of being with each other item.
    p_value : (n,) array
        Probability, if the posteriors are the same, that any item differs so clearly: adjusted for the number of items.
    """

    difference: Floats
    p_value: Floats

    def worst(self, count: int = 10) -> NDArray[np.int64]:
        """The items that differ most clearly."""
        return np.lexsort((-self.difference, self.p_value))[: check_count(count, "count", minimum=1)]


@dataclass(frozen=True, eq=False, repr=False)
class PosteriorComparison:
    """How two posteriors differ: the result of `compare_posteriors`.

    Attributes
    ----------
    distance : float
        Energy distance under the loss: 2 E L(X, Y) - E L(X, X') - E L(Y, Y'). The estimate is unbiased, so it
        may be negative where the distance is near 0.
    p_value : float
        Probability of a distance at least as large, if the two posteriors are the same.
    items : ItemDifferences
        The difference of each item's row of the similarity matrix, and the p-values.
    estimates : tuple of two Estimates
        The estimate of each posterior.
    estimate_distance : float
        Loss between the two estimates.
    loss : Loss
        The loss that was used.
    n_blocks, block_length : int, (int, int)
        Blocks per posterior that the test permutes, and the number of draws per block of each.
    samples : tuple of two PartitionSamples
        The second has its items in the order of the first.
    notes : tuple of str
        Reasons for caution, such as chains that have not mixed.
    """

    distance: float
    p_value: float
    items: ItemDifferences
    estimates: tuple[Estimate, Estimate]
    estimate_distance: float
    loss: Loss
    n_blocks: int
    block_length: tuple[int, int]
    samples: tuple[PartitionSample, PartitionSample]
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the items, or their numbers."""
        first = self.samples[0]
        return first.names or tuple(map(str, range(first.n_items)))

    def pairs(self, count: int = 10) -> list[dict[str, Any]]:
        """The pairs whose probability of being together differs most, among those of the items that differ most."""
        wanted = check_count(count, "count", minimum=1)
        rows = np.sort(self.items.worst(max(wanted, ROWS)))
        everything = np.arange(self.samples[0].n_items)
        first, second = (np.nan_to_num(similarity(sample, (rows, everything))) for sample in self.samples)
        gap = np.abs(first - second)
        gap[np.isin(everything, rows)[None, :] & (everything[None, :] <= rows[:, None])] = -1  # each pair once
        order = np.argsort(-gap, axis=None, kind="stable")[:wanted]
        places = [divmod(int(place), gap.shape[1]) for place in order if gap.flat[place] >= 0]
        return [
            {
                "items": tuple(self.names[k] for k in sorted((int(rows[r]), j))),
                "first": float(first[r, j]),
                "second": float(second[r, j]),
            }
            for r, j in places
        ]

    def to_pandas(self) -> Any:
        """One row per item: its cluster in both estimates, the difference and its p-value."""
        columns = {
            "first": self.estimates[0].labels,
            "second": self.estimates[1].labels,
            "difference": self.items.difference,
            "p_value": self.items.p_value,
        }
        return data_frame(columns, self.names)

    def __repr__(self) -> str:
        facts = "".join(f"\n  {name:<18}{value}" for name, value in self._facts())
        return f"PosteriorComparison: {self.verdict()}{facts}"

    def _repr_html_(self) -> str:
        return facts_table("PosteriorComparison", [("verdict", self.verdict()), *self._facts()])

    def verdict(self) -> str:
        """The answer in a few words."""
        if self.p_value <= 0.05:
            return f"the posteriors differ (p = {self.p_value:.3g})"
        return f"no significant difference at the 5 % level (p = {self.p_value:.3g})"

    def _facts(self) -> Iterator[tuple[str, str]]:
        first, second = self.estimates
        near_zero = "; unbiased, so negative near 0" if self.distance < 0 else ""
        yield "energy distance", f"{self.distance:.4g}  {self.loss}{near_zero}"
        yield "estimates", f"{first.n_clusters} and {second.n_clusters} clusters, {self.estimate_distance:.4g} apart"
        differ = int((self.items.p_value <= 0.05).sum())
        yield "items that differ", f"{differ:,} of {self.items.p_value.size:,}"
        yield "test", f"{self.n_blocks} blocks of {self.block_length[0]} and {self.block_length[1]} draws"
        yield from (("warning", sentence) for sentence in self.notes)


def compare_posteriors(
    a: Any,
    b: Any,
    loss: str | Loss = "vi",
    *,
    permutations: int = 999,
    search: Search | None = None,
    n_jobs: int = -1,
    rng: Any = None,
) -> PosteriorComparison:
    """Whether two sets of draws represent the same posterior over partitions of the same items, and where they differ.

    The statistic is the energy distance under the loss, with the loss made symmetric,

    D = 2 E L(X, Y) - E L(X, X') - E L(Y, Y'),

    estimated from pairs of draws of different blocks. Blocks of consecutive draws, with gaps between them so that they
    are nearly independent, and equally many of both posteriors, are permuted: p = (1 + number of permutations with at
    least this D) / (1 + permutations). Items are compared in the same permutations by their rows of the two similarity
    matrices.

    Parameters
    ----------
    a, b : Estimate, or anything that `as_sample` takes
        Chains, models, priors or data sets; items are matched by name if both have names.
    loss : str or Loss
        The loss, by name or as an object such as ``VI(a=0.5, b=1)``.
    permutations : int
        Number of permutations of the test.
    search : Search, optional
        Settings of the search for both estimates; by default four runs on at most 2,000 draws.
    n_jobs : int
        Threads; -1 uses all cores.
    rng : None, int or numpy Generator
        Seed or source of random numbers; the same seed gives the same result.

    Returns
    -------
    PosteriorComparison

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> first = np.where(rng.random((400, 6)) < 0.1, 1, [0, 0, 0, 1, 1, 1])
    >>> second = np.where(rng.random((400, 6)) < 0.1, 1, [0, 0, 1, 1, 1, 0])
    >>> compared = compare_posteriors(first, second, rng=1)
    >>> compared.p_value, compared.estimates[0].labels.tolist(), compared.estimates[1].labels.tolist()
    (0.001, [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 0])

    References
    ----------
    Székely & Rizzo (2013), Energy statistics; Westfall & Young (1993), Resampling-based multiple testing.
    """
    kind, tries = as_loss(loss), check_count(permutations, "permutations", minimum=19)
    generator = check_rng(rng)
    samples = _same_items(sample_of(a), sample_of(b))
    how = Search(runs=4, max_draws=2000, n_jobs=n_jobs) if search is None else search
    blocks, sentences = _blocks(samples, n_jobs)
    groups = relabelled_groups(blocks.count, tries, generator)
    distance, p_value = _energy_test(samples, blocks, groups, kind, n_jobs)
    items = _item_test(samples, blocks, groups, generator, n_jobs)
    estimates = (estimate_step(samples[0], kind, how, generator), estimate_step(samples[1], kind, how, generator))
    apart = partition_loss(estimates[0].partition, estimates[1].partition, kind)
    warn_mixing(sentences)
    length = (blocks.draws[0].shape[1], blocks.draws[1].shape[1])
    return PosteriorComparison(
        distance, p_value, items, estimates, apart, kind, blocks.count, length, samples, tuple(sentences)
    )


def _same_items(first: PartitionSample, second: PartitionSample) -> tuple[PartitionSample, PartitionSample]:
    """Both samples, the second with its items in the order of the first."""
    for what, sample in (("a", first), ("b", second)):
        if sample.has_gaps:
            raise ValueError(f"compare_posteriors needs draws that label every item, but {what} has missing labels")
        if sample.is_weighted:
            raise ValueError(f"compare_posteriors permutes draws of equal weight, but those of {what} have weights")
    order = Named(second.labels.T, second.names, "b").order_for(first.names, first.n_items, "a")
    if order is None:
        return first, second
    rows = np.array([canonical(row[order]) for row in second.labels]).astype(second.labels.dtype)
    noise = None if second.noise is None else second.noise[order]
    return first, PartitionSample(rows, second.weights, second.index, second.chains, first.names, noise)


def _blocks(samples: tuple[PartitionSample, PartitionSample], n_jobs: int) -> tuple[Batches, list[str]]:
    """As many blocks as the draws allow: each is some times as long as the draws take to forget."""
    possible, gaps, sentences = [], [], []
    for what, sample in zip("ab", samples, strict=True):
        summaries = {"clusters": sample.n_clusters.astype(np.float64), "entropy": entropies(sample, n_jobs)}
        by_draw = {name: by_chain(values[sample.index], sample) for name, values in summaries.items()}
        effective = min(sample.n_draws, *(effective_sample_size(values) for values in by_draw.values()))
        possible.append(effective / BLOCK_TIMES)
        gaps.append(round(sample.n_draws / effective) if effective < INDEPENDENT * sample.n_draws else 0)
        sentences += [f"Posterior {what}: {sentence}" for sentence in mixing_warnings(by_draw)]
    count = int(min(MAX_BLOCKS, *possible))
    if count < MIN_BLOCKS:
        sentences.append(
            f"The draws are too few or too dependent for {MIN_BLOCKS} independent blocks per posterior: the p-value is"
            " too small or too large by an unknown amount."
        )
    blocks = [
        block_draws(sample, max(count, MIN_BLOCKS), name, gap)
        for name, sample, gap in zip("ab", samples, gaps, strict=True)
    ]
    count = min(len(b) for b in blocks)
    return Batches((blocks[0][:count], blocks[1][:count])), sentences


def _energy_test(
    samples: tuple[PartitionSample, PartitionSample], blocks: Batches, groups: Floats, loss: Loss, n_jobs: int
) -> tuple[float, float]:
    """The energy distance, and the share of the permutations in which it is at least as large."""
    between = _block_distances(samples, blocks, loss, n_jobs)
    values = _energies(between, groups)
    return float(values[0]), float((values >= values[0] - ROUNDING * loss.unit).mean())


def _energies(between: Floats, groups: Floats) -> Floats:
    """The energy distance of each assignment of the blocks to two groups of +1 and -1; the diagonal does not count."""
    own = between - np.diag(np.diag(between))
    half = groups.shape[1] // 2
    left, right = (groups > 0).astype(np.float64), (groups < 0).astype(np.float64)
    across = ((left @ own) * right).sum(axis=1) / half**2
    within = sum(((side @ own) * side).sum(axis=1) / (half * (half - 1)) for side in (left, right))
    return np.asarray(2 * across - within)


def _block_distances(
    samples: tuple[PartitionSample, PartitionSample], blocks: Batches, loss: Loss, n_jobs: int
) -> Floats:
    """Mean loss between the draws of any two blocks, those of the first posterior before those of the second."""
    per_block = max(1, MAX_COMPARED // blocks.count)
    rows = []
    for sample, draws in zip(samples, blocks.draws, strict=True):
        chosen = np.linspace(0, draws.shape[1] - 1, min(per_block, draws.shape[1])).round().astype(np.int64)
        rows.append(sample.labels[sample.index[draws[:, chosen]]])
    block = np.concatenate(
        [np.repeat(np.arange(blocks.count), r.shape[1]) + g * blocks.count for g, r in enumerate(rows)]
    )
    both = as_sample(np.concatenate([r.reshape(-1, r.shape[2]).astype(np.int64) for r in rows]))
    distance = pairwise_distances(both, loss, n_jobs=n_jobs)
    member = np.zeros((2 * blocks.count, both.n_unique))
    np.add.at(member, (block, both.index), 1)
    member /= member.sum(axis=1, keepdims=True)
    means = member @ distance @ member.T
    return (means + means.T) / 2


def _item_test(
    samples: tuple[PartitionSample, PartitionSample],
    blocks: Batches,
    groups: Floats,
    rng: np.random.Generator,
    n_jobs: int,
) -> ItemDifferences:
    """Squared distances between the items' mean rows of similarity, and p-values by the largest over all items.

    An item's distance is divided by its mean over the permutations, so that items of large clusters do not decide.
    """
    n = samples[0].n_items
    partners = np.arange(n) if n <= MAX_PARTNERS else np.sort(rng.choice(n, MAX_PARTNERS, replace=False))
    parts = [part_of(sample, block) for sample, draws in zip(samples, blocks.draws, strict=True) for block in draws]
    largest, own, ratio = np.zeros(len(groups)), np.empty(n), np.empty(n)
    for start in range(0, n, ROWS):
        rows = np.arange(start, min(start + ROWS, n))
        mass = np.array([similarity(part, (rows, partners), dtype=np.float32, n_jobs=n_jobs) for part in parts])
        squared = _squared_distances(mass, groups)
        own[rows] = np.sqrt(squared[0] / max(1, partners.size - 1))
        usual = squared[1:].mean(axis=0)
        scaled = np.divide(squared, usual, out=np.zeros_like(squared), where=usual > 0)
        ratio[rows] = scaled[0]
        largest = np.maximum(largest, scaled.max(axis=1))
    p_value = (largest[:, None] >= ratio * (1 - TIE)).mean(axis=0)
    return ItemDifferences(own, p_value)


def _squared_distances(mass: NDArray[np.float32], groups: Floats) -> Floats:
    """Σ_j (difference of the group means of π_ij)² for each grouping and item, from (blocks, items, partners).

    It is a quadratic form in the signs of the blocks; what all blocks have in common cancels and is subtracted first.
    """
    signs = groups / (groups.shape[1] / 2)
    by_item = np.ascontiguousarray((mass - mass.mean(axis=0)).transpose(1, 0, 2))
    pieces = (by_item[:, :, start : start + ROWS] for start in range(0, by_item.shape[2], ROWS))
    gram = np.zeros((len(by_item), groups.shape[1], groups.shape[1]))
    for piece in pieces:  # small products, for which the threads of a BLAS would cost more than they save
        gram += piece @ piece.transpose(0, 2, 1)
    products = (signs[:, :, None] * signs[:, None, :]).reshape(len(signs), -1)
    found: Floats = products @ gram.reshape(len(gram), -1).T
    return np.maximum(found, 0)
