"""Edges that were not seen: their probabilities, how well models predict them, and which of several models is best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from partita._support.arrays import Floats
from partita._support.errors import Argument, ArgumentError
from partita._support.hints import plural
from partita._support.optional import data_frame
from partita._support.shown import Noted, ShownAsText, rows_table
from partita._support.validate import check_choice, check_count, check_rng
from partita.models.chains.chain import Chain
from partita.models.networks.base import graph_from_arrays
from partita.models.networks.core import EdgeModel
from partita.models.networks.fit import BlockFit, block_posterior, check_pairs
from partita.models.networks.graph import Graph
from partita.models.networks.lbm import BipartiteChain, LatentBlockFit
from partita.models.networks.nested import NestedBlockModel, NestedFit
from partita.models.networks.sbm import StochasticBlockModel
from partita.models.networks.shares import share_products

ComparableModel: TypeAlias = StochasticBlockModel | NestedBlockModel

MAX_HELD_OUT = 200_000  # pairs
LEAST = 1e-12  # a probability, so that no score is infinite


def edge_probability(result: Any, pairs: ArrayLike, draws: int = 200) -> Floats:
    """The posterior probability of an edge between each of (m, 2) pairs of nodes, or of a row and a column.

    Of a fit it is given its partition; of a chain it is the mean over its draws. Counted edges: the probability of at
    least one.

    Parameters
    ----------
    result : BlockFit, NestedFit, LatentBlockFit or Chain
        What `maximize` returned, or a chain of a StochasticBlockModel or a LatentBlockModel.
    pairs : (m, 2) integer array_like
        Pairs of nodes, or of a row and a column, by their numbers from 0.
    draws : int
        For a chain: the largest number of draws to average over, evenly spaced.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.kron(np.eye(2, dtype=int), np.ones((6, 6), dtype=int)) - np.eye(12, dtype=int)
    >>> fit = StochasticBlockModel(directed=False).maximize(X, rng=1)
    >>> edge_probability(fit, [[0, 1], [0, 11]]).round(2)
    array([0.94, 0.03])
    """
    if isinstance(result, NestedFit):
        return result.edge_probability(pairs)
    if isinstance(result, BlockFit):
        return _probability(result.graph, result.edges, result.labels, result.labels, pairs)
    if isinstance(result, LatentBlockFit):
        return _probability(result.graph, result.edges, result.rows, result.columns, pairs)
    if isinstance(result, Chain) and "shape" in result.inputs:
        return _mean_over_draws(result, pairs, check_count(draws, "draws", minimum=1))
    raise TypeError(f"result must be a fit or a chain of a block model, not {type(result).__name__}")


def _probability(graph: Graph, edges: EdgeModel, rows: NDArray[Any], columns: NDArray[Any], pairs: ArrayLike) -> Floats:
    source, target = check_pairs(pairs, (len(rows), len(columns)))
    posterior = block_posterior(graph, edges, rows, columns)
    first, second = (cells[rows[source], columns[target]] for cells in (posterior.first, posterior.second))
    if not edges.counts:
        return np.asarray(first / (first + second))
    share = share_products(graph, edges, rows, columns, source, target)
    return np.asarray(1 - (1 + share / second) ** -first)


def _mean_over_draws(chain: Chain, pairs: ArrayLike, draws: int) -> Floats:
    model = chain.model
    bipartite = isinstance(chain, BipartiteChain)
    directed = True if bipartite else model.directed
    graph = graph_from_arrays(chain.inputs, bipartite=bipartite, directed=directed, edges=model.edges)
    edges = model._edge_model(graph)
    rows = chain.labels.reshape(-1, chain.n_items).astype(np.int64)
    columns = rows if chain.__class__ is Chain else chain.columns.reshape(len(rows), -1).astype(np.int64)  # type: ignore[attr-defined]
    chosen = np.unique(np.linspace(0, len(rows) - 1, min(draws, len(rows))).astype(int))
    return np.asarray(np.mean([_probability(graph, edges, rows[t], columns[t], pairs) for t in chosen], axis=0))


@dataclass(frozen=True, eq=False)
class HeldOut(ShownAsText):
    """How well a model predicts dyads that were hidden from it.

    `auc` is the chance that a hidden edge has a higher probability than a hidden pair without one; `log_score` the mean
    log probability of what the hidden dyads were, and `baseline` that of the density of the network alone. `fit` is
    that of the dyads that were not hidden.
    """

    auc: float
    log_score: float
    baseline: float
    n_pairs: int
    n_edges: int
    fit: BlockFit

    def __repr__(self) -> str:
        return (
            f"HeldOut({self.n_pairs} dyads with {self.n_edges} edges: AUC {self.auc:.3f}, mean log score "
            f"{self.log_score:.4f}, of the density alone {self.baseline:.4f})"
        )


def held_out(
    model: ComparableModel,
    graph: Any,
    share: float = 0.1,
    rng: Any = None,
    *,
    hide: str = "",
    **search: Any,
) -> HeldOut:
    """Hide some dyads of a network, fit the model to the others, and score its predictions of those hidden.

    Parameters
    ----------
    model : StochasticBlockModel or NestedBlockModel
        The model to fit.
    graph : anything that `as_graph` takes
        The network.
    share : float
        Share of the observed dyads to hide, above 0 and below 1; at most 200,000 dyads are hidden.
    rng : None, int or numpy Generator
        Seed or source of random numbers; the same seed gives the same result.
    hide : "missing" or "absent", optional
        "missing" marks hidden dyads as not observed; "absent" makes them pairs without an edge, which a
        degree-corrected model needs, since it has no exact likelihood of missing dyads. By default "missing" if the
        model allows it.
    **search : optional
        Arguments of `maximize`, for example ``restarts``.

    Returns
    -------
    HeldOut

    Examples
    --------
    >>> from partita.datasets import load_karate
    >>> held_out(StochasticBlockModel(directed=False), load_karate().data, rng=1).n_pairs
    56
    """
    if not 0 < share < 1:
        raise ValueError(f"share must be above 0 and below 1, but it is {share!r}")
    generator, seen = check_rng(rng), model._graph(graph)
    hide = check_choice(hide or ("absent" if model.degree_corrected else "missing"), "hide", ("missing", "absent"))
    pairs = hidden_pairs(seen, model.directed, model.loops, share, generator)
    truth = np.asarray(seen.presence[pairs[:, 0], pairs[:, 1]]).ravel() > 0
    fit = model.maximize(_without(seen, pairs, model.directed, hide), rng=generator, **search)
    chance = edge_probability(fit, pairs)
    density = truth.mean()
    baseline = _log_score(np.full(len(truth), density), truth)
    score = _log_score(chance, truth)
    return HeldOut(auc(chance, truth), score, baseline, len(pairs), int(truth.sum()), fit)


def hidden_pairs(
    graph: Graph, directed: bool, loops: bool, share: float, rng: np.random.Generator
) -> NDArray[np.int64]:
    """A random share of the observed dyads, (m, 2), an undirected one as (i, j) with i ≤ j; each once."""
    n = graph.n_nodes
    dyads = (n * n if directed else n * (n + 1) // 2) - (0 if loops else n)
    count = min(max(1, round(share * dyads)), MAX_HELD_OUT)
    drawn = rng.integers(n, size=(3 * count + 20, 2))
    drawn = np.unique(drawn if directed else np.sort(drawn, axis=1), axis=0)
    rng.shuffle(drawn)
    observed = np.asarray(graph.missing[drawn[:, 0], drawn[:, 1]]).ravel() == 0
    kept = drawn[observed & (loops | (drawn[:, 0] != drawn[:, 1]))][:count]
    if not len(kept):
        raise ArgumentError(Argument("graph"), " has no observed dyads to hide")
    return np.asarray(kept)


def auc(scores: Floats, truth: NDArray[np.bool_]) -> float:
    """The chance that an edge scores higher than a pair without one, ties counted half; NaN if there is only one kind.

    >>> auc(np.array([0.9, 0.2, 0.2]), np.array([True, True, False]))
    0.75
    """
    edges, others = int(truth.sum()), int((~truth).sum())
    if not edges or not others:
        return float("nan")
    ranks = rankdata(scores)
    return float((ranks[truth].sum() - edges * (edges + 1) / 2) / (edges * others))


def _log_score(chance: Floats, truth: NDArray[np.bool_]) -> float:
    return float(np.log(np.clip(np.where(truth, chance, 1 - chance), LEAST, 1)).mean())


def _without(graph: Graph, pairs: NDArray[np.int64], directed: bool, hide: str) -> Graph:
    if not directed:
        pairs = np.unique(np.concatenate([pairs, pairs[:, ::-1]]), axis=0)
    gone = sp.csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=graph.adjacency.shape)
    left = sp.csr_array(graph.adjacency - graph.adjacency * gone)
    left.eliminate_zeros()
    missing = sp.csr_array(graph.missing + gone) if hide == "missing" else graph.missing
    return Graph(left, missing, graph.names)


@dataclass(frozen=True)
class ComparedModel:
    """One row: the model, its fit, and how it stands. `below` is the deficit of its ICL from the best of those with the
    same `scale`; `exact` whether the ICL is. `held_out` is None if no dyads were hidden."""

    model: ComparableModel
    fit: BlockFit
    scale: str
    below: float
    exact: bool
    held_out: HeldOut | None


@dataclass(frozen=True, eq=False, repr=False)
class ModelComparison(Noted):
    """The models, the best first: by the log score of held-out dyads, or by ICL if they share one scale.

    ICLs are compared within a `scale` alone. "binary" is a probability of a network of 0 and 1, "counts" (also
    degree-corrected models) one of a network of counts, of which the network at hand is one among many more. Held-out
    dyads are scored by the presence of an edge, which all models predict.
    """

    rows: tuple[ComparedModel, ...]

    @property
    def best(self) -> BlockFit:
        """The fit of the first row."""
        return self.rows[0].fit

    def to_pandas(self) -> Any:
        """One row per model, the best first."""
        return data_frame([dict(zip(self.header(), row, strict=True)) for row in self.cells()])

    @staticmethod
    def header() -> tuple[str, ...]:
        """The names of the columns."""
        return ("model", "clusters", "icl", "scale", "below", "exact", "auc", "log_score")

    def cells(self) -> list[tuple[Any, ...]]:
        """One row per model."""
        nothing = (float("nan"), float("nan"))
        scores = [(r.held_out.auc, r.held_out.log_score) if r.held_out else nothing for r in self.rows]
        return [
            (repr(r.model), r.fit.n_clusters, r.fit.icl, r.scale, r.below, r.exact, *score)
            for r, score in zip(self.rows, scores, strict=True)
        ]

    def __repr__(self) -> str:
        lines = [
            f"  {name}: {plural(k, 'cluster')}, ICL {icl:.2f}"
            f" ({scale}{'' if exact else ', approximate'}; {below:.2f} below)"
            + ("" if np.isnan(log_score) else f", held-out AUC {area:.3f}, log score {log_score:.4f}")
            for name, k, icl, scale, below, exact, area, log_score in self.cells()
        ]
        return "\n".join([f"ModelComparison of {len(lines)} models, the best first:", *lines])

    def _repr_html_(self) -> str:
        cells = [[f"{cell:.4f}" if isinstance(cell, float) else str(cell) for cell in row] for row in self.cells()]
        return rows_table("Models, the best first", list(self.header()), cells)


def compare_models(
    graph: Any, models: Sequence[ComparableModel], *, share: float | None = 0.1, rng: Any = None, **search: Any
) -> ModelComparison:
    """Fit several block models to one network and rank them on one scale.

    The scale is the mean log score of dyads that are hidden from all of them (the same ones), or the ICL with
    `share=None`. The ICL of binary edges and that of counts or degree correction are log probabilities of different
    data and do not rank against each other: `share=None` raises an error if both are there, and models that
    differ in `directed` or `loops`, which have different dyads, always do.

    Parameters
    ----------
    graph : anything that `as_graph` takes
        The network.
    models : sequence of StochasticBlockModel or NestedBlockModel
        Models with the same `directed` and `loops`.
    share : float or None
        Share of the dyads to hide; None hides none and ranks by ICL.
    rng : None, int or numpy Generator
        Seed or source of random numbers; the same seed gives the same result.
    **search : optional
        Arguments of `maximize`, for example ``restarts``.

    Returns
    -------
    ModelComparison

    Examples
    --------
    >>> from partita.datasets import load_karate
    >>> sbm = StochasticBlockModel
    >>> models = [sbm(directed=False), sbm(directed=False, blocks="affiliation")]
    >>> compare_models(load_karate().data, models, share=None, rng=1).best.n_clusters
    4
    """
    _check_comparable(models)
    seed = int(check_rng(rng).integers(2**63))
    fits = [model.maximize(graph, rng=seed, **search) for model in models]
    scales = ["counts" if fit.edges.counts else fit.edges.kind for fit in fits]
    if share is None and len(set(scales)) > 1:
        raise ValueError(
            f"models have ICLs of different data ({', '.join(sorted(set(scales)))}); give share= to hide dyads"
        )
    hide = "absent" if any(model.degree_corrected for model in models) else "missing"
    rows = []
    for model, fit, scale in zip(models, fits, scales, strict=True):
        top = max(other.icl for other, name in zip(fits, scales, strict=True) if name == scale)
        scored = None if share is None else held_out(model, graph, share, seed, hide=hide, **search)
        exact = not model.degree_corrected or model.loops
        rows.append(ComparedModel(model, fit, scale, top - fit.icl, exact, scored))
    rows.sort(key=lambda row: -(row.held_out.log_score if row.held_out else row.fit.icl))
    return ModelComparison(tuple(rows))


def _check_comparable(models: Sequence[ComparableModel]) -> None:
    if not models or not all(isinstance(model, ComparableModel) for model in models):
        raise TypeError("models must be a list of StochasticBlockModels or NestedBlockModels, at least one")
    for name in ("directed", "loops"):
        values = [getattr(model, name) for model in models]
        if len(set(values)) > 1:
            raise ValueError(f"models differ in {name}: they describe different sets of dyads and cannot be compared")
