"""Whether the summary of the draws so far has stabilised: one check of a `Monitor`, and the rule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.arrays import Floats, Labels
from partita._support.tolerance import TIE
from partita._support.validate import as_float
from partita.draws.sample import PartitionSample, chain_places
from partita.estimation.convergence import chain_summaries, draw_summaries, not_mixed, quantities, too_few
from partita.estimation.estimate import estimate
from partita.estimation.result import Estimate
from partita.estimation.standard_errors import quantile_error, standard_error
from partita.losses.base import Loss
from partita.losses.expected import loss_where_placed, partition_loss, unique_distances
from partita.partitions.labels import each_alone
from partita.search.settings import Search, cluster_limit
from partita.uncertainty.ball import ball_radius
from partita.uncertainty.batches import part_of

#: This many checks in a row must be passed: two partitions that are nearly tied can agree once by chance.
CONFIRMATIONS = 2
#: Standard errors in the limit on how much better another partition may be.
ERRORS = 2
#: Differences of losses are rounded to this many digits: those that are equal must have equal ranks.
DIGITS = 10


def check_share(value: Any, name: str) -> float:
    """A share of a loss: at least 0 and below 1."""
    share = as_float(value, name)
    if not 0 <= share < 1:
        raise ValueError(f"{name} must be at least 0 and below 1, but it is {share:g}")
    return share


@dataclass(frozen=True)
class StabilityRule:
    """When a summary counts as stable: the largest regret and standard errors, as shares of the expected loss and
    radius.
    """

    tolerance: float = 0.01
    precision: float = 0.1


@dataclass(frozen=True, eq=False, repr=False)
class Check:
    """What a `Monitor` found in the draws so far.

    Attributes
    ----------
    n_draws : int
        Number of draws, of all chains together.
    labels : (n,) integer array
        The estimate from these draws.
    expected_loss, expected_loss_error : float
        Its expected loss, with its Monte Carlo standard error.
    radius, radius_error : float
        The radius of its credible ball, with its standard error.
    distance : float
        Mean loss between the estimate and those of halves and quarters of the chains.
    regret : float
        How much lower the expected loss of one of those may be under the posterior: two standard errors above the mean.
    problems : tuple of str
        What is not stable yet; empty if the check is passed.
    passed : int
        Number of checks in a row, this one included, that were passed, with the same partition unless there is a
        tolerance.
    """

    n_draws: int
    labels: Labels
    expected_loss: float
    expected_loss_error: float
    radius: float
    radius_error: float
    distance: float
    regret: float
    problems: tuple[str, ...] = ()
    passed: int = 0

    @property
    def settled(self) -> bool:
        """Whether enough checks in a row were passed."""
        return self.passed >= CONFIRMATIONS

    @property
    def n_clusters(self) -> int:
        """Number of clusters of the estimate."""
        return int(self.labels.max()) + 1

    def facts(self) -> dict[str, Any]:
        """Numbers for a table or for JSON."""
        names = ("n_draws", "n_clusters", "expected_loss", "expected_loss_error", "radius", "radius_error")
        return {name: getattr(self, name) for name in (*names, "distance", "regret", "settled")}

    def in_words(self) -> str:
        """One sentence."""
        summary = (
            f"{self.n_draws:,} draws: {self.n_clusters} clusters, expected loss"
            f" {_with_error(self.expected_loss, self.expected_loss_error)}, radius"
            f" {_with_error(self.radius, self.radius_error)}"
        )
        passed = f"passed {self.passed} of {CONFIRMATIONS} checks in a row"
        verdict = self.problems[0] if self.problems else "stabilised" if self.settled else passed
        return f"{summary}; {verdict}"

    def __repr__(self) -> str:
        return f"Check({self.in_words()})"


def _with_error(value: float, error: float) -> str:
    return f"{value:.4g}" + ("" if np.isnan(error) else f" ± {error:.2g}")


def check_draws(
    sample: PartitionSample,
    loss: Loss,
    level: float,
    rule: StabilityRule,
    search: Search,
    rng: np.random.Generator,
    before: Check | None,
    log_density: Floats | None = None,
    *,
    mixing: bool = True,
) -> Check:
    """The estimate of the draws, compared with those of parts of them, and what is not stable.

    `log_density`, (chains, draws), is known of the models of partita. Draws that are independent need no `mixing`.
    """
    start = None if before is None else before.labels
    best = _estimate(sample, loss, search, rng, start)
    losses = unique_distances(best.partition, sample, loss, search.n_jobs)
    radius = ball_radius(sample, losses, level, loss)
    distance, regret = _compare_parts(sample, loss, search, rng, best, losses)
    error = standard_error(sample, losses)
    found = Check(
        n_draws=sample.n_draws,
        labels=best.labels,
        expected_loss=best.expected_loss,
        expected_loss_error=np.nan if error is None else error,
        radius=radius,
        radius_error=np.nan if (spread := quantile_error(sample, losses, level)) is None else spread,
        distance=distance,
        regret=regret,
    )
    unmixed = tuple(_mixing(sample, losses, log_density, search.n_jobs)) if mixing else ()
    problems = (*unmixed, *_problems(found, rule, loss))
    return _with_verdict(found, problems, rule, loss, before)


def _with_verdict(
    found: Check, problems: tuple[str, ...], rule: StabilityRule, loss: Loss, before: Check | None
) -> Check:
    """The check with its problems; if there are none, it counts with those before it."""
    earlier = 0 if before is None else before.passed
    if (
        before is not None
        and rule.tolerance == 0
        and partition_loss(each_alone(before.labels), each_alone(found.labels), loss) > TIE * loss.unit
    ):
        earlier = 0
    return replace(found, problems=problems, passed=0 if problems else earlier + 1)


def _estimate(
    sample: PartitionSample, loss: Loss, search: Search, rng: np.random.Generator, start: Labels | None
) -> Estimate:
    if start is not None:  # draws of a part may have fewer clusters
        whole = np.maximum(start, 0) if sample.noise is None else each_alone(start)
        start = None if whole.max() >= cluster_limit(sample, search) else whole
    best = estimate(sample, loss, search=search, rng=rng, check_draws=False, start=start)
    if best.interrupted:
        raise KeyboardInterrupt
    return best


def _compare_parts(
    sample: PartitionSample, loss: Loss, search: Search, rng: np.random.Generator, best: Estimate, losses: Floats
) -> tuple[float, float]:
    """The mean distance to the estimates of halves and quarters, and how much better one of them may be.

    With y the estimate and z that of a part, the mean of L(x_t, y) - L(x_t, z) over all draws is at most 0, since y
    minimises the mean. Under the posterior z may still be the better one: by as much as that mean plus two of its
    standard errors. The regret is the largest of these limits, or 0 if all are negative.
    """
    distances, regret = [], 0.0
    for part in _parts(sample):
        labels = _estimate(part_of(sample, part), loss, search, rng, best.labels).verdicts
        distances.append(loss_where_placed(best.verdicts, labels, loss))
        if distances[-1] > TIE * loss.unit:
            others = unique_distances(each_alone(labels), sample, loss, search.n_jobs)
            gain = np.round((losses - others) / loss.unit, DIGITS)
            gain *= loss.unit
            error = standard_error(sample, gain)
            regret = max(regret, float(gain @ sample.weights) + ERRORS * (np.inf if error is None else error))
    return float(np.mean(distances)), regret


def _parts(sample: PartitionSample) -> Iterator[NDArray[np.int64]]:
    """The draws of each half and each quarter of the chains."""
    for count in (2, 4):
        pieces = [np.array_split(own, count) for own in chain_places(sample)]
        for part in range(count):
            yield np.concatenate([piece[part] for piece in pieces])


def _mixing(sample: PartitionSample, distance: Floats, log_density: Floats | None, n_jobs: int) -> Iterator[str]:
    """What a `MixingWarning` about these draws would name: R-hat and effective sample size, by the same limits."""
    summaries = draw_summaries(sample, distance, n_jobs)
    shape = summaries["entropy"].shape
    if log_density is not None:
        labels = sample.labels[sample.index].reshape(*shape, -1)
        summaries |= chain_summaries(labels, summaries["clusters"], log_density)
    checked = quantities(summaries)
    if unmixed := not_mixed(checked, *shape):
        who = "chains" if sample.n_chains > 1 else "halves of the chain"
        names = ", ".join(f"{each.name} (R-hat {each.r_hat:.2f})" for each in unmixed)
        yield f"the {who} differ in {names}"
    if few := too_few(checked, *shape):
        yield "few effective draws: " + ", ".join(f"{each.name} ({each.ess:.0f})" for each in few)


def _problems(found: Check, rule: StabilityRule, loss: Loss) -> Iterator[str]:
    """What else is not stable, the most important first."""
    rounding = TIE * loss.unit
    share = found.regret / found.expected_loss if found.expected_loss > 0 else 0.0
    if share > rule.tolerance:
        yield (
            f"parts of the draws give other partitions ({found.distance:.3g} away on average), and one of them may be"
            f" better by {share:.1%} of the expected loss"
        )
    for name, value, error in (
        ("expected loss", found.expected_loss, found.expected_loss_error),
        ("radius", found.radius, found.radius_error),
    ):
        if error > rule.precision * value + rounding:
            yield f"the standard error of the {name}, {error:.2g}, is above {rule.precision:.1%} of it"
