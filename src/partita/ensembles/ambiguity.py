"""How many clusters: the number at which pairs of items are most clearly together or apart in resampled runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from partita._support.arrays import Floats
from partita._support.shown import Noted, rows_table
from partita._support.tolerance import ROUNDING
from partita._support.validate import check_probability, check_rng
from partita.ensembles.association import co_association
from partita.ensembles.base_clusterings import Base, as_base

GRID = np.linspace(0.0, 1.0, 101)  # shares at which the distribution is given
MAX_ITEMS = 2000  # pairs of at most this many items, chosen at random, are counted


@dataclass(frozen=True, eq=False)
class Ambiguity(Noted):
    """How clearly pairs of items are together or apart, by number of clusters: the result of `ambiguity`.

    Attributes
    ----------
    k : (numbers,) integer array
        The numbers of clusters.
    pac : (numbers,) array
        Proportion of ambiguous clustering: the share of pairs whose co-association is between the limits.
    grid, cdf : (101,) and (numbers, 101) arrays
        Values of the co-association, and for each number of clusters the share of pairs with at most that value.
    limits : (float, float)
        The two limits.
    """

    k: np.ndarray
    pac: Floats
    grid: Floats
    cdf: Floats
    limits: tuple[float, float]

    @property
    def best(self) -> int:
        """The number of clusters with the least ambiguity; of equal ones the largest."""
        least = np.flatnonzero(self.pac <= self.pac.min() + ROUNDING)
        return int(self.k[least[-1]])

    def __repr__(self) -> str:
        listed = ", ".join(f"{k}: {value:.3f}" for k, value in zip(self.k.tolist(), self.pac.tolist(), strict=True))
        return f"Ambiguity: {self.best} clusters are the least ambiguous (PAC by number of clusters: {listed})"

    def _repr_html_(self) -> str:
        rows = [[str(k), f"{value:.3f}"] for k, value in zip(self.k.tolist(), self.pac.tolist(), strict=True)]
        return rows_table(f"Ambiguity: {self.best} clusters", ("clusters", "PAC"), rows)


def ambiguity(
    bases: Mapping[int, Any],
    *,
    limits: tuple[float, float] = (0.1, 0.9),
    weights: Mapping[int, ArrayLike] | None = None,
    rng: Any = None,
) -> Ambiguity:
    """Choose a number of clusters by how clearly resampled runs put pairs of items together or apart.

    With M_ij the share of the runs with k clusters that label i and j in which they are together, and F its
    distribution over pairs, PAC(k) = F(u−) − F(l): the share of pairs that are neither nearly always together (u or
    more) nor nearly never (l or less). The runs must differ, or every k looks stable: cluster a random share of the
    items in each.

    Parameters
    ----------
    bases : dict
        Base clusterings by number of clusters, for example, with KMeans of scikit-learn, ``{k: kmeans_ensemble(X,
        clusterers=[KMeans(k, n_init=10)] * 50, resample=0.8) for k in range(2, 9)}``. Runs that end in poor local
        optima (few starts) make every k look ambiguous.
    limits : (float, float)
        The co-association up to which a pair counts as apart, and that from which on it counts as together.
    weights : dict of (clusterings,) array_like, optional
        Weights of the runs by number of clusters; equal by default.
    rng : None, int or numpy Generator
        Seed or source of random numbers: above 2,000 items, a random choice of them is compared.

    Notes
    -----
    PAC compares numbers of clusters from 2 on; it cannot say that there is only one cluster. It tends to fall when k
    grows far beyond the number of clusters, since most pairs are then apart: look at the curve (`plots.consensus_cdf`)
    and not at the minimum alone.

    Examples
    --------
    >>> halves = [[0, 0, 0], [0, 0, 0], [1, 1, 1], [1, 1, 1]]
    >>> thirds = [[0, 0, 0], [1, 0, 2], [1, 1, 1], [2, 2, 2]]
    >>> ambiguity({2: halves, 3: thirds}).pac.round(2).tolist()
    [0.0, 0.5]

    References
    ----------
    Monti, Tamayo, Mesirov & Golub (2003), Consensus clustering, Machine Learning 52.
    Șenbabaoğlu, Michailidis & Li (2014), Critical limitations of consensus clustering, Scientific Reports 4.
    """
    if not isinstance(bases, Mapping) or not bases:
        raise TypeError("bases must be a dictionary from the number of clusters to base clusterings")
    low, high = (check_probability(limit, "limits") for limit in limits)
    if not low < high:
        raise ValueError(f"limits must rise, but they are {limits}")
    rng = check_rng(rng)
    numbers = sorted(bases)
    shares = [_pair_shares(as_base(bases[k]), None if weights is None else weights.get(k), rng) for k in numbers]
    cdf = np.array([np.searchsorted(values, GRID, side="right") / len(values) for values in shares])
    pac = [float(((values > low) & (values < high)).mean()) for values in shares]
    return Ambiguity(np.array(numbers), np.array(pac), GRID, cdf, (low, high))


def _pair_shares(base: Base, weights: ArrayLike | None, rng: np.random.Generator) -> Floats:
    """The co-association of each pair of different items that some run labels both, in rising order."""
    if base.n_items < 2:
        raise ValueError("bases need at least two items")
    if base.n_items > MAX_ITEMS:
        base = base.rows(np.sort(rng.choice(base.n_items, MAX_ITEMS, replace=False)))
    shares = co_association(base, weights=weights)[np.triu_indices(base.n_items, 1)]
    known = shares[~np.isnan(shares)]
    if not known.size:
        raise ValueError("no run labels two items")
    return np.sort(known)
