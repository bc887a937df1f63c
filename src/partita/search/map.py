"""Method "map": the modal draw."""

from __future__ import annotations

from typing import Any

import numpy as np

from partita.draws.sample import PartitionSample
from partita.losses.base import Loss
from partita.search.result import SearchResult
from partita.search.settings import Search, within_limit


def find_map(
    sample: PartitionSample, loss: Loss, search: Search, rng: np.random.Generator, log_density: Any = None
) -> SearchResult:
    """The draw that occurs most often, or the draw of highest log density if `log_density` is given.

    The modal draw minimises the expected 0-1 loss. Its criterion is its weight, or its log density.
    """
    allowed = within_limit(sample, search)
    if log_density is None:
        row = int(np.argmax(np.where(allowed, sample.weights, -1)))
        return SearchResult(sample.labels[row].astype(np.int64), criterion=float(sample.weights[row]))
    density = np.asarray(log_density, np.float64).ravel()
    if density.size != sample.n_draws:
        raise ValueError(f"log_density has {density.size} values, but there are {sample.n_draws} draws")
    if np.isnan(density).any():
        raise ValueError(f"log_density[{int(np.argmax(np.isnan(density)))}] is NaN")
    draw = int(np.argmax(np.where(allowed[sample.index], density, -np.inf)))
    return SearchResult(sample.labels[sample.index[draw]].astype(np.int64), criterion=float(density[draw]))
