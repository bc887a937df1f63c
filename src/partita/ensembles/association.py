"""The co-association table: how often two items share a cluster. Too many items raise an error."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._support.arrays import Floats
from partita.ensembles.base_clusterings import Base, as_base, weights_or_ones

MAX_ITEMS = 20_000  # more than this raise an error
ROWS = 512  # at a time: Ctrl-C is answered between them


def check_table(n_items: int, method: str, instead: str) -> None:
    """Raises an error, which says what to do, if a table of all pairs of items would be too large."""
    if n_items > MAX_ITEMS:
        raise ValueError(
            f"{method} needs a table of {n_items} x {n_items} items, but {MAX_ITEMS} is the maximum; {instead}"
        )


def co_association(base: Any, *, weights: ArrayLike | None = None) -> NDArray[np.float64]:
    """How often two items share a cluster, of the clusterings that label both, (items, items).

    For soft clusterings the expected share: that of labels which are drawn independently with their probabilities.

    Parameters
    ----------
    base : (items, clusterings) labels, or membership probabilities
        The base clusterings, in any form that `as_base` takes, of at most 20,000 items.
    weights : (clusterings,) array_like, optional
        Weight of each clustering; equal by default.

    Returns
    -------
    (items, items) array
        Values from 0 to 1; NaN for two items that no clustering labels both.

    Examples
    --------
    >>> co_association([[0, 0], [0, 1], [1, 1]])
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0.5],
           [0. , 0.5, 1. ]])
    """
    read = as_base(base)
    check_table(read.n_items, "co_association", "consensus and NBCE do not need such a table")
    return shares_together(read, weights_or_ones(weights, base, read), unknown=np.nan)


def shares_together(base: Base, weights: Floats | None = None, unknown: float = 0.0) -> Floats:
    """Of the clusterings that label both items, the share in which they are together, (items, items).

    Two items that no clustering labels together get `unknown`.
    """
    weights = np.ones(base.n_clusterings) if weights is None else weights
    labels = base.memberships()
    scaled = labels.multiply(np.repeat(weights, base.sizes)[None, :]).tocsr()
    clusters, seen = labels.T.tocsr(), base.seen.astype(np.float64)
    together, both = np.empty((2, base.n_items, base.n_items))
    for start in range(0, base.n_items, ROWS):
        rows = slice(start, start + ROWS)
        (scaled[rows] @ clusters).toarray(out=together[rows])
        np.matmul(seen[rows] * weights, seen.T, out=both[rows])
    np.fill_diagonal(together, np.diag(both))  # an item is with itself, also where its label is uncertain
    return np.asarray(np.divide(together, both, out=np.full_like(together, unknown), where=both > 0))
