"""Parameters of the reported clusters and of the items, from anyone's draws, without relabelling."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._support.arrays import Floats, Labels
from partita._support.errors import Argument, ArgumentError
from partita._support.hints import plural
from partita._support.optional import data_frame
from partita._support.shown import Noted, rows_table
from partita._support.validate import check_level
from partita.draws.sample import PartitionSample, as_sample
from partita.draws.sources.xarrays import is_xarray, posterior_of
from partita.estimation.result import Estimate
from partita.partitions.checks import check_same_items
from partita.uncertainty.ball import subject
from partita.uncertainty.partial import PartialClustering, contains

#: Numbers that are processed at once when intervals of items are computed.
BLOCK_NUMBERS = 4_000_000


@dataclass(frozen=True, eq=False)
class Intervals:
    """Posterior mean and central interval of a parameter; (clusters or items, ...) arrays."""

    mean: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False, repr=False)
class ClusterParameters(Noted):
    """Parameters of the clusters of an estimate: the result of `cluster_parameters`.

    Attributes
    ----------
    clusters : Intervals
        Mean, low and high of each reported cluster, (clusters, ...).
    items : Intervals
        The same of each item, (items, ...).
    draws : (draws, clusters, ...) array
        The parameter of each reported cluster in each draw.
    level : float
        Posterior probability of the intervals.
    sizes : (clusters,) integer array
        Number of items of each cluster.
    labels : (items,) integer array
        The estimate.
    names : tuple of str or None
        The names of the items.
    """

    clusters: Intervals
    items: Intervals
    draws: Floats
    level: float
    labels: Labels
    names: tuple[str, ...] | None = None

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of items of each cluster."""
        return np.bincount(self.labels[self.labels >= 0])

    def rows(self) -> Iterator[dict[str, Any]]:
        """One entry per cluster and component of the parameter."""
        for cluster, size in enumerate(self.sizes.tolist()):
            for place in np.ndindex(self.draws.shape[2:]):
                at = (cluster, *place)
                yield {
                    "cluster": cluster, "items": size, "component": ",".join(map(str, place)),
                    "mean": float(self.clusters.mean[at]), "low": float(self.clusters.low[at]),
                    "high": float(self.clusters.high[at]),
                }  # fmt: skip

    def to_pandas(self) -> Any:
        """The entries of `rows` as a data frame."""
        return data_frame(list(self.rows()))

    def __repr__(self) -> str:
        lines = (
            f"\n  cluster {row['cluster']} ({plural(row['items'], 'item')})"
            f"{' [' + row['component'] + ']' if row['component'] else ''}"
            f"  {row['mean']:.4g}  [{row['low']:.4g}, {row['high']:.4g}]"
            for row in self.rows()
        )
        shown = [line for line, _ in zip(lines, range(24), strict=False)]
        rest = "" if self.draws[0].size <= len(shown) else f"\n  and {self.draws[0].size - len(shown):,} more"
        return (
            f"ClusterParameters: {plural(len(self.sizes), 'cluster')}, {self.level:.0%} intervals{''.join(shown)}{rest}"
        )

    def _repr_html_(self) -> str:
        header = ("cluster", "items", "component", "mean", "low", "high")
        rows = ([f"{v:.4g}" if isinstance(v, float) else str(v) for v in row.values()] for row in self.rows())
        return rows_table("ClusterParameters", header, rows)


