"""NBCE by variational Bayes (Section 5.2 of the paper) and collapsed variational Bayes, first order (eq. 10–11)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy.special import digamma

from partita._support.arrays import Floats
from partita._support.settings import SettingsGroup
from partita._support.tolerance import TIE
from partita._support.warn import warn_user
from partita.ensembles.hyper import GammaPrior, fsd_curve, label_curve, newton, tsb_curve
from partita.ensembles.layout import Layout
from partita.ensembles.responsibilities import Hosts, Step

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
    weights = np.concatenate(
        [np.log(rng.dirichlet(np.ones(size), truncation).T + 1e-12) for size in hosts.layout.sizes]
    )
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
