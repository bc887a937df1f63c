"""The search on pair probabilities: components in the core, what is left unproven by linear programs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from partita import _core
from partita._support.arrays import Floats, Labels
from partita._support.tolerance import ROUNDING
from partita._support.validate import check_n_jobs
from partita.losses.base import AdditiveLoss
from partita.pairs.losses import PairLoss, VILowerBound, approximate_ari, joined_pairs
from partita.pairs.probabilities import Similarity
from partita.search.components import Components
from partita.search.constraints import NOTHING, Resolved
from partita.search.deadline import Deadline
from partita.search.pair_proofs import prove_parts

if TYPE_CHECKING:
    from partita.search.settings import Search


#: Σ items³ over the components that linear programs look at after every search; about a second for each million.
CUBES = 1e6


@dataclass(frozen=True, eq=False)
class Parts:
    """A partition found component by component: for each its value, a bound below it, and whether it is proven."""

    BY_COMPONENT: ClassVar = ("values", "bounds", "proven")

    labels: Labels
    component: Labels
    values: Floats
    bounds: Floats
    proven: NDArray[np.bool_]
    interrupted: bool

    def summary(self) -> Components:
        """What users see of the components."""
        return Components(self.component, np.bincount(self.component), self.proven)


@dataclass(frozen=True, eq=False)
class Threshold:
    """The objective Σ over joined pairs of (threshold - π_ij); `unlisted` is the probability of other pairs."""

    threshold: float
    unlisted: float

    def native(self) -> _core.ThresholdObjective:
        return _core.ThresholdObjective(self.threshold, self.unlisted)


@dataclass(frozen=True, eq=False)
class PairSearch:
    """A search of pair probabilities under constraints, from some starts."""

    pairs: Similarity
    search: Search
    constraints: Resolved | None = None
    starts: tuple[Labels, ...] = ()

    def find(self, loss: PairLoss, rng: np.random.Generator) -> tuple[Parts, float | None]:
        """The partition of least loss, and a lower bound on the loss of every partition, if one is known."""
        if isinstance(loss, VILowerBound):
            return self._log_mass(loss, rng)
        if loss.pairwise:
            return self._binder(loss.pairwise, rng)
        return self._ratio(rng)

    def _log_mass(self, loss: VILowerBound, rng: np.random.Generator) -> tuple[Parts, float | None]:
        if self.pairs.default:
            raise ValueError(f"default must be 0 for {loss}, but it is {self.pairs.default:g}")
        objective = _core.LogMassObjective(loss.a / loss.unit, loss.b / loss.unit)
        parts = self._run(objective, rng, Deadline.after(self.search.seconds))
        return parts, bound_of(parts, self.pairs, loss)

    def _binder(self, loss: AdditiveLoss, rng: np.random.Generator) -> tuple[Parts, float | None]:
        objective = self._threshold(loss.b / (loss.a + loss.b), f"b / (a + b) of {loss}")
        until = Deadline.after(self.search.seconds)
        parts = self._proven(self._run(objective.native(), rng, until), objective, until)
        return parts, bound_of(parts, self.pairs, loss)

    def prove(self, loss: PairLoss, rng: np.random.Generator) -> tuple[Parts, float | None]:
        """The same, with linear programs for whatever is not proven; the search has half of the time at most."""
        until = Deadline.after(self.search.seconds)
        half = None if self.search.seconds is None else self.search.seconds / 2
        parts, bound = replace(self, search=replace(self.search, seconds=half)).find(loss, rng)
        if parts.proven.all() or parts.interrupted:
            return parts, bound
        return tightened(parts, bound, self.pairs, loss, self.constraints, until)

    def _ratio(self, rng: np.random.Generator) -> tuple[Parts, float | None]:
        """The approximate ARI is a ratio: Dinkelbach's method solves a threshold for each value that it reaches.

        It begins at the index of the best partition under the threshold 1/2, which Binder's loss has.

        With λ the index reached, R - P Q/N - λ [(P + Q)/2 - P Q/N] is positive for a partition that has a higher index.
        Up to a constant that is Σ over joined pairs of (π_ij - t), t = P/N + λ (1/2 - P/N). Where its maximum is
        proven to be 0, no partition has a higher index.

        Where all pairs are certain to be together, P = N, every index is 0 but that of one cluster, which is 0/0 and
        counts as 1. No threshold tells this from the ratios, but under 1/2 one cluster is the best.
        """
        mean = self.pairs.total() / max(1.0, self.pairs.n_items * (self.pairs.n_items - 1) / 2)
        until = Deadline.after(self.search.seconds)
        first = 0.5 if mean == 1.0 else max(0.5, mean)
        best = self._run(self._threshold(first, "threshold").native(), rng, until)
        reached = self._index(best)
        while not best.interrupted:
            objective = self._threshold(mean + reached * (0.5 - mean), "threshold of the approximate ARI")
            parts = replace(self, starts=(best.labels, *self.starts))._run(objective.native(), rng, until)
            if self._index(parts) <= reached + ROUNDING:
                if self._index(parts) < reached - ROUNDING:
                    parts = replace(parts, labels=best.labels)
                parts = self._proven(parts, objective, until)
                if self._index(parts) <= reached + ROUNDING:
                    return parts, 1 - reached if parts.proven.all() else None
            reached, best = self._index(parts), parts
        return best, None

    def _index(self, parts: Parts) -> float:
        return approximate_ari(self.pairs, *joined_pairs(parts.labels, self.pairs))

    def _threshold(self, threshold: float, what: str) -> Threshold:
        if self.pairs.default > threshold + ROUNDING:
            raise ValueError(
                f"default is {self.pairs.default:g}, above the {what}, {threshold:g}: every pair that is not listed"
                " would gain by being together; list all pairs in a dense matrix"
            )
        return Threshold(max(threshold, self.pairs.default), self.pairs.default)

    def _run(self, objective: Any, rng: np.random.Generator, until: Deadline) -> Parts:
        how, seed = self.search, int(rng.integers(2**63))
        options = _core.PairOptions(how.most_runs, how.zealous, until.left, check_n_jobs(how.n_jobs), seed)
        starts = np.array(self.starts, np.uint32).reshape(len(self.starts), self.pairs.n_items)
        graph = _core.PairGraph(self.pairs.offsets, self.pairs.neighbors, self.pairs.probabilities)
        rules = native_constraints(self.constraints)
        found = _core.search_pairs(graph, objective, rules, starts, options)
        labels, component, values, bounds, proven, interrupted = found
        numbers = (labels.astype(np.int64), component.astype(np.int64))
        return Parts(*numbers, values, bounds, proven.astype(np.bool_), interrupted)

    def _proven(self, parts: Parts, objective: Threshold, until: Deadline) -> Parts:
        """With linear programs for small components that the core could not prove; which, does not depend on time."""
        if parts.interrupted:
            return parts
        return prove_parts(parts, self.pairs, objective, self.constraints, until, CUBES)


def bound_of(parts: Parts, pairs: Similarity, loss: PairLoss | AdditiveLoss) -> float | None:
    """The sum of the components' bounds, as a bound on the loss; None if there is none."""
    bound = loss_of_total(float(parts.bounds.sum()), pairs, loss)
    return bound if bound is not None and np.isfinite(bound) else None


