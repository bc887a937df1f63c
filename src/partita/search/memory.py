"""How much memory a search takes, said before it is taken.

A search holds the labels a second time, item by item, and for every thread a table with a row for each cluster of each
draw and a column for each cluster of the estimate, 8 bytes a cell:

    bytes = items × distinct draws × bytes a label + threads × Σ_t K_t × 8 × columns + items × (192 + 32 × threads)

Columns are the clusters of the estimate plus one, rounded up to a multiple of 8. With gaps each draw has one row more.
The last term is what does not depend on the draws: the partitions of the runs, the tables of the loss, and for each
thread a partition with its orders of items. It matters where draws are few. Where draws share the rows of clusters that
repeat, a search takes less; this is not known before it starts.
"""

from __future__ import annotations

import os

from partita.sample import PartitionSample

_CELL_BYTES = 8
_LANE = 8
_ITEM_BYTES, _ITEM_BYTES_A_THREAD = 192, 32


def predicted_bytes(sample: PartitionSample, columns: int, threads: int) -> int:
    """Memory of a search beyond the sample itself.

    Parameters
    ----------
    sample : PartitionSample
    columns : int
        Clusters of the estimate at the widest point of the search.
    threads : int
    """
    labels = sample.n_items * sample.n_unique * sample.labels.dtype.itemsize
    rows = int(sample.n_clusters.sum()) + (sample.n_unique if sample.has_gaps else 0)
    padded = -(-(columns + 1) // _LANE) * _LANE
    tables = threads * rows * padded * _CELL_BYTES
    return labels + tables + sample.n_items * (_ITEM_BYTES + threads * _ITEM_BYTES_A_THREAD)


def check_memory(sample: PartitionSample, max_clusters: int, threads: int) -> None:
    """Refuse a search that would need more memory than is free."""
    widest = min(max_clusters, int(sample.n_clusters.max()))
    needed, free = predicted_bytes(sample, widest, threads), free_bytes()
    if free is not None and needed > free:
        raise MemoryError(
            f"the search needs about {needed / 2**30:.1f} GiB, but {free / 2**30:.1f} GiB are free; use fewer draws "
            f"(thin=), fewer threads (n_jobs=) or fewer clusters (max_clusters=)"
        )


def free_bytes() -> int | None:
    """Memory that is free on this machine, where the system tells."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
        return int(os.sysconf("SC_AVPHYS_PAGES")) * int(os.sysconf("SC_PAGE_SIZE"))
    except (OSError, ValueError, AttributeError):
        return None
