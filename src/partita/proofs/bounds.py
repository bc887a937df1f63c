"""Lower bounds on the expected loss of every partition."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from partita._support.shown import ShownAsText
from partita._support.tolerance import TIE
from partita._support.validate import check_positive
from partita.draws.sample import PartitionSample
from partita.estimation.convergence import entropies
from partita.estimation.result import Estimate
from partita.estimation.search_warnings import limit_warnings, search_warnings
from partita.losses.base import AdditiveLoss
from partita.losses.expected import expected_loss
from partita.losses.losses import ID, VI, OneMinusARI
from partita.partitions.labels import canonical
from partita.proofs.ari_bounds import adjusted_rand_bound
from partita.proofs.matched_draws import matched_distance
from partita.proofs.vi_bounds import MAX_ITEMS, ROWS_ALONE, bound_vi, row_bound
from partita.proofs.work import PROVEN, BoundProgress, Work, ignore
from partita.search.components import MAX_ENUMERATED, component_labels, solve_parts
from partita.search.constraints import resolve
from partita.search.deadline import Deadline
from partita.search.enumerate import FEW_LOSSES, are_few, best_of_all
from partita.search.exact import bound_binder, bound_limited_binder
from partita.search.multilevel import restricted
from partita.search.pair_graph import bound_of, tightened
from partita.search.settings import explicit_limit, into_at_most

if TYPE_CHECKING:
    from partita.estimation.pair_estimate import PairEstimate

#: The share of the time for matching draws, if the loss has another bound.
MATCHING_SHARE = 0.1
#: The share of the time for the bound over all partitions, if there is one under a limit on clusters, too.
UNLIMITED_SHARE = 0.25
#: With more items, Binder's linear program, which has one variable per pair, is not tried.
MAX_PAIRED = 20_000
#: The same under a limit on clusters, where components cannot be solved one by one.
MAX_PAIRED_WITH_LIMIT = 600
#: With more items, the matrices of the bound for one minus ARI take too long.
MAX_COUNTED = 2000

#: Slopes to try. The best bound is concave in the slope, so that a few show where it is largest.
SLOPES = (0.1, 0.3, 0.5, 0.7, 0.9)


@dataclass(frozen=True)
class Bound(ShownAsText):
    """A lower bound on the expected loss of every partition, or of every partition into a limited number of clusters.

    Attributes
    ----------
    value : float
        The bound.
    gap : float
        (expected loss of the estimate - value) / expected loss: none of these partitions improves on the estimate by a
        larger share.
    method : str
        How the bound was found; "none" if there is no bound better than zero.
    proven : bool
        Whether the estimate is proven to be optimal among these partitions.
    max_clusters : int or None
        The bound holds for partitions into at most so many clusters; None: for all partitions.
    """

    value: float
    gap: float
    method: str
    proven: bool
    max_clusters: int | None = None

    def in_words(self) -> str:
        """One sentence for a report."""
        nothing = f"No partition{into_at_most(self.max_clusters)}"
        if self.proven:
            return f"{nothing} has a smaller expected loss: the estimate is provably optimal."
        if self.method == "none":
            return "No lower bound is available for this loss and these draws."
        share = f"{self.gap:.2%}" if self.gap >= 0.0001 else f"{self.gap:.1e} of itself"
        return f"{nothing} has an expected loss that is smaller by more than {share}."

    def __str__(self) -> str:
        return self.in_words()


def with_proof(estimate: Estimate, bound: Bound | None) -> Estimate:
    """The estimate with the gap of a bound, and whether it is proven to be optimal.

    A proof removes warnings that the search may have missed the best partition. The warning that more clusters may
    lower the expected loss stays, unless the proof is for partitions into any number of clusters.

    >>> from partita.estimation.estimate import estimate
    >>> best = estimate([[0] * 7 + [1] * 6, [0] * 7 + [1] * 6, [0] * 6 + [1] * 7], "binder", rng=1)
    >>> best.proven, with_proof(best, best.bound()).proven
    (False, True)
    """
    if bound is None or (bound.method == "none" and not bound.proven):
        return estimate
    gap = bound.gap if estimate.gap is None else min(bound.gap, estimate.gap)
    if not bound.proven:
        return replace(estimate, gap=gap)
    answered = set(search_warnings(estimate))
    if bound.max_clusters is not None:
        answered -= set(limit_warnings(estimate))
    cautions = tuple(sentence for sentence in estimate.cautions if sentence not in answered)
    return replace(estimate, gap=gap, proven=True, cautions=cautions)


def lower_bound(estimate: Estimate, seconds: float = 10.0, progress: Any = None) -> Bound:
    """A lower bound on the least expected loss of any partition, and the gap to it.

    If the estimate was made under a limit on clusters, such as ``Search(max_clusters=5)``, the bound is over the
    partitions that obey it, where there is such a bound (Binder and VI) and it is larger than that over all partitions.
    The default limit of a search does not count.

    - Binder and VI: the sum of the bounds of the components (see `Estimate.components`); those of at most 12 items are
      solved exactly.
    - Binder: a linear program over pairs of items, with as many triangle inequalities as time allows.
    - VI: every item chooses its own best cluster, with multipliers that pull the choices together; then shares of
      the loss for the items are proven to be at most the cost of every cluster.
    - Binder and VI under a limit that was set: all items at once, because a limit may join components. For Binder, rows
      say how many pairs of any items are together at least; for VI, every cluster has a price.
    - ID: the bound for VI(a, b), which is below ID but for a constant, with the best weights.
    - 0-1: one minus the largest weight of a draw.
    - one minus ARI: pairs of items one by one, then linear programs, for intervals of the number of pairs together.
    - any metric, if larger: half the mean distance between draws that are matched to be far apart.

    Parameters
    ----------
    estimate : Estimate
        The estimate.
    seconds : float
        Time to spend; more gives a tighter bound for Binder, VI and one minus ARI. The work ends earlier if the
        estimate is provably optimal, or with Ctrl-C, which gives the bound so far.
    progress : bool or callable, optional
        True prints the gap after 1, 10 and 60 seconds and every further minute; a function is called at these times
        with the seconds so far and the `Bound`.

    Returns
    -------
    Bound

    Examples
    --------
    >>> from partita.estimation.estimate import estimate
    >>> best = estimate([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]], "binder", rng=1)
    >>> print(lower_bound(best))
    No partition has a smaller expected loss: the estimate is provably optimal.
    >>> from partita.search.settings import Search
    >>> few = estimate([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]], "binder", search=Search(max_clusters=1), rng=1)
    >>> print(lower_bound(few))
    No partition into at most 1 cluster has a smaller expected loss: the estimate is provably optimal.
    """
    check_positive(seconds, "seconds")
    limit, until = _limit(estimate), Deadline.after(seconds)
    if limit == 1:
        return _bound(estimate, estimate.expected_loss, "the only partition", limit)
    within = limit if estimate.loss.additive is not None and not estimate.sample.has_gaps else None
    told = BoundProgress(progress, lambda value: _bound(estimate, value, "so far", limit))
    found: list[Bound] = []
    try:
        if estimate.loss.is_metric and estimate.loss.needs_search:
            found.append(_by_matching(estimate, seconds))
            told.tell(found[-1].value)
        found.append(_by_loss(estimate, seconds if within is None else UNLIMITED_SHARE * seconds, told))
        if within is not None and not found[-1].proven and not until.is_past:
            found.append(_within_limit(estimate, within, told.best, until.left, told))
    except KeyboardInterrupt:
        found.append(_bound(estimate, told.best, "as far as the time allowed", limit))
    if estimate.proven and estimate.constraints is None:
        found.append(_bound(estimate, estimate.expected_loss, estimate.method, limit))
    return max([*found, _bound(estimate, 0.0, "none")], key=_strength)


def _strength(bound: Bound) -> tuple[bool, bool, float]:
    """A proof for all partitions says more than one under a limit on clusters."""
    return bound.proven, bound.proven and bound.max_clusters is None, bound.value


def _limit(estimate: Estimate) -> int | None:
    """The limit on clusters that was set, if the estimate obeys it."""
    limit = explicit_limit(estimate.sample, estimate.search)
    return None if limit is None or estimate.n_clusters > limit else limit


def _by_loss(estimate: Estimate, seconds: float, told: BoundProgress) -> Bound:
    loss, sample = estimate.loss, estimate.sample
    if not loss.needs_search:
        return _bound(estimate, 1 - float(sample.weights.max()), "modal draw")
    if loss.additive:
        return _by_parts(estimate, loss.additive, seconds, told)
    if isinstance(loss, ID) and not sample.has_gaps and sample.n_items <= MAX_ITEMS:
        return _bound(estimate, _by_lines(estimate, seconds, told), "rows of VI")
    if isinstance(loss, OneMinusARI) and not sample.has_gaps and sample.n_items <= MAX_COUNTED:
        value = adjusted_rand_bound(sample, estimate.partition, seconds, told.tell)
        return _bound(estimate, value, "intervals of pairs")
    return _bound(estimate, 0.0, "none")


def _within_limit(estimate: Estimate, limit: int, known: float, seconds: float, told: BoundProgress) -> Bound:
    """A bound under a limit. It may force components together, so that they are not solved one by one."""
    loss, sample, labels = estimate.loss, estimate.sample, estimate.partition
    work = Work(seconds, estimate.search.n_jobs, told.tell, estimate.expected_loss)
    value, method = 0.0, "none"
    if are_few(sample, limit, sample.n_items, FEW_LOSSES):
        found = best_of_all(sample, loss, replace(estimate.search, seconds=seconds))
        least = float(expected_loss(found.labels, sample, loss)) if found.proven else 0.0
        value, method = work.ended(least, found.interrupted), "enumeration"
    elif loss.pairwise and sample.n_items <= MAX_PAIRED_WITH_LIMIT:
        solved = bound_limited_binder(sample, loss.pairwise, seconds, labels, limit, told.tell)
        value, method = work.ended(solved.value, solved.interrupted), "linear program"
    elif isinstance(loss, VI) and sample.n_items <= MAX_ITEMS:
        value, method = bound_vi(sample, loss, labels, work, limit, known)
    return _bound(estimate, value, method, limit)


def _by_parts(estimate: Estimate, loss: AdditiveLoss, seconds: float, told: BoundProgress) -> Bound:
    """The bounds of components, summed: n items of N have a share of n/N in VI and of (n/N)² in Binder's loss."""
    sample, n_jobs = estimate.sample, estimate.search.n_jobs
    component = component_labels(sample)
    sizes = np.bincount(component)
    if len(sizes) == 1 and sample.n_items > MAX_ENUMERATED:
        work = Work(seconds, n_jobs, told.tell, estimate.expected_loss)
        return _bound(estimate, *_of_one(sample, loss, estimate.partition, work))
    is_small = (sizes <= MAX_ENUMERATED)[component]
    if sample.has_gaps and not is_small.all():
        return _bound(estimate, 0.0, "none")
    value = 0.0
    methods: dict[str, bool] = {}  # in the order in which they were used
    if is_small.any():
        items = np.flatnonzero(is_small)
        part = sample if is_small.all() else restricted(sample, items)
        parts = solve_parts(part, loss, n_jobs=n_jobs)
        value = (len(items) / sample.n_items) ** loss.exponent * parts.least_loss if parts.all_solved else 0.0
        methods["components"] = True
    large = np.flatnonzero(sizes > MAX_ENUMERATED)
    weights = sizes[large].astype(np.float64) ** 2
    for c, weight in zip(large, weights, strict=True):
        items = np.flatnonzero(component == c)
        share = (len(items) / sample.n_items) ** loss.exponent
        work = Work(max(seconds * weight / weights.sum(), 1e-3), n_jobs, told.part(value, share))
        found, method = _of_one(restricted(sample, items), loss, canonical(estimate.partition[items]), work)
        value += share * found
        methods[method] = True
    return _bound(estimate, value, ", ".join(methods) if value > 0 or not large.size else "none")


