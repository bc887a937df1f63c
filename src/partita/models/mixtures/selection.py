"""Which columns take part: draws of indicators in chains, and the best ones beside a partition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from partita._support.arrays import Floats
from partita.estimation.r_hat import convergence
from partita.models.chains.chain import Chain
from partita.models.mixtures.base import CoreColumns
from partita.models.mixtures.maximum import IclSearch, MixtureFit
from partita.search.deadline import LAST_MOMENT, Deadline

PREFIX = "included_"
MAX_ROUNDS = 20  # of the search of the partition and that of the columns, in turn


def prior_log_odds(select: Any) -> float | None:
    """The prior log odds that a column takes part; None if columns are not selected.

    >>> prior_log_odds(True), prior_log_odds(False)
    (0.0, None)
    """
    if isinstance(select, bool | np.bool_):
        return 0.0 if select else None
    if not isinstance(select, int | float | np.number) or not 0 < float(select) < 1:
        raise ValueError(
            f"select must be True, False or the prior probability, between 0 and 1, that a column takes part, but it is"
            f" {select!r}"
        )
    return float(np.log(select) - np.log1p(-select))


def indicators(chain: Chain) -> NDArray[np.bool_]:
    """The drawn indicators, (chains, draws, units)."""
    names = [name for name in chain.stats if name.startswith(PREFIX)]
    return np.stack([chain.stats[name] > 0.5 for name in names], axis=-1)


def inclusion(chain: Chain, core: CoreColumns, order: Mapping[str, int]) -> dict[str, float]:
    """The share of draws in which each column takes part: its indicator is 1, and there are two clusters or more."""
    taking_part = indicators(chain) & (chain.n_clusters > 1)[..., None]
    return _by_column(taking_part.mean(axis=(0, 1)), core, order)


def _by_column(values: Floats, core: CoreColumns, order: Mapping[str, int]) -> dict[str, float]:
    found = {name: float(value) for unit, value in zip(core.units, values, strict=True) for name in unit}
    return dict(sorted(found.items(), key=lambda entry: order[entry[0]]))


def mixing_summaries(chain: Chain, core: CoreColumns) -> dict[str, Floats]:
    """What is compared between chains: the number of columns that take part, and the most uncertain indicator."""
    drawn = (indicators(chain) & (chain.n_clusters > 1)[..., None]).astype(np.float64)
    summaries = {"columns that take part": drawn.sum(axis=-1)}
    varying = np.flatnonzero(drawn.min(axis=(0, 1)) < drawn.max(axis=(0, 1)))
    if varying.size and drawn.shape[1] >= 4:
        r_hats, _ = convergence(np.moveaxis(drawn[..., varying], -1, 0))
        worst = varying[int(np.argmax(np.nan_to_num(r_hats, nan=1.0)))]
        summaries[f"inclusion of {core.units[worst][0]}"] = drawn[..., worst]
    return summaries


def shared_scores(sampler: Any, new: Any, together: NDArray[np.uint32], n_units: int) -> Floats:
    """Log predictive density of new items in each unit given all cells of it together; (items, units)."""
    log_n = np.log(len(together))
    return np.stack(
        [
            sampler.score_new(together, 1.0, new, [int(own == unit) for own in range(n_units)])[:, 0] - log_n
            for unit in range(n_units)
        ],
        axis=1,
    )


@dataclass(frozen=True, eq=False)
class SelectingSearch(IclSearch):
    """The search for the partition and the columns of largest log p(X, z, γ | K), in turn.

    Given the partition, the best indicator of each column is known; given the columns, the partition is searched, the
    best one so far among its starts, so that no round is worse than the one before.
    """

    core: CoreColumns
    order: Mapping[str, int]
    search: Any  # the core's search, made of the columns as they are selected now

    def _choose(self, labels: NDArray[np.uint32]) -> tuple[IclSearch, Floats]:
        """The search with the best columns of a partition, and the probability of each."""
        odds = self.core.native.selection_odds(labels)
        self.core.native.set_included([int(value > 0) for value in odds])
        return replace(self, native=self.search(self.core.native)), expit(odds)

    def icl(self, labels: ArrayLike) -> float:
        """log p(X, z, γ | K) of a partition, with its best γ."""
        return IclSearch.icl(self._choose(self._canonical(labels, "labels"))[0], labels)

    def maximize(
        self, k_max: int | None, restarts: int, rng: Any, starts: Any, seconds: float | None, n_jobs: int
    ) -> MixtureFit:
        until = Deadline.after(seconds)
        best, before = IclSearch.maximize(self, k_max, restarts, rng, starts, seconds, n_jobs), None
        for _ in range(MAX_ROUNDS):
            search, probabilities = self._choose(best.labels.astype(np.uint32))
            chosen = (probabilities > 0.5).tobytes()
            if chosen == before:
                break
            left = None if seconds is None else max(until.left, LAST_MOMENT)
            best, before = IclSearch.maximize(search, k_max, restarts, rng, [best.labels], left, n_jobs), chosen
        shown = probabilities if best.n_clusters > 1 else np.zeros_like(probabilities)
        return replace(best, inclusion=_by_column(shown, self.core, self.order))
