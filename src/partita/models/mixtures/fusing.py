"""Clusters made of several components: FOLD, solved as a problem of pairs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from partita._support.arrays import Floats, Ints, Labels
from partita._support.optional import optional
from partita._support.validate import check_positive, seed_and_generator
from partita.draws.sample import PartitionSample, as_sample, check_complete
from partita.estimation.estimate import estimate
from partita.estimation.pair_estimate import PairEstimate
from partita.losses.losses import Binder
from partita.models.mixtures.cluster_means import kernel_drawer
from partita.pairs.losses import pair_loss
from partita.pairs.probabilities import Similarity, as_similarity
from partita.partitions.labels import canonical, contingency
from partita.search.settings import Search

if TYPE_CHECKING:
    from partita.proofs.bounds import Bound

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
#: At most so many draws, evenly spread, give the expected distances.
MOST_DRAWS = 2000
#: Columns of indicators that are multiplied at once.
BLOCK_COLUMNS = 4096
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

    omega: float = 1.0
    path: tuple[FusionStep, ...] = ()
    mean_components: float = 0.0
    representatives: Ints | None = None

    def bound(self, seconds: float = 10.0) -> Bound:
        """See `PairEstimate.bound`."""
        return self._core.bound(seconds)

    def to_pandas(self, table: str = "items") -> Any:
        """The clustering as a Series, the pairs that are most against it ("pairs"), or the path over ω ("path").

        Parameters
        ----------
        table : str
            "items", "pairs" or "path".
        """
        pd = optional("pandas", "tables of results need pandas", "io")
        if table == "path":
            return pd.DataFrame([vars(step) for step in self.path])
        return super().to_pandas(table) if table == "items" else self._core.to_pandas(table)

    @property
    def _core(self) -> PairEstimate:
        """The estimate of the items that were clustered."""
        own = {field.name: getattr(self, field.name) for field in fields(PairEstimate)}
        if self.representatives is not None:
            own["labels"] = canonical(self.labels[self.representatives])
        return PairEstimate(**own)

    def in_words(self) -> str:
        """The answer in a sentence."""
        return f"{self.mean_components:.1f} components on average make {self.n_clusters} clusters."

    def _facts(self) -> list[tuple[str, str]]:
        told = f"{self.mean_components:.1f} components on average; omega {self.omega:.4g}"
        facts = [*super()._facts(), ("fused", told)]
        if self.representatives is not None:
            facts.append(("represented", f"by {len(self.representatives):,} items"))
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
    a proof. Two items alone are joined if Δ_ij < ω / (1 + ω). Larger ω give fewer clusters; `path` has the numbers.

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
    kernels = _kernels(chain, means, covariances, generator)
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
    return FusedEstimate(**own, omega=weight, path=tuple(path), mean_components=components, representatives=chosen)


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


@dataclass(frozen=True, eq=False)
class _Kernels:
    """Draws of partitions with the distances of their clusters."""

    sample: PartitionSample
    draws: tuple[tuple[Labels, Floats], ...]  # labels and (clusters, clusters) distances of each draw that is used

    def __iter__(self) -> Iterator[tuple[Labels, Floats]]:
        return iter(self.draws)


def _kernels(chain: Any, means: Any, covariances: Any, rng: np.random.Generator) -> _Kernels:
    if (means is None) != (covariances is None):
        raise TypeError("means and covariances go together")
    sample = as_sample(chain)
    check_complete(sample, "fuse")
    used = np.unique(np.linspace(0, sample.n_draws - 1, min(sample.n_draws, MOST_DRAWS)).astype(np.int64))
    if means is not None:
        return _Kernels(sample, tuple(_given(chain, np.asarray(means), np.asarray(covariances), sample, used)))
    if not hasattr(getattr(chain, "model", None), "draw_means"):
        raise TypeError("fuse needs a chain of GaussianDPM, or means and covariances of the components")
    draw = kernel_drawer(chain.model, np.asarray(chain.inputs["X"], np.float64))
    rows = (sample.labels[sample.index[t]].astype(np.int64) for t in used)
    return _Kernels(sample, tuple((labels, hellinger(*draw(labels, rng))) for labels in rows))


def _given(
    chain: Any, means: Any, covariances: Any, sample: PartitionSample, used: Ints
) -> Iterator[tuple[Labels, Floats]]:
    labels = np.asarray(chain).reshape(-1, sample.n_items)
    per_draw = [_per_draw(each, name, sample) for each, name in ((means, "means"), (covariances, "covariances"))]
    components = per_draw[0].shape[1]
    if labels.dtype.kind not in "iu" or labels.min() < 0 or labels.max() >= components:
        raise ValueError(f"labels must be whole numbers from 0 to {components - 1}: places of components in means")
    for t in used:
        own, places = np.unique(labels[t], return_inverse=True)
        yield places.astype(np.int64), hellinger(per_draw[0][t, own], per_draw[1][t, own])


def _per_draw(values: Any, name: str, sample: PartitionSample) -> Floats:
    per_chain = (sample.n_chains, sample.n_draws // sample.n_chains)
    if values.shape[:2] == per_chain and values.ndim > 3:
        values = values.reshape(sample.n_draws, *values.shape[2:])
    if values.ndim < 3 or len(values) != sample.n_draws:
        wanted = f"(draws, components, d, ...) for {sample.n_draws} draws"
        raise ValueError(f"{name} has shape {values.shape}; it must be {wanted}")
    return np.asarray(values, np.float64)


def hellinger(means: Floats, covariances: Floats) -> Floats:
    """Hellinger distances √(1 − ∫ √(f g)) of Gaussians: (k, k) from (k, d) means and (k, d[, d]) covariances.

    ∫ √(f g) = |S|^¼ |T|^¼ |(S + T) / 2|^−½ exp(−(m − n)ᵀ (S + T)⁻¹ (m − n) / 4)

    Examples
    --------
    >>> hellinger(np.array([[0.0], [2.0]]), np.ones((2, 1))).round(4).tolist()
    [[0.0, 0.6273], [0.6273, 0.0]]
    """
    off = means[:, None] - means[None]
    both = covariances[:, None] + covariances[None]
    if covariances.ndim == 2:
        logs = np.log(covariances).sum(axis=1)
        half = np.log(both / 2).sum(axis=2)
        form = (off**2 / both).sum(axis=2)
    else:
        logs = np.linalg.slogdet(covariances)[1]
        half = np.linalg.slogdet(both / 2)[1]
        form = (off * np.linalg.solve(both, off[..., None])[..., 0]).sum(axis=2)
    overlap = np.exp((logs[:, None] + logs[None]) / 4 - half / 2 - form / 4)
    found = np.sqrt(np.clip(1 - overlap, 0, 1))
    np.fill_diagonal(found, 0)
    return np.asarray(found)


def expected_distances(kernels: Any, items: Ints | None = None) -> Floats:
    """Mean over draws of the distances between the kernels of items, (n, n); of some items if they are given.

    Σ_t H_t[z_t, z_t] is Σ_t (Z_t H_t) Z_tᵀ with indicators Z_t of the clusters: a product of two wide matrices, made of
    some draws at a time. Single precision suffices for them, as sums are kept in double precision.
    """
    total, count = np.zeros(0), 0
    left: list[Any] = []
    right: list[Any] = []

    def add() -> None:
        nonlocal total
        product = np.hstack(left) @ np.hstack(right).T
        total = product.astype(np.float64) if total.size == 0 else total + product

    for labels, distance in kernels:
        own = labels if items is None else labels[items]
        left.append(distance[own].astype(np.float32))
        right.append((own[:, None] == np.arange(len(distance))).astype(np.float32))
        count += 1
        if sum(part.shape[1] for part in right) >= BLOCK_COLUMNS:
            add()
            left, right = [], []
    if left:
        add()
    found = np.clip((total + total.T) / (2 * count), 0, 1)
    np.fill_diagonal(found, 0)
    return np.asarray(found)


def _representatives(n_items: int, rng: np.random.Generator) -> Ints | None:
    return None if n_items <= MOST_ITEMS else np.sort(rng.choice(n_items, MOST_ITEMS, replace=False))


def _names(sample: PartitionSample, chosen: Ints | None) -> list[str] | None:
    if sample.names is None:
        return None
    return list(sample.names) if chosen is None else [sample.names[i] for i in chosen.tolist()]


def _joined(kernels: _Kernels, chosen: Ints, labels: Labels, omega: float) -> Labels:
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