def loss_of_total(total: float, pairs: Similarity, loss: PairLoss | AdditiveLoss) -> float | None:
    """The loss where the objectives of all components sum to a total; None for a loss that is no such sum."""
    if isinstance(loss, VILowerBound):
        return loss.unit * total / pairs.n_items
    if binder := loss.pairwise:
        return 2 / pairs.n_items**2 * (binder.a * pairs.total() + (binder.a + binder.b) * total)
    return None


def tightened(
    parts: Parts, bound: float | None, pairs: Similarity, loss: PairLoss, rules: Resolved | None, until: Deadline
) -> tuple[Parts, float | None]:
    """Components and their bound after linear programs for those that are not proven; Binder's loss only."""
    if (binder := loss.pairwise) is None:
        return parts, bound
    parts = prove_parts(parts, pairs, Threshold(binder.b / (binder.a + binder.b), pairs.default), rules, until)
    return parts, bound_of(parts, pairs, binder)


def native_constraints(constraints: Resolved | None) -> _core.PairConstraints:
    """Constraints as the core takes them; what binds nothing is left out."""
    if constraints is None:
        return _core.PairConstraints(None, None, None, None, NOTHING)
    atom = constraints.atom.astype(np.uint32) if constraints.n_atoms < constraints.n_items else None
    offsets, partners = _rows(constraints.apart, constraints.n_items) if len(constraints.apart) else (None, None)
    source = constraints.source
    binding = source is not None and bool((source != NOTHING).any())
    sources = source.astype(np.uint32) if source is not None and binding else None
    return _core.PairConstraints(atom, offsets, partners, sources, constraints.max_size)


def _rows(pairs: NDArray[np.int64], n_items: int) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """Pairs in symmetric rows."""
    from scipy.sparse import coo_array

    left, right = np.concatenate([pairs, pairs[:, ::-1]]).T
    rows = coo_array((np.ones(len(left)), (left, right)), shape=(n_items, n_items)).tocsr()
    return rows.indptr.astype(np.int64), rows.indices.astype(np.uint32)
