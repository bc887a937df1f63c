"""Planted clusters among planted noise, by runs of HDBSCAN: what one run, the consensus and other methods find.

`python -m benchmarks.noise` makes results/runs/noise.csv.gz, a row per shape, replication and method, results/noise.csv
with their means, and results/noise_tenths.csv, how often items of each tenth of certainty are placed rightly, and how
often those of each tenth of the share of noise are noise.
Methods: "one run" of HDBSCAN on all items; "consensus" of runs of 80 % of the items, noise a verdict; "noise as
missing", the same runs read with noise as missing labels; NBCE with noise as a label of its own ("nbce") and as missing
("nbce missing"). `found` is the share of the planted noise that is reported as noise, `lost` the share of the other
items; `ari` counts noise items as alone.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.cluster import HDBSCAN
from sklearn.datasets import make_blobs, make_circles, make_moons

from benchmarks.record import write_result, write_runs
from partita import adjusted_rand
from partita.ensembles import NBCE, as_base, consensus, stability
from partita.models import Sampling

SCORES = ("clusters", "found", "lost", "right", "ari")
FIRST_SEED, REPLICATIONS = 3_939, 20
SIGNAL, NOISE, SMALLEST, RUNS = 400, 100, 10, 50
BOX = 0.25  # the noise is uniform in the box of the clusters, larger by this share at each end


def _blobs(seed: int) -> Any:
    return make_blobs(SIGNAL, centers=[(0, 0), (6, 0), (0, 6), (7, 7)], random_state=seed)


def _densities(seed: int) -> Any:
    return make_blobs([200, 100, 100], centers=[(0, 0), (7, 0), (0, 8)], cluster_std=[0.4, 1.0, 1.6], random_state=seed)


def _stretched(seed: int) -> Any:
    X, truth = make_blobs(SIGNAL, centers=[(-6, 0), (0, 0), (6, 0)], random_state=seed)
    return X @ np.array([[0.6, -0.6], [-0.4, 0.8]]), truth


def _moons(seed: int) -> Any:
    return make_moons(SIGNAL, noise=0.06, random_state=seed)


def _circles(seed: int) -> Any:
    return make_circles(SIGNAL, noise=0.04, factor=0.45, random_state=seed)


SHAPES: dict[str, Callable[[int], Any]] = {
    "blobs": _blobs,
    "unequal densities": _densities,
    "stretched": _stretched,
    "moons": _moons,
    "circles": _circles,
}


def planted(shape: str, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Clusters and noise, and the truth: -1 for noise."""
    X, truth = SHAPES[shape](FIRST_SEED + number)
    lowest, highest = X.min(axis=0), X.max(axis=0)
    margin = BOX * (highest - lowest)
    rng = np.random.default_rng([FIRST_SEED, number])
    spread = rng.uniform(lowest - margin, highest + margin, (NOISE, X.shape[1]))
    return np.vstack([X, spread]), np.concatenate([truth, np.full(NOISE, -1)])


def alone(labels: np.ndarray) -> np.ndarray:
    """Noise items as clusters of one item."""
    return np.where(labels < 0, len(labels) + np.arange(len(labels)), labels)


def placed_rightly(labels: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Whether an item has the true cluster of most items of its cluster; of noise, whether it is noise."""
    right = (labels < 0) & (truth < 0)
    for k in np.unique(labels[labels >= 0]):
        own = labels == k
        values, counts = np.unique(truth[own], return_counts=True)
        right[own] = truth[own] == values[counts.argmax()]
    return right


def scores(labels: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    noise = truth < 0
    return {
        "clusters": len(np.unique(labels[labels >= 0])),
        "found": round(float((labels[noise] < 0).mean()), 4),
        "lost": round(float((labels[~noise] < 0).mean()), 4),
        "right": round(float(placed_rightly(labels, truth).mean()), 4),
        "ari": round(float(adjusted_rand(alone(truth), alone(labels))), 4),
    }


def nbce(base: Any, seed: int) -> np.ndarray:
    """Labels of NBCE; a cluster of which most items are noise in most runs is read as the cluster of noise."""
    model = NBCE(sampling=Sampling(draws=100, warmup=100, chains=1, n_jobs=1), truncation=30, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = np.array(model.fit(base).labels_)
    if base.noise is not None:
        share = base.noise.sum(axis=1) / np.maximum(1, base.seen.sum(axis=1))
        for k in range(labels.max() + 1):
            if np.median(share[labels == k]) >= 0.5:
                labels[labels == k] = -1
    return labels


def replicate(shape: str, number: int) -> tuple[list[dict[str, Any]], list[tuple[str, np.ndarray, np.ndarray]]]:
    """A row per method; and stated shares with what turned out."""
    X, truth = planted(shape, number)
    clusterer = HDBSCAN(min_cluster_size=SMALLEST, copy=True)
    found = stability(clusterer, X, RUNS, rng=number, stop=False)
    known = np.asarray(found.base)
    as_missing = as_base(np.where(known < 0, -1, known))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answers = {
            "one run": clusterer.fit_predict(X),
            "consensus": found.labels,
            "noise as missing": consensus(as_missing, weights=None, rng=number),
            "nbce": nbce(found.base, number),
            "nbce missing": nbce(as_missing, number),
        }
    rows = [
        {"shape": shape, "replication": number, "method": name, **scores(np.asarray(labels), truth)}
        for name, labels in answers.items()
    ]
    right = placed_rightly(found.labels, truth)
    return rows, [("certainty", found.certainty, right), ("share of noise", found.noise, truth < 0)]


def tenths(parts: list[tuple[str, np.ndarray, np.ndarray]], shape: str) -> list[dict[str, Any]]:
    """For each tenth of a stated share: items, mean share, and how often it came true."""
    rows = []
    for what in dict.fromkeys(name for name, _, _ in parts):
        stated = np.concatenate([given for name, given, _ in parts if name == what])
        true = np.concatenate([came for name, _, came in parts if name == what])
        tenth = np.minimum((stated * 10).astype(int), 9)
        for part in range(10):
            own = tenth == part
            if own.any():
                mean, share = (round(float(x[own].mean()), 4) for x in (stated, true))
                rows.append(
                    {
                        "shape": shape,
                        "what": what,
                        "tenth": f"{part / 10:.1f}-{(part + 1) / 10:.1f}",
                        "items": int(own.sum()),
                        "stated": mean,
                        "true": share,
                    }
                )
    return rows


def means(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """By shape and method, the mean of each score over the replications."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[row["shape"], row["method"]].append(row)
    return [
        {"shape": shape, "method": method, "replications": len(own)}
        | {name: round(float(np.mean([float(row[name]) for row in own])), 3) for name in SCORES}
        for (shape, method), own in groups.items()
    ]


def main() -> None:
    rows: list[dict[str, Any]] = []
    stated: list[dict[str, Any]] = []
    every: list[tuple[str, np.ndarray, np.ndarray]] = []
    for shape in SHAPES:
        parts: list[tuple[str, np.ndarray, np.ndarray]] = []
        for number in range(REPLICATIONS):
            found, more = replicate(shape, number)
            rows += found
            parts += more
        stated += tenths(parts, shape)
        every += parts
    write_runs("noise", rows)
    write_result("noise", means(rows))
    write_result("noise_tenths", stated + tenths(every, "all"))


if __name__ == "__main__":
    main()
