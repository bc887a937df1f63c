"""Credible balls around an estimate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._support.arrays import Labels
from partita._support.optional import data_frame
from partita._support.shown import Shown, ShownAsFacts
from partita._support.tolerance import TIE
from partita._support.validate import check_level
from partita._support.warn import warn_user
from partita.draws.sample import PartitionSample, as_sample
from partita.estimation.convergence import sample_warnings, warn_mixing
from partita.estimation.result import Estimate
from partita.estimation.standard_errors import quantile_error
from partita.losses.base import Loss
from partita.losses.expected import partition_loss, unique_distances
from partita.losses.losses import as_loss
from partita.partitions.checks import canonical_placed, check_placed_of
from partita.partitions.labels import each_alone


@dataclass(frozen=True, eq=False, repr=False)
class CredibleBall(ShownAsFacts, Shown):
    """The draws nearest to an estimate: the result of `credible_ball`.

    Attributes
    ----------
    center : (n,) integer array
        The estimate.
    radius : float
        Distance of the farthest partition inside.
    level, mass : float
        The requested probability, and the probability that the ball holds.
    upper, lower, horizontal : list of (n,) integer arrays
        Partitions inside with the fewest clusters, with the most clusters, and with any number; in each
        case those farthest from the estimate, several if there are ties.
    loss : Loss
        The loss that was used.
    distances : (n_unique,) array
        Loss of the estimate against each distinct draw.
    sample : PartitionSample
        The draws.
    cautions : tuple of str
        Problems with the draws or with the estimate; they are the first of the `notes`.
    standard_error : float or None
        Monte Carlo standard error of the radius; None for weighted draws, for fewer than 100 draws without known
        chains, and at level 1.
    """

    center: Labels
    radius: float
    level: float
    mass: float
    upper: list[Labels]
    lower: list[Labels]
    horizontal: list[Labels]
    loss: Loss
    distances: NDArray[np.float64]
    sample: PartitionSample
    cautions: tuple[str, ...] = ()
    standard_error: float | None = None

    @property
    def inside(self) -> NDArray[np.bool_]:
        """For each distinct draw, whether it is in the ball."""
        return (self.distances <= self.radius) & (self.sample.weights > 0)

    @property
    def n_inside(self) -> int:
        """Number of distinct draws in the ball."""
        return int(self.inside.sum())

    def contains(self, partition: ArrayLike) -> bool:
        """Whether a given partition, drawn or not, lies in the ball."""
        names, placed = self.sample.names, self.center >= 0
        labels = check_placed_of(partition, names, placed.size, "partition", ~placed, "the estimate")
        return partition_loss(labels[placed], self.center[placed], self.loss) <= self.radius + TIE * self.loss.unit

    def summary(self) -> list[dict[str, Any]]:
        """One row for the estimate and one per bound: its name, clusters, distance and posterior weight."""
        rows = [("estimate", self.center)]
        for name in ("upper", "lower", "horizontal"):
            rows += [(name, partition) for partition in getattr(self, name)]
        return [{"partition": name, **self._facts_of(labels)} for name, labels in rows]

    def to_pandas(self, table: str = "bounds") -> Any:
        """The summary as a pandas table, or another table of the estimate and its ball."""
        if table != "bounds":
            return super().to_pandas(table)
        return data_frame(self.summary())

    def _facts_of(self, labels: Labels) -> dict[str, Any]:
        row = np.flatnonzero((self.sample.labels == labels).all(axis=1))
        return {
            "clusters": int(labels.max()) + 1,
            "distance": float(self.distances[row[0]]) if row.size else 0.0,
            "weight": float(self.sample.weights[row].sum()),
        }

    def _facts(self) -> Iterator[tuple[str, str]]:
        yield "level", f"{self.level:.0%}" if round(self.level, 2) == self.level else f"{self.level:g}"
        yield "loss", str(self.loss)
        yield "radius", f"{self.radius:.4f}" + ("" if self.standard_error is None else f" ± {self.standard_error:.2g}")
        yield "mass", f"{self.mass:.4f}"
        yield "partitions inside", f"{self.n_inside:,}"
        for name in ("upper", "lower", "horizontal"):
            clusters = sorted({int(partition.max()) + 1 for partition in getattr(self, name)})
            yield name, f"{', '.join(map(str, clusters))} clusters"


def credible_ball(
    estimate: Estimate | ArrayLike,
    draws: Any = None,
    *,
    loss: str | Loss | None = None,
    level: float = 0.95,
    n_jobs: int = -1,
) -> CredibleBall:
    """Smallest ball around an estimate that holds at least `level` of the draws.

    B = {x : L(x, y) <= ε*},  ε* = min {ε : Σ_t w_t 1{L(x_t, y) <= ε} >= level}

    Draws of equal weight are counted, weights of other draws are summed; both are compared with level - 1e-9,
    and distances that differ by less than 1e-9 are ties. Takes O(draws × items) time.

    Parameters
    ----------
    estimate : Estimate or (n,) array_like
        The centre y. A Series with row names is matched by name with draws that have names.
    draws : anything that `as_sample` takes
        Required for plain labels; an Estimate has its own draws.
    loss : str or Loss, optional
        The distance; by default the estimate's own loss, or VI for plain labels. A loss that is not a metric
        gives a warning.
    level : float in (0, 1]
        Posterior probability that the ball holds.
    n_jobs : int
        Threads; -1 uses all cores.

    Returns
    -------
    CredibleBall

    Examples
    --------
    >>> draws = [[0, 0, 1, 1]] * 6 + [[0, 0, 0, 0]] * 2 + [[0, 1, 2, 3]] + [[0, 1, 0, 1]]
    >>> ball = credible_ball([0, 0, 1, 1], draws, level=0.9)
    >>> ball.radius, ball.mass, [p.tolist() for p in ball.upper]
    (1.0, 0.9, [[0, 0, 0, 0]])

    References
    ----------
    Wade & Ghahramani (2018), Section 5.
    """
    center, sample, kind = subject(estimate, draws, loss)
    if isinstance(estimate, Estimate) and sample is estimate.sample and kind == estimate.loss:
        distance = estimate.distances
    else:
        distance = unique_distances(each_alone(center), sample, kind, n_jobs)
    ball = ball_from(center, sample, kind, level, distance)
    if isinstance(estimate, Estimate) and sample is estimate.sample:  # its draws were checked when it was computed
        return replace(ball, cautions=estimate.cautions)
    on_draws = sample_warnings(sample, distance, n_jobs)
    warn_mixing(on_draws)
    return replace(ball, cautions=on_draws)


def ball_from(
    center: Labels, sample: PartitionSample, kind: Loss, level: float, distance: NDArray[np.float64]
) -> CredibleBall:
    """The ball, given the distance of each distinct draw from its centre."""
    wanted = check_level(level)
    if not kind.is_metric:
        warn_user(
            f"{kind} is not a metric: distances are the loss of the estimate if the draw is the truth. The level "
            "holds, but partitions inside may be far from each other, and balls around them may look different.",
        )
    share = _shares(sample)
    tie = TIE * kind.unit
    radius = _radius(distance, share, wanted, tie)
    error = quantile_error(sample, distance, wanted)
    inside = (distance <= radius) & (sample.weights > 0)
    mass = min(1.0, float(share[inside].sum() / share.sum()))
    upper, lower, horizontal = _bounds(sample, distance, inside, tie)
    bounds = (upper, lower, horizontal)
    return CredibleBall(center, radius, wanted, mass, *bounds, kind, distance, sample, standard_error=error)


def ball_radius(sample: PartitionSample, distance: NDArray[np.float64], level: float, loss: Loss) -> float:
    """The radius of the ball alone, given the distance of each distinct draw from its centre."""
    return _radius(distance, _shares(sample), level, TIE * loss.unit)


def subject(
    estimate: Estimate | ArrayLike, draws: Any, loss: str | Loss | None = None
) -> tuple[Labels, PartitionSample, Loss]:
    """The labels, the sample and the loss that an uncertainty function works on; -1 is an item in no cluster."""
    if isinstance(estimate, Estimate):
        sample = as_sample(estimate.sample if draws is None else draws)
        kind = as_loss(estimate.loss if loss is None else loss)
    else:
        if draws is None:
            raise TypeError("draws= is required when the first argument is a label vector")
        sample, kind = as_sample(draws), as_loss("vi" if loss is None else loss)
    may_lack = estimate.labels < 0 if isinstance(estimate, Estimate) else sample.may_lack
    return check_placed_of(estimate, sample.names, sample.n_items, "estimate", may_lack), sample, kind


def _shares(sample: PartitionSample) -> NDArray[Any]:
    """Weight of each distinct draw; its number of repeats if all draws have equal weight."""
    return sample.weights if sample.is_weighted else np.bincount(sample.index, minlength=sample.n_unique)


def _radius(distance: NDArray[np.float64], share: NDArray[Any], level: float, tie: float) -> float:
    order = np.argsort(distance)  # the order of equal distances does not matter
    held = np.cumsum(share[order])
    reached = int(np.argmax(held >= held[-1] * (level - TIE)))
    return float(distance[distance <= distance[order[reached]] + tie].max())


def _bounds(
    sample: PartitionSample, distance: NDArray[np.float64], inside: NDArray[np.bool_], tie: float
) -> tuple[list[Labels], list[Labels], list[Labels]]:
    clusters = sample.n_clusters
    fewest = inside & (clusters == clusters[inside].min())
    most = inside & (clusters == clusters[inside].max())

    def farthest(candidates: NDArray[np.bool_]) -> list[Labels]:
        tied = candidates & (distance >= distance[candidates].max() - tie)
        return [row.astype(np.int64) for row in sample.labels[tied]]

    return farthest(fewest), farthest(most), farthest(inside)


def placed_only(
    estimate: Estimate, ball: CredibleBall | None = None, first: int = 0
) -> tuple[Estimate, CredibleBall | None, NDArray[np.int64] | None]:
    """The estimate and the ball of the items that are in a cluster, and these items; None for them if all are.

    Items without names keep their numbers, counted from `first`, as names.
    """
    if estimate.labels.min() >= 0:
        return estimate, ball, None
    items = np.flatnonzero(estimate.labels >= 0)
    part = replace(estimate, labels=estimate.labels[items], sample=_columns(estimate.sample, items, first))
    if ball is None:
        return part, None, items
    bounds: dict[str, Any] = {
        name: [row[items] for row in getattr(ball, name)] for name in ("upper", "lower", "horizontal")
    }
    return part, replace(ball, center=ball.center[items], sample=part.sample, **bounds), items


def _columns(sample: PartitionSample, items: NDArray[np.int64], first: int) -> PartitionSample:
    """The same draws of some of the items: of the others, each is noise, or no draw of positive weight labels it."""
    labels = np.ascontiguousarray(sample.labels[:, items])
    names = tuple(str(i + first) if sample.names is None else sample.names[i] for i in items.tolist())
    if sample.noise is not None:  # an item that is noise may be with others in some draws
        rows = [canonical_placed(row.astype(np.int64)) for row in labels]
        return replace(sample, labels=np.array(rows, labels.dtype), names=names, noise=sample.noise[items])
    if labels.min() >= 0:
        labels = labels.view(labels.dtype.str.replace("i", "u"))
    return replace(sample, labels=labels, names=names)
