"""Several partitions that represent a posterior with more than one mode."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.arrays import Floats
from partita._support.optional import data_frame
from partita._support.shown import ShownAsFacts
from partita._support.tolerance import ROUNDING
from partita._support.validate import check_choice, check_count, check_rng
from partita.draws.sample import PartitionSample, as_sample, check_complete, some_rows
from partita.estimation.estimate import estimate_step
from partita.estimation.held_out import some_draws
from partita.losses.base import Loss
from partita.losses.expected import unique_distances
from partita.losses.losses import as_loss
from partita.partitions.refinement import refined
from partita.search.deadline import Deadline
from partita.search.settings import Search
from partita.uncertainty.ball import CredibleBall, ball_from
from partita.uncertainty.certainty import item_certainty
from partita.uncertainty.density_peaks import density_peaks

#: One more mode must lower the distance to the posterior by this share to be favoured.
ELBOW = 0.25
MAX_ROUNDS = 50
#: At most this many representatives, if their number is chosen.
MOST = 10


@dataclass(frozen=True, eq=False, repr=False)
class Modes(ShownAsFacts):
    """Representative partitions of a posterior: the result of `modes`.

    Attributes
    ----------
    labels : (k, n) integer array
        The representatives, by decreasing weight.
    weights : (k,) array
        Posterior weight of the draws nearest to each representative.
    assignment : (n_unique,) integer array
        The representative nearest to each distinct draw.
    distance : float
        Wasserstein distance to the posterior: the mean loss between a draw and its representative.
    elbow : (k,) array
        The distance with 1, 2, ..., k representatives.
    timed_out : bool
        Whether the time limit ended the search: the representatives are the best so far.
    """

    labels: NDArray[np.int64]
    weights: Floats
    assignment: NDArray[np.int64]
    distance: float
    elbow: Floats
    loss: Loss
    sample: PartitionSample
    timed_out: bool = False

    @property
    def favored(self) -> int:
        """The number of representatives beyond which one more lowers the distance by less than a quarter."""
        for k, (now, then) in enumerate(zip(self.elbow[:-1], self.elbow[1:], strict=True), start=1):
            if not _is_worth_it(now, then):
                return k
        return len(self.elbow)

    @property
    def notes(self) -> tuple[str, ...]:
        """Whether the time limit ended the search."""
        return ("The time limit ended the search: the representatives are the best so far.",) if self.timed_out else ()

    def to_pandas(self) -> Any:
        """One row per item, by its name; one column per representative, with the item's cluster in it."""
        columns = [f"mode {k}" for k in range(len(self.labels))]
        return data_frame(self.labels.T, self.sample.names or range(self.labels.shape[1]), columns=columns)

    def contributions(self, first: int = 0, second: int = 1) -> Floats:
        """What each item contributes to the distance between two representatives; the contributions sum to it.

        With C the item's cluster in one and T in the other, VI: [b log|C| + a log|T| - (a + b) log|C ∩ T|] / n;
        Binder: [b |C| + a |T| - (a + b) |C ∩ T|] / n².

        Parameters
        ----------
        first, second : int
            The representatives, by decreasing weight.

        Examples
        --------
        >>> found = modes([[0, 0, 1, 1]] * 7 + [[0, 0, 1, 2]] * 3, k=2, rng=1)
        >>> found.contributions().tolist()
        [0.0, 0.0, 0.25, 0.25]
        """
        if self.loss.additive is None:
            raise ValueError(f"contributions of items are for VI and Binder's loss, not for {self.loss}")
        rows = [self._checked(first, "first"), self._checked(second, "second")]
        share = item_certainty(self.labels[rows[1]], [self.labels[rows[0]].tolist()], loss=self.loss).loss_share
        assert share is not None  # the loss is one of the two
        return share

    def ball(self, mode: int, *, level: float = 0.95) -> CredibleBall:
        """The credible ball around one representative, of the draws that are nearest to it.

        Parameters
        ----------
        mode : int
            The representative, by decreasing weight.
        level : float in (0, 1]
            Share of those draws that the ball holds.

        Examples
        --------
        >>> found = modes([[0, 0, 1, 1]] * 7 + [[0, 1, 0, 1]] * 3, k=2, rng=1)
        >>> found.ball(1).radius
        0.0
        """
        chosen = self._checked(mode, "mode")
        mine = self.assignment == chosen
        part = replace(some_rows(self.sample, mine), names=self.sample.names)
        distance = unique_distances(self.labels[chosen], part, self.loss)
        return ball_from(self.labels[chosen], part, self.loss, level, distance)

    def _checked(self, mode: Any, name: str) -> int:
        wanted = check_count(mode, name)
        if wanted >= len(self.labels):
            raise ValueError(f"{name} is {wanted}, but there are {len(self.labels)} representatives, from 0 on")
        if not self.weights[wanted] > 0:
            raise ValueError(f"{name} is {wanted}, a representative without draws")
        return wanted

    def table(self) -> list[dict[str, Any]]:
        """The elbow table: number of representatives, distance, and the share by which the last one lowered it."""
        drops = [
            0.0,
            *(1 - then / now if now > 0 else 0.0 for now, then in zip(self.elbow[:-1], self.elbow[1:], strict=True)),
        ]
        return [
            {"k": k, "distance": float(value), "drop": float(drop)}
            for k, (value, drop) in enumerate(zip(self.elbow, drops, strict=True), start=1)
        ]

    def _facts(self) -> Iterator[tuple[str, str]]:
        yield "weights", ", ".join(f"{w:.3f}" for w in self.weights)
        yield "clusters", ", ".join(str(int(row.max()) + 1) for row in self.labels)
        yield "distance", f"{self.distance:.4f} {self.loss}"
        yield "favoured", f"{self.favored}"
        if self.timed_out:
            yield "time limit", "the best so far"


