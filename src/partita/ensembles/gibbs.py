"""Collapsed Gibbs sampling for NBCE (Wang, Domeniconi & Laskey 2010, eq. 5), run by the core."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from partita import _core
from partita._support.validate import check_shape
from partita.ensembles.base_clusterings import Base, Labels
from partita.ensembles.predictive import Mixture, partition_mixture
from partita.ensembles.variational import ALPHA_PRIOR, BETA_PRIOR, START_ALPHA, START_BETA, GammaPrior
from partita.models.chains.chain import Chain
from partita.models.chains.checkpoint import Plan
from partita.models.chains.sampling import Registry, Sampler, sample_model

MAX_CLUSTERS = 1_000_000  # limits the memory that a truncation needs
PREDICTIVE_DRAWS = 200  # the predictive is averaged over at most this many evenly spaced draws

_CHAINS = {1: "NbceChain8", 2: "NbceChain16", 4: "NbceChain32"}


@Registry.add
@dataclass(frozen=True)
class NBCEModel:
    """The posterior that the chains sample. `alpha`, `beta`: fixed, or None to be sampled by slice sampling."""

    prior: str = "fsd"
    truncation: int = 100
    alpha: float | None = None
    beta: float | None = None
    alpha_prior: tuple[float, float] = ALPHA_PRIOR
    beta_prior: tuple[float, float] = BETA_PRIOR

    def params(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> Self:
        priors = {name: tuple(params[name]) for name in ("alpha_prior", "beta_prior")}
        return cls(**{**params, **priors})

    def samplers(self, inputs: Mapping[str, NDArray[Any]], plan: Plan) -> Sequence[Sampler]:
        codes = inputs["codes"]
        _check_inputs(self, codes, inputs["n_labels"])
        make = getattr(_core, _CHAINS[codes.itemsize])
        unsigned = np.ascontiguousarray(codes).view(f"u{codes.itemsize}")  # -1 becomes the core's missing label
        alpha = _concentration(self.alpha, START_ALPHA, self.alpha_prior)
        beta = _concentration(self.beta, START_BETA, self.beta_prior)
        n_labels = inputs["n_labels"].astype(np.uint32)
        weights = _check_powers(inputs["weights"], n_labels)
        sticks = self.prior == "tsb"
        return [
            make(unsigned, n_labels, weights, sticks, self.truncation, alpha, beta, plan.seed, stream)
            for stream in range(plan.chains)
        ]


def _check_inputs(model: NBCEModel, codes: NDArray[Any], n_labels: NDArray[Any]) -> None:
    """Checks the model and the data; those of `NBCE` are valid, but a run to be resumed may come from anywhere."""
    if model.prior not in ("fsd", "tsb") or not 1 <= model.truncation <= MAX_CLUSTERS:
        raise ValueError(f"NBCE has no prior {model.prior!r} with truncation {model.truncation}")
    for name in ("alpha", "beta"):
        if getattr(model, name) is not None:
            check_shape(getattr(model, name), name)
        GammaPrior(*getattr(model, f"{name}_prior"))
    signed = codes.dtype.kind == "i" and codes.dtype.isnative and codes.itemsize in _CHAINS
    if not signed or codes.ndim != 2 or codes.size == 0 or n_labels.shape != codes.shape[1:]:
        raise ValueError("the codes are not those of base clusterings")
    if n_labels.dtype.kind not in "iu" or codes.min() < -1 or (codes.max(axis=0) >= n_labels).any():
        raise ValueError("some codes exceed the number of labels of their clustering")
    if n_labels.min() < 1 or n_labels.max() > np.iinfo(codes.dtype).max or (codes < 0).all(axis=1).any():
        raise ValueError("an item has no label, or a clustering has more labels than its codes can hold")


def _check_powers(weights: NDArray[Any], n_labels: NDArray[Any]) -> NDArray[np.float64]:
    """The powers w_m of the likelihoods, one per clustering."""
    if weights.shape != n_labels.shape or weights.dtype != np.float64 or not ((weights >= 0) & (weights <= 1)).all():
        raise ValueError("the weights are not those of base clusterings")
    return np.ascontiguousarray(weights)


def _concentration(
    value: float | None, start: float, prior: tuple[float, float]
) -> _core.FixedConcentration | _core.GammaConcentration:
    return _core.GammaConcentration(*prior, start) if value is None else _core.FixedConcentration(value)


def sample_nbce(
    model: NBCEModel, base: Base, plan: Plan, weights: NDArray[np.float64] | None = None, **running: Any
) -> Chain:
    """Chains of partitions of the items of `base`; every item must have a label.

    The likelihood of clustering m has the power `weights[m]`. The weights are written with the run, as its data are.
    """
    powers = np.ones(base.n_clusterings) if weights is None else weights
    inputs = {"codes": base.codes, "n_labels": base.sizes, "weights": powers}
    return sample_model(model, inputs, plan, names=base.names, **running)


def draw_mixtures(chain: Chain, base: Base, most: int = PREDICTIVE_DRAWS) -> list[Mixture]:
    """The predictive distribution of each of at most `most` draws."""
    labels = chain.labels.reshape(-1, chain.n_items)
    alpha, beta = chain.stats["alpha"].ravel(), chain.stats["beta"].ravel()
    chosen = np.unique(np.linspace(0, len(labels) - 1, min(most, len(labels))).round().astype(int))
    model = chain.model
    return [
        partition_mixture(labels[s], base, alpha[s], beta[s], model.truncation, model.prior == "tsb") for s in chosen
    ]


def together(labels: Labels, draws: NDArray[Any]) -> NDArray[np.float64]:
    """Certainty of each item: the mean probability of being together with the other members of its cluster, (items,).

    For an item that is alone in its cluster, the probability of being alone. Needs no items × items table.
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
