"""Whether `ensembles.stability` with null= tells data without clusters from planted clusters.

`python -m benchmarks.stability_null [--first 0] [--last 100] [--data ...] [--clusterers ...]` adds a row per
replication to results/runs/stability_null.csv.gz, where it is not there yet, and writes shares to
results/stability_null.csv. Without clusters: a uniform square, one normal distribution, and the digits of scikit-learn
with each column permuted. With clusters: `PLANTED`; `truth` is the mean adjusted Rand index of the single runs with
these, and a clusterer sees them if it is at least `SEEN`. Beside our verdict is the inconsistency coefficient of scICE
(Cho et al. 2025) of the same runs, 1 over the mean element-centric similarity of pairs; scICE takes labels as
consistent up to 1.005. `--summary` makes no runs.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.datasets import load_digits, make_blobs
from sklearn.decomposition import PCA

from benchmarks.noise import alone
from benchmarks.record import read_runs, write_result, write_runs
from partita import adjusted_rand
from partita.ensembles import as_base, stability

NAME, FIRST_SEED = "stability_null", 42_000
N = 300
CONSISTENT = 1.005
SEEN = 0.8
RUNS = 20
Planted = tuple[np.ndarray, np.ndarray]  # items, and their planted clusters: -1 for noise
NONE = np.full(N, -1)


def uniform(rng: np.random.Generator) -> Planted:
    return rng.uniform(size=(N, 2)), NONE


def gaussian(rng: np.random.Generator) -> Planted:
    return rng.multivariate_normal(np.zeros(3), np.diag([4.0, 1.0, 1.0]), N), NONE


def permuted_digits(rng: np.random.Generator) -> Planted:
    rows = _digits()[rng.choice(1797, N, replace=False)]
    return rng.permuted(rows, axis=0), NONE


def blobs(rng: np.random.Generator, apart: float = 6.0) -> Planted:
    """Four clusters in two dimensions, whose centres are at least so many standard deviations apart."""
    while True:
        centres = rng.uniform(-8, 8, (4, 2))
        if np.linalg.norm(centres[:, None] - centres, axis=2)[np.triu_indices(4, 1)].min() >= apart:
            X, truth = make_blobs(N, centers=centres, random_state=int(rng.integers(2**31)))
            return X, truth


def blobs_in_ten(rng: np.random.Generator) -> Planted:
    """Four clusters in ten dimensions, of unequal sizes."""
    centres = rng.normal(0, 2, (4, 10))
    truth = rng.choice(4, N, p=[0.4, 0.3, 0.2, 0.1])
    return centres[truth] + rng.normal(size=(N, 10)), truth


def noisy(rng: np.random.Generator, apart: float = 6.0) -> Planted:
    """Such clusters among uniform noise, a sixth of all items."""
    X, truth = blobs(rng, apart)
    clusters = X[: N * 5 // 6]
    lowest, highest = clusters.min(axis=0) - 2, clusters.max(axis=0) + 2
    noise = rng.uniform(lowest, highest, (N // 6, 2))
    return np.vstack([clusters, noise]), np.concatenate([truth[: len(clusters)], np.full(len(noise), -1)])


_DIGITS: dict[str, np.ndarray] = {}


def _digits() -> np.ndarray:
    """Scores of the first ten principal components."""
    if not _DIGITS:
        _DIGITS["x"] = PCA(10, random_state=0).fit_transform(load_digits().data)
    return _DIGITS["x"]


EMPTY: dict[str, Callable[[np.random.Generator], Planted]] = {
    "uniform": uniform,
    "gaussian": gaussian,
    "permuted digits": permuted_digits,
}
PLANTED: dict[str, Callable[[np.random.Generator], Planted]] = {
    "blobs": blobs,
    "blobs in ten": blobs_in_ten,
    "blobs and noise": noisy,
    "close blobs": partial(blobs, apart=4.0),
    "close blobs and noise": partial(noisy, apart=4.0),
}
CLUSTERERS: dict[str, Any] = {
    "kmeans": KMeans(4, n_init=5),
    "hdbscan": HDBSCAN(min_cluster_size=15, copy=True),
}


def inconsistency(base: Any) -> float:
    """scICE's coefficient: 1 over the mean similarity of all pairs of runs, each on the items of both."""
    codes = as_base(base).codes.T
    runs = range(len(codes))
    return 1 / float(np.mean([1.0 if a == b else similarity(codes[a], codes[b]) for a, b in product(runs, runs)]))