def cluster_parameters(
    estimate: Estimate | PartialClustering | ArrayLike,
    theta: Any,
    draws: Any = None,
    *,
    labels: Any = None,
    variable: str | None = None,
    level: float = 0.9,
    rng: Any = None,
) -> ClusterParameters:
    """Parameters of the reported clusters, from the parameters of the items in each draw: no relabelling is needed.

    In draw t an item i has the parameter θ_ti of its cluster there, whatever number that cluster has. The parameter of
    a reported cluster C is the mean over its items,

    φ_tC = Σ_{i in C} θ_ti / |C|,

    and its draws t = 1, 2, ... give a mean and an interval, which spread over partitions and over parameters alike.

    Parameters
    ----------
    estimate : Estimate, PartialClustering or (n,) array_like
        An estimate, or the labels of a partition. A partial clustering: parameters given that its items are clustered
        so, from the draws that have its clusters.
    theta : (draws, items, ...) or (chains, draws, items, ...) array_like
        The parameter of each item. With ``labels``, one entry per cluster of the sampler instead of per item. An xarray
        or ArviZ object with ``variable``. A `Chain` of `GaussianDPM`, whose cluster means are drawn from their
        posterior given the data and the partition (for `MixtureDPM` see `profiles`).
    draws : anything that `as_sample` takes; needed with plain labels
        Draws of the same partition share their weights evenly.
    labels : (draws, items) or (chains, draws, items) integer array_like, or str, optional
        The labels as the sampler numbered them: item i of draw t has the parameter ``theta[t, labels[t, i]]``. A name
        is that of a variable of `theta`.
    variable : str, optional
        The variable of an xarray or ArviZ object.
    level : float in (0, 1]
        Posterior probability of the intervals.
    rng : None, int or numpy Generator
        For a `Chain` only.

    Returns
    -------
    ClusterParameters

    Examples
    --------
    Two draws of two clusters whose numbers have switched:

    >>> labels = np.array([[0, 0, 1], [1, 1, 0]])
    >>> means = np.array([[5.0, 9.0], [8.0, 5.2]])
    >>> found = cluster_parameters([0, 0, 1], means, labels, labels=labels)
    >>> found.clusters.mean.round(3).tolist(), found.items.mean.round(3).tolist()
    ([5.1, 8.5], [5.1, 5.1, 8.5])

    References
    ----------
    Page, Barrientos, Dahl & Dunson (2025), arXiv 2511.16040, for the aim; the mean over items is our own choice.
    """
    if isinstance(estimate, PartialClustering):
        reported, sample = _conditioned(estimate, draws)
    else:
        # the loss plays no part; an estimate from pair probabilities has none that draws could use
        reported, sample, _ = subject(estimate, draws, None if isinstance(estimate, Estimate) else "vi")
    wanted = check_level(level)
    by_item = _by_item(theta, labels, variable, sample, rng)
    members = (reported[:, None] == np.arange(reported.max() + 1)).astype(np.float64)
    flat = by_item.reshape(sample.n_draws, sample.n_items, -1)
    means = np.einsum("tip,ic->tcp", flat, members / members.sum(axis=0), optimize=True)
    shape = by_item.shape[2:]
    clusters = _intervals(means, sample, wanted, shape)
    items = _intervals(flat, sample, wanted, shape)
    return ClusterParameters(clusters, items, means.reshape(sample.n_draws, -1, *shape), wanted, reported, sample.names)


def _conditioned(partial: PartialClustering, draws: Any) -> tuple[Labels, PartitionSample]:
    """The partial clustering, and the draws that have its clusters."""
    sample = partial.sample if draws is None else as_sample(draws)
    assert sample is not None
    check_same_items(partial.labels, sample.labels[0], "partial clustering", "draws")
    weights = np.where(contains(sample, partial.labels), sample.weights, 0.0)
    if weights.sum() <= 0:
        raise ValueError("no draw has the clusters of the partial clustering")
    return partial.labels, replace(sample, weights=weights / weights.sum())


def _by_item(theta: Any, labels: Any, variable: str | None, sample: PartitionSample, rng: Any) -> Floats:
    """The parameter of each item in each draw, (draws, items, ...)."""
    if getattr(theta, "__partita_chain__", False):
        return _of_items(_model_means(theta, labels, variable, rng), "theta", sample, 2)
    if is_xarray(theta):
        theta, labels = _variables(theta, labels, variable)
    elif variable is not None:
        raise ValueError("variable is for xarray and ArviZ objects")
    if labels is None:
        return _of_items(theta, "theta", sample, 2)
    numbers = _of_items(labels, "labels", sample, 2)
    values = _of_items(theta, "theta", sample, 1)
    return _looked_up(values, numbers)


