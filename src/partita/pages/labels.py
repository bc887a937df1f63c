"""The labels of all items, which a page holds so that it can write them to a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: The page itself holds the labels of this many items; those of more are in a file beside it.
LABELS_HELD = 100_000


def held_labels(
    labels: NDArray[np.int64], names: Sequence[Any] | None, certainty: NDArray[np.float64] | None = None
) -> dict[str, Any] | None:
    """Names, clusters and, if known, certainties of the items as content of a page; None if there are too many."""
    if labels.size > LABELS_HELD:
        return None
    known = None if certainty is None else [None if np.isnan(p) else round(p, 6) for p in certainty.tolist()]
    own = None if names is None else [str(name) for name in names]
    return {"names": own, "cluster": labels.tolist(), "certainty": known}
