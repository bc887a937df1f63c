"""The nested block model: clusters of nodes, groups of clusters, groups of groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, gammainc
from scipy.stats import beta, gamma

from partita._support.arrays import Floats
from partita._support.hints import plural
from partita._support.shown import ShownAsText
from partita._support.validate import (
    check_choice,
    check_count,
    check_level,
    check_rng,
    check_shape,
    checked_log_density,
)
from partita.models.networks.base import NetworkModel
from partita.models.networks.core import EdgeModel, check_degree_correction, constant, mean_rate, native_model
from partita.models.networks.fit import BlockFit, Blocks, block_counts, check_pairs, node_labels
from partita.models.networks.graph import Graph
from partita.models.networks.nested_prior import MeanGrid, make_grid, mean_weights, once
from partita.models.networks.nested_search import Nested, NestedObjective, refine
from partita.models.networks.sbm import StochasticBlockModel
from partita.models.networks.shares import share_products
from partita.models.search_runs import check_time_limit, merge_path
from partita.partitions.labels import HasClusters, canonical
from partita.partitions.lattice import refines
from partita.search.deadline import Deadline

LEFT_OUT = 1e-4  # of the weight of the means, in intervals
HALVINGS = 50


@dataclass(frozen=True, eq=False)
class NestedLevel(HasClusters, ShownAsText):
    """One level: `labels` (nodes,) canonical, and `icl`, log p(X, levels) of the model that begins at this level, with
    the same levels above it: what is lost if the levels below are left out."""

    labels: NDArray[np.int64]
    icl: float

    def __repr__(self) -> str:
        return f"NestedLevel({plural(self.n_clusters, 'cluster')}, ICL {self.icl:.3f})"


@dataclass(frozen=True, eq=False, repr=False)
class NestedFit(BlockFit):
    """The levels of largest ICL that were found.

    Attributes
    ----------
    labels : (nodes,) integer array
        The finest level, canonical labels.
    icl : float
        log p(X, z_1, …, z_L | K_1, …, K_L), natural logarithm, constants included.
    levels : tuple of NestedLevel
        The levels from fine to coarse; above the last one is a single group of all nodes.
    path : MergePath
        Greedy merges of the finest level by the ICL of the flat model.
    runs, times_reached, notes : tuple, int, tuple
        As for `BlockFit`, of the best of the flat searches from which the levels were refined.
    """

    levels: tuple[NestedLevel, ...]
    grid: MeanGrid
    parents: tuple[NDArray[np.int64], ...]

    def blocks(self, level: float = 0.95) -> Blocks:
        """Block probabilities with equal-tailed credible intervals, averaged over the means of their priors."""
        level = check_level(level)
        edges, dyads = block_counts(self.graph, self.edges, self.labels, self.labels)
        first, second, weight = self._posterior(edges, dyads)
        mean = first / second if self.edges.counts else first / (first + second)
        tail = (1 - level) / 2
        ends = [_quantile(first, second, weight, p, self.edges.counts) for p in (tail, 1 - tail)]
        return Blocks((weight * mean).sum(axis=-1), ends[0], ends[1], edges, dyads, level)

    def edge_probability(self, pairs: ArrayLike) -> Floats:
        """Probability of an edge (of at least one, if edges are counts) for (m, 2) pairs of nodes."""
        n = len(self.labels)
        source, target = check_pairs(pairs, (n, n))
        edges, dyads = block_counts(self.graph, self.edges, self.labels, self.labels)
        first, second, weight = (
            each[self.labels[source], self.labels[target]] for each in self._posterior(edges, dyads)
        )
        if not self.edges.counts:
            return np.asarray((weight * first / (first + second)).sum(axis=-1))
        share = share_products(self.graph, self.edges, self.labels, self.labels, source, target)[:, None]
        return np.asarray((weight * (1 - (1 + share / second) ** -first)).sum(axis=-1))

    def _posterior(self, edges: NDArray[Any], dyads: NDArray[Any]) -> tuple[Floats, Floats, Floats]:
        """Parameters of the Beta (or Gamma) of each block for every mean of its prior, and the means' weights."""
        cells = self.grid.cells(edges, dyads)
        directed = self.edges.directed
        weight = mean_weights(self.grid, cells if directed else once(cells), self.parents, directed)
        e, m = edges[..., None].astype(float), dyads[..., None]
        return self.grid.first + e, self.grid.second + (m if self.edges.counts else m - e), weight

    def __repr__(self) -> str:
        words = ", ".join(str(level.n_clusters) for level in self.levels)
        found = f"{len(self.labels)} nodes, levels of {words} clusters, ICL {self.icl:.3f}"
        return f"NestedFit({found}; {self.found.in_words()}{self._state()})"


