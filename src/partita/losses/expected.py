"""Losses between partitions, distances to draws and expected losses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita import _core
from partita._support.arrays import Floats
from partita._support.names import Named, PartitionLike
from partita._support.validate import check_n_jobs
from partita.draws.sample import PartitionSample, as_sample
from partita.losses.base import Loss as Loss
from partita.losses.custom import CustomLoss as CustomLoss
from partita.losses.losses import as_loss
from partita.losses.problem import core_problem
from partita.partitions.checks import check_partitions, check_placed_of, is_one_partition
from partita.partitions.labels import each_alone


def partition_loss(x: PartitionLike, y: PartitionLike, loss: str | Loss = "vi") -> float:
    """Loss of reporting y when x is true.

    Parameters
    ----------
    x, y : (n,) array_like
        The truth and the estimate; two pandas Series with row names are matched by name.
    loss : str or Loss
        The loss, by name or as an object such as ``VI(a=0.5, b=1)``.

    Examples
    --------
    >>> partition_loss([0, 0, 1, 1], [0, 0, 0, 0])
    1.0
    """
    truth, estimate = check_partitions(x, y, "x", "y")
    return float(distances(estimate, as_sample(truth[None, :]), loss, n_jobs=1)[0])


def distances(partition: ArrayLike, draws: Any, loss: str | Loss = "vi", *, n_jobs: int = -1) -> Floats:
    """Loss of one partition against every draw.

    Parameters
    ----------
    partition : (n,) array_like
        The estimate; a Series with row names is matched by name with draws that have names.
    draws : anything that `as_sample` takes
        Posterior draws: labels in any form, one row per draw.
    loss : str or Loss
        The loss, by name or as an object such as ``VI(a=0.5, b=1)``.
    n_jobs : int
        Threads; -1 uses all cores.

    Returns
    -------
    (n_draws,) array
        In the order of the draws, repeated draws included.

    Examples
    --------
    >>> distances([0, 0, 1], [[0, 0, 1], [0, 0, 0], [0, 0, 1]], "binder").round(3)
    array([0.   , 0.444, 0.   ])
    """
    sample = as_sample(draws)
    return unique_distances(partition, sample, as_loss(loss), n_jobs)[sample.index]


def loss_where_placed(x: NDArray[np.int64], y: NDArray[np.int64], loss: Loss) -> float:
    """The loss of y if x is the truth, over the items that both place in a cluster; 0 if there are none."""
    both = (x >= 0) & (y >= 0)
    return partition_loss(x[both], y[both], loss) if both.any() else 0.0


def unique_distances(partition: ArrayLike, sample: PartitionSample, loss: Loss, n_jobs: int = -1) -> Floats:
    """Loss of one partition against each distinct draw of a sample."""
    estimate = check_placed_of(partition, sample.names, sample.n_items, "partition", sample.may_lack)
    return _distances_of([estimate], sample, loss, n_jobs)[0]


def _distances_of(partitions: Sequence[NDArray[Any]], sample: PartitionSample, loss: Loss, n_jobs: int) -> list[Floats]:
    """Losses of each of several partitions, which were checked, against each distinct draw."""
    problem, jobs = core_problem(sample, loss), check_n_jobs(n_jobs)
    whole = [each_alone(labels).astype(np.uint32) for labels in partitions]
    return [cast(Floats, _core.distances(labels, problem, jobs)) for labels in whole]


@overload
def expected_loss(partitions: PartitionSample, draws: Any, loss: str | Loss = ..., *, n_jobs: int = ...) -> Floats: ...


@overload
def expected_loss(partitions: ArrayLike, draws: Any, loss: str | Loss = ..., *, n_jobs: int = ...) -> Any: ...


def expected_loss(
    partitions: ArrayLike | PartitionSample, draws: Any, loss: str | Loss = "vi", *, n_jobs: int = -1
) -> Any:
    """Posterior expected loss of one partition or of many.

    E[L](y) = Σ_t w_t L(x_t, y)

    Parameters
    ----------
    partitions : (n,) or (m, n) array_like, or a sample (its distinct draws)
        One partition, or several.
    draws : anything that `as_sample` takes
        Posterior draws: labels in any form, one row per draw.
    loss : str or Loss
        The loss, by name or as an object such as ``VI(a=0.5, b=1)``.
    n_jobs : int
        Threads; -1 for all cores.

    Returns
    -------
    float, or (m,) array for many partitions

    Examples
    --------
    >>> draws = [[0, 0, 1], [0, 1, 1], [0, 0, 1], [0, 0, 1]]
    >>> round(expected_loss([0, 0, 1], draws), 4)
    0.3333
    """
    sample, kind = as_sample(draws), as_loss(loss)
    candidates: Any = partitions
    if isinstance(partitions, PartitionSample):
        items = Named(partitions.labels.T, partitions.names, "partitions")
        candidates = items.in_order_of(sample.names, sample.n_items, "draws").T
    if is_one_partition(candidates, "partitions"):
        return float(unique_distances(candidates, sample, kind, n_jobs) @ sample.weights)
    rows = [
        check_placed_of(row, sample.names, sample.n_items, f"partitions[{i}]", sample.may_lack)
        for i, row in enumerate(candidates)
    ]
    return np.array([losses @ sample.weights for losses in _distances_of(rows, sample, kind, n_jobs)])


def pairwise_distances(draws: Any, loss: str | Loss = "vi", *, n_jobs: int = -1) -> Floats:
    """Losses between all distinct draws of a sample.

    Parameters
    ----------
    draws : anything that `as_sample` takes
        Posterior draws: labels in any form, one row per draw.
    loss : str or Loss
        The loss, by name or as an object such as ``VI(a=0.5, b=1)``.
    n_jobs : int
        Threads; -1 for all cores.

    Returns
    -------
    (n_unique, n_unique) array
        Element [s, t] takes row s of ``sample.labels`` as the truth and row t as the estimate.

    Examples
    --------
    >>> pairwise_distances([[0, 0, 1], [0, 1, 1]], "binder").round(3)
    array([[0.   , 0.444],
           [0.444, 0.   ]])
    """
    return cast(Floats, _core.pairwise_distances(core_problem(as_sample(draws), as_loss(loss)), check_n_jobs(n_jobs)))