def _of_one(sample: PartitionSample, loss: AdditiveLoss, labels: NDArray[np.int64], work: Work) -> tuple[float, str]:
    """A bound for the items of one component, and how it was found."""
    if sample.has_gaps:
        return 0.0, "none"
    if loss.pairwise and sample.n_items <= MAX_PAIRED:
        solved = bound_binder(sample, loss.pairwise, work.seconds, labels, tell=work.tell)
        return work.ended(solved.value, solved.interrupted), "linear program"
    if isinstance(loss, VI) and sample.n_items <= MAX_ITEMS:
        return bound_vi(sample, loss, labels, work)
    return 0.0, "none"


def _by_lines(estimate: Estimate, seconds: float, told: BoundProgress) -> float:
    """The bound for ID by VI(a, b): rows alone show which weights are best, and these get most of the time."""
    sample, until = estimate.sample, Deadline.after(seconds)
    lines = [below_information_distance(sample, slope) for slope in SLOPES]
    quick = Work(seconds / (4 * len(lines)), estimate.search.n_jobs, ignore, max_passes=ROWS_ALONE)
    alone = []
    for below, constant in lines:
        alone.append(constant + row_bound(sample, below, quick))
        told.tell(alone[-1])
    below, constant = lines[int(np.argmax(alone))]
    work = Work(until.left, estimate.search.n_jobs, told.part(constant, 1.0), estimate.expected_loss - constant)
    found = constant + bound_vi(sample, below, estimate.partition, work)[0] if until.left > 0 else 0.0
    return max(*alone, found)


