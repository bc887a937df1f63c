"""Names for the types of arrays that appear most, and blocks of rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
#: Clusters by number; a partition is canonical where its function says so.
Labels = NDArray[np.int64]
#: Labels as the core takes them.
CoreLabels = NDArray[np.uint32]


def slices(total: int, size: int) -> Iterator[slice]:
    """Consecutive slices of `size` rows; the last may be shorter.

    >>> list(slices(5, 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    return (slice(start, min(start + size, total)) for start in range(0, total, size))
