"""The latent block model: rows and columns of a matrix clustered together."""

from __future__ import annotations

import html
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._core import network_start_clusters
from partita._support.names import names_or_none
from partita._support.shown import ShownAsText
from partita._support.validate import check_count, check_random_state, check_rng, checked_log_density
from partita.models.chains.chain import Chain, smallest_unsigned
from partita.models.chains.checkpoint import Plan
from partita.models.chains.listener import Callback
from partita.models.chains.plan import make_plan
from partita.models.chains.sampling import Registry
from partita.models.networks.base import SampledNetworkModel, graph_from_arrays, log_k_prior, make_samplers
from partita.models.networks.core import EdgeModel, check_settings, constant, edge_model, native_model
from partita.models.networks.fit import Blocks, block_table, check_pairs, node_labels
from partita.models.networks.graph import Graph, as_bipartite
from partita.models.networks.marks import Marks, start_matrix
from partita.models.networks.search import Limits, spectral_partitions, start_kinds
from partita.models.networks.shares import share_products
from partita.models.search_runs import Runs, WithRuns, check_max_clusters, check_time_limit, greedy_merges
from partita.partitions.labels import canonical
from partita.search.deadline import Deadline


@dataclass(frozen=True, eq=False, repr=False)
class BipartiteChain(Chain):
    """Draws of row partitions (`labels`, also `rows`) and, jointly, of column partitions (`columns`).

    `names` are those of the rows, `column_names` those of the columns, where the matrix has any.
    """

    columns: NDArray[Any] | None = None
    column_names: tuple[str, ...] | None = None

    @property
    def rows(self) -> NDArray[Any]:
        """(chains, draws, rows), the same as `labels`."""
        return self.labels


