"""How often two items share a cluster, and what is refused when that table would be too large."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .base import Base, indicators

MOST_ITEMS = 20_000  # above it no items × items table is made


def check_table(n_items: int, method: str, instead: str) -> None:
    """Refuse an items × items table for many items, and say what to do."""
    if n_items > MOST_ITEMS:
        raise ValueError(
            f"{method} needs a table of {n_items} x {n_items} items, and none is made above {MOST_ITEMS}; {instead}"
        )


def coassociation(base: Base) -> NDArray[np.float64]:
    """Share of the clusterings that label both items in which they are together, (items, items).

    Two items that no clustering labels together get 0.
    """
    labels = indicators(base)
    together = (labels @ labels.T).toarray()
    seen = (base.codes >= 0).astype(np.float64)
    both = seen @ seen.T
    return np.asarray(np.divide(together, both, out=np.zeros_like(together), where=both > 0))
