"""The latent block model: rows and columns of a matrix clustered together."""

from __future__ import annotations

import html
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._validate import check_count, check_random_state
from partita.models.block_core import EdgeModel, check_settings, constant, native_model
from partita.models.block_fit import Blocks, block_table, check_pairs, first_appearance
from partita.models.block_sampling import (
    graph_arrays,
    graph_from_arrays,
    log_k_prior,
    make_plan,
    make_samplers,
)
from partita.models.block_search import search_partition, start_clusters
from partita.models.chain import Chain, smallest_unsigned
from partita.models.checkpoint import Plan
from partita.models.graph import Graph, as_bipartite
from partita.models.running import Registry, sample_model
from partita.models.sampled_later import SampledLater
from partita.models.starts import spectral_starts

PARAMETERS = ("n0", "eta0", "zeta0", "edges", "a0", "b0", "k_prior")


@dataclass(frozen=True, eq=False, repr=False)
class BipartiteChain(Chain):
    """Draws of row partitions (`labels`, also `rows`) and, jointly, of column partitions (`columns`)."""

    columns: NDArray[Any] | None = None

    @property
    def rows(self) -> NDArray[Any]:
        """(chains, draws, rows), the same as `labels`."""
        return self.labels


@dataclass(frozen=True, eq=False, repr=False)
class LatentBlockFit:
    """The partitions of rows and columns of largest exact ICL that were found.

    Attributes
    ----------
    rows, columns : canonical labels.
    icl : log p(X, rows, columns | K_rows, K_columns), natural logarithm.
    """

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    icl: float
    run_icl: NDArray[np.float64]
    interrupted: bool
    graph: Graph
    edges: EdgeModel

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
        return self.blocks().mean[self.rows[row], self.columns[column]]

    def __repr__(self) -> str:
        k, m = self.n_clusters
        state = ", stopped early" if self.interrupted else ""
        return f"LatentBlockFit({k} row clusters x {m} column clusters, ICL {self.icl:.3f}{state})"

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>"


