"""Large results as Dask arrays, block by block, computed by the current Dask scheduler."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from partita._support.arrays import slices
from partita._support.optional import optional
from partita._support.validate import check_count
from partita.draws.sample import PartitionSample, as_sample, some_rows
from partita.losses import expected as here
from partita.losses.base import Loss
from partita.losses.expected import unique_distances
from partita.losses.losses import as_loss
from partita.pairs.similarity import similarity as similarity_here
from partita.partitions.checks import check_placed_of
from partita.partitions.labels import each_alone
from partita.uncertainty.ball import CredibleBall, ball_from, subject

ITEMS_PER_BLOCK = 4096
LABELS_PER_BLOCK = 1 << 25


def similarity(draws: Any, block: int = ITEMS_PER_BLOCK, dtype: DTypeLike = np.float32) -> Any:
    """Posterior similarity matrix as a Dask array, one task for each block of items.

    Parameters
    ----------
    draws, dtype
        As for `partita.similarity`.
    block : int
        Rows and columns of a block.

    Returns
    -------
    (n, n) Dask array

    Examples
    --------
    >>> similarity([[0, 0, 1], [0, 1, 1]], block=2).compute().tolist()
    [[1.0, 0.5, 0.0], [0.5, 1.0, 0.5], [0.0, 0.5, 1.0]]
    """
    sample = as_sample(draws)
    parts = list(slices(sample.n_items, check_count(block, "block", minimum=1)))
    shared = _delayed(sample)
    return _blocks(
        parts, parts, np.dtype(dtype), lambda rows, columns: (similarity_block, shared, rows, columns, dtype)
    )


def similarity_block(sample: PartitionSample, rows: slice, columns: slice, dtype: DTypeLike) -> NDArray[Any]:
    """One block of the similarity matrix."""
    items = np.arange(rows.start, rows.stop), np.arange(columns.start, columns.stop)
    return similarity_here(sample, items, dtype=dtype, n_jobs=1)


def distances(partition: ArrayLike, draws: Any, loss: str | Loss = "vi", block: int | None = None) -> Any:
    """Loss of one partition against every draw as a Dask array, with one task per block of distinct draws.

    Parameters
    ----------
    partition, draws, loss
        As for `partita.distances`.
    block : int, optional
        Distinct draws per block; by default enough that a block has about 32 million labels.

    Returns
    -------
    (n_draws,) Dask array
        In the order of the draws, repeated draws included.

    Examples
    --------
    >>> distances([0, 0, 1], [[0, 0, 1], [0, 0, 0], [0, 0, 1]], "binder").compute().round(3).tolist()
    [0.0, 0.444, 0.0]
    """
    sample = as_sample(draws)
    return _unique_distances(partition, sample, as_loss(loss), block)[sample.index]


def _unique_distances(partition: ArrayLike, sample: PartitionSample, loss: Loss, block: int | None = None) -> Any:
    da, dask = _dask()
    center = each_alone(check_placed_of(partition, sample.names, sample.n_items, "partition", sample.may_lack))
    size = max(1, LABELS_PER_BLOCK // sample.n_items) if block is None else check_count(block, "block", minimum=1)
    shared = dask.delayed(center, pure=False)
    pieces = []
    for rows in slices(sample.n_unique, size):
        task = dask.delayed(_distances_to_rows, pure=False)(shared, _rows(sample, rows), loss)
        pieces.append(da.from_delayed(task, (rows.stop - rows.start,), np.float64))
    return da.concatenate(pieces)


def _distances_to_rows(center: NDArray[np.int64], part: PartitionSample, loss: Loss) -> NDArray[np.float64]:
    return unique_distances(center, part, loss, n_jobs=1)


def pairwise_distances(draws: Any, loss: str | Loss = "vi", block: int = 512) -> Any:
    """Losses between all distinct draws as a Dask array, with one task per block of draws.

    Parameters
    ----------
    draws, loss
        As for `partita.pairwise_distances`.
    block : int
        Draws in the rows and columns of a block.

    Returns
    -------
    (n_unique, n_unique) Dask array
        Element [s, t] takes row s of ``sample.labels`` as the truth and row t as the estimate.

    Examples
    --------
    >>> pairwise_distances([[0, 0, 1], [0, 1, 1]], "binder", block=1).compute().round(3).tolist()
    [[0.0, 0.444], [0.444, 0.0]]
    """
    sample, kind = as_sample(draws), as_loss(loss)
    parts = list(slices(sample.n_unique, check_count(block, "block", minimum=1)))
    shared = {rows.start: _delayed(_rows(sample, rows)) for rows in parts}

    def task(rows: slice, columns: slice) -> tuple[Any, ...]:
        return pairwise_block, shared[rows.start], shared[columns.start], kind

    return _blocks(parts, parts, np.dtype(np.float64), task)


def pairwise_block(truths: PartitionSample, estimates: PartitionSample, loss: Loss) -> NDArray[np.float64]:
    """Losses of some draws, the columns, against others, the rows."""
    if truths is estimates:
        return here.pairwise_distances(truths, loss, n_jobs=1)
    columns = [_distances_to_rows(_complete(row), truths, loss) for row in estimates.labels]
    return np.stack(columns, axis=1)


def _complete(row: NDArray[Any]) -> NDArray[np.int64]:
    if row.min() < 0:
        raise ValueError("pairwise distances by blocks need draws without missing labels")
    return row.astype(np.int64)


def credible_ball(
    estimate: Any,
    draws: Any = None,
    *,
    loss: str | Loss | None = None,
    level: float = 0.95,
    block: int | None = None,
) -> CredibleBall:
    """Smallest ball around an estimate that holds at least `level` of the draws; workers compute the distances.

    The arguments are those of `partita.credible_ball`; `block` is that of `distances`.

    Examples
    --------
    >>> draws = [[0, 0, 1, 1]] * 6 + [[0, 0, 0, 0]] * 2 + [[0, 1, 2, 3]] + [[0, 1, 0, 1]]
    >>> credible_ball([0, 0, 1, 1], draws, level=0.9).radius
    1.0
    """
    center, sample, kind = subject(estimate, draws, loss)
    return ball_from(center, sample, kind, level, _unique_distances(each_alone(center), sample, kind, block).compute())


def _dask() -> tuple[Any, Any]:
    need = "Dask arrays need Dask"
    return optional("dask.array", need, "dask"), optional("dask", need, "dask")


def _delayed(value: Any) -> Any:
    return _dask()[1].delayed(value, pure=False, traverse=False)


def _rows(sample: PartitionSample, rows: slice) -> PartitionSample:
    count = rows.stop - rows.start
    return some_rows(sample, rows, np.full(count, 1 / count))


def _blocks(
    rows: list[slice], columns: list[slice], dtype: np.dtype[Any], task: Callable[[slice, slice], tuple[Any, ...]]
) -> Any:
    da, dask = _dask()

    def block(row: slice, column: slice) -> Any:
        function, *arguments = task(row, column)
        made = dask.delayed(function, pure=False)(*arguments)
        return da.from_delayed(made, (row.stop - row.start, column.stop - column.start), dtype)

    return da.block([[block(row, column) for column in columns] for row in rows])
