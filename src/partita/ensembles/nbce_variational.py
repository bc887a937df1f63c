"""NBCE by variational Bayes (Section 5.2 of the paper) and collapsed variational Bayes, first order (eq. 10–11)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import digamma, gammaln, polygamma

from partita._support.arrays import Floats
from partita._support.settings import SettingsGroup
from partita._support.tolerance import TIE
from partita._support.validate import MAX_VALUE
from partita._support.warn import warn_user
from partita.ensembles.layout import Layout
from partita.ensembles.responsibilities import Hosts, Step

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


START_ALPHA, START_BETA = 1.0, 0.5


@dataclass(frozen=True, repr=False)
class Ascent(SettingsGroup):
    """How variational Bayes maximises its bound.

    Parameters
    ----------
    restarts : int
        Number of runs, of which the best is kept.
    max_iter : int
        Maximum number of iterations of a run.
    tol : float, optional
        A run ends when the relative growth of the bound ("vb"; by default 1e-7), or the largest change of a
        responsibility ("cvb"; by default 1e-4), is below this.
    """

    restarts: int = 10
    max_iter: int = 500
    tol: float | None = None


@dataclass(frozen=True)
class Settings:
    """Settings of a variational fit of NBCE. `alpha` and `beta`: a number, or None to learn it."""

    truncation: int = 100
    sticks: bool = False
    alpha: float | None = None
    beta: float | None = None
    alpha_prior: GammaPrior = field(default_factory=GammaPrior)
    beta_prior: GammaPrior = field(default_factory=GammaPrior)
    max_iter: int = 500
    tolerance: float = 1e-7
    hold: int = 10  # iterations before the concentrations are learned, since a random start is not informative

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
        """Log prior of the learned concentrations; with it the bound is one on log p(Y, α0, β)."""
        total = self.alpha_prior.log_density(alpha) if self.learn_alpha else 0.0
        return total + (self.beta_prior.log_density(beta) if self.learn_beta else 0.0)


@dataclass(frozen=True)
class Fit:
    """The result of one run: sums of the responsibilities, concentrations, the bound after each iteration."""

    step: Step
    alpha: float
    beta: float
    bounds: Floats
    converged: bool

    @property
    def bound(self) -> float:
        return float(self.bounds[-1])


def random_start(hosts: Hosts, truncation: int, rng: np.random.Generator) -> Step:
    """Responsibilities under random label probabilities, so that items with equal labels have equal starts."""
    drawn = [rng.dirichlet(np.ones(size), truncation).T for size in hosts.layout.sizes]
    weights = np.log(np.concatenate(drawn) + 1e-12)
    return hosts.linear(hosts.layout.weighted(weights), np.zeros(truncation))


def bound(step: Step, alpha: float, beta: float, layout: Layout, settings: Settings) -> float:
    """The bound of eq. 7 at the given γ, with optimal ξ and ρ: log p(Y, Z) at expected counts, plus the entropy.

    It is lower than the bound of eq. 9, because the log Γ(a + N) that it adds are convex in N: see docs/ensembles.md.
    """
    weights = (tsb_curve if settings.sticks else fsd_curve)(step.sizes)
    labels = label_curve(step.counts, layout)
    return weights(alpha)[0] + labels(beta)[0] + step.entropy + settings.log_prior(alpha, beta)


def learn(step: Step, alpha: float, beta: float, layout: Layout, settings: Settings) -> tuple[float, float]:
    """The α0 and β that maximise the bound at the given γ, by Newton's method; fixed ones are kept."""
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
        # runs that reach the same optimum differ by rounding error: the first of them is kept
        if best is None or fit.bound - best[0].bound > TIE * abs(best[0].bound):
            best = fit, hosts.responsibilities()
    assert best is not None
    if not best[0].converged:
        warn_user(
            f"the best of {restarts} runs had not converged after max_iter={settings.max_iter} iterations",
            RuntimeWarning,
        )
    return best


def fit_vb(hosts: Hosts, settings: Settings, rng: np.random.Generator) -> Fit:
    """One run from a random start, until the relative growth of the bound is below `tolerance`.

    Each iteration raises the bound twice: first over α0, β, ξ and ρ given γ, then over γ given those.
    """
    alpha, beta = settings.alpha_start, settings.beta_start
    step = random_start(hosts, settings.truncation, rng)
    bounds: list[float] = []
    for iteration in range(settings.max_iter):
        if iteration >= settings.hold:
            alpha, beta = learn(step, alpha, beta, hosts.layout, settings)
        xi, rho = alpha / settings.truncation + step.sizes, beta + step.counts
        step = hosts.linear(hosts.layout.weighted(mean_log_labels(rho, hosts.layout)), mean_log_weights(xi))
        bounds.append(bound(step, alpha, beta, hosts.layout, settings))
        if iteration > settings.hold and bounds[-1] - bounds[-2] <= settings.tolerance * abs(bounds[-1]):
            return Fit(step, alpha, beta, np.array(bounds), True)
    return Fit(step, alpha, beta, np.array(bounds), False)


def mean_log_weights(xi: Floats) -> Floats:
    """E[log π_k] = Ψ(ξ_k) − Ψ(Σ ξ)."""
    return np.asarray(digamma(xi) - digamma(xi.sum()))


def mean_log_labels(rho: Floats, layout: Layout) -> Floats:
    """E[log θ_kmj] = Ψ(ρ_kmj) − Ψ(Σ_j ρ_kmj), (Σ J_m, clusters)."""
    return np.asarray(digamma(rho) - digamma(layout.per_clustering(rho))[layout.owner])


PATIENCE = 50  # iterations before the updates are damped
DAMPING = 0.5  # share of the old responsibilities that is then kept: this ends cycles and keeps the fixed points


def fit_cvb(hosts: Hosts, settings: Settings, rng: np.random.Generator) -> Fit:
    """One run from a random start: all items are updated at once, until no responsibility changes by more than
    `tolerance`.

    The first-order updates need not raise the bound, so it is only used to compare runs and to learn α0 and β.
    """
    alpha, beta = settings.alpha_start, settings.beta_start
    step = random_start(hosts, settings.truncation, rng)
    bounds: list[float] = []
    for iteration in range(settings.max_iter):
        if settings.sticks:
            step = _largest_first(hosts, step)
        kept = DAMPING if iteration >= PATIENCE else 0.0
        step = hosts.collapsed(step, alpha, beta, settings.sticks, kept)
        before = alpha, beta
        if iteration >= settings.hold:
            alpha, beta = learn(step, alpha, beta, hosts.layout, settings)
        bounds.append(bound(step, alpha, beta, hosts.layout, settings))
        moved = max(step.change, abs(alpha / before[0] - 1.0), abs(beta / before[1] - 1.0))
        if iteration > settings.hold and moved <= settings.tolerance:
            return Fit(step, alpha, beta, np.array(bounds), True)
    return Fit(step, alpha, beta, np.array(bounds), False)


def _largest_first(hosts: Hosts, step: Step) -> Step:
    """Number the sticks by decreasing size: the order of the same clusters that has the highest prior probability."""
    order = np.argsort(-step.sizes, kind="stable")
    hosts.reorder(order)
    return Step(step.counts[:, order], step.sizes[order], step.entropy, step.change)
