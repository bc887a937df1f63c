"""Certificates: how far can an estimate be from the best?"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from partita import _core
from partita._html import ShownAsText
from partita._validate import check_n_jobs, check_positive
from partita.estimate_result import Estimate
from partita.losses import ID, VI, Binder, ZeroOne, core_sample, pairwise_distances
from partita.partitions import canonical
from partita.sample import PartitionSample
from partita.search.components import MAX_ENUMERATED, component_labels, solve_parts
from partita.search.exact import bound_binder
from partita.search.multilevel import restricted
from partita.search_warnings import search_warnings

#: With more distinct draws, the mean distance between draws is not computed: its cost is quadratic.
MAX_DRAWS = 4000
#: With more items, the rows of VI do not fit in memory: they take about 100 numbers per pair of items.
MAX_ITEMS = 1400
#: With more items, Binder's linear program, which has one variable per pair, is not tried.
MAX_PAIRED = 20_000


@dataclass(frozen=True)
class Bound(ShownAsText):
    """A lower bound on the expected loss of every partition.

    Attributes
    ----------
    value : float
    gap : float
        (expected loss of the estimate - value) / expected loss: no partition improves on it by a larger share.
    method : str
        How the bound was found; "none" if there is no bound better than zero.
    proven : bool
        Whether the estimate is proven to be optimal.
    """

    value: float
    gap: float
    method: str
    proven: bool

    def in_words(self) -> str:
        """One sentence for a report."""
        if self.proven:
            return "No partition has a smaller expected loss: the estimate is proven best."
        if self.method == "none":
            return "For this loss there is no lower bound: how far the estimate is from the best is not known."
        share = f"{self.gap:.2%}" if self.gap >= 0.0001 else f"{self.gap:.1e} of itself"
        return f"No partition has an expected loss that is smaller by more than {share}."

    def __str__(self) -> str:
        return self.in_words()


def with_proof(estimate: Estimate, bound: Bound | None) -> Estimate:
    """The estimate with the gap of a bound, and whether it is proven to be optimal.

    A proof removes warnings that the search may have missed the best partition.

    Examples
    --------
    >>> from partita.estimate import estimate
    >>> best = estimate([[0] * 7 + [1] * 6, [0] * 7 + [1] * 6, [0] * 6 + [1] * 7], "binder", rng=1)
    >>> best.proven, with_proof(best, best.bound()).proven
    (False, True)
    """
    if bound is None or (bound.method == "none" and not bound.proven):
        return estimate
    gap = bound.gap if estimate.gap is None else min(bound.gap, estimate.gap)
    if not bound.proven:
        return replace(estimate, gap=gap)
    on_search = set(search_warnings(estimate))
    warnings = tuple(sentence for sentence in estimate.warnings if sentence not in on_search)
    return replace(estimate, gap=gap, proven=True, warnings=warnings)


def lower_bound(estimate: Estimate, seconds: float = 10.0) -> Bound:
    """A lower bound on the least expected loss of any partition, and the gap to it.

    - Binder and VI: the sum of the bounds of the components (see `Estimate.components`); those of at most 12 items are
      solved exactly.
    - Binder: a linear program over pairs of items, with as many triangle inequalities as time allows.
    - VI: every item chooses its own best cluster, with multipliers that pull the choices together.
    - ID: half of the bound for VI, which is at most twice ID.
    - 0-1: one minus the largest weight of a draw.
    - any metric, if larger: half the mean distance between two draws. Other losses: zero.

    Parameters
    ----------
    estimate : Estimate
    seconds : float
        Time to spend; more gives a tighter bound for Binder and VI.

    Returns
    -------
    Bound

    Examples
    --------
    >>> from partita.estimate import estimate
    >>> best = estimate([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]], "binder", rng=1)
    >>> print(lower_bound(best))
    No partition has a smaller expected loss: the estimate is proven best.
    """
    check_positive(seconds, "seconds")
    found = [_by_loss(estimate, seconds)]
    if estimate.loss.is_metric and not found[0].proven:
        found.append(_half_mean_distance(estimate))
    if estimate.proven and estimate.search.max_clusters is None:
        found.append(_bound(estimate, estimate.expected_loss, estimate.method))
    return max(found, key=lambda bound: bound.value)


def _by_loss(estimate: Estimate, seconds: float) -> Bound:
    loss, sample = estimate.loss, estimate.sample
    if isinstance(loss, ZeroOne):
        return _bound(estimate, 1 - float(sample.weights.max()), "modal draw")
    if isinstance(loss, Binder | VI):
        return _by_parts(estimate, loss, seconds)
    if isinstance(loss, ID) and not sample.has_gaps and sample.n_items <= MAX_ITEMS:
        return _bound(estimate, _rows(sample, VI(), seconds, estimate.search.n_jobs) / 2, "half of VI")
    return _bound(estimate, 0.0, "none")


def _by_parts(estimate: Estimate, loss: Binder | VI, seconds: float) -> Bound:
    """The bounds of components, summed: n items of N have a share of n/N in VI and of (n/N)² in Binder's loss."""
    sample = estimate.sample
    component = component_labels(sample)
    sizes = np.bincount(component)
    if len(sizes) == 1 and sample.n_items > MAX_ENUMERATED:
        return _bound(estimate, *_of_one(sample, loss, estimate.labels, seconds, estimate.search.n_jobs))
    is_small = (sizes <= MAX_ENUMERATED)[component]
    if sample.has_gaps and not is_small.all():
        return _bound(estimate, 0.0, "none")
    value = 0.0
    methods: dict[str, bool] = {}  # in the order in which they were used
    if is_small.any():
        items = np.flatnonzero(is_small)
        part = sample if is_small.all() else restricted(sample, items)
        parts = solve_parts(part, loss, n_jobs=estimate.search.n_jobs)
        value = _share(loss, len(items), sample) * parts.least_loss if parts.all_solved else 0.0
        methods["components"] = True
    large = np.flatnonzero(sizes > MAX_ENUMERATED)
    weights = sizes[large].astype(np.float64) ** 2
    for c, weight in zip(large, weights, strict=True):
        items = np.flatnonzero(component == c)
        time = max(seconds * weight / weights.sum(), 1e-3)
        labels = canonical(estimate.labels[items])
        found, method = _of_one(restricted(sample, items), loss, labels, time, estimate.search.n_jobs)
        value += _share(loss, len(items), sample) * found
        methods[method] = True
    return _bound(estimate, value, ", ".join(methods) if value > 0 or not large.size else "none")


