"""Ensembles whose clusterings repeat each other, and independent ones: NBCE with and without weights beside rivals.

`python -m benchmarks.dependence --data ../shared/data` writes benchmarks/results/runs/dependence.csv. For ten ensembles
of each case it has the number of clusters and the adjusted Rand index of each method; for NBCE also the log predictive
density per item of a clustering that it has not seen (`log mean_s p(Y_new | Z_s, β_s) / n`; Ward's for data, one more
noisy copy for simulated ensembles); and, for simulated ensembles, how often pairs with a stated probability are
together in the truth. "plain NBCE" has weights 1 and α0 ~ Gamma(1, 1). What is there is kept: a run goes on where
the last one stopped, and measures a method again whose rows were taken out.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import logsumexp
from sklearn.cluster import AgglomerativeClustering

import partita as pt
from partita.datasets import load_old_faithful
from partita.ensembles import NBCE, as_base, consensus, dependence, kmeans_ensemble, mcla
from partita.ensembles.layout import Layout
from partita.ensembles.nbce_variational import label_curve
from partita.ensembles.predictive import count_labels
from partita.models import Sampling

RESULTS = Path(__file__).parent / "results" / "runs" / "dependence.csv"
ENSEMBLES = 10
METHODS = ("", "NBCE", "plain NBCE", "MCLA", "expected VI", "expected VI, weighted")  # first what has no method
SIMULATED = ("independent copies", "dependent copies")  # for which calibration is measured
FILES = {
    "glass": ("glass.csv", "type", []),
    "ecoli": ("ecoli.csv", "site", ["sequence_name"]),
    "trace": ("trace.csv.gz", "class", ["set"]),
    "control charts": ("control_chart.csv.gz", "class", []),
}
Case = tuple[np.ndarray, np.ndarray, np.ndarray]  # base clusterings, truth, a clustering that is held out


def gaussians(n_clusters: int, distance: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """60 points around each corner of a regular polygon with sides of this many standard deviations."""
    rng = np.random.default_rng(seed)
    angle = 2 * np.pi * np.arange(n_clusters) / n_clusters
    centres = distance / (2 * np.sin(np.pi / n_clusters)) * np.column_stack([np.cos(angle), np.sin(angle)])
    truth = np.repeat(np.arange(n_clusters), 60)
    return centres[truth] + rng.normal(size=(len(truth), 2)), truth


def from_data(X: np.ndarray, truth: np.ndarray, k: int, seed: int) -> Case:
    held_out = AgglomerativeClustering(len(np.unique(truth))).fit_predict(X)
    return kmeans_ensemble(X, k, rng=seed), truth, held_out


def changed(labels: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    labels = labels.copy()
    wrong = rng.random(len(labels)) < share
    labels[wrong] = rng.integers(4, size=int(wrong.sum()))
    return labels


def copies(parents: int, children: int, noise: float, own_noise: float, gaps: float, seed: int) -> Case:
    """Noisy copies of a truth of 40, 30, 20 and 10 %; the children of a parent share its wrong labels."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(4, 300, p=[0.4, 0.3, 0.2, 0.1])
    made = [changed(truth, noise, rng) for _ in range(parents + 1)]
    base = np.column_stack([changed(parent, own_noise, rng) for parent in made[:-1] for _ in range(children)])
    base[rng.random(base.shape) < gaps] = -1
    return base, truth, made[-1]


def cases(seed: int, data: Path) -> Iterator[tuple[str, Case]]:
    for n_clusters, k in ((3, 3), (3, 6), (5, 5)):
        yield f"{n_clusters} Gaussians, k = {k}", from_data(*gaussians(n_clusters, 8.0, seed), k, seed)
    X = load_old_faithful().data
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    for k in (2, 6):
        yield f"Old Faithful, k = {k}", from_data(X, (X[:, 0] > 0).astype(int), k, seed)
    for name, (file, target, dropped) in FILES.items():
        frame = pd.read_csv(data / file)
        truth = pd.factorize(frame[target])[0]
        X = frame.drop(columns=[target, *dropped]).to_numpy(float)
        yield name, from_data(X, truth, int(truth.max()) + 1, seed)
    yield "independent copies", copies(12, 1, 0.15, 0.0, 0.1, seed)
    yield "dependent copies", copies(3, 4, 0.25, 0.05, 0.0, seed)


