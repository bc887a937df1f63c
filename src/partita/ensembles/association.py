"""The co-association table: how often two items share a cluster. It is refused for too many items."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .base_clusterings import Base, indicators

MAX_ITEMS = 20_000  # an items × items table is refused for more


def check_table(n_items: int, method: str, instead: str) -> None:
    """Refuse an items × items table for many items, and say what to do."""
    if n_items > MAX_ITEMS:
        raise ValueError(
            f"{method} needs a table of {n_items} x {n_items} items, but {MAX_ITEMS} is the maximum; {instead}"
        )


def coassociation(base: Base) -> NDArray[np.float64]:
    """Of the clusterings that label both items, the share in which they are together, (items, items).

    Two items that no clustering labels together get 0.
    """
    labels = indicators(base)
    together = (labels @ labels.T).toarray()
    seen = (base.codes >= 0).astype(np.float64)
    both = seen @ seen.T
    return np.asarray(np.divide(together, both, out=np.zeros_like(together), where=both > 0))
