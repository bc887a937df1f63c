"""Names for the types of arrays that appear most."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
#: Clusters by number; a partition is canonical where its function says so.
Labels = NDArray[np.int64]
#: Labels as the core takes them.
CoreLabels = NDArray[np.uint32]
