"""The priors of what edges carry: counts, weights, categories."""

from __future__ import annotations

from dataclasses import dataclass

from partita._support.settings import SettingsGroup


@dataclass(frozen=True)
class EdgePrior(SettingsGroup):
    """The priors of counts, real weights, categories and signs in each block; see `StochasticBlockModel`.

    Parameters
    ----------
    a0, b0 : float, float or None
        Shape and rate of the Gamma prior of the rates of counts; None for b0: one over the mean of the observed dyads.
    weight_prior : (mu0, kappa0, shape, rate), optional
        Normal–Gamma prior of real weights: see `StochasticBlockModel`.
    category_prior : float
        Dirichlet parameter of the probabilities of categories and signs.

    Examples
    --------
    >>> from partita.models import EdgePrior, StochasticBlockModel
    >>> StochasticBlockModel(edges="counts", edge_prior=EdgePrior(a0=2.0)).a0
    2.0
    """

    a0: float = 1.0
    b0: float | None = None
    weight_prior: tuple[float, float, float, float] | None = None
    category_prior: float = 1.0