def _by_matching(estimate: Estimate, seconds: float) -> Bound:
    if estimate.sample.has_gaps:
        return _bound(estimate, 0.0, "none")
    has_other = estimate.loss.additive or isinstance(estimate.loss, ID)
    time = seconds * MATCHING_SHARE if has_other else seconds
    value = matched_distance(estimate.sample, estimate.loss, time, estimate.search.n_jobs)
    return _bound(estimate, value, "distances of matched draws")


def _bound(estimate: Estimate, value: float, method: str, max_clusters: int | None = None) -> Bound:
    """The bound compared with the estimate's loss; losses are not negative, and a proven optimum has no gap."""
    reached = estimate.expected_loss
    value = float(min(max(value, 0.0), reached))
    gap = (reached - value) / reached if reached > 0 else 0.0
    proven = gap < PROVEN and not (method == "none" and reached > 0)
    return Bound(value, 0.0 if proven else gap, method, proven, max_clusters)


def below_information_distance(sample: PartitionSample, slope: float) -> tuple[VI, float]:
    """VI(a, b) and a constant whose sum is nowhere above the expected ID.

    With H the entropy of the estimate, H_h that of a draw and J_h of the two together, ID = J_h - min(H, H_h). Its
    second part is concave in H, so for every slope 0 < b < 1 there is an intercept k with E min(H, H_h) <= k + b H, and

        E ID >= E J_h - b H - k = E VI(1 - b, b) + (1 - b) E H_h - k,

    because VI(a, b) = (a + b) J_h - b H - a H_h. The slope 1/2 says that ID is at least half of VI.

    >>> from partita.losses.expected import expected_loss
    >>> from partita.draws.sample import as_sample
    >>> sample = as_sample([[0, 0, 1, 1], [0, 0, 1, 2], [0, 0, 0, 1]])
    >>> vi, constant = below_information_distance(sample, 0.5)
    >>> bool(expected_loss([0, 0, 1, 1], sample, vi) + constant <= expected_loss([0, 0, 1, 1], sample, "id"))
    True
    """
    own = entropies(sample)
    order = np.argsort(own)
    own, weights = own[order], sample.weights[order]
    expected_min = np.cumsum(weights * own) + own * (1 - np.cumsum(weights))  # E min(H, H_h) at each draw's entropy
    intercept = (expected_min - slope * own).max()
    return VI(1 - slope, slope), float((1 - slope) * (weights @ own) - intercept)


def pair_bound(best: PairEstimate, seconds: float) -> Bound:
    """The bound of the components that were searched, tightened for Binder's loss as far as the time allows."""
    parts, pairs, loss = best._parts, best.similarity, best.loss
    if best.proven:
        return Bound(best.expected_loss, 0.0, "components", True)
    if parts is None:
        return Bound(0.0, 1.0, "none", False)
    if loss.pairwise:
        asked = best.constraints
        rules = None if asked is None else resolve(asked, pairs.names, pairs.n_items, "similarity")
        parts, value = tightened(parts, None, pairs, loss, rules, Deadline.after(seconds))
    else:
        value = bound_of(parts, pairs, loss)
    if value is None:
        return Bound(0.0, 1.0, "none", False)
    value = min(value, best.expected_loss)
    proven = bool(parts.proven.all()) and best.expected_loss - value <= TIE * (1 + abs(value))
    gap = (best.expected_loss - value) / abs(best.expected_loss) if best.expected_loss else 0.0
    return Bound(value, 0.0 if proven else gap, "components", proven)
