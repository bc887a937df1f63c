"""Clusters made of several components: FOLD, solved as a problem of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_array

from partita._support.arrays import Floats, Ints, Labels
from partita._support.hints import plural
from partita._support.memory import check_fits
from partita._support.validate import check_positive, seed_and_generator
from partita.draws.sample import PartitionSample, as_sample
from partita.estimation.estimate import estimate
from partita.estimation.pair_estimate import PairEstimate
from partita.losses.losses import Binder
from partita.models.mixtures.kernel_distances import Kernels, expected_distances, kernels_of
from partita.pairs.losses import pair_loss
from partita.pairs.probabilities import Similarity, as_similarity
from partita.partitions.labels import canonical, contingency
from partita.search.settings import Search

if TYPE_CHECKING:
    from partita.losses.base import Loss
    from partita.proofs.bounds import Bound
    from partita.uncertainty.ball import CredibleBall

#: Two equal Gaussians so many standard deviations apart are where their mixture ceases to have one mode.
ONE_MODE = 2.0
#: Hellinger distance of these two.
MODE_DISTANCE = float(np.sqrt(1 - np.exp(-(ONE_MODE**2) / 8)))
#: Distances below which items are joined, along the path.
PATH = (0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
#: Cuts of the average-linkage tree that a search may start from.
CUTS = 30
#: With more items, so many of them represent all.
MOST_ITEMS = 1000
PATH_SEARCH = Search(runs=1)


@dataclass(frozen=True)
class FusionStep:
    """One value of ω along a path: what two items cost apart, the distance below which they join, and the result."""

    omega: float
    distance: float
    n_clusters: int
    expected_loss: float
    proven: bool


@dataclass(frozen=True, eq=False, repr=False)
class FusedEstimate(PairEstimate):
    """Clusters made of several mixture components: the result of `fuse`, and otherwise a `PairEstimate`.

    Attributes
    ----------
    omega : float
        The cost of separating two items with the same kernel; joining two items without any overlap costs 1.
    path : tuple of FusionStep
        The number of clusters for other ω, in increasing order.
    mean_components : float
        Posterior mean of the number of components.
    representatives : (m,) integer array or None
        The items that were clustered, if there are too many for a matrix of all pairs; the others joined the cluster
        of least cost. `similarity`, `expected_loss`, `proven` and `bound` are then about these items.
    """

    presented_by = "partita.results.fused.FusedPresentation"

    omega: float = 1.0
    path: tuple[FusionStep, ...] = ()
    mean_components: float = 0.0
    representatives: Ints | None = None
    _kernels: Any = field(default=None, repr=False)

    @cached_property
    def draws(self) -> PartitionSample:
        """Of each draw that was used, the fused components: the partition of least loss by its own distances."""
        kernels = self._kernels
        n, used = kernels.sample.n_items, kernels.draws
        check_fits(4 * n * len(used), f"{len(used):,} draws of {n:,} items")
        joined = fused_components(used, self.omega)
        rows = np.array([own[labels] for own, (labels, _) in zip(joined, used, strict=True)], np.uint32)
        chains = kernels.sample.chains if len(used) == kernels.sample.n_draws else None
        equal = chains is not None and np.ptp(np.bincount(chains)) == 0
        return as_sample(rows.reshape(kernels.sample.n_chains, -1, n) if equal else rows, names=kernels.sample.names)

    def ball(self, level: float = 0.95, loss: str | Loss = "vi") -> CredibleBall:
        """The credible ball around these clusters, of the draws with their components fused.

        Parameters
        ----------
        level : float
            Share of the posterior in the ball.
        loss : str or Loss
            What distances are measured by.
        """
        from partita.uncertainty.ball import credible_ball

        return credible_ball(self.labels, self.draws, level=level, loss=loss)

    def bound(self, seconds: float = 10.0) -> Bound:
        """See `PairEstimate.bound`."""
        return self._core.bound(seconds)

    @property
    def _core(self) -> PairEstimate:
        """The estimate of the items that were clustered."""
        own = {field.name: getattr(self, field.name) for field in fields(PairEstimate)}
        if self.representatives is not None:
            own["labels"] = canonical(self.labels[self.representatives])
        return PairEstimate(**own)

    def in_words(self) -> str:
        """The answer in a sentence."""
        components = plural(round(self.mean_components), "component")
        mean, verb = f"posterior mean {self.mean_components:.1f}", "makes" if components.startswith("1 ") else "make"
        return f"The {components} of the mixture ({mean}) {verb} {plural(self.n_clusters, 'cluster')}."

    def _facts(self) -> list[tuple[str, str]]:
        told = f"{self.mean_components:.1f} components on average; omega {self.omega:.4g}"
        facts = [*super()._facts(), ("fused", told)]
        if self.representatives is not None:
            facts.append(("represented", f"by {plural(len(self.representatives), 'item')}"))
        return facts


def fuse(
    chain: Any,
    omega: float | None = None,
    *,
    means: ArrayLike | None = None,
    covariances: ArrayLike | None = None,
    search: Search | None = None,
    rng: Any = None,
) -> FusedEstimate:
    """Clusters that may consist of several mixture components: fusing of localised densities (FOLD).

    A mixture of Gaussians needs several components for one skewed or curved cluster. With Δ_ij the posterior mean of
    the Hellinger distance between the kernels of items i and j, the partition c minimises

    Σ_{i<j} 1{c_i = c_j} Δ_ij + ω 1{c_i ≠ c_j} (1 − Δ_ij),

    which is Binder(a=ω, b=1) of pair probabilities π = 1 − Δ: it is searched as such, with a bound and, where possible,
    a proof. Two items alone are joined if Δ_ij < ω / (1 + ω). Larger ω give fewer clusters; `path` has the numbers, and
    ``ball()`` the uncertainty: the ball of the partitions that minimise the loss of each draw by its own distances.

    Parameters
    ----------
    chain : Chain of `GaussianDPM`, or draws with ``means`` and ``covariances``
        Posterior draws. The kernels of a `GaussianDPM` are drawn from their posterior given the data and each
        partition. Of other samplers, labels as the sampler numbers them: integers, (draws, items) or (chains, draws,
        items).
    omega : float, optional
        By default γ / (1 − γ), about 1.68, where γ is the Hellinger distance of two equal Gaussians two standard
        deviations apart: nearer ones have a mixture with a single mode.
    means : (draws, components, d) array_like, optional
        Means of the components of each draw, by the sampler's labels; with chains (chains, draws, components, d).
    covariances : (draws, components, d, d) or (draws, components, d) array_like, optional
        Their covariance matrices, or variances.
    search : Search, optional
        Settings of the search.
    rng : None, int or numpy Generator
        Seed or source of random numbers; the same seed gives the same result.

    Returns
    -------
    FusedEstimate
        Above 1,000 items a random 1,000 are clustered, and each of the others joins the cluster of least cost, in time
        proportional to their number. At most 2,000 draws are used, evenly spread over the chain.

    Examples
    --------
    >>> import partita as pt
    >>> X = np.random.default_rng(1).exponential(size=(150, 1))
    >>> chain = pt.models.GaussianDPM("diag").sample(X, draws=200, warmup=300, chains=2, rng=1)
    >>> found = fuse(chain, rng=1)
    >>> found.n_clusters < found.mean_components
    True

    References
    ----------
    Dombowsky & Dunson (2024), J. Am. Stat. Assoc.; the default of ω is our own choice.
    """
    seed, generator = seed_and_generator(rng)
    kernels = kernels_of(chain, means, covariances, generator)
    weight = check_positive(MODE_DISTANCE / (1 - MODE_DISTANCE) if omega is None else omega, "omega")
    chosen = _representatives(kernels.sample.n_items, generator)
    distances = expected_distances(kernels, chosen)
    pairs = as_similarity(1 - distances, _names(kernels.sample, chosen))
    cuts = tree_cuts(distances)
    best = _solved(pairs, weight, cuts, search or Search(), generator)
    best = replace(best, seed=seed)
    path: list[FusionStep] = []
    for distance in PATH:
        if best.interrupted:
            break
        step, interrupted = _step(pairs, distance, cuts, generator)
        best = replace(best, interrupted=interrupted)
        path += [step] * (not interrupted)
    labels = best.labels if chosen is None else _joined(kernels, chosen, best.labels, weight)
    own = {field.name: getattr(best, field.name) for field in fields(PairEstimate)} | {"labels": labels}
    components = float(kernels.sample.weights @ kernels.sample.n_clusters)
    return FusedEstimate(
        **own, omega=weight, path=tuple(path), mean_components=components, representatives=chosen, _kernels=kernels
    )


def fused_components(draws: Sequence[tuple[Labels, Floats]], omega: float) -> list[Labels]:
    """For each draw the cluster of each of its components: the least loss by the draw's own distances.

    Joining components a and b costs n_a n_b ((1 + ω) H_ab − ω) beyond what apart costs. Divided by the largest n_a n_b
    of the draw this is 1 − (1 + ω) p for a pair probability p, under the same Binder loss; as no pair of different
    draws attracts, all draws are one problem, which is solved in parts.
    """
    sizes = [np.bincount(labels, minlength=len(own)).astype(np.float64) for labels, own in draws]
    starts = np.concatenate([[0], np.cumsum([len(own) for own in sizes])])
    rows, columns, probabilities = [], [], []
    for start, own, (_, distance) in zip(starts, sizes, draws, strict=False):
        a, b = np.triu_indices(len(own), 1)
        weight = own[a] * own[b]
        cost = weight * ((1 + omega) * distance[a, b] - omega) / max(1.0, weight.max(initial=0.0))
        rows.append(start + a)
        columns.append(start + b)
        probabilities.append((1 - cost) / (1 + omega))
    n = int(starts[-1])
    entries = (np.clip(np.concatenate(probabilities), 0, 1), (np.concatenate(rows), np.concatenate(columns)))
    upper = coo_array(entries, (n, n))
    pairs = as_similarity((upper + upper.T).tocsr())
    found = estimate(pairs, Binder(a=omega, b=1), search=PATH_SEARCH, rng=0).labels
    return [found[start:end] for start, end in pairwise(starts)]


def tree_cuts(distances: Floats) -> Labels:
    """The cuts of the average-linkage tree into 1, 2, ..., `CUTS` clusters, (cuts, items)."""
    from scipy.cluster.hierarchy import cut_tree, linkage
    from scipy.spatial.distance import squareform

    n = len(distances)
    if n < 2:
        return np.zeros((1, n), np.int64)
    tree = linkage(squareform(distances, checks=False), "average")
    return np.asarray(cut_tree(tree, n_clusters=np.arange(1, min(n, CUTS) + 1)).T, np.int64)


def _solved(pairs: Similarity, omega: float, cuts: Labels, search: Search, rng: np.random.Generator) -> PairEstimate:
    """The partition of least loss; the search also starts from the best cut of the tree, so that none is better."""
    loss = Binder(a=omega, b=1)
    start = min(cuts, key=lambda labels: pair_loss(labels, pairs, loss))
    found: PairEstimate = estimate(pairs, loss, search=search, start=start, rng=rng)
    return found


def _step(pairs: Similarity, distance: float, cuts: Labels, rng: np.random.Generator) -> tuple[FusionStep, bool]:
    """A step of the path, and whether it was interrupted."""
    omega = distance / (1 - distance)
    found = _solved(pairs, omega, cuts, PATH_SEARCH, rng)
    return FusionStep(omega, distance, found.n_clusters, found.expected_loss, found.proven), found.interrupted


def _representatives(n_items: int, rng: np.random.Generator) -> Ints | None:
    return None if n_items <= MOST_ITEMS else np.sort(rng.choice(n_items, MOST_ITEMS, replace=False))


def _names(sample: PartitionSample, chosen: Ints | None) -> list[str] | None:
    if sample.names is None:
        return None
    return list(sample.names) if chosen is None else [sample.names[i] for i in chosen.tolist()]


def _joined(kernels: Kernels, chosen: Ints, labels: Labels, omega: float) -> Labels:
    """All items: each joins the cluster C of representatives with the least Σ_{j in C} Δ_ij − ω (1 − Δ_ij).

    Per draw the sums of distances are (clusters of the draw × reported clusters) numbers, looked up by label.
    """
    clusters = int(labels.max()) + 1
    total = np.zeros((kernels.sample.n_items, clusters))
    for drawn, distance in kernels:
        total += (distance @ contingency(drawn[chosen], labels, (len(distance), clusters)))[drawn]
    cost = (1 + omega) * total / len(kernels.draws) - omega * np.bincount(labels)
    found = cost.argmin(axis=1)
    found[chosen] = labels
    return canonical(found)
