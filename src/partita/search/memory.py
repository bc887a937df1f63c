"""The memory that a search needs, predicted before it starts.

A search stores the labels a second time, item by item, and for every thread a table with one row per cluster of each
draw and one column per cluster of the estimate, with 8 bytes per cell:

    bytes = items × distinct draws × bytes per label + threads × Σ_t K_t × 8 × columns + items × (192 + 32 × threads)

The number of columns is the number of clusters of the estimate plus one, rounded up to a multiple of 8. A draw with
missing labels has one more row. The last term does not depend on the draws: the partitions of the runs, the tables of
the loss, and for each thread a partition with its orders of items. It matters if there are few draws. If draws share
the rows of recurring clusters, a search needs less; this is not known before it starts.

With many small clusters a search uses lists instead of tables (docs/many_clusters.md). An item is listed for every
draw in which it is together with another item: at most min(n, 2 (n - K_t)) of the n items of draw t:

    bytes ≤ Σ_t min(n, 2 (n - K_t)) × 40 + items × (192 + 128 × threads)

It needs less if clusters occur in several draws. With missing labels each draw has one byte for each item and four for
each cluster and thread.

Binder's loss of up to 8,192 items is searched on the similarity matrix, in single precision. Each thread has the summed
similarity of every item with every cluster, in double precision, with room to grow; the labels are needed once:

    bytes = items × distinct draws × bytes per label + items² × 4 + threads × items × columns × 16 + items × (192 + 32 ×
    threads)
"""

from __future__ import annotations

import numpy as np

from partita._support.memory import free_bytes
from partita.draws.sample import PartitionSample

_CELL_BYTES = 8
_VECTOR_WIDTH = 8
_ITEM_BYTES, _ITEM_BYTES_PER_THREAD = 192, 32
_SIMILARITY_BYTES, _SUM_BYTES = 4, 16
_ENTRY_BYTES, _SPARSE_BYTES_PER_THREAD = 40, 128


def predicted_bytes(sample: PartitionSample, columns: int, threads: int) -> int:
    """Bytes that a search needs beyond the sample itself.

    Parameters
    ----------
    sample : PartitionSample
    columns : int
        Largest number of clusters of the estimate during the search.
    threads : int
    """
    labels = sample.n_items * sample.n_unique * sample.labels.dtype.itemsize
    rows = int(sample.n_clusters.sum()) + (sample.n_unique if sample.has_gaps else 0)
    padded = -(-(columns + 1) // _VECTOR_WIDTH) * _VECTOR_WIDTH
    tables = threads * rows * padded * _CELL_BYTES
    return labels + tables + sample.n_items * (_ITEM_BYTES + threads * _ITEM_BYTES_PER_THREAD)


def predicted_sparse_bytes(sample: PartitionSample, threads: int) -> int:
    """Upper limit on the bytes beyond the sample itself if the search uses lists of cells."""
    together = np.minimum(sample.n_items, 2 * (sample.n_items - sample.n_clusters.astype(np.int64)))
    gaps = sample.n_items * sample.n_unique * (1 + 4 * threads) if sample.has_gaps else 0
    items = sample.n_items * (_ITEM_BYTES + threads * _SPARSE_BYTES_PER_THREAD)
    return int(together.sum()) * _ENTRY_BYTES + items + gaps


def predicted_matrix_bytes(sample: PartitionSample, columns: int, threads: int) -> int:
    """Bytes beyond the sample itself if Binder's loss is searched on the similarity matrix."""
    labels = sample.n_items * sample.n_unique * sample.labels.dtype.itemsize
    sums = threads * sample.n_items * (columns + 1) * _SUM_BYTES
    items = sample.n_items * (_ITEM_BYTES + threads * _ITEM_BYTES_PER_THREAD)
    return labels + sample.n_items**2 * _SIMILARITY_BYTES + sums + items


def check_memory(
    sample: PartitionSample, max_clusters: int, threads: int, sparse: bool = False, matrix: bool = False
) -> None:
    """Refuse a search that would need more memory than is free."""
    widest, free = min(max_clusters, int(sample.n_clusters.max())), free_bytes()
    if sparse:
        needed = predicted_sparse_bytes(sample, threads)
    elif matrix:
        needed = predicted_matrix_bytes(sample, widest, threads)
    else:
        needed = predicted_bytes(sample, widest, threads)
    if free is not None and needed > free:
        raise MemoryError(
            f"the search needs about {needed / 2**30:.1f} GiB, but {free / 2**30:.1f} GiB are free; use fewer draws "
            f"(thin=), fewer threads (n_jobs=) or fewer clusters (max_clusters=)"
        )