def _model_means(chain: Any, labels: Any, variable: str | None, rng: Any) -> Any:
    if labels is not None or variable is not None:
        raise ValueError("labels and variable are for draws of other programs, and theta is a Chain")
    if not hasattr(chain.model, "draw_means"):
        raise TypeError(f"{type(chain.model).__name__} has no cluster means; partita.profiles describes tables")
    return chain.model.draw_means(chain, rng=rng)


def _variables(theta: Any, labels: Any, variable: str | None) -> tuple[Any, Any]:
    """Arrays with chains and draws first."""
    own = posterior_of(theta, labels, "labels") if isinstance(labels, str) else labels
    return posterior_of(theta, variable), own


def _of_items(values: Any, name: str, sample: PartitionSample, known: int) -> NDArray[Any]:
    """The values as (draws, ...), with the chains one after the other; `known` leading dimensions are checked."""
    array = np.asarray(values)
    if array.dtype.kind not in "iufb":
        raise TypeError(f"{name} must be numbers, but its type is {array.dtype}")
    wanted = (sample.n_draws, sample.n_items)[:known]
    per_chain = (sample.n_chains, sample.n_draws // sample.n_chains, *wanted[1:])
    if array.shape[: len(per_chain)] == per_chain:
        array = array.reshape(sample.n_draws, *array.shape[2:])
    if array.ndim < max(known, 2) or array.shape[:known] != wanted:
        first = "(draws, items, ...)" if known == 2 else "(draws, clusters, ...)"
        need = " and ".join(f"{n} {what}" for n, what in zip(wanted, ("draws", "items"), strict=False))
        raise ArgumentError(Argument(name), f" has shape {array.shape}; it must be {first}, and there are {need}")
    if name == "theta" and known == 2:
        _check_finite(array, list)
        return array.astype(np.float64)
    return array


def _looked_up(theta: Any, labels: Any) -> Floats:
    """theta[t, labels[t, i]]."""
    if labels.dtype.kind not in "iub" and not (labels == np.floor(labels)).all():
        raise ValueError("labels must be whole numbers: positions in the second dimension of theta")
    numbers = labels.astype(np.int64)
    outside = np.argwhere((numbers < 0) | (numbers >= theta.shape[1]))
    if outside.size:
        t, i = outside[0].tolist()
        raise ValueError(
            f"labels[{t}, {i}] is {numbers[t, i]}, but theta has clusters 0..{theta.shape[1] - 1}; labels that count"
            " from 1 need one subtracted"
        )
    found = theta[np.arange(len(theta))[:, None], numbers]
    _check_finite(found, lambda place: [place[0], int(numbers[place])])
    return np.asarray(found, np.float64)


def _check_finite(array: Any, place_of: Any) -> None:
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        place = tuple(int(k) for k in np.argwhere(~np.isfinite(array))[0])
        raise ArgumentError(Argument("theta"), f"{place_of(place)} is {array[place]}, but every item needs a parameter")


def _intervals(values: Floats, sample: PartitionSample, level: float, shape: tuple[int, ...]) -> Intervals:
    """Weighted mean and quantiles over draws of (draws, m, parameters), a few columns at a time."""
    flat = values.reshape(len(values), -1)
    out = np.empty((3, flat.shape[1]))
    step = max(1, BLOCK_NUMBERS // len(flat))
    for start in range(0, flat.shape[1], step):
        columns = slice(start, start + step)
        out[:, columns] = _summaries(flat[:, columns], sample, level)
    mean, low, high = out.reshape(3, values.shape[1], *shape)
    return Intervals(mean, low, high)


def _summaries(columns: Floats, sample: PartitionSample, level: float) -> Floats:
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    if not sample.is_weighted:
        return np.vstack([columns.mean(axis=0), np.quantile(columns, tails, axis=0)])
    weights = sample.draw_weights
    options: dict[str, Any] = {"axis": 0, "weights": weights, "method": "inverted_cdf"}
    return np.vstack([weights @ columns, np.quantile(columns, tails, **options)])