def _share(loss: Binder | VI, items: int, sample: PartitionSample) -> float:
    return float((items / sample.n_items) ** (2 if isinstance(loss, Binder) else 1))


def _of_one(
    sample: PartitionSample, loss: Binder | VI, labels: NDArray[np.int64], seconds: float, n_jobs: int
) -> tuple[float, str]:
    """A bound for the items of one component, and how it was found."""
    if sample.has_gaps:
        return 0.0, "none"
    if isinstance(loss, Binder):
        if sample.n_items > MAX_PAIRED:
            return 0.0, "none"
        return bound_binder(sample, loss, seconds, labels).value, "linear program"
    if sample.n_items > MAX_ITEMS:
        return 0.0, "none"
    return _rows(sample, loss, seconds, n_jobs), "rows"


def _rows(sample: PartitionSample, loss: VI, seconds: float, n_jobs: int) -> float:
    a, b = loss.a / loss.unit, loss.b / loss.unit
    return loss.unit * float(_core.row_bound(core_sample(sample), a, b, seconds, check_n_jobs(n_jobs))[0])


def _half_mean_distance(estimate: Estimate) -> Bound:
    """d(s, t) <= d(s, y) + d(t, y) for every y; averaged over independent draws s and t."""
    sample = estimate.sample
    if sample.n_unique > MAX_DRAWS or sample.has_gaps:
        return _bound(estimate, 0.0, "none")
    weights = sample.weights
    value = float(weights @ pairwise_distances(sample, estimate.loss) @ weights) / 2
    return _bound(estimate, value, "half the mean distance of two draws")


def _bound(estimate: Estimate, value: float, method: str) -> Bound:
    """The bound compared with the estimate's loss; losses are not negative, and a proven optimum has no gap."""
    reached = estimate.expected_loss
    value = float(min(max(value, 0.0), reached))
    gap = (reached - value) / reached if reached > 0 else 0.0
    proven = gap < 1e-7 and not (method == "none" and reached > 0)
    return Bound(value, 0.0 if proven else gap, method, proven)
