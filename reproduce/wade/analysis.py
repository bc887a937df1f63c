"""Draws summarised as Wade & Ghahramani do: three estimates and two credible balls."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import partita as pt

Labels = NDArray[np.int64]
Floats = NDArray[np.float64]
ESTIMATES = ("Binder", "VI", "modified VI")
LOSSES = {"Binder": "binder", "VI": "vi"}
THEIR_SEARCH = {"method": "hasse", "neighbors": 200}


@dataclass(frozen=True)
class Analysis:
    """Data, draws by chain (chains, draws, items), the estimates by name and the 95 % balls of Binder and VI."""

    data: Floats
    draws: NDArray[np.unsignedinteger]
    sample: pt.PartitionSample
    estimates: dict[str, Labels]
    balls: dict[str, pt.CredibleBall]
    truth: Labels | None = None

    def expected(self, name: str, loss: str) -> float:
        return float(pt.expected_loss(self.estimates[name], self.sample, LOSSES[loss]))

    def from_truth(self, name: str, loss: str) -> float:
        return pt.partition_loss(self.truth, self.estimates[name], LOSSES[loss])

    def clusters(self, name: str) -> int:
        return int(self.estimates[name].max()) + 1

    def moved(self) -> int:
        """Items that the modified VI puts elsewhere than VI, clusters matched as well as can be."""
        exact, modified = self.estimates["VI"], self.estimates["modified VI"]
        return int((pt.align_labels(exact, modified) != exact).sum())

    def bound(self, loss: str, name: str) -> list[int]:
        """Clusters of the partitions of a bound."""
        return sorted(int(labels.max()) + 1 for labels in getattr(self.balls[loss], name))

    def expected_error(self, name: str, loss: str) -> float | None:
        """Monte Carlo error of the expected loss: the standard error over the chains' means."""
        return self._over_chains(lambda chain: pt.distances(self.estimates[name], chain, LOSSES[loss]).mean())

    def radius_error(self, loss: str) -> float | None:
        """Monte Carlo error of the radius, over the chains."""
        return self._over_chains(
            lambda chain: np.quantile(pt.distances(self.estimates[loss], chain, LOSSES[loss]), 0.95)
        )

    def _over_chains(self, value) -> float | None:
        if len(self.draws) < 2:
            return None
        values = [value(chain) for chain in self.draws]
        return float(np.std(values, ddof=1) / np.sqrt(len(values)))


def analyse(data: Floats, draws: NDArray[np.unsignedinteger], truth: Labels | None = None, **search) -> Analysis:
    """Estimates by our default search, or by what `search` says; the modified VI by the paper's own search."""
    sample = pt.as_sample(draws)
    best = {name: pt.estimate(sample, loss, rng=1, **search) for name, loss in LOSSES.items()}
    modified = pt.estimate(sample, "vi", criterion="lower-bound", rng=1, **THEIR_SEARCH)
    estimates = {**{name: found.labels for name, found in best.items()}, "modified VI": modified.labels}
    balls = {name: pt.credible_ball(found, level=0.95) for name, found in best.items()}
    return Analysis(data, draws, sample, estimates, balls, truth)
