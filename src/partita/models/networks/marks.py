"""Marks on edges: real weights, categories and signs, their priors, and their posterior in each block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.stats import t as student_t

from partita._support.arrays import Floats
from partita._support.errors import Argument, ArgumentError
from partita._support.validate import check_scale, check_shape
from partita.models.networks.edge_list import MARKED
from partita.models.networks.graph import Graph

SIGNS = ("-1", "+1")
MAX_INDICATORS = 8  # categories that a start looks at one by one


@dataclass(frozen=True)
class Marks:
    """The kind of marks with the parameters of their prior.

    real: (mu0, kappa0, shape, rate), weight ~ N(μ, 1/τ), μ ~ N(mu0, 1/(kappa0 τ)), τ ~ Gamma(shape, rate).
    categories, signed: (alpha,), probabilities ~ Dirichlet(alpha, …, alpha) over `n_categories`.
    """

    kind: str
    parameters: tuple[float, ...]
    n_categories: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """The categories as the user knows them."""
        return SIGNS if self.kind == "signed" else tuple(map(str, range(1, self.n_categories + 1)))

    def coded(self, values: NDArray[Any]) -> Floats:
        """Entries of the matrix as the core takes them: weights as they are, categories from 0."""
        if self.kind == "real":
            return np.asarray(values, dtype=np.float64)
        return np.asarray((values + 1) / 2 if self.kind == "signed" else values - 1, dtype=np.float64)


def make_marks(graph: Graph, model: Any, directed: bool = True) -> Marks | None:
    """The marks of a graph's edges; None if they have none. The default prior of weights takes each edge once."""
    edges: str = model.edges
    if edges not in MARKED:
        return None
    if edges == "real":
        given = check_weight_prior(model.weight_prior)
        once = np.asarray(graph.adjacency.data if directed else sp.triu(graph.adjacency).data)
        _check_squares(graph.adjacency.data, 0.0 if given is None else given[0])
        return Marks(edges, given or default_weight_prior(once))
    alpha = check_shape(model.category_prior, "category_prior")
    most = int(graph.adjacency.data.max()) if graph.adjacency.nnz else 1
    return Marks(edges, (alpha,), 2 if edges == "signed" else most)


def _check_squares(weights: NDArray[Any], mu0: float) -> None:
    """Raises an error for weights so large, or so far from mu0, that sums of their squares would not be finite."""
    largest = float(np.abs(weights).max(initial=0.0))
    with np.errstate(over="ignore"):
        squares = np.square((np.float64(largest) + abs(mu0)) * len(weights))
    if not np.isfinite(squares):
        by_data = (Argument("graph", value=largest), f" has a weight of size {largest:g}")
        what = by_data if largest >= abs(mu0) else (f"mu0 of weight_prior is {mu0:g}",)
        raise ArgumentError(*what, ", which is too large for variances to be computed; rescale the weights")


def check_weight_prior(prior: Any) -> tuple[float, float, float, float] | None:
    """The four parameters of the Normal–Gamma prior, if they are given."""
    if prior is None:
        return None
    given = np.asarray(prior, dtype=float)
    if given.shape != (4,) or not np.isfinite(given[0]):
        raise ValueError(f"weight_prior must be four numbers (mu0, kappa0, shape, rate), but it is {prior!r}")
    kappa0 = check_scale(given[1], "kappa0 of weight_prior")
    shape = check_shape(given[2], "shape of weight_prior")
    return float(given[0]), kappa0, shape, check_scale(given[3], "rate of weight_prior")


def default_weight_prior(weights: NDArray[Any]) -> tuple[float, float, float, float]:
    """Centred at the mean of the weights; a block's variance is about a tenth of theirs and hardly certain."""
    variance = float(np.var(weights)) if len(weights) else 0.0
    return (float(np.mean(weights)) if len(weights) else 0.0), 0.1, 1.0, 0.1 * (variance if variance > 0 else 1.0)


@dataclass(frozen=True, eq=False)
class BlockMarks:
    """The marks of every block: `mean`, `lower` and `upper` of the mean weight, (K, K) each, with the posterior mean of
    the `variance`; or `probabilities` of the categories, (K, K, C), whose names are `categories`."""

    mean: Floats | None = None
    lower: Floats | None = None
    upper: Floats | None = None
    variance: Floats | None = None
    probabilities: Floats | None = None
    categories: tuple[str, ...] = ()

    def columns(self) -> dict[str, Floats]:
        """The figures of a block by name, (K, K) each: of the mean weight, or the probability of each category."""
        if self.probabilities is not None:
            return {f"probability_{name}": self.probabilities[:, :, c] for c, name in enumerate(self.categories)}
        weights = {"weight_mean": self.mean, "weight_lower": self.lower, "weight_upper": self.upper}
        return {name: values for name, values in weights.items() if values is not None}


def block_marks(marks: Marks, pools: Any, adjacency: sp.csr_array, level: float) -> BlockMarks:
    """The posterior of the marks' parameters; `pools(matrix)` sums a sparse matrix by block."""
    if marks.kind == "real":
        return _weights(marks, pools, adjacency, level)
    coded = marks.coded(adjacency.data)
    counts = np.stack([pools(_with_data(adjacency, coded == c)) for c in range(marks.n_categories)], axis=-1)
    alpha = marks.parameters[0] + counts
    return BlockMarks(probabilities=alpha / alpha.sum(axis=-1, keepdims=True), categories=marks.names)


def _weights(marks: Marks, pools: Any, adjacency: sp.csr_array, level: float) -> BlockMarks:
    mu0, kappa0, shape, rate = marks.parameters
    centred = adjacency.data - mu0
    n, total, squares = (pools(_with_data(adjacency, data)) for data in (np.ones(len(centred)), centred, centred**2))
    kappa, a = kappa0 + n, shape + n / 2
    b = rate + np.maximum(squares - total**2 / kappa, 0) / 2
    mean = mu0 + total / kappa
    posterior = student_t(2 * a, loc=mean, scale=np.sqrt(b / (a * kappa)))
    tail = (1 - level) / 2
    variance = np.divide(b, a - 1, out=np.full(b.shape, np.inf), where=a > 1)
    return BlockMarks(mean, posterior.ppf(tail), posterior.ppf(1 - tail), variance)


def _with_data(matrix: sp.csr_array, data: NDArray[Any]) -> sp.csr_array:
    return sp.csr_array((np.asarray(data, dtype=float), matrix.indices, matrix.indptr), shape=matrix.shape)


def start_matrix(adjacency: sp.csr_array, marks: Marks | None) -> Any:
    """The rows as a spectral start sees them: the edges, and beside them their marks."""
    if marks is None:
        return adjacency
    coded = marks.coded(adjacency.data)
    if marks.kind == "real":
        spread = float(coded.std()) if len(coded) else 0.0
        shown = [np.ones(len(coded)), (coded - coded.mean()) / spread if spread > 0 else coded]
    elif marks.n_categories <= MAX_INDICATORS:
        shown = [coded == c for c in range(marks.n_categories)]
    else:
        shown = [np.ones(len(coded))]
    return sp.csr_array(sp.hstack([_with_data(adjacency, data) for data in shown], format="csr"))
