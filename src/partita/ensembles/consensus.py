"""Expected-loss consensus: the clustering that is nearest to the base clusterings on average."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from partita.estimate import estimate
from partita.sample import as_sample

from .base_clusterings import Labels, as_base, in_column_order, spread, warn_unlabelled


def consensus(
    base: Any, loss: Any = "vi", *, weights: ArrayLike | None = None, search: Any = None, rng: Any = None
) -> Labels:
    """The clustering with the least weighted mean loss to the base clusterings.

    Each base clustering is compared on the items that it labels. `partita.estimate` on the transposed labels
    finds the same partition and returns an `Estimate`.

    Parameters
    ----------
    base : (items, clusterings) labels with gaps
    loss, search : as in `partita.estimate`
    weights : (clusterings,), the weight of each clustering; equal by default. A Series is matched by its index with the
        columns of a data frame
    rng : None, an integer or a numpy Generator

    Returns
    -------
    labels : (items,) canonical; −1 for an item without labels

    Examples
    --------
    >>> consensus([[0, 0], [0, 0], [1, 1], [1, -1]], rng=1).tolist()
    [0, 0, 1, 1]
    """
    read = as_base(base)
    if weights is not None:
        weights = in_column_order(weights, base, read.n_clusterings)
    labelled = warn_unlabelled(read)
    useful = np.asarray((read.codes >= 0).any(axis=0))  # clusterings that label no item are left out
    by_clustering = np.ascontiguousarray(read.codes[labelled][:, useful].T)
    kept = None if weights is None else np.asarray(weights)[useful]
    options = {} if search is None else {"search": search}
    found = estimate(as_sample(by_clustering, kept, missing=-1), loss=loss, rng=rng, check_draws=False, **options)
    return spread(found.labels, labelled)