@dataclass(frozen=True)
class _Fit:
    labels: NDArray[np.int64]
    nearest: NDArray[np.int64]
    distance: float


def modes(
    draws: Any,
    k: int | None = None,
    loss: str | Loss = "vi",
    method: str = "wasserstein",
    *,
    starts: int = 4,
    batch: int | None = None,
    search: Search | None = None,
    rng: Any = None,
) -> Modes:
    """Several weighted partitions that represent the posterior: nearest to it, or its peaks.

    The k partitions that are nearest to the posterior in Wasserstein distance under the loss reach

    min over y_1, ..., y_k of Σ_t w_t min_m L(x_t, y_m)

    Draws are assigned to the nearest representative and each representative is estimated again from its draws, in
    turn, until nothing changes; the best of several starts is kept. Fits for 1, ..., k - 1 are computed on the way.
    With ``method="peaks"`` the representatives are draws: those with the highest product of posterior density and
    distance to a denser draw, by the distances of all distinct draws.

    Parameters
    ----------
    draws : anything that `as_sample` takes
        Posterior draws: labels in any form, one row per draw.
    k : int, optional
        Number of representatives, at most the number of distinct draws. By default it grows while one more lowers the
        distance to the posterior by at least a quarter, up to 10.
    loss : str or Loss
        The loss, by name or as an object such as ``VI(a=0.5, b=1)``.
    method : "wasserstein" or "peaks"
        What the representatives are. Peaks need a matrix of the distances between all distinct draws, or of `batch`.
    starts : int
        Starts for each number of representatives.
    batch : int, optional
        Number of draws, chosen at random, on which the representatives are searched; all draws are assigned to them in
        the end, and give weights and distances. By default all are searched.
    search : Search, optional
        Settings of the search for each representative; by default two runs. Its time limit applies to the whole call:
        when it is reached, draws replace the missing representatives, and ``timed_out`` is set.
    rng : None, int or numpy Generator
        Seed or source of random numbers; the same seed gives the same result.

    Returns
    -------
    Modes

    Examples
    --------
    >>> found = modes([[0, 0, 1, 1]] * 7 + [[0, 1, 0, 1]] * 3, k=2, rng=1)
    >>> found.labels.tolist(), found.weights.round(3).tolist(), found.favored
    ([[0, 0, 1, 1], [0, 1, 0, 1]], [0.7, 0.3], 2)

    References
    ----------
    Balocchi & Wade (2025), Understanding uncertainty in Bayesian cluster analysis, arXiv:2506.16295, for the
    Wasserstein criterion. Rodriguez & Laio (2014), Clustering by fast search and find of density peaks, Science 344.
    """
    check_choice(method, "method", ("wasserstein", "peaks"))
    sample, kind, generator = as_sample(draws), as_loss(loss), check_rng(rng)
    check_complete(sample, "modes")
    how = search or Search(runs=2)
    until, more_starts = Deadline.after(how.seconds), check_count(starts, "starts", minimum=1) - 1
    some = sample.n_draws if batch is None else check_count(batch, "batch", minimum=1)
    part = sample if some >= sample.n_draws else some_draws(sample, some, generator)[0]
    searched = _in_own_order(part)
    most = min(MOST, searched.n_unique) if k is None else check_count(k, "k", minimum=1)
    if most > searched.n_unique:
        raise ValueError(f"k is {most}, but there are only {searched.n_unique} distinct draws")
    everything = _Lloyd(sample, kind, how, generator, until)
    lloyd = replace(everything, sample=searched)
    peaks = None
    if method == "peaks":
        peaks = searched.labels[density_peaks(searched, kind, how.n_jobs)[:most]].astype(np.int64)
    fits: list[_Fit] = []
    while len(fits) < most:
        better = lloyd.one_more(fits, more_starts) if peaks is None else lloyd.assigned(peaks[: len(fits) + 1])
        if fits and k is None and not _is_worth_it(fits[-1].distance, better.distance):
            break
        fits.append(better)
    fits = [everything.assigned(fit.labels) for fit in fits]
    return _summary(fits, kind, sample, until.is_past)


