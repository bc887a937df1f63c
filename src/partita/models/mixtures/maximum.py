"""The partition of largest exact ICL of a mixture: the search and its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from partita import _core
from partita._core import MixturePlan
from partita._support.names import as_named
from partita._support.shown import rows_table
from partita._support.validate import check_count, check_n_jobs, check_rng, check_shape, checked_log_density
from partita.models.search_runs import IclFit, Runs, check_max_clusters, check_time_limit, merge_path
from partita.partitions.checks import check_partition
from partita.partitions.labels import canonical


@dataclass(frozen=True, eq=False, repr=False)
class MixtureFit(IclFit):
    """The partition of a table of largest exact ICL that was found.

    Attributes
    ----------
    labels : (items,) integer array
        The partition, canonical labels.
    icl, path, runs, times_reached, notes
        As for `BlockFit`.
    names : tuple of str or None
        Names of the items.
    n0 : float
        Dirichlet parameter of the cluster proportions.
    inclusion : mapping of str to float, or None
        With `select`, the probability that each column takes part, given the partition.
    """

    names: tuple[str, ...] | None
    n0: float
    inclusion: Mapping[str, float] | None = None

    presented_by = "partita.results.mixtures.MixturePresentation"

    def _repr_html_(self) -> str:
        rows = [[str(k), str(size)] for k, size in enumerate(self.sizes.tolist())]
        return rows_table(repr(self), ["cluster", "items"], rows)


@dataclass(frozen=True, eq=False)
class IclSearch:
    """The core's search for one table, with what belongs to its items.

    `constant` is what the core leaves out of the ICL; `settings` are for error messages.
    """

    native: Any
    n_items: int
    names: tuple[str, ...] | None
    constant: float
    n0: float
    settings: dict[str, Any]

    def icl(self, labels: ArrayLike) -> float:
        """log p(X, z | K) of a partition."""
        return self._checked(self.native.icl(self._canonical(labels, "labels")))

    def _checked(self, icl: float) -> float:
        return checked_log_density(icl + self.constant, self.settings)

    def _canonical(self, labels: ArrayLike, name: str) -> NDArray[np.uint32]:
        """Canonical labels: a Series is matched by its index, all else by position."""
        given = as_named(labels, name)
        by_name = given.names is not None and self.names is not None
        if np.ndim(given.values) != 1 or (len(given.values) != self.n_items and not by_name):
            shape = np.shape(given.values)
            raise ValueError(f"{name} must have {self.n_items} labels, one for each item, but its shape is {shape}")
        return check_partition(given.in_order_of(self.names, self.n_items, "table"), name).astype(np.uint32)

    def maximize(
        self, k_max: int | None, restarts: int, rng: Any, starts: Any, seconds: float | None, n_jobs: int
    ) -> MixtureFit:
        """The best of several runs and their crossings."""
        most = check_max_clusters(k_max, self.n_items)
        restarts = check_count(restarts, "restarts", minimum=1)
        limit = check_time_limit(seconds)
        given = self._starts(starts)
        plan = MixturePlan(
            n_items=self.n_items,
            restarts=restarts,
            n_given=len(given),
            max_clusters=most,
            seed=int(check_rng(rng).integers(2**63)),
            threads=check_n_jobs(n_jobs),
        )
        found = self.native.maximize(given, plan, limit)
        runs = Runs.of(plan.kinds, found).plus(self.constant)
        return self._fit(canonical(found[0]), self._checked(found[1]), runs)

    def _starts(self, starts: Any) -> NDArray[np.uint32]:
        if starts is None:
            return np.empty((0, self.n_items), np.uint32)
        several = [starts] if np.ndim(starts) == 1 else starts
        return np.stack([self._canonical(labels, "starts") for labels in several])

    def _fit(self, labels: NDArray[np.int64], icl: float, runs: Runs) -> MixtureFit:
        return MixtureFit(labels, icl, merge_path(self.native, labels, icl), runs, self.names, self.n0)


def proportions_prior(n0: Any, n_items: int) -> _core.FiniteMixturePrior:
    """p(z | K) of proportions ~ Dirichlet(n0, ..., n0): Γ(K n0) / Γ(K n0 + n) ∏ Γ(n0 + n_k) / Γ(n0).

    K is the number of clusters of z; its own prior is flat.
    """
    weight = check_shape(n0, "n0")
    total = weight * np.arange(1, n_items + 1)
    log_v = np.concatenate([[0.0], gammaln(total) - gammaln(total + n_items)])
    return _core.FiniteMixturePrior(weight=weight, log_v=log_v.tolist())
