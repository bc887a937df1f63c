"""Base clusterings of data: k-means runs, or any scikit-learn clusterers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._support.optional import optional
from partita._support.validate import check_count, check_probability, check_rng

MAX_VALUE = 1e150  # largest absolute value of the data: squared distances must not overflow
FRACTIONS = (0.5, 0.75, 1.0, 1.5, 2.0)  # of the number of classes, as in Wang, Domeniconi & Laskey (2010)


def kmeans_ensemble(
    X: ArrayLike,
    k: int | None = None,
    *,
    n_clusterings: int = 10,
    fractions: Sequence[float] = FRACTIONS,
    clusterers: Sequence[Any] | None = None,
    resample: float = 1.0,
    rng: Any = None,
) -> NDArray[np.intp]:
    """Base clusterings from k-means with random starts and 50, 75, 100, 150 and 200 % of k clusters in turn.

    Parameters
    ----------
    X : (items, features) array_like
        Numbers from −1e150 to 1e150.
    k : int, optional
        Number of classes, of which `fractions` are taken; needed unless `clusterers` are given.
    n_clusterings : int
        Number of runs of k-means.
    fractions : sequence of float
        Numbers of clusters as fractions of k, used in turn.
    clusterers : sequence of scikit-learn clusterers, optional
        Run instead of k-means; each is cloned and fitted to X.
    resample : float
        Share of the items, chosen at random without replacement, that each run clusters; the others are missing (−1) in
        that run. Runs on different items repeat each other less.
    rng : None, int or numpy Generator
        Seed or source of random numbers; it also sets the `random_state` of clusterers that have one.

    Returns
    -------
    (items, clusterings) integer array
        Labels; a label below 0 (noise, for DBSCAN) becomes −1, which marks a missing label.

    Examples
    --------
    >>> X = [[0.0], [0.1], [5.0], [5.1], [9.0], [9.1]]
    >>> kmeans_ensemble(X, 2, n_clusterings=5, rng=0).shape
    (6, 5)
    """
    data = _check_data(X)
    rng = check_rng(rng)
    if clusterers is None:
        clusterers = _kmeans_runs(len(data), k, n_clusterings, fractions)
    share = check_probability(resample, "resample")
    columns = [_run_on_some(clusterer, data, share, rng) for clusterer in clusterers]
    return np.stack(columns, axis=1)


def _run_on_some(clusterer: Any, data: NDArray[np.float64], share: float, rng: np.random.Generator) -> NDArray[np.intp]:
    """The labels of a share of the items, −1 for the others."""
    seed = int(rng.integers(2**31))
    if share == 1.0:
        return _run(clusterer, data, seed)
    chosen = rng.choice(len(data), max(1, round(share * len(data))), replace=False)
    labels = np.full(len(data), -1, dtype=np.intp)
    labels[chosen] = _run(clusterer, data[chosen], seed)
    return labels


def _check_data(X: ArrayLike) -> NDArray[np.float64]:
    data = np.asarray(X, dtype=np.float64)
    if data.ndim != 2 or not data.size:
        raise ValueError(f"X must be (items, features), but its shape is {data.shape}")
    bad = np.argwhere(~(np.abs(data) <= MAX_VALUE))
    if len(bad):
        row, column = bad[0]
        raise ValueError(
            f"X[{row}, {column}] is {data[row, column]}: k-means needs numbers from {-MAX_VALUE:g} to {MAX_VALUE:g}"
        )
    return data


def _kmeans_runs(n_items: int, k: int | None, n_clusterings: int, fractions: Sequence[float]) -> list[Any]:
    cluster = _sklearn("sklearn.cluster")
    if k is None:
        raise ValueError("k-means needs k, the number of classes, of which fractions are taken")
    check_count(n_clusterings, "n_clusterings", minimum=1)
    check_count(k, "k", minimum=1)
    if k > n_items:
        raise ValueError(f"k is {k}, but it must be at most the number of items, {n_items}")
    sizes = [fractions[run % len(fractions)] * k for run in range(n_clusterings)]
    within = [int(np.clip(np.floor(size + 0.5), 1, n_items)) for size in sizes]
    return [cluster.KMeans(size, init="random", n_init=1) for size in within]


def _run(clusterer: Any, data: NDArray[np.float64], seed: int) -> NDArray[np.intp]:
    fresh = _sklearn("sklearn.base").clone(clusterer)
    if "random_state" in fresh.get_params():
        fresh.set_params(random_state=seed)
    return np.maximum(np.asarray(fresh.fit_predict(data), dtype=np.intp), -1)


def _sklearn(name: str) -> Any:
    return optional(name, "k-means ensembles need scikit-learn", "ensembles")
