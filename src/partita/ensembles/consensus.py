"""Expected-loss consensus: the clustering that is nearest to the base clusterings on average."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from partita.estimate import estimate
from partita.sample import as_sample

from .base import Labels, as_base, spread, warn_unlabelled


def consensus(
    base: Any, loss: Any = "vi", *, weights: ArrayLike | None = None, search: Any = None, rng: Any = None
) -> Labels:
    """The clustering with the least weighted mean loss to the base clusterings.

    Each base clustering is compared on the items that it labels. `partita.estimate` on the transposed labels
    gives the same with all that an `Estimate` holds.

    Parameters
    ----------
    base : (items, clusterings) labels with gaps
    loss, search : as in `partita.estimate`
    weights : (clusterings,), how much each clustering counts; all the same unless told
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
    labelled = warn_unlabelled(read)
    useful = (read.codes >= 0).any(axis=0)  # a clustering that labels nothing says nothing
    by_clustering = np.ascontiguousarray(read.codes[labelled][:, useful].T)
    kept = None if weights is None else np.asarray(weights, dtype=np.float64)[useful]
    options = {} if search is None else {"search": search}
    found = estimate(as_sample(by_clustering, kept, missing=-1), loss=loss, rng=rng, **options)
    return spread(found.labels, labelled)