def similarity(x: np.ndarray, y: np.ndarray) -> float:
    """Element-centric similarity: the mean over items of |A ∩ B| / max(|A|, |B|), A and B their clusters."""
    both = (x >= 0) & (y >= 0)
    if not both.any():
        return 0.0
    table = np.zeros((x.max() + 1, y.max() + 1))
    np.add.at(table, (x[both], y[both]), 1)
    largest = np.maximum(table.sum(axis=1)[:, None], table.sum(axis=0))
    return float((table**2 / np.maximum(largest, 1)).sum() / both.sum())


def recovered(base: Any, truth: np.ndarray) -> float:
    """Mean adjusted Rand index of the runs with planted clusters, on the items in these; noise of a run is alone."""
    found = []
    for labels, seen in zip(base.codes.T, base.seen.T, strict=True):
        items = seen & (truth >= 0)
        found.append(adjusted_rand(alone(labels[items]), truth[items]))
    return float(np.mean(found))


def replicate(data: str, clusterer: str, number: int) -> dict[str, Any]:
    rng = np.random.default_rng([FIRST_SEED, number])
    X, truth = ({**EMPTY, **PLANTED})[data](rng)
    found = stability(CLUSTERERS[clusterer], X, RUNS, rng=rng, null="both", stop=False)
    null = found.null
    assert null is not None
    return {
        "data": data,
        "clusterer": clusterer,
        "replication": number,
        "clusters": found.n_clusters,
        "agreement": round(found.agreement, 4),
        "null": null.kind,
        "null_mean": round(float(null.values.mean()), 4),
        "null_max": round(float(null.values.max()), 4),
        "p_value": float(f"{null.p_value:.3g}"),
        "more_than_chance": int(null.is_more_than_chance),
        "truth": round(recovered(found.base, truth), 4) if data in PLANTED else "",
        "scice": round(inconsistency(found.base), 4),
    }


def shares(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """By data and clusterer: how often runs agree more than by chance, and how often scICE calls them consistent."""
    found = []
    for data, clusterer in product([*EMPTY, *PLANTED], CLUSTERERS):
        own = [row for row in rows if (row["data"], row["clusterer"]) == (data, clusterer)]
        if own:
            more = np.array([int(row["more_than_chance"]) for row in own])
            seen = np.array([float(row["truth"] or 0) >= SEEN for row in own])
            consistent = np.mean([float(row["scice"]) <= CONSISTENT for row in own])
            agreement = np.mean([float(row["agreement"]) for row in own])
            found.append(
                {
                    "data": data,
                    "clusterer": clusterer,
                    "replications": len(own),
                    "agreement": round(float(agreement), 3),
                    "more_than_chance": round(float(more.mean()), 3),
                    "seen_by_clusterer": round(float(seen.mean()), 3) if data in PLANTED else "",
                    "more_than_chance_if_seen": round(float(more[seen].mean()), 3) if seen.any() else "",
                    "more_than_chance_if_not": round(float(more[~seen].mean()), 3) if 0 < seen.sum() < len(own) else "",
                    "consistent_by_scice": round(float(consistent), 3),
                }
            )
    return found


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--last", type=int, default=100)
    parser.add_argument("--data", nargs="*", default=[*EMPTY, *PLANTED])
    parser.add_argument("--clusterers", nargs="*", default=[*CLUSTERERS])
    parser.add_argument("--summary", action="store_true")
    options = parser.parse_args(words)
    rows: list[dict[str, Any]] = [*read_runs(NAME)]
    if not options.summary:
        have = {(row["data"], row["clusterer"], int(row["replication"])) for row in rows}
        for number in range(options.first, options.last):
            for job in product(options.data, options.clusterers, [number]):
                if job not in have:
                    rows.append(replicate(*job))
            write_runs(NAME, rows)
    write_result(NAME, shares(rows))
    print(*shares(rows), sep="\n")


if __name__ == "__main__":
    main()