def predictive(model: NBCE, held_out: np.ndarray) -> float:
    """log mean_s p(Y_new | Z_s, β_s), per item."""
    new, draws = as_base(held_out[:, None]), model.chain_.labels.reshape(-1, len(held_out))
    layout = Layout.plain(new.sizes)
    betas = model.chain_.stats["beta"].ravel()
    logs = [
        label_curve(count_labels(new, z, int(z.max()) + 1), layout)(b)[0] for z, b in zip(draws, betas, strict=True)
    ]
    return float(logsumexp(logs) - np.log(len(logs))) / len(held_out)


def rows_of(case: Case, seed: int, method: str, simulated: bool) -> Iterator[tuple[str, float]]:
    """Metrics and values of one method; of the ensemble itself if it has no name."""
    base, truth, held_out = case
    if not method:
        yield "effective", dependence(base).effective
        return
    model = models(seed).get(method)
    labels = model.fit_predict(base) if model else rivals(base, len(np.unique(truth)), seed)[method]()
    yield "clusters", float(labels.max() + 1)
    yield "ari", pt.adjusted_rand(labels, truth)
    if model:
        yield "predictive", predictive(model, held_out)
        if simulated:
            yield from calibration(model, truth)


def models(seed: int) -> dict[str, NBCE]:
    sampling = {"sampling": Sampling(draws=100, warmup=150, chains=2), "random_state": seed}
    return {"NBCE": NBCE(**sampling), "plain NBCE": NBCE(weights=None, alpha_prior=(1.0, 1.0), **sampling)}


def rivals(base: np.ndarray, k: int, seed: int) -> dict[str, Callable[[], np.ndarray]]:
    return {
        "MCLA": lambda: mcla(base, k, rng=seed),
        "expected VI": lambda: consensus(base, weights=None, rng=seed),
        "expected VI, weighted": lambda: consensus(base, weights=dependence(base).weights, rng=seed),
    }


def calibration(model: NBCE, truth: np.ndarray) -> Iterator[tuple[str, float]]:
    """Of the pairs with a stated probability in each tenth: how many, and how many are together in the truth."""
    upper = np.triu_indices(len(truth), 1)
    stated = pt.similarity(model.chain_)[upper]
    together = (truth[:, None] == truth)[upper]
    tenth = np.minimum((10 * stated).astype(int), 9)
    for t in range(10):
        chosen = tenth == t
        yield f"pairs {t}", float(chosen.sum())
        yield f"stated {t}", float(stated[chosen].sum())
        yield f"together {t}", float(together[chosen].sum())


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with glass.csv, ecoli.csv, ...")
    parser.add_argument("--ensembles", type=int, default=ENSEMBLES)
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    done = set()
    if RESULTS.exists():
        rows = csv.DictReader(RESULTS.open(encoding="utf-8"))
        done = {(row["case"], int(row["ensemble"]), row["method"]) for row in rows}
    else:
        RESULTS.parent.mkdir(parents=True, exist_ok=True)
        RESULTS.write_text("case,ensemble,method,metric,value\n", encoding="utf-8")
    for seed in range(given.ensembles):
        for name, case in cases(seed, given.data):
            for method in METHODS:
                if (name, seed, method) in done:
                    continue
                started = time.process_time()
                found = list(rows_of(case, seed, method, simulated=name in SIMULATED))
                with RESULTS.open("a", newline="", encoding="utf-8") as file:
                    writer = csv.writer(file, lineterminator="\n")
                    writer.writerows([name, seed, method, metric, f"{value:.6g}"] for metric, value in found)
                used = time.process_time() - started
                print(f"{name}, ensemble {seed}, {method}: {used:.1f} CPU seconds", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
