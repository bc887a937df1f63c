"""Learning the concentrations α0 and β: the terms that depend on them, and Newton's method on the log scale."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import digamma, gammaln, polygamma

from partita._support.arrays import Floats
from partita._support.validate import MAX_VALUE
from partita.ensembles.layout import Layout

Curve = Callable[[float], tuple[float, float, float]]  # value, first and second derivative

_LOWEST, _HIGHEST = 1e-8, 1e8

# Shape and rate by default. Few clusters, unless the labels call for more: docs/ensembles.md has the measurements.
ALPHA_PRIOR, BETA_PRIOR = (1.0, 30.0), (1.0, 1.0)


@dataclass(frozen=True)
class GammaPrior:
    """Gamma(shape, rate) prior on a concentration; shape 1 and rate 0 give a flat prior."""

    shape: float = 1.0
    rate: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.shape <= MAX_VALUE or not 0 <= self.rate <= MAX_VALUE:
            given = f"({self.shape}, {self.rate})"
            raise ValueError(f"a Gamma prior needs shape > 0 and rate >= 0, both at most {MAX_VALUE:g}, not {given}")

    def log_density(self, x: float) -> float:
        """The log density, up to a constant."""
        return float((self.shape - 1.0) * np.log(x) - self.rate * x)

    def added_to(self, curve: Curve) -> Curve:
        def with_prior(x: float) -> tuple[float, float, float]:
            value, slope, bend = curve(x)
            pull = self.shape - 1.0
            return value + self.log_density(x), slope + pull / x - self.rate, bend - pull / x**2

        return with_prior


def newton(curve: Curve, start: float, steps: int = 50, tolerance: float = 1e-10) -> float:
    """The x > 0 that maximises the curve, by Newton steps in log x that never lower it."""
    x = start
    value, slope, bend = curve(x)
    for _ in range(steps):
        gradient, hessian = x * slope, x * x * bend + x * slope
        step = -gradient / hessian if hessian < 0 else np.sign(gradient)
        step = float(np.clip(step, -2.0, 2.0))
        while abs(step) > tolerance:
            proposal = float(np.clip(x * np.exp(step), _LOWEST, _HIGHEST))
            reached = curve(proposal)
            if reached[0] > value:
                break
            step /= 2
        else:
            return x
        x, (value, slope, bend) = proposal, reached
    return x


def _rising(a: Any, n: Any) -> tuple[Any, Any, Any]:
    """log Γ(a + n) − log Γ(a) and its first two derivatives in a."""
    return (
        gammaln(a + n) - gammaln(a),
        digamma(a + n) - digamma(a),
        polygamma(1, a + n) - polygamma(1, a),
    )


def fsd_curve(sizes: Floats) -> Curve:
    """log p(Z | α0) of the finite symmetric Dirichlet, at (expected) cluster sizes."""
    k, n = len(sizes), sizes.sum()

    def curve(x: float) -> tuple[float, float, float]:
        all_items, clusters = _rising(x, n), _rising(x / k, sizes)
        value, slope, bend = (clusters[order].sum() / k**order - all_items[order] for order in range(3))
        return float(value), float(slope), float(bend)

    return curve


def tsb_curve(sizes: Floats) -> Curve:
    """log p(Z | α0) of stick-breaking: Σ_{k<K} log[α0 Γ(1 + N_k) Γ(α0 + N_{>k}) / Γ(1 + α0 + N_{≥k})]."""
    from_here = np.cumsum(sizes[::-1])[::-1]
    here, beyond = from_here[:-1], from_here[1:]
    constant = gammaln(1.0 + sizes[:-1]).sum()

    def curve(x: float) -> tuple[float, float, float]:
        value = constant + (np.log(x) + gammaln(x + beyond) - gammaln(1.0 + x + here)).sum()
        slope = (1.0 / x + digamma(x + beyond) - digamma(1.0 + x + here)).sum()
        bend = (-1.0 / x**2 + polygamma(1, x + beyond) - polygamma(1, 1.0 + x + here)).sum()
        return float(value), float(slope), float(bend)

    return curve


def label_curve(counts: Floats, layout: Layout) -> Curve:
    """Σ_m w_m log p(Y_m | Z, β), label probabilities integrated out, at (expected) counts (Σ J_m, clusters)."""
    observed = layout.per_clustering(counts)
    n_labels, weights = layout.sizes[:, None], layout.weights[:, None]

    def curve(x: float) -> tuple[float, float, float]:
        cells, totals = _rising(x, counts), _rising(x * n_labels, observed)
        value, slope, bend = (
            layout.weighted(cells[order]).sum() - (weights * n_labels**order * totals[order]).sum()
            for order in range(3)
        )
        return float(value), float(slope), float(bend)

    return curve