@dataclass(frozen=True, eq=False, repr=False)
class LatentMergePath(ShownAsText):
    """Greedy merges from the fitted partitions of rows and columns down to one cluster of each.

    Step t merges two clusters of rows, or two of columns, and leaves `n_clusters[t + 1]` and `icl[t + 1]`; the first
    entries are the fit's own.
    """

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    kept: NDArray[np.uint32]
    absorbed: NDArray[np.uint32]
    icl: NDArray[np.float64]

    @property
    def n_clusters(self) -> NDArray[np.int64]:
        """Clusters of rows and of columns before the first merge and after each, (steps, 2)."""
        k, m = int(self.rows.max()) + 1, int(self.columns.max()) + 1
        fewer_rows = np.concatenate([[0], np.cumsum(self.absorbed < k)])
        return np.stack([k - fewer_rows, m - (np.arange(len(self.icl)) - fewer_rows)], axis=1)

    def cut(self, step: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The partitions of rows and columns after the first `step` merges, canonical labels."""
        if not 0 <= step < len(self.icl):
            raise ValueError(f"step must be from 0 to {len(self.icl) - 1}, the number of merges, but it is {step}")
        k = int(self.rows.max()) + 1
        target = np.arange(len(self.icl) + 1)
        for kept, absorbed in zip(self.kept[:step], self.absorbed[:step], strict=True):
            target[target == absorbed] = kept
        return canonical(target[self.rows]), canonical(target[self.columns + k])

    def __repr__(self) -> str:
        k, m = self.n_clusters[0]
        return f"LatentMergePath({k} x {m} to 1 x 1 clusters, ICL {self.icl[0]:.2f} to {self.icl[-1]:.2f})"


@dataclass(frozen=True, eq=False, repr=False)
class LatentBlockFit(WithRuns):
    """The partitions of rows and columns of largest exact ICL that were found.

    Attributes
    ----------
    rows, columns : (rows,) and (columns,) integer arrays
        The two partitions, canonical labels.
    icl : float
        log p(X, rows, columns | K_rows, K_columns), natural logarithm.
    path : LatentMergePath
        Greedy merges of clusters of rows and of columns, down to one of each.
    """

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    icl: float
    path: LatentMergePath
    found: Runs
    graph: Graph
    edges: EdgeModel

    presented_by = "partita.results.matrices.MatrixPresentation"

    @property
    def n_clusters(self) -> tuple[int, int]:
        """Clusters of rows and of columns."""
        return int(self.rows.max()) + 1, int(self.columns.max()) + 1

    @property
    def order(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows and columns sorted by cluster."""
        return np.argsort(self.rows, kind="stable"), np.argsort(self.columns, kind="stable")

    def blocks(self, level: float = 0.95) -> Blocks:
        """Block probabilities with equal-tailed credible intervals, (row clusters, column clusters)."""
        return block_table(self.graph, self.edges, self.rows, self.columns, level)

    def predict(self, pairs: ArrayLike) -> NDArray[np.float64]:
        """Posterior mean probability (or rate) for (m, 2) pairs of row and column, given the partitions."""
        row, column = check_pairs(pairs, (len(self.rows), len(self.columns)))
        share = share_products(self.graph, self.edges, self.rows, self.columns, row, column)
        return self.blocks().mean[self.rows[row], self.columns[column]] * share

    def __repr__(self) -> str:
        k, m = self.n_clusters
        words = f"{k} row clusters x {m} column clusters, ICL {self.icl:.3f}"
        return f"LatentBlockFit({words}; {self.found.in_words()}{self._state()})"

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>"


@Registry.add
class LatentBlockModel(SampledNetworkModel):
    """Latent block model of a matrix, all parameters integrated out.

    log p(X, r, c | K, M) = Σ_kl log B(η0 + e_kl, ζ0 + m_kl − e_kl) / B(η0, ζ0) + log p(r | K) + log p(c | M)

    with the Dirichlet prior of the stochastic block model on rows and on columns.

    Parameters
    ----------
    n0, eta0, zeta0, edges, a0, b0, weight_prior, category_prior, k_prior, random_state : optional
        As for `StochasticBlockModel`; rows and columns have the same priors.
    degree_corrected : bool
        Rows of a cluster may differ in their number of entries: their shares are Dirichlet(1, …, 1), and so are those
        of columns. Entries are then counts. The ICL is exact, since there are no loops.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.kron([[1, 0], [0, 1]], np.ones((5, 4), dtype=int))
    >>> fit = LatentBlockModel().maximize(X, rng=1)
    >>> fit.rows, fit.columns
    (array([0, 0, 0, 0, 0, 1, 1, 1, 1, 1]), array([0, 0, 0, 0, 1, 1, 1, 1]))

    References
    ----------
    Wyse & Friel (2012), Block clustering with collapsed latent block models, Statistics and Computing 22.
    """

    parameters: ClassVar = (
        *("n0", "eta0", "zeta0", "edges", "degree_corrected", "a0", "b0"),
        *("weight_prior", "category_prior", "k_prior"),
    )

    def __init__(
        self,
        n0: float = 1.0,
        eta0: float = 1.0,
        zeta0: float = 1.0,
        *,
        edges: str = "binary",
        degree_corrected: bool = False,
        a0: float = 1.0,
        b0: float | None = None,
        weight_prior: tuple[float, float, float, float] | None = None,
        category_prior: float = 1.0,
        k_prior: float | ArrayLike = 1.0,
        random_state: Any = None,
    ) -> None:
        self.n0, self.eta0, self.zeta0 = n0, eta0, zeta0
        self.edges, self.degree_corrected = edges, degree_corrected
        self.a0, self.b0, self.weight_prior, self.category_prior = a0, b0, weight_prior, category_prior
        self.k_prior, self.random_state = k_prior, random_state
        check_settings(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        return tags

    def icl(self, matrix: Any, rows: ArrayLike, columns: ArrayLike) -> float:
        """Exact ICL of partitions of rows and columns (natural logarithm)."""
        graph = self._graph(matrix)
        model = self._edge_model(graph)
        native = native_model(graph, model, self.n0, self.n0)
        icl = native.icl(self._check_sides(graph, rows, columns).astype(np.uint32)) + constant(graph, model)
        return checked_log_density(icl, self.params())

    def maximize(
        self,
        matrix: Any,
        k_max: int | tuple[int, int] | None = None,
        restarts: int = 10,
        rng: Any = None,
        *,
        starts: Sequence[tuple[ArrayLike, ArrayLike]] = (),
        seconds: float | None = None,
        n_jobs: int = -1,
    ) -> LatentBlockFit:
        """Search the partitions of rows and columns, and their numbers of clusters, of largest exact ICL.

        Parameters
        ----------
        matrix : anything that `as_bipartite` takes
            The matrix.
        k_max : int or (int, int), optional
            Largest number of clusters of rows and of columns; by default no limit.
        starts : sequence of (rows, columns), optional
            Pairs of partitions to climb from first; each takes one of the runs.
        restarts, rng, seconds, n_jobs : optional
            As for `StochasticBlockModel.maximize`; rows and columns together are its nodes.

        Returns
        -------
        LatentBlockFit
        """
        graph = self._graph(matrix)
        model = self._edge_model(graph)
        shape = graph.adjacency.shape
        given = k_max if isinstance(k_max, tuple) else (k_max, k_max)
        most = [check_max_clusters(k, n) for k, n in zip(given, shape, strict=True)]
        restarts = check_count(restarts, "restarts", minimum=1)
        generator = check_rng(rng)
        native = native_model(graph, model, self.n0, self.n0)
        limits = Limits((most[0], most[1]), n_jobs, Deadline.after(check_time_limit(seconds)))
        begun = [self._check_sides(graph, *pair).astype(np.uint32) for pair in starts]
        first = self._starts(graph, model.marks, most, restarts, begun, generator)
        labels, icl, runs = self._climb([(graph, model)], native, first, limits, generator)
        rows, columns = canonical(labels[: shape[0]]), canonical(labels[shape[0] :])
        path = LatentMergePath(rows, columns, *greedy_merges(native, np.concatenate([rows, columns]), icl))
        return LatentBlockFit(rows, columns, icl, path, runs, graph, model)

    def sample(
        self,
        matrix: Any,
        draws: int = 1000,
        warmup: int = 1000,
        thin: int = 1,
        chains: int = 4,
        rng: Any = None,
        *,
        path: str | os.PathLike[str] | None = None,
        n_jobs: int = -1,
        progress: bool = False,
        callback: Callback | None = None,
    ) -> Chain:
        """Draw partitions of rows and columns, their numbers of clusters unknown (Wyse & Friel 2012).

        The arguments are those of StochasticBlockModel.sample. The callback gets the labels of rows and columns in one
        row, with different labels for clusters of rows and of columns.

        Returns
        -------
        BipartiteChain
            With `rows` (chains, draws, rows) and `columns` (chains, draws, columns).
        """
        plan = make_plan(draws, warmup, thin, chains, rng)
        graph = self._graph(matrix)
        heard = None if callback is None else _BothSidesCallback(callback, graph.adjacency.shape[0])
        return self._sample(graph, plan, path=path, n_jobs=n_jobs, progress=progress, callback=heard)

    def samplers(self, inputs: Mapping[str, NDArray[Any]], plan: Plan) -> list[Any]:
        """The core's samplers, one per chain."""
        graph = graph_from_arrays(inputs, bipartite=True, directed=True, edges=self.edges)
        native = native_model(graph, self._edge_model(graph), self.n0, self.n0)
        log_k = tuple(log_k_prior(self.k_prior, n) for n in graph.adjacency.shape)
        return make_samplers(native, (log_k[0], log_k[1]), plan, network_start_clusters(min(graph.adjacency.shape)))

    def finish_chain(self, chain: Chain) -> BipartiteChain:
        """Splits the labels of all nodes into rows and columns."""
        n_rows = int(chain.inputs["shape"][0])
        rows, columns = chain.labels[:, :, :n_rows], chain.labels[:, :, n_rows:]
        names = [None, None] if chain.names is None else [chain.names[:n_rows], chain.names[n_rows:]]
        return BipartiteChain(
            smallest_unsigned(rows),
            chain.stats,
            chain.model,
            chain.inputs,
            chain.attrs,
            None if names[0] is None else names_or_none(names[0]),
            smallest_unsigned(columns),
            None if names[1] is None else names_or_none(names[1]),
        )

    def fit(self, X: Any, y: Any = None) -> Self:
        """Maximise the exact ICL; sets `labels_` (rows), `column_labels_`, `fit_` and `n_features_in_`.

        A data frame whose columns have names sets `feature_names_in_` too.

        `chain_` and `estimate_` (of the rows) are sampled from the same matrix on first access.
        """
        self.fit_ = self.maximize(X, rng=check_random_state(self.random_state))
        self.labels_, self.column_labels_ = self.fit_.rows, self.fit_.columns
        self._remember_features(X, self.fit_.graph.adjacency.shape[1])
        return self._fitted_on(self.fit_.graph)

    def _graph(self, matrix: Any) -> Graph:
        return as_bipartite(matrix, edges=self.edges)

    def _edge_model(self, graph: Graph) -> EdgeModel:
        return edge_model(self, graph, directed=False, loops=False)

    def _check_sides(self, graph: Graph, rows: ArrayLike, columns: ArrayLike) -> NDArray[np.int64]:
        """Partitions of rows and columns, one after the other."""
        sides = zip(("rows", "columns"), (rows, columns), (graph.names, graph.column_names or ()), strict=True)
        return np.concatenate([node_labels(labels, names, name, "matrix") for name, labels, names in sides])

    def _starts(
        self,
        graph: Graph,
        marks: Marks | None,
        most: list[int],
        restarts: int,
        given: list[NDArray[np.uint32]],
        rng: np.random.Generator,
    ) -> tuple[NDArray[np.uint32], list[str]]:
        """The partitions of rows and columns that runs start from, and the kind of every run."""
        n_rows, n_columns = graph.adjacency.shape
        partitions = min(n_rows, n_columns) > 4 and graph.adjacency.nnz > 0
        uneven = self.degree_corrected
        kinds = start_kinds(n_rows + n_columns, restarts, len(given), partitions=partitions, uneven=uneven)
        sides = [
            spectral_partitions(start_matrix(matrix, marks), kinds, limit, rng)
            for matrix, limit in zip((graph.adjacency, graph.transposed), most, strict=True)
        ]
        return np.concatenate([*(labels[None] for labels in given), np.concatenate(sides, axis=1)]), kinds

    def __repr__(self) -> str:
        return f"LatentBlockModel({self.edges}, n0={self.n0}, eta0={self.eta0}, zeta0={self.zeta0})"


class _BothSidesCallback:
    """The callback, for labels in which no cluster has both rows and columns."""

    def __init__(self, callback: Callback, n_rows: int) -> None:
        if not callable(callback):
            raise TypeError(f"callback must be a function, not {type(callback).__name__}")
        self.hears_log_density = getattr(callback, "hears_log_density", False)
        self._callback, self._n_rows = callback, n_rows

    def __call__(self, draw: NDArray[Any], *log_density: NDArray[np.float64]) -> object:
        labels = draw.astype(np.int64)
        labels[:, self._n_rows :] += labels[:, : self._n_rows].max() + 1
        return self._callback(labels, *log_density)