def _quantile(first: Floats, second: Floats, weight: Floats, p: float, counts: bool) -> Floats:
    """The p-quantile of each mixture, by bisection between those of its parts; parts of little weight are left out."""
    order = np.argsort(-weight, axis=-1)
    sorted_weight = np.take_along_axis(weight, order, -1)
    kept = 1 + int((sorted_weight.cumsum(axis=-1) < 1 - LEFT_OUT).sum(axis=-1).max())
    a, b = (np.take_along_axis(each, order[..., :kept], -1) for each in (first, second))
    w = sorted_weight[..., :kept] / sorted_weight[..., :kept].sum(axis=-1, keepdims=True)
    ends = gamma.ppf(p, a, scale=1 / b) if counts else beta.ppf(p, a, b)
    low, high = ends.min(axis=-1), ends.max(axis=-1)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        below = gammainc(a, b * middle[..., None]) if counts else betainc(a, b, middle[..., None])
        under = (w * below).sum(axis=-1) < p
        low, high = np.where(under, middle, low), np.where(under, high, middle)
    return np.asarray((low + high) / 2)


def lift(labels: NDArray[np.int64], parents: tuple[NDArray[np.int64], ...]) -> list[NDArray[np.int64]]:
    """The levels as partitions of the nodes, from fine to coarse."""
    levels = [canonical(labels)]
    current = labels
    for parent in parents:
        current = parent[current]
        levels.append(canonical(current))
    return levels


EDGE_KINDS = ("binary", "counts")
#: Means of the prior in the flat searches: the default's, that of the network, and sparser ones for the blocks between
#: many clusters.
SPARSER = (1.0, 8.0)


