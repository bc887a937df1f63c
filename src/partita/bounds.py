"""Certificates: how far can an estimate be from the best?"""

from __future__ import annotations

from dataclasses import dataclass

from partita import _core
from partita._facts import ShownAsText
from partita._validate import check_n_jobs, check_positive
from partita.estimate import Estimate
from partita.losses import ID, VI, Binder, ZeroOne, core_sample, pairwise_distances
from partita.sample import PartitionSample
from partita.search.exact import bound_binder

#: Distinct draws above which the mean distance between them is not computed: it takes their square.
MOST_DRAWS = 4000
#: Items above which the rows of VI do not fit in memory: they take about 100 numbers a pair of items.
MOST_ITEMS = 1400


@dataclass(frozen=True)
class Bound(ShownAsText):
    """A lower bound on the expected loss of every partition.

    Attributes
    ----------
    value : float
    gap : float
        (expected loss of the estimate - value) / expected loss: no partition is better by a larger share.
    method : str
        How the bound was found; "none" where there is no better one than zero.
    proven : bool
        Whether the estimate is proven best.
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


def lower_bound(estimate: Estimate, seconds: float = 10.0) -> Bound:
    """A lower bound on the least expected loss of any partition, and the gap to it.

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
    if not sample.has_gaps:
        if isinstance(loss, Binder):
            solved = bound_binder(sample, loss, seconds, estimate.labels)
            return _bound(estimate, solved.value, "linear program")
        if isinstance(loss, VI | ID) and sample.n_items > MOST_ITEMS:
            return _bound(estimate, 0.0, "none")
        if isinstance(loss, VI):
            return _bound(estimate, _rows(sample, loss, seconds, estimate.search.n_jobs), "rows")
        if isinstance(loss, ID):
            return _bound(estimate, _rows(sample, VI(), seconds, estimate.search.n_jobs) / 2, "half of VI")
    return _bound(estimate, 0.0, "none")


def _rows(sample: PartitionSample, loss: VI, seconds: float, n_jobs: int) -> float:
    return float(_core.row_bound(core_sample(sample), loss.a, loss.b, seconds, check_n_jobs(n_jobs))[0])


def _half_mean_distance(estimate: Estimate) -> Bound:
    """d(s, t) <= d(s, y) + d(t, y) for every y; averaged over independent draws s and t."""
    sample = estimate.sample
    if sample.n_unique > MOST_DRAWS or sample.has_gaps:
        return _bound(estimate, 0.0, "none")
    weights = sample.weights
    value = float(weights @ pairwise_distances(sample, estimate.loss) @ weights) / 2
    return _bound(estimate, value, "half the mean distance of two draws")


def _bound(estimate: Estimate, value: float, method: str) -> Bound:
    """The bound beside the estimate's own loss; losses are not negative, and a proven best has no gap."""
    reached = estimate.expected_loss
    value = float(min(max(value, 0.0), reached))
    gap = (reached - value) / reached if reached > 0 else 0.0
    proven = gap < 1e-7 and not (method == "none" and reached > 0)
    return Bound(value, 0.0 if proven else gap, method, proven)
