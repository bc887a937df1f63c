"""The weight of a loss that gives a wanted number of clusters, and the path of estimates along the weight."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from partita._support.optional import data_frame
from partita._support.shown import Noted, facts_table
from partita._support.validate import check_count, check_rng
from partita.draws.sample import PartitionSample, as_sample
from partita.estimation.estimate import estimate_step
from partita.estimation.result import Estimate
from partita.losses.base import MAX_UNEVEN, AdditiveLoss
from partita.losses.expected import expected_loss
from partita.losses.losses import VI, Binder, as_loss
from partita.search.components import are_all_small
from partita.search.deadline import Deadline
from partita.search.settings import Search

#: If two weights differ by less, relative to their size, the number of clusters is said to jump between them.
NARROWEST = 1e-6


@dataclass(frozen=True, eq=False, repr=False)
class WeightPath(Noted):
    """Estimates along the weight a of a loss, with b fixed: the result of `weights_for`.

    Attributes
    ----------
    a : float
        The weight whose estimate has the wanted number of clusters.
    loss : Binder or VI
        The loss with that weight.
    estimate : Estimate
        Its estimate.
    path : tuple of Estimate
        All estimates computed on the way, by increasing a: fewer clusters as a grows.
    """

    a: float
    loss: AdditiveLoss
    estimate: Estimate
    path: tuple[Estimate, ...]

    @property
    def n_clusters(self) -> int:
        """Number of clusters of the estimate."""
        return self.estimate.n_clusters

    def to_pandas(self) -> Any:
        """Weight, number of clusters and expected loss along the path."""
        rows = [(e.loss.a, e.n_clusters, e.expected_loss) for e in self.path]  # type: ignore[attr-defined]
        return data_frame(rows, columns=["a", "n_clusters", "expected_loss"])

    def __repr__(self) -> str:
        return f"WeightPath(a={self.a:.6g}, n_clusters={self.n_clusters}, {len(self.path)} estimates)"

    def _repr_html_(self) -> str:
        rows = ((f"a = {e.loss.a:.6g}", f"{e.n_clusters} clusters") for e in self.path)  # type: ignore[attr-defined]
        return facts_table(f"Weights for {self.n_clusters} clusters", rows)


def weights_for(
    draws: Any,
    loss: str | Binder | VI = "vi",
    *,
    n_clusters: int | None = None,
    search: Search | None = None,
    weights: Any = None,
    rng: Any = None,
    steps: int = 40,
) -> WeightPath:
    """The weight a that gives a prescribed number of clusters, or the highest least expected loss.

    A small a makes splitting cheap and gives many clusters, a large a few: the weight is bracketed by doubling or
    halving, and then found by bisection on the scale of log a. Where estimates are proven, a weight at which another
    number of clusters is as good is not returned.

    Without `n_clusters`, the weights a and b = 2 − a are returned under which even the best partition has the highest
    expected loss, as salso's ``VI(a = NULL)`` does: max over a of min over ρ of a A(ρ) + (2 − a) B(ρ), with A and B the
    expected costs of splitting and joining. The minimum is concave in a; each estimate bounds it by a line.

    Parameters
    ----------
    draws : anything that `as_sample` takes
        Posterior draws: labels in any form, one row per draw.
    loss : "vi", "binder", or such a loss
        Its b is kept; its a is the initial weight.
    n_clusters : int, optional
        Wanted number of clusters, with b as given.
    search : Search, optional
        Settings of each estimate; its time limit applies to the whole call. Unless given, the limit on clusters is
        n_clusters plus the largest number in any draw; without n_clusters there is none.
    weights : (draws,) array_like, optional
        Weights of the draws.
    rng : None, int or numpy Generator
        Seed or source of random numbers; the same seed gives the same result.
    steps : int
        Maximum number of estimates to compute.

    Returns
    -------
    WeightPath

    Raises
    ------
    ValueError
        If no weight gives n_clusters: as a grows the number may jump past it. The message names the weights between
        which it jumps, and the numbers of clusters that were reached.

    Examples
    --------
    >>> from partita.datasets import make_draws
    >>> draws = make_draws(30, 100, 4, rng=1)
    >>> weights_for(draws, "vi", n_clusters=2, rng=1).n_clusters
    2
    >>> 0 < weights_for(draws, rng=1).a < 2
    True
    """
    start = as_loss(loss).additive
    if start is None:
        raise TypeError(f"loss must be Binder or VI, which have weights, not {type(as_loss(loss)).__name__}")
    sample = as_sample(draws, weights=weights)
    if n_clusters is None:
        free = replace(search or Search(runs=8), max_clusters=np.inf)  # as each line is one over all partitions
        return _highest(sample, start, free, int(check_rng(rng).integers(2**32)), steps)
    wanted = check_count(n_clusters, "n_clusters", minimum=1)
    if wanted > sample.n_items:
        raise ValueError(f"n_clusters is {wanted}, but there are {sample.n_items} items")
    how = search or Search(runs=8)
    if how.max_clusters is None:
        limit = np.inf if are_all_small(sample) else min(sample.n_items, wanted + int(sample.n_clusters.max()))
        how = replace(how, max_clusters=limit)
    seed = int(check_rng(rng).integers(2**32))
    until = Deadline.after(how.seconds)
    found: dict[float, Estimate] = {}

    def clusters_at(a: float) -> int:
        found[a] = estimate_step(sample, replace(start, a=a), until.limit(how), seed, check_draws=True)
        return found[a].n_clusters

    a, low, high = start.a, 0.0, np.inf  # too many clusters at low, too few at high
    for _ in range(steps):
        clusters = clusters_at(a)
        if clusters == wanted:
            untied = _untied(a, wanted, clusters_at) if found[a].proven else a
            if untied is not None:
                path = tuple(found[key] for key in sorted(found))
                return WeightPath(untied, replace(start, a=untied), found[untied], path)
            low, high = a * (1 - NARROWEST / 4), a * (1 + NARROWEST / 4)
        else:
            low, high = (a, high) if clusters > wanted else (low, a)
        a = _between(low, high)
        # the weights from low to high lie ever closer, so that this ends
        if high <= low * (1 + NARROWEST) or not 1 / MAX_UNEVEN <= a / start.b <= MAX_UNEVEN or until.is_past:
            break
    raise ValueError(_not_found(found, wanted, (low, high), until.is_past))


def _highest(sample: PartitionSample, loss: AdditiveLoss, search: Search, seed: int, steps: int) -> WeightPath:
    """The weights of the highest least loss: each estimate is a line above it, and two lines meet ever lower."""
    until = Deadline.after(search.seconds)
    found: dict[float, Estimate] = {}
    n = sample.n_items
    left, right = (_costs(each, sample, loss) for each in (np.arange(n), np.zeros(n, np.int64)))
    a = 1.0
    for _ in range(steps):
        # a A + (2 - a) B of both is equal here
        gap = (left[0] - left[1]) - (right[0] - right[1])
        a = 2 * (right[1] - left[1]) / gap if gap > 0 else 1.0
        a = float(np.clip(a, 2 / MAX_UNEVEN, 2 - 2 / MAX_UNEVEN))
        level = a * left[0] + (2 - a) * left[1]
        found[a] = estimate_step(sample, replace(loss, a=a, b=2 - a), until.limit(search), seed, check_draws=True)
        if found[a].expected_loss >= level * (1 - NARROWEST) or until.is_past:
            break
        line = _costs(found[a].partition, sample, loss)
        left, right = (line, right) if line[0] > line[1] else (left, line)
    return WeightPath(a, replace(loss, a=a, b=2 - a), found[a], tuple(found[key] for key in sorted(found)))


def _costs(partition: Any, sample: PartitionSample, loss: AdditiveLoss) -> tuple[float, float]:
    """A and B, the expected costs of splitting and joining: the expected loss is a A + b B."""
    one, other = (float(expected_loss(partition, sample, replace(loss, a=a, b=2 - a))) for a in (1.5, 0.5))
    return (1.5 * one - 0.5 * other) / 2, (1.5 * other - 0.5 * one) / 2


def _untied(a: float, wanted: int, clusters_at: Callable[[float], int]) -> float | None:
    """The weight, or one next to it: at a tie, other numbers of clusters are as good and on one side better."""
    sides = [side for side in (a * (1 - NARROWEST / 4), a * (1 + NARROWEST / 4)) if clusters_at(side) == wanted]
    return a if len(sides) == 2 else sides[0] if sides else None


def _between(low: float, high: float) -> float:
    """The next weight to try: twice or half the last until it is bracketed, then the geometric mean."""
    return 2 * low if np.isinf(high) else high / 2 if low == 0 else float(np.sqrt(low) * np.sqrt(high))


def _not_found(found: dict[float, Estimate], wanted: int, bracket: tuple[float, float], timed_out: bool) -> str:
    tried = " and ".join(f"{found[a].n_clusters} clusters at a={a!r}" for a in bracket if a in found)
    reached = ", ".join(str(k) for k in sorted({best.n_clusters for best in found.values()}))
    limit = "; the time limit ended the search" if timed_out else ""
    return f"no weight a was found whose estimate has {wanted} clusters: {tried}; reached: {reached} clusters{limit}"
