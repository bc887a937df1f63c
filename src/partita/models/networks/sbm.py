"""The stochastic block model: nodes of a network clustered by whom they link to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from partita._support.errors import ArgumentError, Setting
from partita._support.validate import check_count, check_rng
from partita.models.chains.sampling import Registry
from partita.models.networks.base import NodeModel, check_labels, graph_from_arrays
from partita.models.networks.core import (
    EdgeModel,
    Network,
    check_blocks,
    check_settings,
    constant,
    edge_model,
    native_model,
)
from partita.models.networks.fit import BlockFit, block_counts
from partita.models.networks.graph import Graph
from partita.models.networks.shares import EstimatedICL, log_blocks, mean_of_logs, share_exposures
from partita.models.search_runs import merge_path


@Registry.add
class StochasticBlockModel(NodeModel):
    """Stochastic block model with all parameters integrated out.

    log p(X, z | K) = Σ_kl log B(η0 + e_kl, ζ0 + m_kl − e_kl) / B(η0, ζ0) +
    log Γ(K n0) / Γ(K n0 + n) + Σ_k log Γ(n0 + n_k) / Γ(n0)

    with e_kl edges among the m_kl observed dyads from cluster k to cluster l (each pair once if undirected). In the
    affiliation model the first sum has two terms: all dyads inside clusters, and all dyads between clusters.

    Parameters
    ----------
    directed, loops : bool
        Whether edges have a direction, and whether a node may have an edge to itself: the pairs of nodes (dyads) that
        the model explains follow from both.
    n0 : float
        Dirichlet parameter of the cluster proportions, from 1e-100 to 1e8.
    eta0, zeta0 : float
        Parameters of the Beta prior of the edge probability of each block, from 1e-100 to 1e8.
    edges : str
        "binary": there is an edge or there is none. "counts": Poisson edges with rates ~ Gamma(a0, b0), a0 from 1e-100
        to 1e8, b0 a rate from 1e-100 to 1e100 (None: one over the mean of the observed dyads). "real", "categories" (1,
        2, ...) or "signed" (−1 or 1): there is an edge or none, as in "binary", and each edge has a value; 0 means no
        edge.
    weight_prior : (mu0, kappa0, shape, rate), optional
        Prior of real weights, N(μ, 1/τ) with μ ~ N(mu0, 1/(kappa0 τ)) and τ ~ Gamma(shape, rate) in each block; by
        default the mean of the weights, 0.1, 1, and a tenth of their variance.
    category_prior : float
        Dirichlet parameter of the probabilities of categories and signs in each block.
    blocks : "free" or "affiliation"
        "free": each pair of clusters (block) has its own parameter. "affiliation" (planted partition, communities): one
        parameter within clusters, one between them.
    degree_corrected : bool
        Nodes of a cluster may differ in degree: their shares of its edges are Dirichlet(1, …, 1). Edges are then
        counts, and no dyad may be missing.
    k_prior : float or sequence of float
        For `sample`: prior of the number of clusters K, empty ones included. A number from 1e-100 to 1e8 is the mean of
        a Poisson distribution, restricted to K ≥ 1; a sequence has the probabilities of K = 1, 2, ..., up to a factor:
        [0, 0, 1] fixes K = 3.
    random_state : None, int or numpy Generator
        Seed or source of random numbers for `fit`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.kron(np.eye(2, dtype=int), np.ones((6, 6), dtype=int)) - np.eye(12, dtype=int)
    >>> fit = StochasticBlockModel(directed=False).maximize(X, rng=1)
    >>> fit.labels
    array([0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1])
    >>> communities = StochasticBlockModel(directed=False, blocks="affiliation").maximize(X, rng=1)
    >>> communities.blocks().mean.round(3)
    array([[0.969, 0.026],
           [0.026, 0.969]])

    References
    ----------
    Côme & Latouche (2015), Model selection and clustering in stochastic block models based on the exact integrated
    complete data likelihood, Statistical Modelling 15.
    """

    parameters: ClassVar = (
        *("directed", "loops", "n0", "eta0", "zeta0", "edges", "blocks", "degree_corrected", "a0", "b0"),
        *("weight_prior", "category_prior", "k_prior"),
    )

    def __init__(
        self,
        directed: bool = True,
        loops: bool = False,
        n0: float = 1.0,
        eta0: float = 1.0,
        zeta0: float = 1.0,
        *,
        edges: str = "binary",
        blocks: str = "free",
        degree_corrected: bool = False,
        a0: float = 1.0,
        b0: float | None = None,
        weight_prior: tuple[float, float, float, float] | None = None,
        category_prior: float = 1.0,
        k_prior: float | ArrayLike = 1.0,
        random_state: Any = None,
    ) -> None:
        self.directed, self.loops = directed, loops
        self.n0, self.eta0, self.zeta0 = n0, eta0, zeta0
        self.edges, self.blocks, self.degree_corrected = edges, blocks, degree_corrected
        self.a0, self.b0, self.k_prior = a0, b0, k_prior
        self.weight_prior, self.category_prior = weight_prior, category_prior
        self.random_state = random_state
        check_settings(self)
        check_blocks(blocks)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = tags.input_tags.pairwise = True
        return tags

    def icl(self, graph: Any, labels: ArrayLike) -> float:
        """Exact log p(X, z | K) of a partition of a graph (natural logarithm), K its number of clusters.

        With `degree_corrected=True` it is exact only if `loops=True`. Without loops the integral over the shares of a
        cluster's edges has no closed form, and the value is an approximation: the exposure of a cluster's own dyads is
        taken at equal shares, n_k (n_k − 1) or half of that. `estimate_icl` has the exact value with its Monte Carlo
        error.
        """
        return self._icl(self._network(graph), labels)

    def estimate_icl(self, graph: Any, labels: ArrayLike, draws: int = 1000, rng: Any = None) -> EstimatedICL:
        """The exact ICL of a degree-corrected model without loops or with missing dyads, by Monte Carlo.

        p(X | z) = C E[Π_kl g(e_kl, m_kl(φ, ψ))], g(e, m) = Γ(a0 + e)/Γ(a0) b0^a0 / (b0 + m)^(a0 + e)

        where C has the degree terms of the closed form, the shares φ / n_k, ψ / n_l are Dirichlet(1 + d) in each
        cluster, and m_kl(φ, ψ) = Σ φ_i ψ_j over the observed dyads of the block. With all dyads observed, loops
        included, m_kl is n_k n_l and the closed form of `icl` follows; else this mean is an unbiased
        estimate with a standard error.

        Parameters
        ----------
        graph, labels : as for `icl`
            The network, in which dyads may be missing, and the partition of its nodes.
        draws : int
            Number of draws of the shares φ and ψ.
        rng : None, int or numpy Generator
            Seed or source of random numbers; the same seed gives the same result.

        Returns
        -------
        EstimatedICL
            `icl`, and the `standard_error` of its Monte Carlo mean.
        """
        if not self.degree_corrected:
            raise ArgumentError("estimate_icl is for ", Setting("degree_corrected", True), ": `icl` is exact without")
        seen, generator = self._graph(graph), check_rng(rng)
        edges = self._edge_model(seen, missing=True)
        clusters = check_labels(seen, labels).astype(np.int64)
        counts = block_counts(seen, edges, clusters, clusters)[0].astype(float)
        several = share_exposures(seen, edges, clusters, check_count(draws, "draws", minimum=2), generator)
        mean, error = mean_of_logs(np.array([log_blocks(edges, counts, cells) for cells in several]))
        whole = Graph(seen.adjacency, csr_array(seen.missing.shape), seen.names)
        plain = native_model(whole, edges, self.n0)
        blocks = block_counts(whole, edges, clusters, clusters)
        shares = plain.icl(clusters.astype(np.uint32)) - log_blocks(edges, blocks[0].astype(float), blocks[1])
        return EstimatedICL(mean + shares + constant(seen, edges), error, draws)

    def maximize(
        self,
        graph: Any,
        k_max: int | None = None,
        restarts: int = 10,
        rng: Any = None,
        *,
        starts: ArrayLike | None = None,
        algorithm: str = "search",
        seconds: float | None = None,
        n_jobs: int = -1,
    ) -> BlockFit:
        """Search the partition, and the number of clusters, of largest exact ICL.

        Parameters
        ----------
        graph : anything that `as_graph` takes
            The network.
        k_max : int, optional
            Largest number of clusters; by default no limit. For "come-latouche" the number of clusters of each start,
            K_up in the paper; by default it grows with the square root of the number of nodes.
        restarts : int
            Number of runs. Each climbs from a start of its own: k-means of singular vectors, communities at several
            resolutions, annealed partitions (up to 500 nodes), random partitions (up to 3,000 nodes), and under degree
            correction k-means with the nodes of fewest edges in a cluster apart (501 to 3,000 nodes). Runs that do not
            agree try new arrangements of a few clusters at a time and are crossed: first within up to three separate
            groups (of at least 3 runs each, or 10 above 500 nodes), then all together. If the first three runs agree
            (the first six up to 500 nodes without degree correction), the others are left out.
        rng : None, int or numpy Generator
            Seed or source of random numbers; the same seed gives the same result.
        starts : (s, nodes) array_like, optional
            Partitions to climb from first; each takes one of the runs.
        algorithm : "search" or "come-latouche"
            "come-latouche" is Algorithm 1 of the paper as printed, from k-means partitions of the rows of the matrix,
            followed by the merges of its Section 3.3; the best run is kept.
        seconds : float, optional
            Time limit. When it is reached, the best partition so far is returned.
        n_jobs : int
            Number of threads; −1 uses all cores. The result does not depend on it.

        Returns
        -------
        BlockFit
            `runs`, `times_reached` and `notes` describe the agreement between runs.
        """
        network = self._network(graph)
        native, labels, icl, runs = self._search(network, k_max, restarts, rng, starts, seconds, n_jobs, algorithm)
        path = merge_path(native, labels, icl)
        return BlockFit(labels, icl, path, runs, *network[0], model=type(self)(**self.get_params()))

    def _network(self, graph: Any) -> list[Network]:
        seen = self._graph(graph)
        return [(seen, self._edge_model(seen))]

    def _stored(self, inputs: Mapping[str, NDArray[Any]]) -> list[Network]:
        graph = graph_from_arrays(inputs, bipartite=False, directed=self.directed, edges=self.edges)
        return [(graph, self._edge_model(graph))]

    def _native(self, networks: Sequence[Network]) -> Any:
        return native_model(*networks[0], self.n0)

    def _edge_model(self, graph: Graph, *, missing: bool = False) -> EdgeModel:
        affiliation = check_blocks(self.blocks)
        return edge_model(
            self, graph, directed=self.directed, loops=self.loops, affiliation=affiliation, missing=missing
        )

    def __repr__(self) -> str:
        kind = "directed" if self.directed else "undirected"
        blocks = ", affiliation" if self.blocks == "affiliation" else ""
        corrected = ", degree-corrected" if self.degree_corrected else ""
        return f"StochasticBlockModel({kind}, {self.edges}{blocks}{corrected}, loops={self.loops}, n0={self.n0})"