def _is_worth_it(now: float, then: float) -> bool:
    """Whether one more representative lowers the distance by enough."""
    return now > 0 and now - then >= ELBOW * now


def _in_own_order(sample: PartitionSample) -> PartitionSample:
    """The distinct draws in an order that follows from them alone, so that the starts do."""
    rows = np.argsort(refined(sample.labels, sample.weights).partitions, kind="stable")
    return replace(some_rows(sample, rows, sample.weights[rows]), names=sample.names, noise=sample.noise)


def _summary(fits: list[_Fit], loss: Loss, sample: PartitionSample, timed_out: bool) -> Modes:
    last = fits[-1]
    weights: Floats = np.bincount(last.nearest, sample.weights, len(last.labels)).astype(np.float64)
    order = np.argsort(-weights, kind="stable")
    place = np.argsort(order)
    elbow = np.array([fit.distance for fit in fits])
    ordered, nearest = last.labels[order], place[last.nearest]
    return Modes(ordered, weights[order], nearest, last.distance, elbow, loss, sample, timed_out)


@dataclass(frozen=True)
class _Lloyd:
    sample: PartitionSample
    loss: Loss
    search: Search
    rng: np.random.Generator
    until: Deadline

    def fit(self, labels: NDArray[np.int64]) -> _Fit:
        """Rounds of assignment and estimates, as long as the distance falls and there is time."""
        distances = self._distances(labels)
        value = np.inf
        for _ in range(MAX_ROUNDS):
            nearest = distances.argmin(axis=0)
            now = float(distances.min(axis=0) @ self.sample.weights)
            if not now < value - ROUNDING * self.loss.unit or self.until.is_past:
                break
            value = now
            labels = np.array([self._estimate(labels[m], nearest == m, distances[m]) for m in range(len(labels))])
            distances = self._distances(labels)
        return self._nearest(labels, distances)

    def one_more(self, known: list[_Fit], more_starts: int) -> _Fit:
        """The best fit with one representative more than the last of those that are known."""
        if not known:
            return self.fit(self.sample.labels[:1].astype(np.int64))
        tries = [self.fit(self.with_farthest(known[-1].labels))]
        for _ in range(more_starts):
            if not self.until.is_past:
                tries.append(self.fit(self.spread_out(len(known) + 1)))
        return min(tries, key=lambda fit: fit.distance)

    def assigned(self, labels: NDArray[np.int64]) -> _Fit:
        """The draws assigned to representatives that stay as they are."""
        return self._nearest(labels, self._distances(labels))

    def _nearest(self, labels: NDArray[np.int64], distances: Floats) -> _Fit:
        return _Fit(labels, distances.argmin(axis=0), float(distances.min(axis=0) @ self.sample.weights))

    def with_farthest(self, labels: NDArray[np.int64]) -> NDArray[np.int64]:
        """One more representative: the draw that adds most to the distance."""
        worst = int(np.argmax(self._distances(labels).min(axis=0) * self.sample.weights))
        return np.concatenate([labels, self.sample.labels[worst : worst + 1].astype(np.int64)])

    def spread_out(self, count: int) -> NDArray[np.int64]:
        """Draws chosen one after the other, with probability proportional to weight times distance to those chosen."""
        first = int(self.rng.choice(self.sample.n_unique, p=self.sample.weights))
        labels = self.sample.labels[first : first + 1].astype(np.int64)
        while len(labels) < count:
            mass = self._distances(labels).min(axis=0) * self.sample.weights
            chosen = int(self.rng.choice(mass.size, p=mass / mass.sum()) if mass.sum() > 0 else len(labels))
            labels = np.concatenate([labels, self.sample.labels[chosen : chosen + 1].astype(np.int64)])
        return labels

    def _estimate(self, labels: NDArray[np.int64], mine: NDArray[np.bool_], distance: Floats) -> NDArray[np.int64]:
        """The best partition for some of the draws; the current one if the search finds none better."""
        if not self.sample.weights[mine].sum() > 0 or self.until.is_past:
            return labels
        part = some_rows(self.sample, mine)
        found = estimate_step(part, self.loss, self.until.limit(self.search), self.rng)
        is_better = found.expected_loss < distance[mine] @ part.weights - ROUNDING * self.loss.unit
        return found.partition if is_better else labels

    def _distances(self, labels: NDArray[np.int64]) -> Floats:
        return np.array([unique_distances(row, self.sample, self.loss, self.search.n_jobs) for row in labels])
