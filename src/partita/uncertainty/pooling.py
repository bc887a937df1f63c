"""Draws of several imputations of the same data as one sample, and how far the imputations disagree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from partita._support.arrays import Floats
from partita._support.names import order_by_name
from partita.draws.sample import PartitionSample, as_sample
from partita.losses.base import Loss
from partita.losses.expected import pairwise_distances

#: Draws whose distances tell how far imputations disagree, in all.
COMPARED = 400


@dataclass(frozen=True, eq=False, repr=False)
class PooledSample(PartitionSample):
    """Draws of several imputations, of equal weight each: the result of `pool`, and otherwise a `PartitionSample`.

    Attributes
    ----------
    sources : int
        Number of imputations.
    within, between : float
        Mean distance of two draws of the same imputation, and of two draws of different ones.
    """

    sources: int = 1
    within: float = 0.0
    between: float = 0.0

    @property
    def disagreement(self) -> float:
        """1 − within / between, at least 0: the share of the spread of the draws that the imputations cause."""
        return max(0.0, 1 - self.within / self.between) if self.between > 0 else 0.0


def pool(samples: Sequence[Any], *, loss: str | Loss = "vi") -> PooledSample:
    """Draws of several imputed data sets as one posterior sample.

    The posterior under missing data is the mixture of the posteriors of the imputed data sets, so that their draws are
    put together, each data set with the same weight. Partitions have no labels to match. The draws of the data sets are
    interleaved and count as one chain: check convergence for each of them before they are pooled.

    Parameters
    ----------
    samples : list of anything that `as_sample` takes
        Posterior draws of each imputed data set, of the same items; by name if both have names.
    loss : str or Loss
        The distance that says how far the imputations disagree.

    Returns
    -------
    PooledSample
        For `estimate` and all other functions of draws.

    Examples
    --------
    >>> pooled = pool([[[0, 0, 1], [0, 0, 1]], [[0, 1, 1], [0, 1, 1]]])
    >>> pooled.n_draws, pooled.weights.tolist(), pooled.disagreement
    (4, [0.5, 0.5], 1.0)

    References
    ----------
    Rubin (1987), Multiple Imputation for Nonresponse in Surveys, for the mixture of posteriors.
    """
    if isinstance(samples, PartitionSample | str) or not hasattr(samples, "__len__") or len(samples) < 1:
        raise TypeError("samples must be a list with the draws of each imputation")
    parts = [as_sample(each) for each in samples]
    orders = [_order(part, parts[0], number) for number, part in enumerate(parts)]
    rows = [part.to_numpy().astype(np.int64)[:, order] for part, order in zip(parts, orders, strict=True)]
    when = np.concatenate([(np.arange(part.n_draws) + 0.5) / part.n_draws for part in parts])
    order = np.argsort(when, kind="stable")
    labels = np.vstack(rows)[order]
    weights = np.concatenate([part.draw_weights for part in parts])[order]
    missing = -1 if any(part.has_gaps for part in parts) else None
    found = as_sample(labels, weights, missing, names=parts[0].names)
    within, between = _spread(rows, missing, loss)
    own = (found.labels, found.weights, found.index, found.chains, found.names, _noise(parts, orders))
    return PooledSample(*own, sources=len(parts), within=within, between=between)


def _order(part: PartitionSample, first: PartitionSample, number: int) -> Any:
    """Where a part has the items of the first part."""
    if part.n_items != first.n_items:
        raise ValueError(f"samples[{number}] has {part.n_items} items, but samples[0] has {first.n_items}")
    if part.names is None or first.names is None:
        return slice(None)
    order = order_by_name(part.names, first.names, f"samples[{number}]", "samples[0]")
    return slice(None) if order is None else order


def _noise(parts: list[PartitionSample], orders: list[Any]) -> Floats | None:
    """The share of the draws that call each item noise, of those that label it; None if no part has noise."""
    if all(part.noise is None for part in parts):
        return None
    each = list(zip(parts, orders, strict=True))
    labelled = np.array([(part.weights @ (part.labels >= 0))[order] for part, order in each])
    shares = [np.zeros(part.n_items) if part.noise is None else np.nan_to_num(part.noise) for part in parts]
    called = np.array([share[order] for share, order in zip(shares, orders, strict=True)])
    with np.errstate(invalid="ignore"):  # 0 / 0: an item that no draw labels
        return np.asarray((called * labelled).sum(axis=0) / labelled.sum(axis=0))


def _spread(rows: list[Any], missing: Any, loss: Any) -> tuple[float, float]:
    """Mean distances within and between parts, over some draws of each, evenly spread."""
    each = max(2, COMPARED // len(rows))
    chosen = [np.unique(np.linspace(0, len(own) - 1, min(each, len(own))).astype(np.int64)) for own in rows]
    sources = np.repeat(np.arange(len(rows)), [len(own) for own in chosen])
    some = as_sample(np.vstack([own[which] for own, which in zip(rows, chosen, strict=True)]), missing=missing)
    distances: Floats = pairwise_distances(some, loss)[np.ix_(some.index, some.index)]
    pairs = ~np.eye(len(sources), dtype=np.bool_)
    same = (sources[:, None] == sources) & pairs
    other = pairs & ~same
    return _mean(distances[same]), _mean(distances[other])


def _mean(values: Floats) -> float:
    return float(values.mean()) if values.size else 0.0
