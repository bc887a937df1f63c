"""What variational and collapsed variational Bayes share: settings, start, bound, restarts, result."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .hosts import Hosts, Step
from .hyper import GammaPrior, fsd_curve, label_curve, newton, tsb_curve
from .layout import Floats, Layout

START_ALPHA, START_BETA = 1.0, 0.5


@dataclass(frozen=True)
class Settings:
    """How NBCE is fitted by a variational method. `alpha` and `beta`: a number, or None to learn it."""

    truncation: int = 100
    sticks: bool = False
    alpha: float | None = None
    beta: float | None = None
    alpha_prior: GammaPrior = field(default_factory=GammaPrior)
    beta_prior: GammaPrior = field(default_factory=GammaPrior)
    max_iter: int = 500
    tolerance: float = 1e-7
    hold: int = 10  # turns before the concentrations are learned: a random start says nothing of them

    @property
    def learn_alpha(self) -> bool:
        return self.alpha is None

    @property
    def learn_beta(self) -> bool:
        return self.beta is None

    @property
    def alpha_start(self) -> float:
        return START_ALPHA if self.alpha is None else self.alpha

    @property
    def beta_start(self) -> float:
        return START_BETA if self.beta is None else self.beta

    def log_prior(self, alpha: float, beta: float) -> float:
        """Of the learned concentrations: the bound is then one on log p(Y, α0, β)."""
        total = self.alpha_prior.log_density(alpha) if self.learn_alpha else 0.0
        return total + (self.beta_prior.log_density(beta) if self.learn_beta else 0.0)


@dataclass(frozen=True)
class Fit:
    """The end of one run: sums of the responsibilities, concentrations, the bound at each turn."""

    step: Step
    alpha: float
    beta: float
    bounds: NDArray[np.float64]
    converged: bool

    @property
    def bound(self) -> float:
        return float(self.bounds[-1])


def random_start(hosts: Hosts, truncation: int, rng: np.random.Generator) -> Step:
    """Responsibilities under random label probabilities: items with equal labels start equal."""
    weights = np.concatenate(
        [np.log(rng.dirichlet(np.ones(size), truncation).T + 1e-12) for size in hosts.layout.sizes]
    )
    return hosts.linear(weights, np.zeros(truncation))


def bound(step: Step, alpha: float, beta: float, layout: Layout, settings: Settings) -> float:
    """The bound of eq. 7 at the given γ, with ξ and ρ at their best: log p(Y, Z) at expected counts, plus
    entropy.

    It lies below that of eq. 9, because log Γ(a + N) is convex where the bound adds it: see
    docs/ensembles.md.
    """
    weights = (tsb_curve if settings.sticks else fsd_curve)(step.sizes)
    labels = label_curve(step.counts, layout)
    return weights(alpha)[0] + labels(beta)[0] + step.entropy + settings.log_prior(alpha, beta)


def learn(step: Step, alpha: float, beta: float, layout: Layout, settings: Settings) -> tuple[float, float]:
    """The α0 and β that maximise the bound at the given γ, by Newton's method; a fixed one stays."""
    if settings.learn_alpha:
        curve = (tsb_curve if settings.sticks else fsd_curve)(step.sizes)
        alpha = newton(settings.alpha_prior.added_to(curve), alpha)
    if settings.learn_beta:
        beta = newton(settings.beta_prior.added_to(label_curve(step.counts, layout)), beta)
    return alpha, beta


def best_of(
    run: Callable[[Hosts, Settings, np.random.Generator], Fit],
    hosts: Hosts,
    settings: Settings,
    restarts: int,
    rng: np.random.Generator,
) -> tuple[Fit, Floats]:
    """The run with the highest bound, and its responsibilities."""
    best: tuple[Fit, Floats] | None = None
    for stream in rng.spawn(restarts):
        fit = run(hosts, settings, stream)
        # runs that end at the same optimum differ by rounding: the first of them is kept
        if best is None or fit.bound - best[0].bound > 1e-9 * abs(best[0].bound):
            best = fit, hosts.responsibilities()
    assert best is not None
    if not best[0].converged:
        warnings.warn(
            f"the best of {restarts} runs had not converged after max_iter={settings.max_iter} turns",
            RuntimeWarning,
            stacklevel=3,
        )
    return best
