"""The dependence of base clusterings beyond what their consensus explains, and the weights that follow.

docs/ensembles.md derives the weights. In short: where one factor explains what clusterings have in common but for
shared errors (`shared_errors`), ρ_mm' is the correlation of the errors. Elsewhere let Z be the weighted consensus of
the distinct clusterings. Given Z, independent clusterings share no information, and copies share all of it:

    ρ_mm' = [I(Y_m; Y_m' | Z) − E] / [min(H(Y_m | Z), H(Y_m' | Z)) − E],

with E the information that chance alone gives: that of labels shuffled within the clusters of Z. The weight of Y_m is
1 / (r_m Σ_m' ρ_mm'), where the sum is over distinct clusterings, itself included, and r_m counts the copies of Y_m.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from partita._support.arrays import Floats
from partita._support.shown import Noted
from partita._support.warn import warn_user
from partita.ensembles.base_clusterings import Base, as_base, in_column_order
from partita.ensembles.consensus import consensus
from partita.ensembles.layout import Layout, arranged
from partita.ensembles.shared_errors import shared_errors
from partita.partitions.labels import canonical
from partita.search.settings import Search

MAX_ITEMS = 10_000  # dependence is estimated on at most this many items, chosen at random
MAX_ARRANGED = 100_000  # of more items, so many are chosen by their places before they are put in an order of their own
SHUFFLES = 4  # the information by chance is the mean over this many shuffles
SEED = 20  # of the choice of items, the consensus and the shuffles
COPY = 1.0 - 1e-9  # clusterings with this ρ or more are copies
ROUNDS = 3  # of consensus and weights, each given the other
SHARPNESS = 8  # the start counts clusterings as alike by this power of their (adjusted) mutual information
MIN_INFORMATION = 1e-9  # per item: below it, a clustering has nothing that the consensus does not explain


@dataclass(frozen=True)
class Dependence(Noted):
    """The dependence of base clusterings.

    Attributes
    ----------
    matrix : (clusterings, clusterings) array
        ρ: 0 for clusterings whose errors are independent, apart from chance, which may make it slightly
        negative; 1 for copies.
    weights : (clusterings,) array
        What each clustering adds to the ensemble, from 0 (nothing, it is left out) to 1 (as much as an independent
        one).
    consensus : (items,) integer array
        The weighted consensus; −1 for items that were left out.
    """

    matrix: Floats
    weights: Floats
    consensus: NDArray[np.intp]

    @property
    def effective(self) -> float:
        """The effective number of independent clusterings: the sum of the weights."""
        return float(self.weights.sum())

    @cached_property
    def copies(self) -> list[list[int]]:
        """Groups of identical clusterings, each with at least two members."""
        first = np.argmax(self.matrix >= COPY, axis=1)
        groups = [np.flatnonzero(first == m).tolist() for m in np.unique(first)]
        return [group for group in groups if len(group) > 1]

    def __repr__(self) -> str:
        return f"Dependence: {len(self.weights)} clusterings count as {self.effective:.1f} independent ones"


def dependence(base: Any) -> Dependence:
    """The dependence of base clusterings beyond what their consensus explains.

    Parameters
    ----------
    base : (items, clusterings) labels
        The base clusterings, in any form that `as_base` takes; of membership probabilities, the most probable labels
        are compared.

    Returns
    -------
    Dependence
        The table of pairs and the weight of each clustering, which `NBCE(weights="dependence")` uses.

    Examples
    --------
    >>> base = [[0, 0, 1], [0, 0, 1], [1, 1, 0], [1, 1, 0]]  # three copies
    >>> dependence(base)
    Dependence: 3 clusterings count as 1.0 independent ones
    """
    read = as_base(base).hardened().noise_as_label()
    if not read.labelled.any():
        raise ValueError(f"base has no labels: all labels of the {read.n_items} items are missing")
    first, group = distinct_clusterings(read)
    rng = np.random.default_rng(SEED)
    some = np.arange(read.n_items)
    if read.n_items > MAX_ARRANGED:
        some = np.sort(np.random.default_rng(SEED).choice(read.n_items, MAX_ARRANGED, replace=False))
    ordered = arranged(read.rows(some).columns(first))  # random numbers meet the same items, whatever their order
    labelled = np.flatnonzero(ordered.base.labelled)
    chosen = np.sort(rng.choice(labelled, min(len(labelled), MAX_ITEMS), replace=False))
    matrix, given = _found(ordered.base.rows(chosen), rng)
    place = np.argsort(ordered.columns)[group]
    matrix, items = matrix[np.ix_(place, place)], some[ordered.rows[chosen]]
    spread = np.full(read.n_items, -1, dtype=np.intp)
    spread[items] = given
    return Dependence(matrix, weights_of(matrix), spread)


def _found(base: Base, rng: np.random.Generator) -> tuple[Floats, NDArray[np.intp]]:
    """ρ and the consensus that belong to each other: the consensus has the weights that follow from ρ, and conversely.

    The start gives little weight to clusterings that are almost the same: many of them would be their own consensus,
    given which they share nothing. If one factor explains what clusterings without shared errors have in common, ρ is
    that of the errors, which needs no consensus.
    """
    alike = conditional_dependence(base, np.zeros(base.n_items, dtype=np.intp), rng)
    weights = weights_of(np.where(alike >= COPY, 1.0, np.maximum(alike, 0.0) ** SHARPNESS))
    by_errors = shared_errors(base, weights, np.random.default_rng(SEED))
    if by_errors is not None:
        return by_errors, _consensus(base, weights_of(by_errors))
    for _ in range(ROUNDS):
        given = _consensus(base, weights)
        matrix = conditional_dependence(base, given, rng)
        weights = weights_of(matrix)
    return matrix, given


def _consensus(base: Base, weights: Floats) -> NDArray[np.intp]:
    stream = np.random.default_rng(SEED)
    return consensus(base, weights=weights, search=Search(runs=4), rng=stream)


def weights_of(matrix: Floats) -> Floats:
    """1 / (r_m Σ ρ_mm'), the sum over distinct clusterings; copies are those with ρ = 1 and count as one."""
    same = matrix >= COPY
    copies = same.sum(axis=1)
    neighbours = (matrix / copies).sum(axis=1)  # each group of copies adds its ρ once
    return np.asarray(1.0 / (copies * np.maximum(neighbours, 1.0)))


def distinct_clusterings(base: Base) -> tuple[list[int], NDArray[np.intp]]:
    """One clustering for each group of identical ones, whatever their labels are called, and the group of each."""
    groups: dict[bytes, int] = {}
    first, group = [], np.empty(base.n_clusterings, dtype=np.intp)
    for m in range(base.n_clusterings):
        codes = base.codes[:, m].astype(np.int64)
        key = np.where(codes < 0, -1, canonical(codes - codes.min())).tobytes()
        if key not in groups:
            first.append(m)
        group[m] = groups.setdefault(key, len(groups))
    return first, group


def conditional_dependence(base: Base, given: NDArray[np.intp], rng: np.random.Generator) -> Floats:
    """ρ of each pair of clusterings given a partition of the items, (clusterings, clusterings)."""
    shared, entropy, chance = _beyond_chance(base, given, rng)
    return _shares(shared, np.minimum(entropy, entropy.T) - chance, base.n_items)


def shared_information(base: Base, given: NDArray[np.intp], rng: np.random.Generator) -> tuple[Floats, Floats]:
    """[I(Y_m; Y_m' | Z) − E] / [H(Y_m | Z) − E], 0 where Z explains Y_m completely; and H(Y_m | Z) in nats per item."""
    shared, entropy, chance = _beyond_chance(base, given, rng)
    return _shares(shared, entropy - chance, base.n_items), np.diag(entropy) / base.n_items


def _beyond_chance(base: Base, given: NDArray[np.intp], rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """n (I − E), n H and n E of each pair of clusterings given a partition; E is the information by chance."""
    layout = Layout.plain(base.sizes)
    shared, entropy = information(base, given, layout)
    chance = np.zeros_like(shared)
    for _ in range(SHUFFLES):
        chance += information(shuffled(base, given, rng), given, layout)[0] / SHUFFLES
    return shared - chance, entropy, chance


def _shares(shared: Floats, room: Floats, n_items: int) -> Floats:
    """Shared information as a share of what could be shared, at most 1; 1 on the diagonal."""
    enough = room > MIN_INFORMATION * n_items
    matrix = np.divide(shared, room, out=np.zeros_like(shared), where=enough)
    np.fill_diagonal(matrix, 1.0)
    return np.minimum(matrix, 1.0)


def shuffled(base: Base, given: NDArray[np.intp], rng: np.random.Generator) -> Base:
    """Each clustering's labels exchanged at random among the items of a cluster; missing labels stay where they are."""
    codes = base.codes.copy()
    for cluster in range(int(given.max()) + 1):
        members = np.flatnonzero(given == cluster)
        for m in range(base.n_clusterings):
            seen = members[base.codes[members, m] >= 0]
            codes[seen, m] = base.codes[rng.permutation(seen), m]
    return Base(codes, base.levels)


def information(base: Base, given: NDArray[np.intp], layout: Layout) -> tuple[Floats, Floats]:
    """n I(Y_m; Y_m' | Z) and n H(Y_m | Z) on the items that both label, in nats, (clusterings, clusterings)."""
    shared = np.zeros((base.n_clusterings, base.n_clusterings))
    entropy = np.zeros_like(shared)
    for table in _tables(base, given):
        margins = layout.per_clustering(table, axis=1)  # labels of m among the items that m' labels
        both = xlogy(total := layout.per_clustering(margins), total)
        own = layout.per_clustering(xlogy(margins, margins))
        cells = layout.per_clustering(layout.per_clustering(xlogy(table, table)), axis=1)
        shared += cells - own - own.T + both
        entropy += both - own
    return shared, entropy


def _tables(base: Base, given: NDArray[np.intp]) -> Iterator[Floats]:
    """For each cluster, how many of its items have each pair of labels, (Σ J_m, Σ J_m)."""
    labels = base.memberships()
    for cluster in range(int(given.max()) + 1):
        members = labels[given == cluster]
        yield (members.T @ members).toarray()


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
