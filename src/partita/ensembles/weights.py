"""Weights of base clusterings: given by the user, or found from the dependence of the clusterings."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.arrays import Floats
from partita._support.warn import warn_user
from partita.ensembles.base_clusterings import Base, in_column_order
from partita.ensembles.dependence import COPY, Dependence, dependence

FEW = 0.5  # the plain model warns if the clusterings count as fewer than this share of their number


def check_weighting(weights: Any) -> None:
    """Checks that weights is "dependence", None or not a string."""
    if isinstance(weights, str) and weights != "dependence":
        raise ValueError(f"weights must be 'dependence', None or one number per clustering, but it is {weights!r}")


def as_powers(weights: Any, base: Any, read: Base) -> tuple[Floats, Dependence | None]:
    """The powers w_m, from 0 to 1, of the clusterings' likelihoods, and their dependence if it was estimated."""
    if weights is None or isinstance(weights, str):
        found = dependence(read)
        return powers_from(found, weights, informative(read)), found
    return check_powers(in_column_order(weights, base, read.n_clusterings)), None


def informative(base: Base) -> NDArray[np.bool_]:
    """Which clusterings have at least two labels; the others carry no information about the consensus."""
    return np.asarray(base.sizes > 1)


def powers_from(found: Dependence, weights: str | None, informative: NDArray[np.bool_]) -> Floats:
    """The weights that follow from dependence; all 1 for the plain model, which warns if dependence is high.

    If all informative clusterings are copies of one, their weights are 1 too: one clustering does not identify a
    mixture (a single cluster with the shares of its labels explains it as well), and nothing is weighed against it.
    """
    n_clusterings = len(found.weights)
    if (found.matrix[informative][:, informative] >= COPY).all():
        return np.ones(n_clusterings)
    if weights is not None:
        return found.weights
    warn_dependent(found)
    return np.ones(n_clusterings)


def consensus_weights(base: Base) -> Floats:
    """The weights by dependence for a consensus of least loss.

    A clustering with a single label repeats no other and would count fully, against many copies of another that count
    as one: it counts as much as the others on average. Runs of `repeat` are independent, and all count the same.
    """
    if base.independent:
        return np.ones(base.n_clusterings)
    weights, known = dependence(base).weights, informative(base)
    return np.where(known, weights, weights[known].mean()) if known.any() else weights


def check_powers(values: Floats) -> Floats:
    """The values, if none is above 1."""
    if (large := np.flatnonzero(values > 1)).size:
        raise ValueError(f"weights[{large[0]}] is {values[large[0]]}, but the power of a likelihood is at most 1")
    return values


def warn_dependent(found: Dependence) -> None:
    """Warns if the plain model, which takes clusterings as independent, is far from its assumption."""
    n_clusterings = len(found.weights)
    if n_clusterings > 1 and found.effective < FEW * n_clusterings:
        warn_user(
            f"the {n_clusterings} base clusterings repeat each other: they count as {found.effective:.1f} independent "
            "ones, but weights=None takes them as independent, which gives too many clusters with too much certainty; "
            "use weights='dependence'"
        )
