"""The similarity matrix against one-hot matrix products, and expected losses against scikit-learn's tables."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import partita as pt
from benchmarks.data import reference_draws


def timed(work: Callable[[], Any], repeats: int = 3) -> float:
    """Least of a few elapsed times."""
    times = []
    for _ in range(repeats):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return min(times)


def one_hot_similarity(labels: NDArray[np.int64], block: int = 50) -> NDArray[np.float32]:
    """Blocks of draws as one indicator matrix each; NumPy multiplies with as many threads as it likes."""
    n_draws, n_items = labels.shape
    total = np.zeros((n_items, n_items), np.float32)
    for begin in range(0, n_draws, block):
        rows = labels[begin : begin + block]
        width = int(rows.max()) + 1
        columns = rows + width * np.arange(len(rows))[:, None]
        indicator = np.zeros((n_items, width * len(rows)), np.float32)
        indicator[np.arange(n_items), columns] = 1
        total += indicator @ indicator.T
    return total / n_draws


def sklearn_expected_vi(partition: NDArray[np.int64], labels: NDArray[np.int64]) -> float:
    from sklearn.metrics.cluster import contingency_matrix

    def x_log_x(counts: Any) -> float:
        counts = np.asarray(counts, np.float64)
        return float((counts * np.log2(counts)).sum())

    total = 0.0
    for row in labels:
        table = contingency_matrix(row, partition, sparse=True)
        rows, columns = np.asarray(table.sum(axis=1)).ravel(), np.asarray(table.sum(axis=0)).ravel()
        total += x_log_x(rows) + x_log_x(columns) - 2 * x_log_x(table.data)
    return total / labels.size


def main() -> None:
    labels = reference_draws("large")
    sample = pt.as_sample(labels)
    ours = timed(lambda: pt.similarity(sample, dtype=np.float32))
    theirs = timed(lambda: one_hot_similarity(sample.labels.astype(np.int64)), repeats=1)
    gap = np.abs(pt.similarity(sample, dtype=np.float32) - one_hot_similarity(sample.labels.astype(np.int64))).max()
    print(f"similarity, 5000 items x 1000 draws: one-hot NumPy / partita = {theirs / ours:.1f}  (differ by {gap:.1e})")
    partition = sample.labels[0].astype(np.int64)
    ours = timed(lambda: pt.expected_loss(partition, sample, n_jobs=1))
    theirs = timed(lambda: sklearn_expected_vi(partition, labels), repeats=1)
    gap = abs(pt.expected_loss(partition, sample) - sklearn_expected_vi(partition, labels))
    print(f"expected VI of one partition, one thread: scikit-learn loop / partita = {theirs / ours:.1f}  "
          f"(differ by {gap:.1e})")  # fmt: skip


if __name__ == "__main__":
    main()
