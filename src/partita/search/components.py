"""Connected components of items that are together in some draw, and proofs of optimality for each of them.

For Binder's loss and the variation of information the expected loss is a constant plus a sum over the clusters of the
estimate, and some optimum joins no two components (docs/many_clusters.md). Each component is therefore a separate
problem, and the best partition of a small one is found by enumerating all of its partitions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita import _core
from partita._support.shown import ShownAsText
from partita._support.validate import check_n_jobs
from partita.draws.sample import PartitionSample
from partita.losses.base import Loss
from partita.losses.problem import core_problem, core_sample
from partita.partitions.labels import canonical
from partita.search.constraints import Resolved, native_restrictions

#: A component with at most this many items is solved by enumerating all of its partitions.
MAX_ENUMERATED = int(_core.MAX_ENUMERATED)
#: Values whose relative difference is smaller than this are equal.
SAME_VALUE = 1e-10


@dataclass(frozen=True, eq=False, repr=False)
class Components(ShownAsText):
    """The components of a sample, and how many of them are proven: the value of `Estimate.components`.

    Attributes
    ----------
    labels : (n_items,) int array
        The component of each item, numbered in the order of their first items.
    sizes : (count,) int array
        Number of items in each component.
    is_proven : (count,) bool array
        Whether no partition of the component is better than the estimate's.
    """

    labels: NDArray[np.int64]
    sizes: NDArray[np.int64]
    is_proven: NDArray[np.bool_]

    @property
    def count(self) -> int:
        """Number of components."""
        return len(self.sizes)

    @property
    def proven(self) -> int:
        """Number of components that are proven."""
        return int(self.is_proven.sum())

    def summary(self) -> str:
        """Their number, the size of the largest, and how many are proven."""
        return f"{self.count:,}, the largest of {self.sizes.max():,} items; {self.proven:,} are proven"

    def __repr__(self) -> str:
        return f"Components: {self.summary()}"


@dataclass(frozen=True, eq=False)
class SolvedParts:
    """The components of a linear loss, with the best partition of each small one.

    `labels` is a best partition within each component. `least` is each component's contribution to the expected loss
    under that partition, and `given` the same for a given estimate; both are NaN for components that are not solved.
    `constant` is the part of the expected loss that does not depend on the estimate.
    """

    component: NDArray[np.uint32]
    labels: NDArray[np.uint32]
    least: NDArray[np.float64]
    given: NDArray[np.float64]
    constant: float
    interrupted: bool

    @property
    def all_solved(self) -> bool:
        """Whether the best partition of each component is known."""
        return not self.interrupted and not np.isnan(self.least).any()

    @property
    def least_loss(self) -> float:
        """The expected loss of the best partition, if all components are solved."""
        return self.constant + float(self.least.sum())

    def partition(self) -> NDArray[np.int64]:
        """The best partition, if all components are solved."""
        return canonical(self.component.astype(np.int64) * (MAX_ENUMERATED + 1) + self.labels)


def solve_parts(
    sample: PartitionSample,
    loss: Loss,
    labels: NDArray[np.int64] | None = None,
    n_jobs: int = -1,
    rules: Resolved | None = None,
) -> SolvedParts:
    """The components under Binder's loss or VI, with a best partition of each small one that obeys the constraints.

    Items that must be together are in one component. Some best partition still joins no two components: dividing a
    cluster along components breaks no constraint.

    >>> from partita import VI
    >>> from partita.draws.sample import as_sample
    >>> parts = solve_parts(as_sample([[0, 0, 1, 2, 2], [0, 0, 1, 2, 2], [0, 0, 0, 1, 1]]), VI())
    >>> parts.partition().tolist(), round(parts.least_loss, 4)
    ([0, 0, 1, 2, 2], 0.1837)
    """
    given = None if labels is None else labels.astype(np.uint32)
    restrictions = native_restrictions(rules)
    return SolvedParts(*_core.solve_parts(core_problem(sample, loss), given, *restrictions, check_n_jobs(n_jobs)))


def component_labels(sample: PartitionSample) -> NDArray[np.int64]:
    """The component of each item; two items are connected if they are together in a draw of positive weight."""
    return _core.components(core_sample(sample)).astype(np.int64)


def components_of(
    labels: NDArray[np.int64], sample: PartitionSample, loss: Loss, n_jobs: int, proven: bool
) -> Components:
    """The components of a sample, and on which of them the estimate is proven optimal."""
    component = component_labels(sample)
    sizes = np.bincount(component)
    if proven or not loss.additive:
        return Components(component, sizes, np.full(len(sizes), proven))
    parts = solve_parts(sample, loss, labels, n_jobs)
    solved = parts.given <= parts.least + SAME_VALUE * (1 + np.abs(parts.least))
    # Binder's parts may be finer than the components: a component is proven if all of its parts are
    is_proven = np.ones(len(sizes), np.bool_)
    np.logical_and.at(is_proven, component, solved[parts.component])
    return Components(component, sizes, is_proven)


def are_all_small(sample: PartitionSample) -> bool:
    """Whether every component is small enough to be solved; the first draw usually decides this quickly."""
    first = sample.labels[0]
    if np.bincount(first[first >= 0]).max(initial=0) > MAX_ENUMERATED:
        return False
    return int(np.bincount(component_labels(sample)).max()) <= MAX_ENUMERATED


def best_by_parts(
    labels: NDArray[np.int64], sample: PartitionSample, loss: Loss, n_jobs: int, rules: Resolved | None = None
) -> NDArray[np.int64] | None:
    """A best partition if all components are small, which is the given one if no other is better; otherwise None.

    Under constraints, the best of those that obey.
    """
    if not loss.additive or not are_all_small(sample):
        return None
    parts = solve_parts(sample, loss, labels, n_jobs, rules)
    if not parts.all_solved:
        return None
    is_best = parts.given.sum() <= parts.least.sum() + SAME_VALUE * np.abs(parts.least).sum()
    return labels if is_best else parts.partition()
