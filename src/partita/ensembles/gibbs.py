"""Collapsed Gibbs sampling for NBCE (Wang, Domeniconi & Laskey 2010, eq. 5), run by the core."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from partita import _core
from partita.models.chain import Chain
from partita.models.checkpoint import Plan
from partita.models.running import Registry, Sampler, sample_model

from .base import Base, Labels
from .predictive import Mixture, partition_mixture
from .variational import START_ALPHA, START_BETA

PREDICTIVE_DRAWS = 200  # draws that the predictive is averaged over, evenly spaced

_CHAINS = {1: "NbceChain8", 2: "NbceChain16", 4: "NbceChain32"}


@Registry.add
@dataclass(frozen=True)
class NBCEModel:
    """The posterior that chains draw from. `alpha`, `beta`: fixed, or None to be drawn by slice sampling."""

    prior: str = "fsd"
    truncation: int = 100
    alpha: float | None = None
    beta: float | None = None
    alpha_prior: tuple[float, float] = (1.0, 1.0)
    beta_prior: tuple[float, float] = (1.0, 1.0)

    def params(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> Self:
        priors = {name: tuple(params[name]) for name in ("alpha_prior", "beta_prior")}
        return cls(**{**params, **priors})

    def samplers(self, inputs: Mapping[str, NDArray[Any]], plan: Plan) -> Sequence[Sampler]:
        codes = inputs["codes"]
        make = getattr(_core, _CHAINS[codes.itemsize])
        unsigned = np.ascontiguousarray(codes).view(f"u{codes.itemsize}")  # -1 becomes the core's gap
        alpha = _concentration(self.alpha, START_ALPHA, self.alpha_prior)
        beta = _concentration(self.beta, START_BETA, self.beta_prior)
        n_labels = inputs["n_labels"].astype(np.uint32)
        sticks = self.prior == "tsb"
        return [
            make(unsigned, n_labels, sticks, self.truncation, alpha, beta, plan.seed, stream)
            for stream in range(plan.chains)
        ]


def _concentration(value: float | None, start: float, prior: tuple[float, float]) -> list[float]:
    return [start if value is None else value, float(value is None), *prior]


def sample_nbce(model: NBCEModel, base: Base, plan: Plan, **running: Any) -> Chain:
    """Chains of partitions of the items of `base`, all of which have a label."""
    return sample_model(model, {"codes": base.codes, "n_labels": base.sizes}, plan, **running)


def draw_mixtures(chain: Chain, base: Base, most: int = PREDICTIVE_DRAWS) -> list[Mixture]:
    """The predictive of each of up to `most` draws."""
    labels = chain.labels.reshape(-1, chain.n_items)
    alpha, beta = chain.stats["alpha"].ravel(), chain.stats["beta"].ravel()
    chosen = np.unique(np.linspace(0, len(labels) - 1, min(most, len(labels))).round().astype(int))
    model = chain.model
    return [
        partition_mixture(labels[s], base, alpha[s], beta[s], model.truncation, model.prior == "tsb") for s in chosen
    ]


def together(labels: Labels, draws: NDArray[Any]) -> NDArray[np.float64]:
    """How sure each item's cluster is: the mean over its other members of the probability to be with them.

    For an item alone it is the probability that it is alone. (items,); no items × items table is made.
    """
    sizes = np.bincount(labels)[labels]
    total = np.zeros(len(labels))
    for draw in draws:
        k = int(draw.max()) + 1
        joint = labels * k + draw
        shared = np.bincount(joint)[joint] - 1.0
        alone = np.bincount(draw)[draw] == 1
        total += np.where(sizes > 1, shared / np.maximum(sizes - 1, 1), alone)
    return total / len(draws)