class NestedBlockModel(NetworkModel):
    """Stochastic block model whose clusters are grouped, level by level, with all parameters integrated out.

    log p(X, z_1, …, z_L | K_1, …, K_L) = log p(X | z_1, …, z_L) + Σ_l log p(z_l | K_l)

    z_1 are clusters of nodes, z_2 groups of these clusters, and so on. Blocks between clusters of the same two groups
    share the mean of their prior, the means of the groups' blocks share that of the blocks above, and all means are
    integrated out. Where clusters are many and most pairs of them hardly linked, their blocks cost little, so that
    smaller clusters are found than by `StochasticBlockModel`, whose blocks have the prior Beta(1, 1) each.

    Parameters
    ----------
    directed, loops, n0, degree_corrected : bool, bool, float, bool
        As for `StochasticBlockModel`; n0 is the same on every level.
    shape : float
        Shape of the prior of a block with mean μ: Beta(shape, shape (1 − μ)/μ), mirrored for μ > 1/2, or Gamma(shape,
        shape/μ) for counts. The larger it is, the more alike are the blocks of the same groups.
    edges : "binary" or "counts"
        The kind of edges.
    random_state : None, int or numpy Generator
        Seed or source of random numbers for `fit`.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> fine, coarse = np.arange(120) // 10, np.arange(120) // 30
    >>> chance = np.where(fine[:, None] == fine, 0.9, np.where(coarse[:, None] == coarse, 0.25, 0.02))
    >>> X = np.triu(rng.random((120, 120)) < chance, 1)
    >>> fit = NestedBlockModel(directed=False).maximize((X | X.T).astype(int), rng=1)
    >>> [level.n_clusters for level in fit.levels]
    [12, 4, 2]

    References
    ----------
    Peixoto (2014), Hierarchical block structures and high-resolution model selection in large networks, Phys. Rev. X 4,
    has the idea; the prior here is another one, see the page on block models.
    """

    parameters: ClassVar = ("directed", "loops", "n0", "shape", "edges", "degree_corrected")

    def __init__(
        self,
        directed: bool = True,
        loops: bool = False,
        n0: float = 1.0,
        shape: float = 1.0,
        *,
        edges: str = "binary",
        degree_corrected: bool = False,
        random_state: Any = None,
    ) -> None:
        self.directed, self.loops, self.n0, self.shape = directed, loops, n0, shape
        self.edges, self.degree_corrected, self.random_state = edges, degree_corrected, random_state
        self._check()

    def icl(self, graph: Any, levels: Sequence[ArrayLike]) -> float:
        """Exact log p(X, z_1, …, z_L | K_1, …, K_L) of given levels (natural logarithm).

        With `degree_corrected=True` it is exact only if `loops=True`; see `StochasticBlockModel.icl`.

        Parameters
        ----------
        graph : anything that `as_graph` takes
            The network.
        levels : sequence of (nodes,) array_like
            Partitions of the nodes from fine to coarse; each cluster is a union of clusters of the level before.
        """
        objective = self._objective(self._graph(graph))
        labels, parents = self._check_levels(objective.graph, levels)
        return checked_log_density(objective.value(labels, parents), self.params())

    def maximize(
        self,
        graph: Any,
        k_max: int | None = None,
        restarts: int = 10,
        rng: Any = None,
        *,
        seconds: float | None = None,
        n_jobs: int = -1,
    ) -> NestedFit:
        """Search the levels, and their number, of largest ICL.

        Flat searches with three priors of the blocks give clusters; from each, groups are merged greedily level by
        level, and nodes and clusters moved and merged given the means of the blocks, as long as the ICL rises.

        Parameters
        ----------
        graph : anything that `as_graph` takes
            The network.
        k_max : int, optional
            Largest number of clusters of the finest level; by default no limit.
        restarts : int
            Number of runs of each flat search: see `StochasticBlockModel.maximize`.
        rng : None, int or numpy Generator
            Seed or source of random numbers; the same seed gives the same result.
        seconds : float, optional
            Time limit, three quarters of which go to the flat searches. When it is reached, the best levels so far are
            returned.
        n_jobs : int
            Number of threads; −1 uses all cores. The result does not depend on it.

        Returns
        -------
        NestedFit
        """
        seen, generator = self._graph(graph), check_rng(rng)
        limit = check_time_limit(seconds)
        check_count(restarts, "restarts", minimum=1)
        most = seen.n_nodes if k_max is None else check_count(k_max, "k_max", minimum=1)
        objective, until = self._objective(seen), Deadline.after(limit)
        native = native_model(seen, objective.edges, self.n0)
        best: tuple[Nested, BlockFit] | None = None
        flat_models = self._flat_models(seen)
        for model in flat_models:
            if best is not None and until.is_past:
                break
            share = None if seconds is None else max(0.75 * limit / len(flat_models), 1e-3)
            flat = model.maximize(seen, k_max, restarts, generator, seconds=share, n_jobs=n_jobs)
            seed = int(generator.integers(2**62))
            if flat.interrupted:
                found, interrupted = objective.with_levels(flat.labels), True
            else:
                found, interrupted = refine(objective, native, flat.labels, seed, most, self._divide)
            if best is None or found.icl > best[0].icl:
                best = found, flat
            if interrupted:
                best = best[0], replace(best[1], found=replace(best[1].found, interrupted=True))
                break
        assert best is not None
        return self._fit(objective, *best)

    def _check(self) -> None:
        check_choice(self.edges, "edges", EDGE_KINDS)
        check_shape(self.n0, "n0")
        check_shape(self.shape, "shape")

    def _objective(self, graph: Graph) -> NestedObjective:
        self._check()  # again: set_params may have changed them
        counts = self.edges == "counts" or self.degree_corrected
        edges = EdgeModel(self.directed, self.loops, counts, self.shape, 1.0, self.degree_corrected)
        check_degree_correction(graph, edges)
        grid = make_grid(counts=counts, shape=self.shape, mean=self._mean(graph))
        return NestedObjective(graph, edges, grid, self.n0)

    def _flat_models(self, graph: Graph) -> list[StochasticBlockModel]:
        """Flat models whose searches give clusters to begin with."""
        kind: dict[str, Any] = {"edges": self.edges, "degree_corrected": self.degree_corrected, "n0": self.n0}
        mean = min(self._mean(graph), 0.5)
        if kind["degree_corrected"] or self.edges == "counts":
            rates = [scale / self._mean(graph) for scale in SPARSER]
            return [StochasticBlockModel(self.directed, self.loops, b0=rate, **kind) for rate in rates]
        zetas = [1.0, *((1 - mean) / mean * scale for scale in SPARSER)]
        return [StochasticBlockModel(self.directed, self.loops, zeta0=zeta, **kind) for zeta in zetas]

    def _mean(self, graph: Graph) -> float:
        """The mean of the observed dyads, above 0."""
        found = mean_rate(graph, directed=self.directed, loops=self.loops, half_loops=self.degree_corrected)
        return found or 1.0 / max(graph.n_nodes**2, 2)

    def _divide(self, graph: Graph) -> tuple[NDArray[np.int64], bool]:
        """Clusters of the nodes of one cluster, by the flat model of their own edges; whether Ctrl-C ended it."""
        fit = self._flat_models(graph)[0].maximize(graph, restarts=3, rng=1, n_jobs=1)
        return fit.labels, fit.interrupted

    def _check_levels(
        self, graph: Graph, levels: Sequence[ArrayLike]
    ) -> tuple[NDArray[np.int64], list[NDArray[np.int64]]]:
        if np.ndim(levels[0] if len(levels) else 0) == 0:
            raise ValueError("levels must list partitions of the nodes from fine to coarse, at least one")
        several = [node_labels(each, graph.names, f"levels[{at}]", "graph") for at, each in enumerate(levels)]
        for at, (fine, coarse) in enumerate(pairwise(several)):
            if not refines(fine, coarse):
                raise ValueError(f"levels[{at + 1}] cuts a cluster of levels[{at}]: levels must go from fine to coarse")
        parents = []
        for fine, coarse in pairwise(several):
            first = np.unique(fine, return_index=True)[1]
            parents.append(coarse[first])
        return several[0], parents

    def _fit(self, objective: NestedObjective, found: Nested, flat: BlockFit) -> NestedFit:
        graph, edges = objective.graph, objective.edges
        own = StochasticBlockModel(
            self.directed, self.loops, self.n0, edges=self.edges, degree_corrected=self.degree_corrected
        )
        flat_edges = own._edge_model(graph)
        native = native_model(graph, flat_edges, self.n0)
        flat_icl = native.icl(found.labels.astype(np.uint32)) + constant(graph, flat_edges)
        path = merge_path(native, found.labels, flat_icl)
        icl = checked_log_density(found.icl, self.params())
        partitions = lift(found.labels, found.parents)
        levels = [NestedLevel(partitions[0], icl)]
        for at in range(1, len(partitions)):
            upper = [canonical(parent) for parent in found.parents[at:]]
            levels.append(NestedLevel(partitions[at], objective.value(_in_order(found, at), upper)))
        kept = type(self)(**self.get_params())
        found_levels = (tuple(levels), objective.grid, found.parents)
        return NestedFit(found.labels, icl, path, flat.found, graph, edges, *found_levels, model=kept)

    def __repr__(self) -> str:
        kind = "directed" if self.directed else "undirected"
        corrected = ", degree-corrected" if self.degree_corrected else ""
        return (
            f"NestedBlockModel({kind}, {self.edges}{corrected}, loops={self.loops}, n0={self.n0}, shape={self.shape})"
        )


def _in_order(found: Nested, at: int) -> NDArray[np.int64]:
    """Level `at` with the numbers that the parents above it have."""
    labels = found.labels
    for parent in found.parents[:at]:
        labels = parent[labels]
    return labels