@Registry.add
class LatentBlockModel(SampledLater):
    """Latent block model of a matrix, all parameters integrated out.

    log p(X, r, c | K, M) = Σ_kl log B(η0 + e_kl, ζ0 + m_kl − e_kl) / B(η0, ζ0) + log p(r | K) + log p(c | M)

    with the Dirichlet prior of the stochastic block model on rows and on columns.

    Parameters
    ----------
    n0, eta0, zeta0, edges, a0, b0, k_prior, random_state : as for StochasticBlockModel; rows and
        columns have the same priors.

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

    def __init__(
        self,
        n0: float = 1.0,
        eta0: float = 1.0,
        zeta0: float = 1.0,
        *,
        edges: str = "binary",
        a0: float = 1.0,
        b0: float | None = None,
        k_prior: float | ArrayLike = 1.0,
        random_state: Any = None,
    ) -> None:
        self.n0, self.eta0, self.zeta0 = n0, eta0, zeta0
        self.edges, self.a0, self.b0 = edges, a0, b0
        self.k_prior, self.random_state = k_prior, random_state
        check_settings(self)

    def icl(self, matrix: Any, rows: ArrayLike, columns: ArrayLike) -> float:
        """Exact ICL of partitions of rows and columns (natural logarithm)."""
        graph = self._graph(matrix)
        parts = []
        for name, labels, size in zip(("rows", "columns"), (rows, columns), graph.adjacency.shape, strict=True):
            array = np.asarray(labels)
            if array.shape != (size,):
                raise ValueError(f"{name} has shape {array.shape} but the matrix has {size} {name}")
            parts.append(first_appearance(array))
        model = self._edge_model(graph)
        native = native_model(graph, model, self.n0, self.n0)
        return float(native.icl(np.concatenate(parts).astype(np.uint32))) + constant(graph, model)

    def maximize(
        self,
        matrix: Any,
        k_max: int | tuple[int, int] | None = None,
        restarts: int = 10,
        rng: Any = None,
        *,
        n_jobs: int = -1,
    ) -> LatentBlockFit:
        """Search the partitions of rows and columns, and their numbers of clusters, of largest exact ICL.

        Parameters
        ----------
        matrix : what `as_bipartite` takes.
        k_max : most clusters of rows and columns, one number or a pair; None: no limit.
        restarts, rng, n_jobs : as for StochasticBlockModel.maximize.

        Returns
        -------
        LatentBlockFit
        """
        graph = self._graph(matrix)
        model = self._edge_model(graph)
        shape = graph.adjacency.shape
        limits = k_max if isinstance(k_max, tuple) else (k_max, k_max)
        most = [
            n if k is None else min(check_count(k, "k_max", minimum=1), n) for k, n in zip(limits, shape, strict=True)
        ]
        restarts = check_count(restarts, "restarts", minimum=1)
        generator = np.random.default_rng(rng)
        native = native_model(graph, model, self.n0, self.n0)
        starts = self._starts(graph, most, restarts, generator)
        labels, icl, run_icl, interrupted = search_partition(
            native, starts, (most[0], most[1]), restarts, generator, n_jobs
        )
        offset = constant(graph, model)
        rows, columns = first_appearance(labels[: shape[0]]), first_appearance(labels[shape[0] :])
        return LatentBlockFit(rows, columns, icl + offset, run_icl + offset, interrupted, graph, model)

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
    ) -> Chain:
        """Draw partitions of rows and columns, their numbers of clusters unknown (Wyse & Friel 2012).

        The arguments are those of StochasticBlockModel.sample.

        Returns
        -------
        BipartiteChain : `rows` (chains, draws, rows) and `columns` (chains, draws, columns).
        """
        plan = make_plan(draws, warmup, thin, chains, rng)
        inputs = graph_arrays(self._graph(matrix))
        return sample_model(self, inputs, plan, path=path, n_jobs=n_jobs, progress=progress)

    def samplers(self, inputs: Mapping[str, NDArray[Any]], plan: Plan) -> list[Any]:
        """The core's samplers, one a chain."""
        graph = graph_from_arrays(inputs)
        native = native_model(graph, self._edge_model(graph), self.n0, self.n0)
        log_k = tuple(log_k_prior(self.k_prior, n) for n in graph.adjacency.shape)
        return make_samplers(native, (log_k[0], log_k[1]), plan, start_clusters(min(graph.adjacency.shape)))

    def finish_chain(self, chain: Chain) -> BipartiteChain:
        """Splits the labels of all nodes into rows and columns."""
        n_rows = int(chain.inputs["shape"][0])
        rows, columns = chain.labels[:, :, :n_rows], chain.labels[:, :, n_rows:]
        return BipartiteChain(
            smallest_unsigned(rows),
            chain.stats,
            chain.model,
            chain.inputs,
            chain.attrs,
            smallest_unsigned(columns),
        )

    def params(self) -> dict[str, Any]:
        """Settings that JSON can hold."""
        listed = {name: getattr(self, name) for name in PARAMETERS}
        listed["k_prior"] = np.asarray(self.k_prior).tolist()
        return listed

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> Self:
        """The model of `params`."""
        return cls(**params)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Maximise the exact ICL; sets `labels_` (rows), `column_labels_` and `fit_`.

        `chain_` and `estimate_` (of the rows) are sampled from the same matrix when they are first asked for.
        """
        self.fit_ = self.maximize(X, rng=check_random_state(self.random_state))
        self.labels_, self.column_labels_ = self.fit_.rows, self.fit_.columns
        return self._fitted_on(self.fit_.graph)

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[np.int64]:
        """`fit`, then the labels of the rows."""
        return self.fit(X).labels_

    def _graph(self, matrix: Any) -> Graph:
        return as_bipartite(matrix, counts=self.edges == "counts")

    def _edge_model(self, graph: Graph) -> EdgeModel:
        check_settings(self)  # again: set_params may have changed them
        counts = self.edges == "counts"
        if not counts:
            return EdgeModel(False, False, False, self.eta0, self.zeta0)
        total = float(graph.adjacency.sum())
        mean_rate = np.prod(graph.adjacency.shape) / total if total > 0 else 1.0
        return EdgeModel(False, False, True, self.a0, self.b0 if self.b0 is not None else float(mean_rate))

    def _starts(self, graph: Graph, most: list[int], restarts: int, rng: np.random.Generator) -> NDArray[np.uint32]:
        n_rows, n_columns = graph.adjacency.shape
        count = max(1, restarts // 3)
        if min(n_rows, n_columns) <= 4 or graph.adjacency.nnz == 0:
            return np.empty((0, n_rows + n_columns), np.uint32)
        rows = spectral_starts(graph.adjacency, min(start_clusters(n_rows), most[0]), count, rng)
        columns = spectral_starts(graph.adjacency.T.tocsr(), min(start_clusters(n_columns), most[1]), count, rng)
        return np.concatenate([rows, columns], axis=1)

    def __repr__(self) -> str:
        return f"LatentBlockModel({self.edges}, n0={self.n0}, eta0={self.eta0}, zeta0={self.zeta0})"
