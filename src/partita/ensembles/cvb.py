"""Collapsed variational Bayes for NBCE, first order (Wang, Domeniconi & Laskey 2010, eq. 10–11)."""

from __future__ import annotations

import numpy as np

from partita.ensembles.responsibilities import Hosts, Step
from partita.ensembles.variational import Fit, Settings, bound, learn, random_start

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
