"""Items with the same labels in every draw are searched as one item that counts for all of them.

Let s of m equal items be in cluster A of the estimate and m - s in cluster B, the rest fixed. With a(t) <= a the
numbers of other items of A, in the equal items' cluster of draw t and in total, the expected loss depends on s as

    F(s) = b [φ(a + s) + φ(b' + m - s)] - (a_loss + b) Σ_t w_t [φ(a(t) + s) + φ(b'(t) + m - s)].

For Binder φ(x) = x², for VI x log x: φ'' does not increase, so that φ''(a(t) + s) >= φ''(a + s) and F'' <= -a_loss
φ'' < 0. F is concave, so its least value is at s = 0 or s = m: an optimum keeps equal items together. The same
holds draw by draw if equal items lack labels in the same draws. The other losses are not linear in the sums, so the
proof does not apply to them, and they are searched item by item.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from partita.draws.sample import PartitionSample
from partita.partitions.labels import canonical

#: A weighted item costs more to score than a single one; with fewer equal items than this the search gains nothing.
WORTHWHILE = 4.0
_DRAWS_AT_A_TIME = 16


@dataclass(frozen=True)
class EqualItems:
    """A sample with one item for each distinct column of labels.

    `copies` is the number of items that each one represents; `group` gives, for every item of the full sample, the item
    that represents it.
    """

    sample: PartitionSample
    copies: NDArray[np.uint32]
    group: NDArray[np.int64]


def compress(sample: PartitionSample, worthwhile: float = WORTHWHILE) -> EqualItems | None:
    """The sample with equal items combined; None if there are fewer than `worthwhile` items per distinct column.

    >>> from partita.draws.sample import as_sample
    >>> equal = compress(as_sample([[0, 0, 1, 1], [0, 0, 1, 0]]), worthwhile=1)
    >>> equal.sample.labels.tolist(), equal.copies.tolist(), equal.group.tolist()
    ([[0, 1, 1], [0, 1, 0]], [2, 1, 1], [0, 0, 1, 2])
    """
    group = _equal_columns(sample.labels, sample.n_items / worthwhile)
    if group is None:
        return None
    first = np.unique(group, return_index=True)[1]
    labels = np.ascontiguousarray(sample.labels[:, first])  # still canonical: the first of each kind is kept, in order
    copies = np.bincount(group).astype(np.uint32)
    return EqualItems(replace(sample, labels=labels, names=None), copies, group)


def _equal_columns(labels: NDArray[np.generic], most: float) -> NDArray[np.int64] | None:
    """For each item, the number of its column among the distinct ones, by appearance; None if these are too many.

    Columns are compared by random sums of their labels; at the end the labels themselves are compared, to exclude
    accidental ties.
    """
    multipliers = np.random.default_rng(0).integers(2**64, size=len(labels), dtype=np.uint64) | np.uint64(1)
    sums = np.zeros(labels.shape[1], np.uint64)
    for start in range(0, len(labels), _DRAWS_AT_A_TIME):
        for row in range(start, min(start + _DRAWS_AT_A_TIME, len(labels))):
            sums += labels[row].astype(np.uint64) * multipliers[row]
        if len(np.unique(sums)) > most:
            return None
    group = canonical(sums)
    representative = np.unique(group, return_index=True)[1][group]
    return None if any((row != row[representative]).any() for row in labels) else group
